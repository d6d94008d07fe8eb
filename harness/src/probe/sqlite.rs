//! A ledger in a SQLite file.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags, Row};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::ledger::Rows;
use super::row::{Cell, Column, RowMapper};
use super::{ProbeError, ProbeLimits};

pub(super) async fn read(
    path: &Path,
    query: &str,
    settled: &[String],
    limits: ProbeLimits,
) -> Result<Rows, ProbeError> {
    let job = Job { path: path.to_owned(), query: query.to_owned(), settled: settled.to_vec(), limits };
    let (handle, interrupt) = oneshot::channel();
    let mut work = spawn_blocking(move || job.run(handle));
    if let Ok(done) = timeout(limits.time, &mut work).await {
        return done.unwrap_or_else(|e| Err(ProbeError::Internal(e.to_string())));
    }
    // A blocking thread cannot be cancelled: without the interrupt, a query without end would outlive the run.
    if let Ok(interrupt) = interrupt.await {
        interrupt.interrupt();
    }
    match work.await {
        Err(error) => Err(ProbeError::Internal(error.to_string())),
        // It ended while we gave up: what it says is better than what we would say.
        Ok(done @ (Ok(_) | Err(ProbeError::Locked { .. }))) => done,
        Ok(Err(_)) => Err(ProbeError::Timeout { what: format!("the ledger query `{query}`"), limit: limits.time }),
    }
}

struct Job {
    path: PathBuf,
    query: String,
    settled: Vec<String>,
    limits: ProbeLimits,
}

impl Job {
    fn run(&self, handle: oneshot::Sender<InterruptHandle>) -> Result<Rows, ProbeError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = |e: rusqlite::Error| ProbeError::Open { path: self.shown(), reason: e.to_string() };
        let db = Connection::open_with_flags(&self.path, flags).map_err(open)?;
        // Half of the time is left for the query itself.
        db.busy_timeout(self.limits.time / 2).map_err(open)?;
        // Nobody waits for the handle when the caller was dropped; the limits on rows and bytes still hold.
        let _ = handle.send(db.get_interrupt_handle());
        self.query(&db)
    }

    fn query(&self, db: &Connection) -> Result<Rows, ProbeError> {
        let mut statement = db.prepare(&self.query).map_err(|e| self.failed(&e))?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(self.wrong("it must be one SELECT"));
        }
        if statement.parameter_count() > 0 {
            return Err(self.wrong("it has parameters, which the probe does not bind; write the values into it"));
        }
        let columns = statement.column_names().map(Column::named).collect::<Result<Vec<_>, _>>()?;
        let mapper = RowMapper::new(&columns, &self.settled, "query")?;
        let mut cursor = statement.query([]).map_err(|e| self.failed(&e))?;
        let mut rows = Vec::new();
        let mut bytes = 0;
        while let Some(row) = cursor.next().map_err(|e| self.failed(&e))? {
            if rows.len() == self.limits.rows {
                return Ok(Rows { rows, cut_off: true });
            }
            let cells = self.cells(row, &columns)?;
            bytes += cells.iter().map(|(_, cell)| size(cell)).sum::<usize>();
            if bytes > self.limits.bytes {
                let what = format!("the ledger query `{}`", self.query);
                return Err(ProbeError::TooLarge { what, limit: self.limits.bytes });
            }
            rows.push(mapper.row(rows.len() + 1, cells)?);
        }
        Ok(Rows { rows, cut_off: false })
    }

    fn cells(&self, row: &Row<'_>, columns: &[Column]) -> Result<Vec<(Column, Cell)>, ProbeError> {
        let mut cells = Vec::with_capacity(columns.len());
        for (i, column) in columns.iter().enumerate() {
            let cell = match row.get_ref(i).map_err(|e| self.failed(&e))? {
                ValueRef::Null => continue,
                ValueRef::Integer(i) => Cell::Integer(i),
                ValueRef::Real(d) => Cell::Real(d),
                ValueRef::Text(text) => std::str::from_utf8(text)
                    .map_or(Cell::Other("text that is not UTF-8"), |t| Cell::Text(t.to_owned())),
                ValueRef::Blob(_) => Cell::Other("a BLOB"),
            };
            cells.push((*column, cell));
        }
        Ok(cells)
    }

    fn failed(&self, error: &rusqlite::Error) -> ProbeError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                ProbeError::Locked { path: self.shown(), limit: self.limits.time / 2 }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::PermissionDenied) => {
                ProbeError::Open { path: self.shown(), reason: error.to_string() }
            }
            _ => self.wrong(&error.to_string()),
        }
    }

    fn wrong(&self, reason: &str) -> ProbeError {
        ProbeError::Query { query: self.query.clone(), reason: reason.to_owned() }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

fn size(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.len(),
        Cell::Integer(_) | Cell::Real(_) | Cell::Other(_) => 8,
    }
}
