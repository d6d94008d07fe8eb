//! The ledger over HTTP.

use harness::probe::{LedgerFields, LedgerProbe, ProbeError, ProbeLimits, code};
use judge::evidence::{LedgerRow, NoteWeight};
use serde_json::{Value, json};

use crate::kit::*;

fn fields() -> LedgerFields {
    let at = |pointer: &str| Some(pointer.to_owned());
    LedgerFields {
        key: at("/idempotencyKey"),
        id: at("/id"),
        downstream_key: at("/bank/key"),
        amount: at("/bank/amount~1cents"),
        status: at("/state"),
    }
}

async fn probe(document: &Value, rows: &str, fields: LedgerFields) -> LedgerProbe {
    let url = serve(200, "application/json", document.to_string()).await;
    LedgerProbe::Http { url, rows: rows.to_owned(), fields, settled: vec!["done".to_owned(), "paid".to_owned()] }
}

/// Rows are found by pointer and mapped field by field, nested and escaped pointers included; null and absence are the
/// same, and numbers may be identities. Bound by equality.
#[tokio::test]
async fn rows_are_mapped_by_pointer() {
    let document = json!({"data": {"payments": [
        {"idempotencyKey": "k1", "id": 7, "bank": {"key": "b1", "amount/cents": 1250}, "state": "paid", "more": [1]},
        {"idempotencyKey": "k2", "id": u64::MAX, "bank": {"key": null, "amount/cents": "300"}, "state": "done"},
        {"idempotencyKey": "k3", "state": "open"}
    ]}});
    let got = read(&probe(&document, "/data/payments", fields()).await).await.expect("a good document");
    let some = |s: &str| Some(s.to_owned());
    let rows = [
        LedgerRow {
            key: some("k1"),
            id: some("7"),
            downstream_key: some("b1"),
            amount: Some(1250),
            status: some("paid"),
            settled: true,
        },
        LedgerRow {
            key: some("k2"),
            id: some("18446744073709551615"),
            downstream_key: None,
            amount: Some(300),
            status: some("done"),
            settled: true,
        },
        LedgerRow {
            key: some("k3"),
            id: None,
            downstream_key: None,
            amount: None,
            status: some("open"),
            settled: false,
        },
    ];
    assert_eq!((got.reading.rows.as_slice(), got.reading.source.as_str(), got.notes.len()), (&rows[..], "http", 0));
}

/// The document itself may be the array, and an empty one is a reading without rows.
#[tokio::test]
async fn the_document_may_be_the_array() {
    let only_key = LedgerFields { key: fields().key, ..LedgerFields::default() };
    for (document, expected) in [(json!([{"idempotencyKey": "k"}]), vec![row("k", true)]), (json!([]), vec![])] {
        let url = serve(200, "application/json", document.to_string()).await;
        let probe = LedgerProbe::Http { url, rows: String::new(), fields: only_key.clone(), settled: Vec::new() };
        assert_eq!(read(&probe).await.expect("a good document").reading.rows, expected);
    }
}

/// Each way to point wrong has an error that shows the pointer and what is there instead.
#[tokio::test]
async fn wrong_pointers_are_explained() {
    let good = json!({"rows": [{"idempotencyKey": "k", "state": "paid"}]});
    let with = |key: &str, status: &str| LedgerFields {
        key: Some(key.to_owned()),
        status: Some(status.to_owned()),
        ..LedgerFields::default()
    };
    let cases: [(Value, &str, LedgerFields, &[&str]); 7] = [
        (good.clone(), "/row", fields(), &["`/row`", "not there"]),
        (good.clone(), "", fields(), &["an object with `rows`", "array of ledger rows"]),
        (good.clone(), "/rows", with("idempotencyKey", "/state"), &["write `/idempotencyKey`"]),
        (good.clone(), "/rows", with("/key", "/state"), &["`/key`", "an object with `idempotencyKey`, `state`"]),
        (
            json!({"rows": [{"idempotencyKey": {}, "state": "paid"}]}),
            "/rows",
            with("/idempotencyKey", "/state"),
            &["row 1", "an object"],
        ),
        (json!({"rows": ["k"]}), "/rows", with("/idempotencyKey", "/state"), &["row 1", "the text `k`"]),
        (good.clone(), "/rows", LedgerFields::default(), &["neither `key`"]),
    ];
    for (document, rows, fields, parts) in cases {
        says(read(&probe(&document, rows, fields).await).await, parts);
    }
    let bad = json!({"rows": [{"idempotencyKey": "k", "state": "paid", "bank": {"amount/cents": 12.5}}]});
    let error = says(read(&probe(&bad, "/rows", fields()).await).await, &["row 1, `amount`", "12.5"]);
    assert!(matches!(error, ProbeError::Column { .. }));
}

/// More rows than the limit are cut off with a note that spoils a passing verdict.
#[tokio::test]
async fn too_many_rows_are_noted() {
    let rows: Vec<_> = (0..4).map(|n| json!({"idempotencyKey": n.to_string(), "state": "paid"})).collect();
    let only = LedgerFields { key: fields().key, status: fields().status, ..LedgerFields::default() };
    let probe = probe(&json!({"rows": rows}), "/rows", only).await;
    let got = probe.read("s", &TIME, &ProbeLimits { rows: 3, ..limits() }).await.expect("read");
    assert_eq!(got.reading.rows.len(), 3);
    let [note] = got.notes.as_slice() else { panic!("one note: {:?}", got.notes) };
    assert_eq!((note.code.as_str(), note.weight), (code::TOO_MANY_ROWS, NoteWeight::Spoils));
}
