//! A load as data: its step, its orders, its shape in time.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use judge::evidence::Outcome;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::client::{Client, ClientError};
use super::order::Order;
use super::target::{Replica, Target};

/// How the requests of a load lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One after another, each after the answer to the last.
    Sequence,
    /// One after another until this many in a row were answered without a call to the dependency: see
    /// [`Load::until_open`].
    UntilOpen {
        /// Rejections that end it.
        rejections: u32,
    },
    /// All at once, behind a barrier.
    Burst,
    /// Evenly over a time, whatever becomes of those before: an open model.
    Paced {
        /// From the first to the last.
        over: Duration,
    },
    /// At most this many at a time.
    Waves {
        /// Requests in flight.
        in_flight: usize,
    },
    /// One after another; each client closes its connection once so many of its payment's attempts have arrived.
    Leaving {
        /// Attempts after which it leaves.
        after: u64,
    },
}

/// A load: what to ask, in which shape, under which step name.
#[derive(Debug, Clone)]
pub struct Load {
    /// The step's name in the evidence.
    pub step: String,
    /// What to ask.
    pub orders: Orders,
    /// In which shape.
    pub shape: Shape,
    /// Whom, and by which route.
    pub target: Target,
    /// How long a client waits, when that is not the contract's time.
    pub patience: Option<Duration>,
}

/// An order and what came of asking for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What was asked for.
    pub order: Order,
    /// What came of it.
    pub outcome: Outcome,
}

/// What a load asks for.
#[derive(Debug, Clone)]
pub enum Orders {
    /// That many fresh orders.
    Fresh(usize),
    /// One fresh order, asked for by that many callers.
    Twins(usize),
    /// These orders.
    Given(Vec<Order>),
}

impl Load {
    fn of(step: impl Into<String>, orders: Orders, shape: Shape) -> Self {
        Self { step: step.into(), orders, shape, target: Target::default(), patience: None }
    }

    /// The same load by one of the contract's further routes, `[routes.NAME]`.
    #[must_use]
    pub fn route(mut self, name: impl Into<String>) -> Self {
        self.target.route = Some(name.into());
        self
    }

    /// The same load, sent to that instance of the service.
    #[must_use]
    pub fn to(mut self, replica: Replica) -> Self {
        self.target.replica = replica;
        self
    }

    /// `n` fresh orders, one after another.
    pub fn sequence(step: impl Into<String>, n: usize) -> Self {
        Self::of(step, Orders::Fresh(n), Shape::Sequence)
    }

    /// `n` fresh orders at once, behind a barrier.
    pub fn burst(step: impl Into<String>, n: usize) -> Self {
        Self::of(step, Orders::Fresh(n), Shape::Burst)
    }

    /// `n` fresh orders, `in_flight` at a time.
    pub fn waves(step: impl Into<String>, n: usize, in_flight: usize) -> Self {
        Self::of(step, Orders::Fresh(n), Shape::Waves { in_flight })
    }

    /// `n` fresh orders, sent evenly over a time whether or not those before are answered.
    pub fn paced(step: impl Into<String>, n: usize, over: Duration) -> Self {
        Self::of(step, Orders::Fresh(n), Shape::Paced { over })
    }

    /// One fresh order, asked for by `callers` at once, behind a barrier.
    pub fn twins(step: impl Into<String>, callers: usize) -> Self {
        Self::of(step, Orders::Twins(callers), Shape::Burst)
    }

    /// These orders, one after another.
    pub fn again(step: impl Into<String>, orders: Vec<Order>) -> Self {
        Self::of(step, Orders::Given(orders), Shape::Sequence)
    }

    /// Fresh orders one after another, until two in a row were answered without a call to the dependency; at most
    /// `limit`. What counts is the wire, not the status: services map their dependency's failures as they like.
    pub fn until_open(step: impl Into<String>, limit: usize) -> Self {
        Self::of(step, Orders::Fresh(limit), Shape::UntilOpen { rejections: 2 })
    }

    /// `n` fresh orders, one after another, whose clients close their connection when `after` attempts have arrived: at a
    /// moment that the wire names, not the clock.
    pub fn leaving(step: impl Into<String>, n: usize, after: u64) -> Self {
        Self::of(step, Orders::Fresh(n), Shape::Leaving { after })
    }

    /// Lets its clients wait so long, in place of the contract's time.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// How many requests it plans.
    #[must_use]
    pub fn planned(&self) -> usize {
        match &self.orders {
            Orders::Fresh(n) | Orders::Twins(n) => *n,
            Orders::Given(orders) => orders.len(),
        }
    }

