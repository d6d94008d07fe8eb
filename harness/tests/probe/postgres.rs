//! The ledger in PostgreSQL, read from a real server: in use, asked the wrong thing, not there.

use std::io::Write as _;

use harness::probe::{LedgerProbe, ProbeError, ProbeLimits, code};
use judge::evidence::{LedgerRow, NoteWeight};
use tokio_postgres::NoTls;

use crate::kit::*;

/// A schema of its own in the server that `PAYMENTS_TEST_POSTGRES` names, gone with the test. `None`, said aloud, when no
/// server was named: a skipped test must not look like one that ran.
struct Ledger {
    url: String,
    schema: String,
    client: tokio_postgres::Client,
}

impl Ledger {
    async fn new(test: &str) -> Option<Self> {
        let Ok(url) = std::env::var("PAYMENTS_TEST_POSTGRES") else {
            // Not `eprintln!`, which the test runner hides for tests that pass.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED {test}: set PAYMENTS_TEST_POSTGRES to the URL of a PostgreSQL database to run it"
            );
            return None;
        };
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the named server answers");
        tokio::spawn(connection);
        let schema = format!("probe_{}", uuid::Uuid::new_v4().simple());
        let ledger = Self { url, schema, client };
        ledger
            .run(
                "create schema SCHEMA;
                 CREATE TABLE SCHEMA.payments
                     (id uuid, idem text, bank_key varchar(9), cents bigint, euros numeric(9, 2), state text, n int);
                 INSERT INTO SCHEMA.payments VALUES
                     ('00000000-0000-0000-0000-000000000001', 'k1', 'b1', 1250, 12.50, 'SETTLED', 1),
                     ('00000000-0000-0000-0000-000000000002', 'k2', NULL, 300, 3.00, 'PENDING', 2),
                     (NULL, NULL, 'b3', NULL, NULL, NULL, 3);",
            )
            .await;
        Some(ledger)
    }

    /// `SCHEMA` stands for the schema of this test.
    fn text(&self, sql: &str) -> String {
        sql.replace("SCHEMA", &self.schema)
    }

    async fn run(&self, sql: &str) {
        self.client.batch_execute(&self.text(sql)).await.expect("a good batch");
    }

    fn probe(&self, query: &str) -> LedgerProbe {
        let settled = if query.contains("AS status") { vec!["SETTLED".to_owned()] } else { Vec::new() };
        LedgerProbe::Postgres { url: self.url.clone(), query: self.text(query), settled }
    }

    /// In place of a destructor, which could not wait.
    async fn gone(self) {
        self.client.batch_execute(&self.text("drop schema SCHEMA cascade")).await.expect("dropped");
    }
}

const QUERY: &str = "SELECT idem AS key, id, bank_key AS DOWNSTREAM_KEY, cents AS amount, state AS status \
                     FROM SCHEMA.payments ORDER BY n -- all of them";

/// Rows come whole and in the query's order whatever the types of their columns, with NULL as absence, and only the declared
/// status is settled. An empty ledger is a reading without rows. Bound by equality.
#[tokio::test]
async fn rows_are_mapped_by_column_name() {
    let Some(ledger) = Ledger::new("rows_are_mapped_by_column_name").await else { return };
    let reading = read(&ledger.probe(QUERY)).await.expect("a good query").reading;
    let some = |s: &str| Some(s.to_owned());
    let id = |n| Some(format!("00000000-0000-0000-0000-00000000000{n}"));
    let rows = [
        LedgerRow {
            key: some("k1"),
            id: id(1),
            downstream_key: some("b1"),
            amount: Some(1250),
            status: some("SETTLED"),
            settled: true,
        },
        LedgerRow {
            key: some("k2"),
            id: id(2),
            downstream_key: None,
            amount: Some(300),
            status: some("PENDING"),
            settled: false,
        },
        LedgerRow { key: None, id: None, downstream_key: some("b3"), amount: None, status: None, settled: false },
    ];
    assert_eq!((reading.rows.as_slice(), reading.source.as_str()), (&rows[..], "postgres"));
    let every = ledger.probe("SELECT idem AS key FROM SCHEMA.payments WHERE n < 3 ORDER BY n;\n");
    assert_eq!(read(&every).await.expect("a good query").reading.rows, [row("k1", true), row("k2", true)]);
    ledger.run("DELETE FROM SCHEMA.payments").await;
    assert_eq!(read(&ledger.probe(QUERY)).await.expect("no rows are rows too").reading.rows, []);
    ledger.gone().await;
}

