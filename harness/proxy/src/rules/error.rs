//! Why a rule cannot be armed.

/// Why a rule, or a list of rules, was refused. Nothing was armed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The text is not the grammar.
    #[error("the rules cannot be read: {}{why}", field.as_deref().map(|f| format!("`{f}`: ")).unwrap_or_default())]
    Unreadable {
        /// Path of the field that is wrong; absent when the text as a whole is.
        field: Option<String>,
        /// What is wrong.
        why: String,
    },
    /// A field's value does not hold.
    #[error("rule `{rule}`: `{field}` {reason}")]
    BadField {
        /// The rule.
        rule: String,
        /// Path of the field within the rule.
        field: String,
        /// What is wrong with it and what would do.
        reason: String,
    },
    /// The effect means nothing at that phase.
    #[error("rule `{rule}`: `{effect}` cannot happen at `{phase}`; valid there: {valid}")]
    BadCombination {
        /// The rule.
        rule: String,
        /// The phase.
        phase: &'static str,
        /// The effect.
        effect: String,
        /// Effects that can happen there.
        valid: &'static str,
    },
    /// A rule of that name is in force.
    #[error("rule `{rule}`: a rule of that id is already armed; disarm it first or choose another id")]
    Duplicate {
        /// The rule.
        rule: String,
    },
    /// It names a link that the proxy does not have.
    #[error("rule `{rule}`: there is no link `{link}`; the links are: {links}")]
    UnknownLink {
        /// The rule.
        rule: String,
        /// The name it gave.
        link: String,
        /// The names there are.
        links: String,
    },
    /// It names a scope that the proxy does not have.
    #[error("rule `{rule}`: there is no scope `{scope}`; add it first")]
    UnknownScope {
        /// The rule.
        rule: String,
        /// The name it gave.
        scope: String,
    },
    /// It names a lease that is over or was never granted.
    #[error("rule `{rule}`: there is no lease `{lease}`; it has ended, or was never granted")]
    UnknownLease {
        /// The rule.
        rule: String,
        /// The lease.
        lease: String,
    },
    /// An HTTP phase on a link that does not parse HTTP.
    #[error(
        "rule `{rule}`: link `{link}` is plain TCP, where only faults at `connect` can strike; make it an HTTP link"
    )]
    NeedsHttp {
        /// The rule.
        rule: String,
        /// The link.
        link: String,
    },
    /// A dry run over too much.
    #[error("a dry run takes {calls} calls, and {looks} pairs of a call and a rule, at most; split the calls")]
    DryRunTooLong {
        /// Calls at most.
        calls: usize,
        /// Calls times rules at most.
        looks: usize,
    },
    /// Too many rules.
    #[error("more than {limit} rules would be armed; disarm some first")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl From<crate::strict::Misread> for RuleError {
    fn from(misread: crate::strict::Misread) -> Self {
        Self::Unreadable { field: misread.field, why: misread.why }
    }
}

impl RuleError {
    /// The field that does not hold, when it is one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::BadField { field, .. } => Some(field),
            Self::BadCombination { .. } => Some("fault.effect"),
            Self::Duplicate { .. } => Some("id"),
            Self::UnknownLink { .. } | Self::NeedsHttp { .. } => Some("link"),
            Self::UnknownScope { .. } => Some("scope"),
            Self::UnknownLease { .. } => Some("lease"),
            Self::DryRunTooLong { .. } => Some("calls"),
            Self::Unreadable { field, .. } => field.as_deref(),
            Self::TooMany { .. } => None,
        }
    }
}
