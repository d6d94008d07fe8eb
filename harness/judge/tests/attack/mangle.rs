//! Small damage to evidence, field by field, by way of its JSON: whatever the types let in.

use judge::evidence::{Evidence, Record, write};
use proptest::prelude::*;
use serde_json::Value;

/// One damage: where, and what.
#[derive(Debug, Clone)]
pub struct Damage {
    record: usize,
    field: usize,
    harm: Harm,
}

#[derive(Debug, Clone)]
enum Harm {
    /// A number becomes this one.
    Number(i128),
    /// A text becomes this one.
    Text(String),
    /// A field takes the value of the same field in another record.
    Borrow(usize),
    /// A field is gone.
    Remove,
    /// A record is there twice.
    Twice,
    /// A record is gone.
    Lose,
}

fn harm() -> impl Strategy<Value = Harm> {
    let edges = [
        0,
        1,
        2,
        i128::from(u16::MAX),
        i128::from(u32::MAX),
        i128::from(i64::MAX),
        i128::from(i64::MIN),
        i128::from(u64::MAX) - 1,
        i128::from(u64::MAX),
    ];
    let texts =
        ["", "/", "case/", "case/503", "probe/1", "trip", "bank", "-1", "NaN", "\u{1b}[31m", "99999999999999999999"];
    prop_oneof![
        4 => prop::sample::select(edges.to_vec()).prop_map(Harm::Number),
        2 => prop::sample::select(texts.to_vec()).prop_map(|t| Harm::Text(t.to_owned())),
        4 => any::<usize>().prop_map(Harm::Borrow),
        2 => Just(Harm::Remove),
        1 => Just(Harm::Twice),
        1 => Just(Harm::Lose),
    ]
}

/// Up to `most` damages.
pub fn damages(most: usize) -> impl Strategy<Value = Vec<Damage>> {
    let one = (any::<usize>(), any::<usize>(), harm());
    prop::collection::vec(one.prop_map(|(record, field, harm)| Damage { record, field, harm }), 1..most)
}

/// The evidence with each damage done that leaves a record a record.
pub fn mangled(evidence: &Evidence, damages: &[Damage]) -> Evidence {
    let mut bytes = Vec::new();
    write(evidence, &mut bytes).expect("memory");
    let text = String::from_utf8(bytes).expect("JSON");
    let mut records: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .filter(|v: &Value| v.get("seal").is_none())
        .collect();
    for damage in damages {
        if records.is_empty() {
            break;
        }
        hurt(&mut records, damage);
    }
    let mut out = Evidence { sealed: evidence.sealed, ..Evidence::new(evidence.header.clone()) };
    records.into_iter().for_each(|value| out.push(serde_json::from_value(value).expect("checked before")));
    out
}

fn hurt(records: &mut Vec<Value>, Damage { record, field, harm }: &Damage) {
    let at = record % records.len();
    match harm {
        Harm::Twice => records.push(records[at].clone()),
        Harm::Lose => drop(records.swap_remove(at)),
        Harm::Number(_) | Harm::Text(_) | Harm::Borrow(_) | Harm::Remove => {
            let mut paths = Vec::new();
            leaves(&records[at], String::new(), &mut paths);
            let Some(path) = paths.get(field % paths.len().max(1)) else { return };
            let value = match harm {
                Harm::Number(n) => number(*n),
                Harm::Text(text) => text.clone().into(),
                Harm::Borrow(from) => match records[from % records.len()].pointer(path) {
                    Some(value) => value.clone(),
                    None => return,
                },
                _ => Value::Null,
            };
            let mut changed = records[at].clone();
            if let Some(place) = changed.pointer_mut(path) {
                *place = value;
            }
            if serde_json::from_value::<Record>(changed.clone()).is_ok() {
                records[at] = changed;
            }
        }
    }
}

fn number(n: i128) -> Value {
    u64::try_from(n).map(Value::from).unwrap_or_else(|_| i64::try_from(n).unwrap_or(i64::MIN).into())
}

/// JSON pointers of everything that is no object or list.
fn leaves(value: &Value, path: String, found: &mut Vec<String>) {
    let below = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| leaves(inner, below(name), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| leaves(inner, below(&i.to_string()), found))
        }
        _ => found.push(path),
    }
}
