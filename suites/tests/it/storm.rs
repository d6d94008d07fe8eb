//! The service under more load than its bank can bear, and after a disturbance of an even load.

use harness::battery::{OVERLOAD, RECOVERY};
use harness::suite::{Judged, session};

use crate::service::payments;

/// Proves that the goodput holds under overload, and that nothing of a disturbance stays when it is over.
#[tokio::test(flavor = "multi_thread")]
async fn load_does_not_feed_on_failure() -> Judged {
    session(payments())?.judge(&[&RECOVERY, &OVERLOAD]).await
}
