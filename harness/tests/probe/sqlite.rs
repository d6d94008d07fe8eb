//! The ledger in a SQLite file, as the service leaves it: in use, locked, crashed, missing, or asked the wrong thing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::probe::{LedgerProbe, ProbeError, ProbeLimits, code};
use judge::evidence::{LedgerRow, NoteWeight};
use rusqlite::Connection;

use crate::kit::*;

/// A directory of its own, gone with the test.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("probe-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path).expect("a temporary directory");
        Self(path)
    }

    fn db(&self) -> PathBuf {
        self.0.join("ledger.db")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A ledger as a service writes it, in the journal mode that most use.
fn ledger(path: &Path) -> Connection {
    let db = Connection::open(path).expect("a new file");
    db.execute_batch(
        "PRAGMA journal_mode=WAL;
         CREATE TABLE payments (id INTEGER PRIMARY KEY, idem TEXT, bank_key TEXT, cents INTEGER, state TEXT, note BLOB);
         INSERT INTO payments VALUES (1, 'k1', 'b1', 1250, 'SETTLED', x'00'), (2, 'k2', NULL, 300, 'PENDING', NULL),
                                     (3, NULL, 'b3', NULL, NULL, NULL);",
    )
    .expect("a good batch");
    db
}

fn probe(path: &Path, query: &str) -> LedgerProbe {
    LedgerProbe::Sqlite { path: path.to_owned(), query: query.to_owned(), settled: vec!["SETTLED".to_owned()] }
}

const QUERY: &str = "SELECT idem AS key, id, bank_key AS DOWNSTREAM_KEY, cents AS amount, state AS status \
                     FROM payments ORDER BY id";

/// Rows come whole while the service has the file open, with NULL as absence, and only the declared status is settled.
/// An empty ledger is a reading without rows. Bound by equality.
#[tokio::test]
async fn rows_are_mapped_by_column_name() {
    let dir = Dir::new();
    let db = ledger(&dir.db());
    let got = read(&probe(&dir.db(), QUERY)).await.expect("a good query");
    let (reading, some) = (got.reading, |s: &str| Some(s.to_owned()));
    let rows = [
        LedgerRow {
            key: some("k1"),
            id: some("1"),
            downstream_key: some("b1"),
            amount: Some(1250),
            status: some("SETTLED"),
            settled: true,
        },
        LedgerRow {
            key: some("k2"),
            id: some("2"),
            downstream_key: None,
            amount: Some(300),
            status: some("PENDING"),
            settled: false,
        },
        LedgerRow { key: None, id: some("3"), downstream_key: some("b3"), amount: None, status: None, settled: false },
    ];
    assert_eq!(
        (reading.rows.as_slice(), reading.source.as_str(), reading.step.as_str()),
        (&rows[..], "sqlite", "final")
    );
    assert_eq!(got.notes, []);
    db.execute("DELETE FROM payments", []).expect("a good statement");
    assert_eq!(read(&probe(&dir.db(), QUERY)).await.expect("no rows are rows too").reading.rows, []);
}

/// Without a status column every row is an effect that took place.
#[tokio::test]
async fn without_a_status_every_row_is_settled() {
    let dir = Dir::new();
    let _db = ledger(&dir.db());
    let query = "SELECT idem AS key FROM payments WHERE id < 3 ORDER BY id".to_owned();
    let probe = LedgerProbe::Sqlite { path: dir.db(), query, settled: Vec::new() };
    assert_eq!(read(&probe).await.expect("a good query").reading.rows, [row("k1", true), row("k2", true)]);
}

/// What a killed service leaves (its write-ahead log, not yet merged) is read with every committed row and without the
/// open transaction. The files are copied while the writer is in mid-transaction, which is what SIGKILL leaves.
#[tokio::test]
async fn a_crashed_ledger_is_read_with_its_log() {
    let (dir, crashed) = (Dir::new(), Dir::new());
    let db = ledger(&dir.db());
    // Small enough a cache that the open transaction spills into the log.
    db.execute_batch("PRAGMA cache_size=2; BEGIN;").expect("a good batch");
    for n in 0..200 {
        db.execute("INSERT INTO payments (idem, note) VALUES (?1, zeroblob(2000))", [n]).expect("a good statement");
    }
    for suffix in ["", "-wal"] {
        let name = format!("ledger.db{suffix}");
        std::fs::copy(dir.0.join(&name), crashed.0.join(&name)).expect("it exists");
    }
    assert!(
        std::fs::metadata(crashed.0.join("ledger.db-wal")).expect("copied").len() > 100_000,
        "the log has the spill"
    );
    let reading = read(&probe(&crashed.db(), QUERY)).await.expect("recovered").reading;
    assert_eq!(reading.rows.iter().map(|r| r.id.as_deref()).collect::<Vec<_>>(), [Some("1"), Some("2"), Some("3")]);
}

/// A database whose lock is not given back is an error that says so, after waiting for it and not for ever; one whose
/// lock is given back in time is read.
#[tokio::test]
async fn a_lock_is_waited_for_and_then_named() {
    let dir = Dir::new();
    let db = ledger(&dir.db());
    db.execute_batch("PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE").expect("the lock");
    let short = ProbeLimits { time: Duration::from_millis(200), ..limits() };
    let began = Instant::now();
    let result = probe(&dir.db(), QUERY).read("s", &TIME, &short).await;
    assert!(began.elapsed() >= Duration::from_millis(90), "it was waited for");
    let error = says(result, &["ledger.db", "locked", "transaction"]);
    assert!(matches!(error, ProbeError::Locked { .. }));

    let probe = probe(&dir.db(), QUERY);
    let reading = tokio::spawn(async move { read(&probe).await });
    tokio::task::yield_now().await;
    db.execute_batch("COMMIT").expect("the lock is given back");
    assert_eq!(reading.await.expect("no panic").expect("read after the lock").reading.rows.len(), 3);
}

/// A query without end is interrupted at the time limit, and its thread with it: the runtime can be left, which waits
/// for its blocking threads.
#[tokio::test]
async fn a_query_without_end_is_interrupted() {
    let dir = Dir::new();
    let _db = ledger(&dir.db());
    let endless = "WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM n) SELECT max(key) AS key, 'x' AS status FROM n";
    let short = ProbeLimits { time: Duration::from_millis(100), ..limits() };
    let error = says(probe(&dir.db(), endless).read("s", &TIME, &short).await, &["100ms", "cheaper"]);
    assert!(matches!(error, ProbeError::Timeout { .. }));
}

/// A file that is not there, or is no database: the error names it and creates nothing.
#[tokio::test]
async fn a_file_that_is_no_ledger_is_named() {
    let dir = Dir::new();
    let error = says(read(&probe(&dir.db(), QUERY)).await, &["ledger.db", "must have created it"]);
    assert!(matches!(error, ProbeError::Open { .. }) && !dir.db().exists());
    std::fs::write(dir.db(), "this is a text of more than a hundred bytes, ".repeat(30)).expect("written");
    assert!(matches!(says(read(&probe(&dir.db(), QUERY)).await, &["ledger.db"]), ProbeError::Open { .. }));
}

/// Each way to ask the wrong thing has an error that shows the query or the column, and what to write instead; nothing is
/// changed in the ledger.
#[tokio::test]
async fn wrong_queries_are_explained() {
    let dir = Dir::new();
    let db = ledger(&dir.db());
    let cases: [(&str, &[&str]); 12] = [
        ("SELECT nope AS key, state AS status FROM payments", &["no such column: nope", "SELECT nope"]),
        ("SELECT idem AS key, state AS stauts FROM payments", &["`stauts`", "did you mean `status`", "AS"]),
        ("SELECT * FROM payments", &["`idem`", "key, id, downstream_key, amount and status"]),
        ("SELECT id, state AS status FROM payments", &["neither `key` nor `downstream_key`"]),
        ("SELECT idem AS key FROM payments", &["no `status`"]),
        ("SELECT idem AS key, bank_key AS key, state AS status FROM payments", &["`key` is returned twice"]),
        ("SELECT idem AS key, note AS id, state AS status FROM payments", &["row 1, `id`", "BLOB", "hex()"]),
        ("SELECT idem AS key, 12.5 AS amount, state AS status FROM payments", &["`amount`", "12.5", "minor units"]),
        ("SELECT idem AS key, 'EUR 1' AS amount, state AS status FROM payments", &["`EUR 1`"]),
        ("DELETE FROM payments RETURNING idem AS key, state AS status", &["one SELECT"]),
        ("SELECT idem AS key, state AS status FROM payments; DELETE FROM payments", &["ultiple statements"]),
        ("SELECT idem AS key, state AS status FROM payments WHERE id = ?1", &["parameters"]),
    ];
    for (query, parts) in cases {
        says(read(&probe(&dir.db(), query)).await, parts);
    }
    let left: i64 = db.query_row("SELECT count(*) FROM payments", [], |r| r.get(0)).expect("a good query");
    assert_eq!(left, 3);
    let undeclared = LedgerProbe::Sqlite { path: dir.db(), query: QUERY.to_owned(), settled: Vec::new() };
    says(read(&undeclared).await, &["no status is declared settled"]);
}

/// Whole amounts are read from any column type.
#[tokio::test]
async fn whole_amounts_are_read_from_any_type() {
    let dir = Dir::new();
    let _db = ledger(&dir.db());
    let query = "SELECT 'a' AS key, 1250.0 AS amount, '' AS status UNION ALL SELECT 'b', ' -7 ', '' UNION ALL SELECT 'c', 9223372036854775807, ''";
    let rows = read(&probe(&dir.db(), query)).await.expect("a good query").reading.rows;
    assert_eq!(rows.iter().map(|r| r.amount).collect::<Vec<_>>(), [Some(1250), Some(-7), Some(i64::MAX)]);
}

/// More rows than the limit: the first ones are read and the note, which spoils a passing verdict, says that there are
/// more. At the limit itself there is no note. Too many bytes are an error.
#[tokio::test]
async fn too_much_is_noted_or_refused() {
    let dir = Dir::new();
    let _db = ledger(&dir.db());
    for (rows, noted) in [(2, true), (3, false)] {
        let got = probe(&dir.db(), QUERY).read("s", &TIME, &ProbeLimits { rows, ..limits() }).await.expect("read");
        assert_eq!((got.reading.rows.len(), got.notes.len()), (rows, usize::from(noted)));
        for note in got.notes {
            assert_eq!((note.code.as_str(), note.weight), (code::TOO_MANY_ROWS, NoteWeight::Spoils));
            assert!(note.text.contains("2 rows"), "{}", note.text);
        }
    }
    let wide = "SELECT hex(zeroblob(100000)) AS key, 'SETTLED' AS status FROM payments";
    let result = probe(&dir.db(), wide).read("s", &TIME, &ProbeLimits { bytes: 300_000, ..limits() }).await;
    assert!(matches!(says(result, &["300000 bytes"]), ProbeError::TooLarge { .. }));
}
