//! Evidence survives the disk, a kill at any byte is readable, and tampering is seen.

use judge::evidence::*;

fn sample() -> Evidence {
    let header = Header {
        run: "r1".into(),
        scenario: "steady".into(),
        service: "payments".into(),
        seed: 7,
        placement: "simulated".into(),
        time: TimeBase { monotonic_ns: 10, wall_ns: 1_000 },
        eps_ns: 60_000_000,
        recorder: "0.1.0".into(),
    };
    let mut evidence = Evidence::new(header);
    for i in 0..5 {
        evidence.push(Record::Step(Step { name: format!("waves/{i}"), from: At(i), to: At(i + 1), planned: 3 }));
    }
    evidence.push(Record::Note(Note {
        at: At(3),
        weight: NoteWeight::Info,
        code: "x".into(),
        text: "line\nbreak \u{1b}[31m".into(),
    }));
    evidence.push(Record::Edge(FaultEdge {
        at: At(4),
        change: EdgeChange::Disarmed,
        kind: FaultKind::Rule,
        rule: "lost".into(),
        link: "*".into(),
        what: "response/reset".into(),
        epoch: 2,
        scope: None,
        since: Some(At(1)),
        fired: Some(3),
    }));
    evidence.sealed = true;
    evidence
}

fn bytes(evidence: &Evidence) -> Vec<u8> {
    let mut out = Vec::new();
    write(evidence, &mut out).unwrap();
    out
}

/// Written and read again, nothing differs.
#[test]
fn round_trip() {
    let evidence = sample();
    assert_eq!(read(&bytes(&evidence)[..]).unwrap(), evidence);
}

/// Cut at every byte after the header, the tolerant reader gives every whole record and says that the seal is missing.
#[test]
fn a_kill_at_any_byte_leaves_readable_evidence() {
    let evidence = sample();
    let whole = bytes(&evidence);
    let header_end = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in header_end..whole.len() - 1 {
        let (got, report) = read_tolerant(&whole[..cut]).unwrap();
        assert!(!report.sealed, "cut at {cut}");
        assert!(got.spoiling_notes().any(|n| n.code == "unsealed"));
        let lines = whole[header_end..cut].iter().filter(|b| **b == b'\n').count() as u64;
        assert!(report.records == lines || report.records == lines + 1, "cut at {cut}: {} of {lines}", report.records);
    }
}

/// Any changed record breaks the seal.
#[test]
fn tampering_is_seen() {
    let text = String::from_utf8(bytes(&sample())).unwrap();
    let changed = text.replace("\"planned\":3", "\"planned\":4");
    assert!(matches!(read(changed.as_bytes()), Err(CodecError::BrokenSeal { records: 7 })));
    let (got, report) = read_tolerant(changed.as_bytes()).unwrap();
    assert!(!report.sealed && !got.sealed);
}

/// What is not evidence, or is from the future, is refused with words.
#[test]
fn foreign_files_are_refused() {
    assert!(matches!(read(&b"hello\n"[..]), Err(CodecError::NotEvidence(_))));
    assert!(matches!(read(&b""[..]), Err(CodecError::NotEvidence(_))));
    assert!(matches!(
        read(&b"{\"format\":\"harness-evidence\",\"version\":99}\n"[..]),
        Err(CodecError::TooNew { found: 99 })
    ));
}

/// Only well-formed, non-zero trace contexts are accepted, and a good one survives its text form.
#[test]
fn traceparent() {
    let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(TraceContext::from_traceparent(good).unwrap().to_traceparent(), good);
    for bad in [
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
        "00-4bf92f3577b34da6a3ce929d0e0e473ü-00f067aa0ba902b7-01",
    ] {
        assert_eq!(TraceContext::from_traceparent(bad), None, "{bad}");
    }
}
