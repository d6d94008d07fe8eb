//! What a client asks for: one order, and the seeded source that makes them.

use judge::evidence::{SpanId, TraceContext, TraceId};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;

/// One payment that a client wants. Asking twice with the same order is a repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The client's idempotency key; `None` leaves the header out.
    pub key: Option<String>,
    /// Amount in minor units.
    pub amount: i64,
    /// Free text, unique per order.
    pub reference: String,
    /// Who asks: the position in the contract's list of callers.
    pub caller: usize,
    /// Whether the body is spelt in another way: other spaces and order of members, the same values.
    pub respelt: bool,
}

impl Order {
    /// The same key with another amount: what a contract may promise to reject.
    #[must_use]
    pub fn with_other_amount(&self) -> Self {
        Self { amount: self.amount + 1, ..self.clone() }
    }

    /// The same order by another caller.
    #[must_use]
    pub fn by_caller(&self, caller: usize) -> Self {
        Self { caller, ..self.clone() }
    }

    /// The same order, spelt in another way.
    #[must_use]
    pub fn respelt(&self) -> Self {
        Self { respelt: true, ..self.clone() }
    }

    /// The same order without a key.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self { key: None, ..self.clone() }
    }
}

/// Makes orders and trace contexts from one seed: the same seed asks the same questions.
#[derive(Debug)]
pub struct OrderSource {
    rng: ChaCha12Rng,
    made: u64,
}

impl OrderSource {
    /// A source for one scenario. The scenario's name enters the seed, so that two scenarios of a run share no key.
    #[must_use]
    pub fn new(seed: u64, scenario: &str) -> Self {
        Self { rng: ChaCha12Rng::seed_from_u64(seed ^ fnv1a(scenario.as_bytes())), made: 0 }
    }

    /// A fresh order.
    pub fn order(&mut self) -> Order {
        self.made += 1;
        let mut bytes = [0; 16];
        self.rng.fill_bytes(&mut bytes);
        let key = uuid::Builder::from_random_bytes(bytes).into_uuid().to_string();
        let amount = self.rng.random_range(100..100_000);
        Order { key: Some(key), amount, reference: format!("order-{}", self.made), caller: 0, respelt: false }
    }

    /// A fresh trace context.
    pub fn context(&mut self) -> TraceContext {
        let (mut trace, mut parent) = ([0; 16], [0; 8]);
        self.rng.fill_bytes(&mut trace);
        self.rng.fill_bytes(&mut parent);
        // An all-zero id means "none" on the wire.
        trace[0] |= 1;
        parent[0] |= 1;
        TraceContext { trace: TraceId(trace), parent: SpanId(parent) }
    }
}

/// FNV-1a, 64 bits: a stable hash for names, where the standard library promises none.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}
