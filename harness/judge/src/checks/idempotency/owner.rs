//! Whose a key is: the caller who used it, or the route on which it was used.

use crate::checks::catalogue::I8;
use crate::evidence::Outcome;
use crate::promise::KeyScope;

/// One kind of owner: how requests of different ones are told apart, where they meet, and the words for them.
pub(super) struct Owner {
    /// Whose a request is. The first one may go without a name, a second one never does.
    pub of: fn(&Outcome) -> Option<&str>,
    /// What an owner is called.
    pub noun: &'static str,
    /// The step in which a second owner asks with keys of the first.
    pub other: &'static str,
    /// The step in which each asks once more.
    pub again: &'static str,
    /// All three steps, for people.
    pub steps: &'static str,
    /// The promise of another owner's key, as the middle of a sentence.
    pub elsewhere: &'static str,
    /// What makes owners known.
    pub advice: &'static str,
    /// Bug class of an answer that is another owner's.
    pub handed_over: &'static str,
    /// Bug class of a refusal for another owner's sake.
    pub refused: &'static str,
    /// Bug class of a dependency that cannot tell owners apart.
    pub bare_key: &'static str,
}

static CALLER: Owner = Owner {
    of: |o| o.caller.as_deref(),
    noun: "caller",
    other: "other",
    again: "again",
    steps: "`first`, `other` and `again`",
    elsewhere: "from another caller",
    advice: "see the other findings first, and give the contract request.caller_header",
    handed_over: I8.bug_classes[0],
    refused: I8.bug_classes[1],
    bare_key: I8.bug_classes[2],
};

static ROUTE: Owner = Owner {
    of: |o| o.route.as_deref(),
    noun: "route",
    other: "route/other",
    again: "route/again",
    steps: "`route/first`, `route/other` and `route/again`",
    elsewhere: "on another route",
    advice: "see the other findings first, and give the contract promises.idempotency.scope_route",
    handed_over: I8.bug_classes[3],
    refused: I8.bug_classes[4],
    bare_key: I8.bug_classes[5],
};

impl Owner {
    /// The kinds that some scope names, each once.
    pub fn kinds(scope: &[KeyScope]) -> Vec<&'static Self> {
        let all = [(KeyScope::Caller, &CALLER), (KeyScope::Route, &ROUTE)];
        all.into_iter().filter(|(word, _)| scope.contains(word)).map(|(_, owner)| owner).collect()
    }

    /// Whether two requests are of the same owner.
    pub fn is_one(&self, a: &Outcome, b: &Outcome) -> bool {
        (self.of)(a) == (self.of)(b)
    }
}
