//! Which records a reader of the log wants.

use evidence::Record;

use crate::api::Reply;
use crate::api::v1::query::Query;

/// Names of the parameters.
pub(super) const FILTERS: [&str; 3] = ["link", "scope", "kind"];
/// The kinds of records that the proxy writes.
const KINDS: [&str; 4] = ["attempt", "connection", "edge", "note"];

/// Every condition that is given has to hold. Notes concern the log as a whole: only `kind` leaves them out.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    link: Option<String>,
    scope: Option<String>,
    kind: Option<&'static str>,
}

impl Filter {
    pub(super) fn of(query: &Query<'_>) -> Result<Self, Reply> {
        Ok(Self { link: query.text("link"), scope: query.text("scope"), kind: query.word("kind", &KINDS)? })
    }

    pub(super) fn takes(&self, record: &Record) -> bool {
        let facts = Facts::of(record);
        self.kind.is_none_or(|kind| kind == facts.kind)
            && (facts.kind == "note" || (self.takes_link(&facts) && self.takes_scope(&facts)))
    }

    fn takes_link(&self, facts: &Facts<'_>) -> bool {
        // A rule for every link is also one for this.
        self.link.as_deref().is_none_or(|link| facts.link == link || facts.link == "*")
    }

    fn takes_scope(&self, facts: &Facts<'_>) -> bool {
        self.scope.is_none() || self.scope.as_deref() == facts.scope
    }
}

/// What a filter looks at.
struct Facts<'a> {
    kind: &'static str,
    link: &'a str,
    scope: Option<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(record: &'a Record) -> Self {
        match record {
            Record::Attempt(a) => Self { kind: "attempt", link: &a.link, scope: a.scope.as_deref() },
            Record::Connection(c) => Self { kind: "connection", link: &c.link, scope: None },
            Record::Edge(e) => Self { kind: "edge", link: &e.link, scope: e.scope.as_deref() },
            // The proxy writes nothing else.
            _ => Self { kind: "note", link: "*", scope: None },
        }
    }
}
