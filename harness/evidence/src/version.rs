//! The format's version: what is written, what is read, and what is made of records that a later harness wrote.
//!
//! The version counts changes that break a reader, the minor those that only add: a kind of record, an optional field, a
//! word of an enumeration. Files from before minors were counted name none and are minor 0. Every minor of a known version
//! is read; what a later one added is left out, counted, and spoils the verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::codec::{CodecError, Record};
use super::{Header, Note, NoteWeight, time::At};

/// The format's name.
pub const FORMAT: &str = "harness-evidence";
/// The version this build writes; it reads every version up to this one.
pub const VERSION: u32 = 1;
/// The minor this build writes. It reads every one, and says what it did not know of a later one.
pub const MINOR: u32 = 3;

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
    #[serde(default)]
    pub(super) minor: u32,
    pub(super) header: Header,
}

impl Head {
    /// The first line that this build writes.
    pub(super) fn new(header: Header) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, minor: MINOR, header }
    }

    /// Reads the first line.
    ///
    /// # Errors
    /// When it is not ours, or of a version that this build does not know.
    pub(super) fn read(line: &[u8]) -> Result<Self, CodecError> {
        #[derive(Deserialize)]
        struct Probe {
            format: String,
            version: u32,
        }
        let probe: Probe = serde_json::from_slice(line).map_err(|e| CodecError::NotEvidence(e.to_string()))?;
        if probe.format != FORMAT {
            return Err(CodecError::NotEvidence(format!("its format is `{}`", probe.format)));
        }
        match probe.version {
            0 => Err(CodecError::NotEvidence("its version is 0, and the first one was 1".to_owned())),
            1..=VERSION => serde_json::from_slice(line).map_err(|e| CodecError::NotEvidence(e.to_string())),
            found => Err(CodecError::TooNew { found }),
        }
    }

    /// Whether a later harness wrote it.
    pub(super) fn is_newer(&self) -> bool {
        self.minor > MINOR
    }
}

/// The kind of a record that only a later minor knows, or in which it says a word that this build does not know. `None`
/// when the line is no record of any minor.
pub(super) fn unknown_record(line: &[u8]) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let mut fields = fields.into_iter();
    let (kind, value) = fields.next().filter(|_| fields.next().is_none())?;
    (is_word(&kind) && value.is_object()).then_some(kind)
}

/// The format's names are of this form; whatever else a file says is not repeated to people.
fn is_word(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The first field of a record that this build does not know, e.g. `attempt.reply.colour`. One that says nothing (null, or
/// empty) is none.
pub(super) fn unknown_field(line: &[u8], record: &Record) -> Option<String> {
    let written: Value = serde_json::from_slice(line).ok()?;
    let known = serde_json::to_value(record).ok()?;
    beyond(&written, &known).map(|path| path.join("."))
}

fn beyond<'v>(written: &'v Value, known: &Value) -> Option<Vec<&'v str>> {
    match (written, known) {
        (Value::Object(written), Value::Object(known)) => written.iter().find_map(|(name, value)| {
            let inner = match known.get(name) {
                Some(known) => beyond(value, known)?,
                None if says_nothing(value) => return None,
                None => Vec::new(),
            };
            let name = if is_word(name) { name.as_str() } else { "?" };
            Some(std::iter::once(name).chain(inner).collect())
        }),
        (Value::Array(written), Value::Array(known)) => written.iter().zip(known).find_map(|(w, k)| beyond(w, k)),
        _ => None,
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Counts a record that was only half understood. A file that knows ever more kinds has them counted together.
pub(super) fn count_unknown(unknown: &mut BTreeMap<String, u64>, what: String) {
    const MOST_KINDS: usize = 20;
    let known = unknown.len() < MOST_KINDS || unknown.contains_key(&what);
    *unknown.entry(if known { what } else { "others".to_owned() }).or_default() += 1;
}

/// What a reader has to say of them: nobody may pass on evidence that was only half understood.
pub(super) fn unknown_note(unknown: &BTreeMap<String, u64>, minor: u32) -> Option<Note> {
    let records: u64 = unknown.values().sum();
    let kinds: Vec<String> = unknown.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    let text = || {
        format!(
            "{records} records of format {VERSION}.{minor} hold what this build, which knows {VERSION}.{MINOR}, does not \
             ({}): judge it with the harness that recorded it, or a newer one",
            kinds.join(", ")
        )
    };
    (records > 0).then(|| Note {
        at: At(0),
        weight: NoteWeight::Spoils,
        code: "newer-records".to_owned(),
        text: text(),
    })
}
