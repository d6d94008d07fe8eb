//! What is answered while the bank cannot be asked.

use harness::battery::DEGRADATION;
use harness::suite::{Judged, session};

use crate::service::payments;

/// Proves that confirmations of an outage are marked, aged, bounded and gone after it, and that none is made up.
#[tokio::test(flavor = "multi_thread")]
async fn fallbacks_keep_their_promises() -> Judged {
    session(payments())?.judge(&[&DEGRADATION]).await
}
