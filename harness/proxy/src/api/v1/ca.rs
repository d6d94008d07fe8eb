//! `/v1/ca.pem`: the certificate of the CA that this proxy signs with, for those who should trust it.

use crate::api::{Api, Reply, Request};

pub(super) fn handle(api: &Api, request: &Request) -> Reply {
    if request.method != http::Method::GET {
        return Reply::no_method("GET");
    }
    match api.core.trust.own_pem() {
        Ok(pem) => Reply::text(200, "application/x-pem-file", pem.to_string()),
        Err(e) => Reply::refusal(500, e.to_string()),
    }
}
