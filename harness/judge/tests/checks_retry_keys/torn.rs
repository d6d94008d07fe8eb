//! Evidence of killed, overflowing and tampered runs.

use judge::Ruling;
use judge::evidence::{Answer, At, End, Evidence};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;

use crate::judged::{SCENARIOS, all};
use crate::service::Defect;

/// Loses, doubles and scrambles records.
fn torn(mut e: Evidence, rng: &mut ChaCha12Rng) -> Evidence {
    let keep = [0.0, 0.3, 0.9, 1.0][rng.random_range(0..4)];
    e.attempts.retain(|_| rng.random::<f64>() < keep);
    e.outcomes.retain(|_| rng.random::<f64>() < keep);
    e.bank.retain(|_| rng.random::<f64>() < keep);
    e.spans.retain(|_| rng.random::<f64>() < keep);
    e.steps.retain(|_| rng.random::<f64>() < keep);
    for attempt in &mut e.attempts {
        match rng.random_range(0..12) {
            0 => attempt.context = None,
            1 => attempt.key = None,
            2 => attempt.reply.end = End::Unfinished,
            3 => attempt.reply.ended = At(0),
            4 => attempt.arrived = At(u64::MAX),
            5 => attempt.body.sha256 = None,
            6 => attempt.fault = None,
            _ => {}
        }
    }
    for outcome in &mut e.outcomes {
        match rng.random_range(0..12) {
            0 => outcome.key = None,
            1 => outcome.answer = Answer::TimedOut,
            2 => outcome.amount = Some(i64::MAX),
            3 => outcome.ended = At(0),
            4 => outcome.step.clear(),
            _ => {}
        }
    }
    for reading in &mut e.ledger {
        for row in &mut reading.rows {
            match rng.random_range(0..8) {
                0 => row.key = None,
                1 => row.amount = None,
                2 => row.id = None,
                _ => {}
            }
        }
    }
    let doubled: Vec<_> = e.attempts.iter().take(5).cloned().collect();
    e.attempts.extend(doubled);
    e
}

/// Proves that no evidence, however torn, makes a check panic, and that each still names itself and its reasons.
#[test]
fn torn_evidence_is_judged_without_a_panic() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    for (_, play, _) in SCENARIOS {
        let sound = play(Defect::Sound);
        for _ in 0..12 {
            let evidence = torn(sound.clone(), &mut rng);
            for check in all() {
                let finding = check.judge(&evidence);
                assert_eq!(finding.check, check.info().id);
                assert!(!finding.headline.is_empty(), "{finding:#?}");
                assert_eq!(finding.chance.is_some(), finding.ruling == Ruling::Fail, "{finding:#?}");
            }
        }
    }
}
