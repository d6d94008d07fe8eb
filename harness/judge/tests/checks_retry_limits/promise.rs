//! What the services of this suite promise.

use judge::promise::RetryPolicy;

/// Four attempts, full jitter on 200 ms, one second an attempt, three in all.
pub fn policy() -> RetryPolicy {
    serde_json::from_str(
        r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms", "cap": "5s" }, "attempt_timeout": "1s",
             "retryable": [429, 503, "hang", "refuse"], "deadline": "3s", "stops_when_client_leaves": true,
             "retry_after": { "jitter": "law" }, "pushback": true }"#,
    )
    .expect("a policy")
}
