//! Open files: a load of thousands of payments needs more descriptors than many shells allow.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::rig::RigError;

/// Descriptors of one payment in this process: the client's connection, the proxy's two, the bank's.
const EACH: u64 = 4;
/// Everything else: players, canary, spans, files.
const BESIDES: u64 = 512;

/// Sees to it that this process, and the service that it starts, may open enough files for that many payments at once:
/// raises the soft limit where the hard one allows it.
///
/// # Errors
/// When the hard limit is too low.
pub(crate) fn provide(payments: usize) -> Result<(), RigError> {
    let needed = EACH * payments as u64 + BESIDES;
    let limit = getrlimit(Resource::Nofile);
    // No limit is more than enough.
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
    if enough(limit.maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    Err(RigError::OpenFiles { needed, allowed: limit.maximum.unwrap_or(u64::MAX) })
}

#[cfg(test)]
mod tests {
    use super::provide;
    use crate::rig::RigError;

    /// Proves that what is allowed is provided, and that what no system allows is an error that says what to do.
    #[test]
    fn open_files_are_bounded() {
        provide(1).unwrap();
        let far = usize::MAX >> 8;
        // Where nothing is limited nothing can be refused.
        if let Err(error) = provide(far) {
            assert!(matches!(error, RigError::OpenFiles { .. }));
            assert!(error.to_string().contains("ulimit -n"), "{error}");
        }
    }
}
