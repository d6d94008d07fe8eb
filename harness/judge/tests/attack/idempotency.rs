//! Scenes of what a key is the key of, for whom and for how long.

use judge::checks::{Check, idempotency};
use judge::evidence::Evidence;

use super::promises::scenarios::{
    TTL, both_scopes, conflict, expiry, expiry_at, memo_with, policy, respelt, route_scope, scope,
};
use super::promises::service::Defect;
use super::scene::{Scene, Steps};
use crate::support::{LINK, MS};

pub fn scenes() -> Vec<Scene> {
    let memo = |words: &str| idempotency::failures_are_remembered(&policy(&format!(r#""memo": "{words}""#)), LINK);
    let expires = |after: &str| {
        let policy = policy(&format!(r#""ttl": "1500ms", "after_ttl": "{after}""#));
        idempotency::key_expires_as_declared(&policy, LINK)
    };
    let owned = |scope: &str| {
        let policy = policy(&format!(r#""scope": [{scope}], "scope_route": "refund""#));
        idempotency::key_belongs_to_its_owner(&policy, LINK)
    };
    let spelt = |how: &str| idempotency::mismatch_is_rejected(&policy(&format!(r#""fingerprint": "{how}""#)), LINK);
    let known = |defect| expiry_at(defect, defect == Defect::ExpiresUndeclared, TTL + 100 * MS);
    vec![
        scene("key-memo", memo("2xx+4xx"), |d| memo_with(d, 500), MEMO),
        scene("key-memo, all", memo("all"), |d| memo_with(d, if d == Defect::Sound { 600 } else { 300 }), FORGETS),
        scene("key-memo, successes", memo("2xx"), |d| memo_with(d, 300), &[Defect::KeepsFailures]),
        scene("key-scope", owned(r#""caller""#), scope, SCOPE),
        scene("key-scope, routes", owned(r#""route""#), route_scope, SCOPE),
        scene("key-scope, both", owned(r#""caller", "route""#), |d| both_scopes(Defect::Sound, d), SCOPE),
        scene("key-expiry", expires("new"), expiry, &[Defect::ExpiresEarly, Defect::NeverExpires]),
        scene("key-expiry, without effect", expires("no_effect"), known, &[Defect::ExpiresUndeclared]),
        scene(
            "bank-conflict",
            idempotency::conflict_is_pending(&policy(r#""waits_out": { "status": 409 }"#), LINK),
            conflict,
            CONFLICT,
        ),
        scene("duplicates, respelt", spelt("canonical"), |d| respelt(d, false), &[Defect::RawBytes]),
        scene("duplicates, by their bytes", spelt("bytes"), |d| respelt(d, true), &[Defect::IgnoresBytes]),
    ]
}

const MEMO: &[Defect] = &[Defect::ForgetsRefusals, Defect::KeepsFailures, Defect::AltersRefusals];
const FORGETS: &[Defect] = &[Defect::ForgetsRefusals];
const SCOPE: &[Defect] = &[Defect::HandsOver, Defect::RefusesOthers, Defect::PassesBareKey, Defect::SwapsRepeats];
const CONFLICT: &[Defect] = &[Defect::ConflictIsFailure, Defect::NewKeyAfterConflict, Defect::ConflictForEver];

fn scene(name: &'static str, check: Check, play: impl Fn(Defect) -> Evidence, defects: &[Defect]) -> Scene {
    let broken = defects.iter().map(|d| (format!("{d:?}"), play(*d))).collect();
    let sound = play(Defect::Sound);
    Scene { name, checks: vec![check], more: sound.clone(), sound, broken, steps: Steps::Same }
}
