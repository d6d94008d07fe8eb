//! The door of a client's connection: through it goes everything that streams say to the client, and who shuts it knows
//! that nothing is handed over any more.
//!
//! A fault on one stream may end the connection of all of them. What was handed over before is then still written, what
//! was not is not, and each stream learns how and when it ended. Without the door a stream could be recorded as replied
//! whose last bytes never left.

use std::sync::{Arc, Mutex};

use evidence::{At, ConnectionEnd, End};
use tokio::sync::SetOnce;

use crate::rules::Http2Code;
use crate::sync::locked;

/// How the connection ended, for each stream that it ended with.
#[derive(Debug, Clone)]
pub(super) struct Fate {
    pub(super) end: End,
    pub(super) at: At,
    /// What failed, when it was the upstream.
    pub(super) why: Option<Arc<str>>,
}

/// What goes out last, behind everything that was handed over.
#[derive(Debug)]
pub(super) enum Last {
    /// GOAWAY with this code and last stream.
    GoAway(Http2Code, Option<u32>),
    /// Bytes in the place of a frame.
    Bytes(Vec<u8>),
}

/// That, and how, the connection has to end.
#[derive(Debug)]
pub(super) struct Order {
    /// What goes out before.
    pub(super) last: Option<Last>,
    /// RST instead of FIN.
    pub(super) is_reset: bool,
    pub(super) end: End,
    pub(super) connection: ConnectionEnd,
    pub(super) why: Option<Arc<str>>,
}

impl Order {
    /// A fault cuts the connection.
    pub(super) fn cut() -> Self {
        Self { last: None, is_reset: false, end: End::Cut, connection: ConnectionEnd::CutByFault, why: None }
    }

    /// A fault sends it away.
    pub(super) fn goaway(code: Http2Code, last_stream: Option<u32>) -> Self {
        Self { last: Some(Last::GoAway(code, last_stream)), ..Self::cut() }
    }

    /// A fault says something that is no HTTP/2 and cuts the connection.
    pub(super) fn noise(bytes: Vec<u8>) -> Self {
        Self { last: Some(Last::Bytes(bytes)), ..Self::cut() }
    }

    /// The upstream's connection is gone, and so is the client's.
    pub(super) fn upstream_gone(why: &str, is_reset: bool, goaway: Option<Http2Code>) -> Self {
        Self {
            last: goaway.map(|code| Last::GoAway(code, None)),
            is_reset,
            end: End::UpstreamFailed,
            connection: ConnectionEnd::ByUpstream,
            why: Some(Arc::from(why)),
        }
    }
}

/// The door.
#[derive(Debug, Default)]
pub(super) struct Door {
    is_shut: Mutex<bool>,
    pub(super) order: SetOnce<Order>,
    pub(super) fate: SetOnce<Fate>,
}

impl Door {
    /// Hands something over; `None` when the door is shut.
    pub(super) fn pass<T>(&self, hand_over: impl FnOnce() -> T) -> Option<T> {
        let is_shut = locked(&self.is_shut);
        (!*is_shut).then(hand_over)
    }

    /// Nothing is handed over after this.
    pub(super) fn shut(&self) {
        *locked(&self.is_shut) = true;
    }

    /// Tells all streams. The first word counts.
    pub(super) fn tell(&self, fate: Fate) {
        self.shut();
        let _earlier = self.fate.set(fate);
    }

    /// Asks for the end of the connection, and waits for it. The first order counts.
    pub(super) async fn end(&self, order: Order) -> Fate {
        let _earlier = self.order.set(order);
        self.fate.wait().await.clone()
    }
}
