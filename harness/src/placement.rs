//! Where the players of a scenario are: `HARNESS_RIG`.

use crate::error::HarnessError;

/// Where the players of a scenario are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// The service is a child process; proxy and banks are tasks of this process.
    #[default]
    Process,
    /// Everybody runs already, where the contract's `[attach]` says: nothing is started and nothing is stopped.
    Attach,
}

impl Placement {
    /// What `HARNESS_RIG` asks for. A placement that is not there is an error, never a quiet downgrade.
    ///
    /// # Errors
    /// When the word is not known.
    pub fn asked() -> Result<Self, HarnessError> {
        Self::named(std::env::var("HARNESS_RIG").ok().as_deref())
    }

    fn named(word: Option<&str>) -> Result<Self, HarnessError> {
        match word.map(str::trim) {
            None | Some("" | "process") => Ok(Self::Process),
            Some("attach") => Ok(Self::Attach),
            Some(other) => Err(HarnessError::NoPlacement { asked: other.to_owned() }),
        }
    }

    /// Its word, as in `HARNESS_RIG`, manifests and evidence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Attach => "attach",
        }
    }

    /// Whether instances of the service can be killed, started again and joined by another.
    #[must_use]
    pub fn restarts(self) -> bool {
        self == Self::Process
    }
}

#[cfg(test)]
mod tests {
    use super::Placement;

    /// Proves that only placements that exist are accepted, and that the error says what to set.
    #[test]
    fn an_absent_placement_is_an_error() {
        for good in [None, Some(""), Some("process"), Some(" process ")] {
            assert_eq!(Placement::named(good).ok(), Some(Placement::Process), "{good:?}");
        }
        assert_eq!(Placement::named(Some("attach")).ok(), Some(Placement::Attach));
        for absent in ["containers", "procces", "Attach"] {
            let text = Placement::named(Some(absent)).unwrap_err().to_string();
            assert!(text.contains(absent) && text.contains("HARNESS_RIG=process"), "{text}");
        }
    }
}