/// More rows than a page are all read; more than the limit are cut off with a note that spoils; more bytes than the limit are
/// an error, and so is a query without end, which the server has then given up too.
#[tokio::test]
async fn a_reading_is_bounded() {
    let Some(ledger) = Ledger::new("a_reading_is_bounded").await else { return };
    let many = ledger.probe("SELECT 'k' || n AS key FROM generate_series(1, 1234) AS n ORDER BY n");
    let rows = read(&many).await.expect("a good query").reading.rows;
    assert_eq!((rows.len(), rows[1233].key.as_deref()), (1234, Some("k1234")));
    let few = ProbeLimits { rows: 1233, ..limits() };
    let got = many.read("final", &TIME, &few).await.expect("cut off");
    let notes: Vec<_> = got.notes.iter().map(|n| (n.weight, n.code.as_str())).collect();
    assert_eq!((got.reading.rows.len(), notes), (1233, vec![(NoteWeight::Spoils, code::TOO_MANY_ROWS)]));
    let small = ProbeLimits { bytes: 1_000, ..limits() };
    let error = many.read("final", &TIME, &small).await.expect_err("too much");
    assert!(matches!(error, ProbeError::TooLarge { limit: 1_000, .. }), "{error}");
    let endless = ledger.probe("SELECT 'k' AS key FROM pg_sleep(600)");
    let short = ProbeLimits { time: std::time::Duration::from_millis(300), ..limits() };
    let error = endless.read("final", &TIME, &short).await.expect_err("no end").to_string();
    assert!(error.contains("did not finish") || error.contains("statement timeout"), "{error}");
    ledger.gone().await;
}

/// What is no single SELECT over known columns is refused before it could do anything, and a function that writes cannot: the
/// error names the query and what the server said, and the table is as it was.
#[tokio::test]
async fn only_a_reading_query_is_taken() {
    let Some(ledger) = Ledger::new("only_a_reading_query_is_taken").await else { return };
    ledger
        .run(
            "CREATE FUNCTION SCHEMA.grab() RETURNS text LANGUAGE sql AS
                 $$ DELETE FROM SCHEMA.payments RETURNING 'x'::text $$;",
        )
        .await;
    for (query, says) in [
        ("DELETE FROM SCHEMA.payments RETURNING idem AS key", "syntax error"),
        ("DELETE FROM SCHEMA.payments", "one SELECT"),
        ("SELECT idem AS key FROM SCHEMA.payments; DELETE FROM SCHEMA.payments", "multiple commands"),
        ("SELECT SCHEMA.grab() AS key", "read-only transaction"),
        ("SELECT idem AS key FROM SCHEMA.payments WHERE n = $1", "parameters"),
        ("SELECT idem AS key FROM nowhere", "nowhere"),
        ("SELECT idem AS kee FROM SCHEMA.payments", "did you mean `key`"),
        ("SELECT idem AS key, idem AS key FROM SCHEMA.payments", "twice"),
        ("SELECT idem AS key, euros AS amount FROM SCHEMA.payments", "12.5 is not a whole number"),
        ("SELECT cents AS amount FROM SCHEMA.payments", "neither `key` nor `downstream_key`"),
    ] {
        let error = read(&ledger.probe(query)).await.expect_err(query).to_string();
        assert!(error.contains(says), "{query}: {error}");
    }
    let left = read(&ledger.probe("SELECT 'k' AS key FROM SCHEMA.payments")).await.expect("a good query");
    assert_eq!(left.reading.rows.len(), 3);
    ledger.gone().await;
}

/// A server that is not there, a database that it does not have, and a text that is no URL are errors that say where, and
/// never the password.
#[tokio::test]
async fn a_server_that_cannot_be_used_is_named() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("bound").port()
    };
    let mut urls = vec![
        (format!("postgres://u:hunter2@127.0.0.1:{nobody}/shop"), format!("127.0.0.1:{nobody}/shop")),
        ("postgres://u:hunter2@[::1/shop".to_owned(), "its url".to_owned()),
    ];
    if let Ok(url) = std::env::var("PAYMENTS_TEST_POSTGRES") {
        urls.push((url.replace("/postgres", "/no_such_database"), "no_such_database".to_owned()));
    }
    for (url, says) in urls {
        let (query, settled) = ("SELECT 'k' AS key".to_owned(), Vec::new());
        let error = read(&LedgerProbe::Postgres { url, query, settled }).await.expect_err("nobody there").to_string();
        assert!(error.contains(&says) && error.contains("postgres://USER"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
