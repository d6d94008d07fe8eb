//! Adding the evidence of good behaviour to other evidence.

use judge::evidence::{Evidence, Record, read, write};
use serde_json::Value;

use crate::scene::Steps;

/// Fields that hold a moment, in every record.
const MOMENTS: [&str; 20] = [
    "at",
    "from",
    "to",
    "arrived",
    "head",
    "received",
    "sent",
    "answered",
    "first_byte",
    "ended",
    "held",
    "released",
    "accepted",
    "closed",
    "start",
    "end",
    "applied",
    "healed",
    "since",
    "worst_at",
];
/// Fields that number records; two runs count alike.
const NUMBERS: [&str; 2] = ["seq", "conn"];
/// Fields that name things by words of the run's own.
const NAMES: [&str; 5] = ["key", "downstream_key", "charge", "id", "rule"];
/// Fields that hold the digits of an identity.
const DIGITS: [&str; 3] = ["trace", "parent", "span"];

/// `base`, and after its end `more` under names of its own, as if it had gone on in the same run.
pub fn added(base: &Evidence, more: &Evidence, nth: u8, steps: Steps) -> Evidence {
    let later = end(base) + 10_000_000_000;
    // Taken apart field by field, so that a list which is new in the format cannot be forgotten here.
    let Evidence {
        header: _,
        steps: more_steps,
        attempts,
        connections,
        outcomes,
        ledger,
        bank,
        spans,
        breakers,
        faults,
        edges,
        canary,
        disk,
        notes,
        sealed: _,
    } = relabelled(more, nth, later, steps);
    let mut all = base.clone();
    for step in &more_steps {
        match all.steps.iter_mut().find(|s| s.name == step.name) {
            Some(known) => (known.to, known.planned) = (known.to.max(step.to), known.planned + step.planned),
            None => all.steps.push(step.clone()),
        }
    }
    all.attempts.extend(attempts);
    all.connections.extend(connections);
    all.outcomes.extend(outcomes);
    all.bank.extend(bank);
    all.spans.extend(spans);
    all.breakers.extend(breakers);
    all.faults.extend(faults);
    all.edges.extend(edges);
    all.canary.extend(canary);
    all.disk.extend(disk);
    all.notes.extend(notes);
    // The last reading of the whole run has the rows of both parts.
    let before: Vec<_> = base.final_ledger().map(|l| l.rows.clone()).unwrap_or_default();
    for mut reading in ledger {
        reading.rows.extend(before.iter().cloned());
        all.ledger.push(reading);
    }
    if let Some(reading) = all.ledger.iter_mut().max_by_key(|l| l.at) {
        reading.at = reading.at.max(judge::evidence::At(end_of_outcomes(&all.outcomes)));
    }
    all
}

fn end_of_outcomes(outcomes: &[judge::evidence::Outcome]) -> u64 {
    outcomes.iter().map(|o| o.ended.0).max().unwrap_or(0)
}

/// The last moment that any record names.
pub fn end(evidence: &Evidence) -> u64 {
    let attempts = evidence.attempts.iter().map(|a| a.reply.ended.0);
    let ledger = evidence.ledger.iter().map(|l| l.at.0);
    let others = evidence.breakers.iter().map(|b| b.at.0);
    attempts.chain(ledger).chain(others).chain([end_of_outcomes(&evidence.outcomes)]).max().unwrap_or(0)
}

/// The same story with other keys, traces and numbers, `later` nanoseconds later.
fn relabelled(evidence: &Evidence, nth: u8, later: u64, steps: Steps) -> Evidence {
    let mut bytes = Vec::new();
    write(evidence, &mut bytes).expect("memory");
    let mut out = Evidence::new(evidence.header.clone());
    let text = String::from_utf8(bytes).expect("JSON");
    for line in text.lines().skip(1) {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        if value.get("seal").is_some() {
            continue;
        }
        let is_step = value.get("step").is_some_and(Value::is_object);
        relabel(&mut value, &|name, value| {
            if let Some(number) = value.as_u64() {
                let add = if MOMENTS.contains(&name) {
                    later
                } else if NUMBERS.contains(&name) {
                    1_000_000 * u64::from(nth)
                } else {
                    0
                };
                *value = (number + add).into();
            } else if let Some(text) = value.as_str() {
                let step = name == "step" || (is_step && name == "name");
                if NAMES.contains(&name) {
                    *value = format!("clean-{nth}-{text}").into();
                } else if DIGITS.contains(&name) {
                    *value = format!("{:02x}{}", 0x80 | nth, &text[2..]).into();
                } else if step && steps == Steps::Anew {
                    *value = anew(text, nth).into();
                }
            }
        });
        out.push(serde_json::from_value::<Record>(value).expect("still a record"));
    }
    out
}

/// `trip/2` becomes `trip/c1-2`. Steps that have no number are the same step again.
fn anew(step: &str, nth: u8) -> String {
    step.split_once('/').map_or_else(|| step.to_owned(), |(base, x)| format!("{base}/c{nth}-{x}"))
}

/// Every leaf with the name of the field that holds it.
fn relabel(value: &mut Value, change: &impl Fn(&str, &mut Value)) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if inner.is_object() || inner.is_array() {
                    relabel(inner, change);
                } else {
                    change(name, inner);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| relabel(item, change)),
        _ => {}
    }
}

/// Proves that what is added is what was there, under other names and later: relabelled evidence survives the codec, is
/// as large, and shares neither key, trace nor number with the original.
#[test]
fn added_evidence_is_disjoint() {
    for scene in crate::scene::SCENES.iter() {
        let more = relabelled(&scene.more, 1, 1_000, scene.steps);
        let mut bytes = Vec::new();
        write(&Evidence { sealed: true, ..more.clone() }, &mut bytes).expect("memory");
        assert_eq!(read(bytes.as_slice()).expect("sealed").attempts, more.attempts);
        let sizes = |e: &Evidence| (e.attempts.len(), e.outcomes.len(), e.bank.len(), e.spans.len(), e.ledger.len());
        assert_eq!(sizes(&more), sizes(&scene.more), "{}", scene.name);
        for outcome in &more.outcomes {
            let shares = |o: &judge::evidence::Outcome| {
                o.seq == outcome.seq
                    || o.context.trace == outcome.context.trace
                    || (o.key.is_some() && o.key == outcome.key)
            };
            assert!(!scene.more.outcomes.iter().any(shares), "{}: {outcome:?}", scene.name);
        }
        assert!(more.attempts.iter().zip(&scene.more.attempts).all(|(a, b)| a.arrived.0 == b.arrived.0 + 1_000));
    }
}
