//! A ledger in PostgreSQL.

use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, Error, NoTls, Transaction};

use super::ledger::Rows;
use super::row::{Cell, Column, RowMapper};
use super::{ProbeError, ProbeLimits, chain};

/// Rows that are fetched at a time: the limit on bytes is looked at in between.
const PAGE: i32 = 500;

pub(super) async fn read(url: &str, query: &str, settled: &[String], limits: &ProbeLimits) -> Result<Rows, ProbeError> {
    let job = Job { place: Place::of(url)?, query, settled, limits };
    match timeout(limits.time, job.run()).await {
        Ok(read) => read,
        Err(_) => Err(ProbeError::Timeout { what: format!("the ledger query `{query}`"), limit: limits.time }),
    }
}

struct Job<'a> {
    place: Place,
    query: &'a str,
    settled: &'a [String],
    limits: &'a ProbeLimits,
}

impl Job<'_> {
    async fn run(&self) -> Result<Rows, ProbeError> {
        let (mut client, _connection) = self.place.connect().await?;
        let columns = self.columns(&client).await?;
        let mapper = RowMapper::new(&columns, self.settled, "query")?;
        // A reader cannot change what it reads, whatever the query calls.
        let reading = client.build_transaction().read_only(true).start().await.map_err(|e| self.failed(&e))?;
        // The server ends the query even when we are not there any more to cancel it.
        let limit = self.limits.time.as_millis();
        let bound = format!("SET LOCAL statement_timeout = {limit}");
        reading.batch_execute(&bound).await.map_err(|e| self.failed(&e))?;
        self.rows(&reading, &mapper).await
    }

    /// The query's columns, in its own order and with names that are there twice.
    async fn columns(&self, client: &Client) -> Result<Vec<Column>, ProbeError> {
        let statement = client.prepare(self.query).await.map_err(|e| self.failed(&e))?;
        if !statement.params().is_empty() {
            return Err(self.wrong("it has parameters, which the probe does not bind; write the values into it"));
        }
        if statement.columns().is_empty() {
            return Err(self.wrong("it must be one SELECT"));
        }
        statement.columns().iter().map(|column| Column::named(column.name())).collect()
    }

    async fn rows(&self, reading: &Transaction<'_>, mapper: &RowMapper<'_>) -> Result<Rows, ProbeError> {
        // As JSON every type has one form. In a FROM clause stands nothing but a SELECT; the line break ends a comment.
        let query = self.query.trim_end().trim_end_matches(';');
        let text = format!("SELECT to_jsonb(ledger)::text FROM (\n{query}\n) AS ledger");
        let statement = reading.prepare(&text).await.map_err(|e| self.failed(&e))?;
        let portal = reading.bind(&statement, &[]).await.map_err(|e| self.failed(&e))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            let page = reading.query_portal(&portal, PAGE).await.map_err(|e| self.failed(&e))?;
            if page.is_empty() {
                return Ok(Rows { rows, cut_off: false });
            }
            for row in page {
                if rows.len() == self.limits.rows {
                    return Ok(Rows { rows, cut_off: true });
                }
                let json: &str = row.try_get(0).map_err(|e| self.failed(&e))?;
                bytes += json.len();
                if bytes > self.limits.bytes {
                    let what = format!("the ledger query `{}`", self.query);
                    return Err(ProbeError::TooLarge { what, limit: self.limits.bytes });
                }
                rows.push(mapper.row(rows.len() + 1, self.cells(json)?)?);
            }
        }
    }

    fn cells(&self, json: &str) -> Result<Vec<(Column, Cell)>, ProbeError> {
        let row: serde_json::Map<String, Value> =
            serde_json::from_str(json).map_err(|e| self.wrong(&format!("a row of it is not understood: {e}")))?;
        let mut cells = Vec::with_capacity(row.len());
        for (name, value) in &row {
            let column = Column::named(name)?;
            cells.extend(Cell::of(value).map(|cell| (column, cell)));
        }
        Ok(cells)
    }

    /// What went wrong after the connection was made.
    fn failed(&self, error: &Error) -> ProbeError {
        match error.as_db_error() {
            Some(said) => self.wrong(said.message()),
            None => self.place.unreachable(error),
        }
    }

    fn wrong(&self, reason: &str) -> ProbeError {
        ProbeError::Query { query: self.query.to_owned(), reason: reason.to_owned() }
    }
}

/// A database, and how it is called in messages: without the password.
struct Place {
    config: Config,
    called: String,
}

/// The connection's own task, ended with the reading.
struct Connection(JoinHandle<()>);

impl Place {
    fn of(url: &str) -> Result<Self, ProbeError> {
        let config: Config = url.parse().map_err(|e: Error| {
            // The text may hold a password: it is not repeated.
            ProbeError::Database { called: "its url".to_owned(), reason: chain(&e) }
        })?;
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => "no host".to_owned(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let called = format!("{host}:{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default());
        Ok(Self { config, called })
    }

    async fn connect(&self) -> Result<(Client, Connection), ProbeError> {
        let (client, connection) = self.config.connect(NoTls).await.map_err(|e| self.unreachable(&e))?;
        // What ends it is seen by the query that waits for it.
        let task = tokio::spawn(async move { drop(connection.await) });
        Ok((client, Connection(task)))
    }

    fn unreachable(&self, error: &Error) -> ProbeError {
        let reason = error.as_db_error().map_or_else(|| chain(error), |said| said.message().to_owned());
        ProbeError::Database { called: self.called.clone(), reason }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}
