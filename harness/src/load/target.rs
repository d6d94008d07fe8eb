//! Whom a load asks, and by which route.

/// An instance of the service under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Replica {
    /// The one that every scenario starts.
    #[default]
    First,
    /// The one that [`Rig::start_replica`](crate::rig::Rig::start_replica) starts.
    Second,
}

impl Replica {
    /// Its number, as evidence and `{service.instance}` have it.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Replica::First => 1,
            Replica::Second => 2,
        }
    }

    /// Its number as an outcome records it: the first goes without saying.
    pub(super) fn recorded(self) -> Option<u32> {
        Some(self.number()).filter(|n| *n > 1)
    }
}

/// Where requests go. The default is a payment, asked of the first instance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// One of the contract's `[routes.NAME]`; `None` is the payment.
    pub route: Option<String>,
    /// Which instance.
    pub replica: Replica,
}
