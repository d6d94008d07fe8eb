//! Evidence that another harness wrote: older, newer, from another world.

use std::path::{Path, PathBuf};

use judge::Ruling;
use judge::checks::trust;
use judge::evidence::*;

use crate::samples::{header, records};

fn older() -> Vec<(String, Vec<u8>)> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence_format/older");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), std::fs::read(&path).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

/// Proves that evidence of each older shape is read, whole and sealed, that what it did not have yet is absent, and that it
/// is written again as evidence of today.
#[test]
fn older_shapes_are_read() {
    let files = older();
    assert_eq!(
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["1.0-before-copies", "1.0-first", "1.0-last", "1.1-last", "1.2-last"]
    );
    for (name, bytes) in files {
        let minor = name[2..3].parse::<u32>().expect("its minor");
        let (last, since_1) = (name.ends_with("-last"), minor >= 1);
        let evidence = read(bytes.as_slice()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(evidence.sealed && evidence.spoiling_notes().next().is_none(), "{name}");
        let (tolerant, report) = read_tolerant(bytes.as_slice()).expect("readable");
        assert_eq!((&tolerant, report.minor, report.bad), (&evidence, minor, 0), "{name}");
        let [attempt] = evidence.attempts.as_slice() else { panic!("{name}: one attempt") };
        assert_eq!(attempt.key.as_deref(), Some("key-1"), "{name}");
        assert_eq!(attempt.upstream.grpc_status.is_some(), name != "1.0-first", "{name}");
        assert_eq!(attempt.upstream.copies.len(), usize::from(last), "{name}");
        assert_eq!(attempt.scope.is_some(), last, "{name}");
        assert_eq!(evidence.edges.len(), if last { 1 + usize::from(since_1) } else { 0 }, "{name}");
        let [outcome] = evidence.outcomes.as_slice() else { panic!("{name}: one outcome") };
        let reply = outcome.reply().expect("a reply");
        let told = [&outcome.caller, &outcome.route, &reply.age, &reply.word].map(Option::is_some);
        assert_eq!((told, outcome.replica.is_some()), ([since_1; 4], since_1), "{name}");
        assert_eq!(evidence.bank[0].link.is_some(), since_1, "{name}");
        assert_eq!(evidence.breakers[0].from.is_some(), since_1, "{name}");
        assert_eq!(evidence.disk_max_ns(), (minor >= 2).then_some(800), "{name}: the disk is watched since 1.2");
        let canaries = (evidence.canary.len(), evidence.echoes().count(), evidence.waits().count());
        assert_eq!(canaries.2, 0, "{name}: nobody asked how long a service waited");
        assert_eq!(canaries.0, canaries.1, "{name}: every canary was the harness's own");
        let mut again = Vec::new();
        write(&evidence, &mut again).expect("memory");
        assert_eq!(read(again.as_slice()).expect("sealed"), evidence, "{name}");
    }
}

/// A file of a minor that this build does not know: `lines` after the header, sealed.
fn newer(minor: u32, lines: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut evidence = Evidence::new(header());
    records(true).into_iter().take(2).for_each(|r| evidence.push(r));
    write(&evidence, &mut bytes).expect("memory");
    let text = String::from_utf8(bytes).expect("JSON").replacen(
        &format!("\"minor\":{MINOR}"),
        &format!("\"minor\":{minor}"),
        1,
    );
    let mut text = format!("{text}{}", lines.iter().map(|l| format!("{l}\n")).collect::<String>());
    let digest = sha256(text.as_bytes());
    text += &format!("{{\"seal\":{{\"records\":{},\"sha256\":\"{digest}\"}}}}\n", 2 + lines.len());
    text.into_bytes()
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Proves that a newer minor is read: what is known of it is kept, what is not is counted, and nobody passes on it.
#[test]
fn a_newer_minor_is_read_and_spoils() {
    let step = r#"{"step":{"name":"x","from":1,"to":2,"planned":1,"colour":"red","shape":null,"list":[]}}"#;
    let nested = r#"{"canary":{"samples":1,"max_ns":1,"p99_ns":1,"worst_at":1,"more":{"deep":1}}}"#;
    let unknown = r#"{"audit":{"at":1}}"#;
    let word = r#"{"note":{"at":1,"weight":"shouts","code":"x","text":"y"}}"#;
    let bytes = newer(MINOR + 1, &[step, unknown, unknown, word, nested]);
    let (evidence, report) = read_tolerant(bytes.as_slice()).expect("readable");
    assert_eq!((report.minor, report.records, report.bad, report.sealed), (MINOR + 1, 7, 0, true));
    let counted: Vec<_> = report.unknown.iter().map(|(what, n)| (what.as_str(), *n)).collect();
    assert_eq!(counted, [("audit", 2), ("canary.more", 1), ("note", 1), ("step.colour", 1)]);
    assert!(evidence.step("x").is_some() && evidence.canary.len() == 1, "what is known of them is kept");
    let note = evidence.spoiling_notes().next().expect("a note");
    assert_eq!(note.code, "newer-records");
    let of = format!("5 records of format {VERSION}.{}", MINOR + 1);
    assert!(note.text.starts_with(&of) && note.text.contains("audit 2"), "{}", note.text);
    assert_eq!(read(bytes.as_slice()).expect("its seal fits"), evidence, "the strict reader says the same");
    let finding = trust::faults_fired().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains("newer-records"), "{}", finding.headline);
}

/// Proves that a newer minor which adds nothing that is there spoils nothing.
#[test]
fn a_newer_minor_without_news_is_as_good_as_ours() {
    let evidence = read(newer(MINOR + 1, &[]).as_slice()).expect("its seal fits");
    assert_eq!((evidence.attempts.len(), evidence.steps.len()), (1, 1));
    assert_eq!(evidence.notes, [], "nothing to say");
    assert_eq!(trust::faults_fired().judge(&evidence).ruling, Ruling::Pass);
}

/// Proves that leniency is for newer minors alone: an unknown kind in a file of ours is a damaged line, and so is what is
/// no record at all in a newer one.
#[test]
fn a_known_minor_has_known_records() {
    let unknown = r#"{"audit":{"at":1}}"#;
    for minor in [0, MINOR] {
        let bytes = newer(minor, &[unknown]);
        assert!(matches!(read(bytes.as_slice()), Err(CodecError::BadLine { line: 4, .. })), "{minor}");
        let (_, report) = read_tolerant(bytes.as_slice()).expect("readable");
        assert_eq!((report.bad, report.unknown.len()), (1, 0), "{minor}");
    }
    for line in ["{\"a\u{1b}\":{}}", "{}", "[]", "{\"a\":1}", "{\"a\":{},\"b\":{}}", "nonsense"] {
        let bytes = newer(MINOR + 1, &[line]);
        assert!(matches!(read(bytes.as_slice()), Err(CodecError::BadLine { line: 4, .. })), "{line}");
    }
}

/// Proves that names of a hostile file are not repeated to people, and that ever more kinds are counted together.
#[test]
fn strange_names_are_not_repeated() {
    let field = "{\"step\":{\"name\":\"x\",\"from\":1,\"to\":2,\"planned\":1,\"\u{202e}evil\":1}}";
    let kinds: Vec<String> = (0..50).map(|n| format!("{{\"kind_{n}\":{{}}}}")).collect();
    let lines: Vec<&str> = std::iter::once(field).chain(kinds.iter().map(String::as_str)).collect();
    let (evidence, report) = read_tolerant(newer(9, &lines).as_slice()).expect("readable");
    assert_eq!((report.unknown.len(), report.unknown.values().sum::<u64>()), (21, 51));
    assert_eq!(report.unknown["others"], 31);
    let note = evidence.spoiling_notes().next().expect("a note");
    assert!(report.unknown.contains_key("step.?") && !note.text.contains('\u{202e}'), "{}", note.text);
}

/// Proves that a newer version is refused with what to do, and that there was none before the first.
#[test]
fn other_versions_are_refused() {
    let of = |version: u32| format!("{{\"format\":\"{FORMAT}\",\"version\":{version},\"header\":{{}}}}\n").into_bytes();
    for version in [VERSION + 1, u32::MAX] {
        let error = read_tolerant(of(version).as_slice()).expect_err("newer");
        assert!(matches!(error, CodecError::TooNew { found } if found == version));
        let words = error.to_string();
        assert!(words.contains(&version.to_string()) && words.contains("use a newer harness"), "{words}");
    }
    let error = read(of(0).as_slice()).expect_err("no such version");
    assert!(matches!(error, CodecError::NotEvidence(_)) && error.to_string().contains("version is 0"), "{error}");
}

/// Proves that damage is counted beyond what is named, that a line no recorder writes costs itself only, and that nothing
/// after a seal, or after one that does not fit, is sealed again.
#[test]
fn damage_costs_what_is_damaged() {
    let mut evidence = Evidence::new(header());
    let kept = records(true).len() as u64;
    records(true).into_iter().for_each(|r| evidence.push(r));
    evidence.sealed = true;
    let mut bytes = Vec::new();
    write(&evidence, &mut bytes).expect("memory");
    let text = String::from_utf8(bytes).expect("JSON");
    let head = text.find('\n').expect("a header") + 1;
    let damaged = format!("{}{}{}", &text[..head], "junk\n".repeat(150), &text[head..]);
    let (read_back, report) = read_tolerant(damaged.as_bytes()).expect("readable");
    assert_eq!((report.bad, report.bad_lines.len(), report.records), (150, MAX_BAD_LINES, kept));
    assert!(read_back.notes.iter().any(|n| n.text == "50 more lines were left out"));
    let long = format!("{}{}\n{}", &text[..head], "x".repeat(9 << 20), &text[head..]);
    let (read_back, report) = read_tolerant(long.as_bytes()).expect("readable");
    assert_eq!((report.bad, report.records, report.sealed), (1, kept, false));
    assert_eq!(read_back.attempts, evidence.attempts);
    assert!(matches!(read(long.as_bytes()), Err(CodecError::BadLine { line: 2, .. })));
    let seal = text.lines().last().expect("a seal");
    for after in [seal, r#"{"seal":{"records":0,"sha256":""}}"#] {
        let (_, report) = read_tolerant(format!("{text}{after}\n{seal}\n").as_bytes()).expect("readable");
        assert!(!report.sealed && report.bad >= 1, "{after}");
    }
}
