//! Scenes of trust: in the run, in its witnesses, and in the scenario that holds a control against its service.

use judge::Ruling;
use judge::checks::{Check, catalogue, retry, trust};
use judge::evidence::{At, Evidence};
use judge::expect::{Bound, Missed, expected_numbers, known_bad};
use judge::promise::Noise;
use judge::sim::Policy;

use super::payments::{Defect, all_fail, one_effect, retry_policy, steadily};
use super::scene::{Scene, Steps};
use crate::support::{LINK, MS, waited};

pub fn scenes() -> Vec<Scene> {
    vec![trusted(), control(), numbers()]
}

/// A control without waits, which R3 is to find out. A control that behaves is the defect here.
fn control() -> Scene {
    let played = |waits| all_fail("herd", waits, 40, Defect::Sound);
    let herd = retry::no_herd(&retry_policy(), LINK, Noise::default());
    let expected = [("R3".to_owned(), Ruling::Fail)];
    let check = Check::new(catalogue::H5, move |e| known_bad(&e.header, &expected, &[herd.judge(e)]));
    let broken = vec![("a control with jitter".to_owned(), played(Policy::Full))];
    let (name, sound) = ("storm, control", played(Policy::Immediate));
    Scene { name, checks: vec![check], sound, broken, more: steadily(), steps: Steps::Same }
}

/// H6 over the attempts that R1 counts.
pub fn attempts_within(min: f64, max: f64) -> Check {
    let bounded = retry::bounded_attempts(&retry_policy(), LINK);
    let (check, number) = ("R1".to_owned(), "attempts of a payment, max".to_owned());
    let bound = [Bound { check, number, min: Some(min), max: Some(max), missed: Missed::Fail }];
    Check::new(catalogue::H6, move |e| expected_numbers(&e.header, &bound, &[bounded.judge(e)]))
}

fn numbers() -> Scene {
    let played = |defect| all_fail("waves", Policy::Full, 20, defect);
    let broken = [Defect::OneAttemptMore, Defect::OneAttemptLess];
    let broken = broken.map(|defect| (format!("{defect:?}"), played(defect))).into();
    let (checks, sound) = (vec![attempts_within(4.0, 4.0)], played(Defect::Sound));
    Scene { name: "storm, numbers", checks, sound, broken, more: steadily(), steps: Steps::Same }
}

/// What is wrong with the run or with a witness, not with the service's behaviour.
fn trusted() -> Scene {
    let checks = vec![trust::canary_is_quiet(Noise::default()), trust::faults_fired(), trust::spans_match_wire(LINK)];
    let sound = one_effect(Defect::Sound);
    let changed = |change: fn(&mut Evidence)| {
        let mut evidence = one_effect(Defect::Sound);
        change(&mut evidence);
        evidence
    };
    let broken = vec![
        ("a pause".to_owned(), changed(|e| e.canary[0].max_ns = 500 * MS)),
        ("a service without a processor".to_owned(), changed(|e| e.canary.push(waited(500)))),
        ("a fault that never struck".to_owned(), changed(|e| e.faults[0].fired = 0)),
        ("a fault that was never healed".to_owned(), changed(|e| e.faults[0].healed = At(0))),
        ("spans of calls that never were".to_owned(), changed(invent_spans)),
        (
            "a span that lies".to_owned(),
            changed(|e| {
                e.spans[1].attributes.insert("http.response.status_code".to_owned(), 299.into());
            }),
        ),
    ];
    Scene { name: "trust", checks, more: sound.clone(), sound, broken, steps: Steps::Same }
}

/// Spans that tell of answers which no attempt got.
fn invent_spans(evidence: &mut Evidence) {
    let mut invented: Vec<_> = evidence.spans.iter().take(8).cloned().collect();
    invented.iter_mut().for_each(|s| s.span.0[0] ^= 0x77);
    evidence.spans.extend(invented);
}