    /// Runs it to its end. `arrivals` reads how many calls have reached the dependency's proxy so far.
    ///
    /// # Errors
    /// When a request cannot be built; a failed exchange is an outcome, not an error.
    pub(crate) async fn run(self, client: &Arc<Client>, arrivals: &Count<'_>) -> Result<Vec<Asked>, ClientError> {
        let orders = match self.orders {
            Orders::Fresh(n) => (0..n).map(|_| client.order()).collect(),
            Orders::Twins(n) => vec![client.order(); n],
            Orders::Given(orders) => orders,
        };
        let of = Of { step: self.step, target: self.target, patience: self.patience };
        match self.shape {
            Shape::Sequence => sequence(client, &of, orders).await,
            Shape::Leaving { after } => leaving(client, &of, orders, after, arrivals).await,
            Shape::UntilOpen { rejections } => until_open(client, &of, orders, rejections, arrivals).await,
            Shape::Burst => {
                let barrier = Some(Arc::new(Barrier::new(orders.len().max(1))));
                together(client, of, orders, barrier, Semaphore::MAX_PERMITS).await
            }
            Shape::Paced { over } => paced(client, of, orders, over).await,
            Shape::Waves { in_flight } => together(client, of, orders, None, in_flight.max(1)).await,
        }
    }
}

/// Reads how many calls have reached the dependency's proxy so far.
pub(crate) type Count<'a> = dyn Fn() -> Pin<Box<dyn Future<Output = u64> + Send + 'a>> + Send + Sync + 'a;

/// The step that requests belong to, where they go, and how long their clients wait.
struct Of {
    step: String,
    target: Target,
    patience: Option<Duration>,
}

impl Of {
    async fn ask(&self, client: &Client, order: &Order) -> Result<Outcome, ClientError> {
        self.ask_until(client, order, std::future::pending()).await
    }

    async fn ask_until(
        &self,
        client: &Client,
        order: &Order,
        leave: impl Future<Output = ()>,
    ) -> Result<Outcome, ClientError> {
        client.ask_until(&self.step, order, &self.target, self.patience, leave).await
    }
}

/// How often the count of arrivals is looked at.
const LOOK: Duration = Duration::from_millis(1);

async fn leaving(
    client: &Arc<Client>,
    of: &Of,
    orders: Vec<Order>,
    after: u64,
    arrivals: &Count<'_>,
) -> Result<Vec<Asked>, ClientError> {
    let mut done = Vec::with_capacity(orders.len());
    for order in orders {
        let enough = arrivals().await + after;
        let leave = async {
            while arrivals().await < enough {
                tokio::time::sleep(LOOK).await;
            }
        };
        let outcome = of.ask_until(client, &order, leave).await?;
        done.push(Asked { order, outcome });
    }
    Ok(done)
}

async fn sequence(client: &Arc<Client>, of: &Of, orders: Vec<Order>) -> Result<Vec<Asked>, ClientError> {
    let mut done = Vec::with_capacity(orders.len());
    for order in orders {
        let outcome = of.ask(client, &order).await?;
        done.push(Asked { order, outcome });
    }
    Ok(done)
}

async fn until_open(
    client: &Arc<Client>,
    of: &Of,
    orders: Vec<Order>,
    rejections: u32,
    arrivals: &Count<'_>,
) -> Result<Vec<Asked>, ClientError> {
    let mut done = Vec::new();
    let mut in_a_row = 0;
    for order in orders {
        let before = arrivals().await;
        let outcome = of.ask(client, &order).await?;
        in_a_row = if arrivals().await == before { in_a_row + 1 } else { 0 };
        done.push(Asked { order, outcome });
        if in_a_row >= rejections {
            break;
        }
    }
    Ok(done)
}

/// Request i of n is due at i / n of the time. A machine that cannot keep up sends late, and nobody catches up by a burst of
/// fewer: each is still sent.
async fn paced(client: &Arc<Client>, of: Of, orders: Vec<Order>, over: Duration) -> Result<Vec<Asked>, ClientError> {
    let (begun, n) = (Instant::now(), orders.len().max(1) as f64);
    let of = Arc::new(of);
    let mut tasks: JoinSet<Result<Asked, ClientError>> = JoinSet::new();
    for (i, order) in orders.into_iter().enumerate() {
        let (client, of) = (client.clone(), of.clone());
        let due = begun + over.mul_f64(i as f64 / n);
        tasks.spawn(async move {
            sleep_until(due).await;
            let outcome = of.ask(&client, &order).await?;
            Ok(Asked { order, outcome })
        });
    }
    gathered(tasks).await
}

async fn together(
    client: &Arc<Client>,
    of: Of,
    orders: Vec<Order>,
    barrier: Option<Arc<Barrier>>,
    in_flight: usize,
) -> Result<Vec<Asked>, ClientError> {
    let places = Arc::new(Semaphore::new(in_flight));
    let of = Arc::new(of);
    let mut tasks: JoinSet<Result<Asked, ClientError>> = JoinSet::new();
    for order in orders {
        let (client, places, barrier, of) = (client.clone(), places.clone(), barrier.clone(), of.clone());
        tasks.spawn(async move {
            let _place = places.acquire_owned().await;
            if let Some(barrier) = barrier {
                barrier.wait().await;
            }
            let outcome = of.ask(&client, &order).await?;
            Ok(Asked { order, outcome })
        });
    }
    gathered(tasks).await
}

/// What all of them came to, in the order in which they were sent.
async fn gathered(mut tasks: JoinSet<Result<Asked, ClientError>>) -> Result<Vec<Asked>, ClientError> {
    let mut done = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok(result) => done.push(result?),
            // A cancelled task cannot happen here; a panicked one is our own bug and must not be swallowed.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    done.sort_by_key(|a: &Asked| a.outcome.seq);
    Ok(done)
}
