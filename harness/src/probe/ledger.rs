//! The ledger probe: effects as the service's own store has them.

use std::path::PathBuf;

use judge::evidence::{LedgerReading, LedgerRow, Note, NoteWeight, TimeBase};

use super::{ProbeError, ProbeLimits, Probed, code, http_ledger, postgres, sqlite};
use crate::clock::Clock;

/// How to read the ledger. `settled` lists the statuses that count as an effect that took place; without a status
/// column it must be empty, and every row is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerProbe {
    /// By SQL on a SQLite file, which is opened read-only.
    Sqlite {
        /// The database.
        path: PathBuf,
        /// One SELECT that names its columns `key`, `id`, `downstream_key`, `amount`, `status` (those that it has).
        query: String,
        /// Settled statuses.
        settled: Vec<String>,
    },
    /// By SQL on a PostgreSQL database, in a transaction that can only read.
    Postgres {
        /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, without TLS.
        url: String,
        /// As for SQLite.
        query: String,
        /// Settled statuses.
        settled: Vec<String>,
    },
    /// By a GET that answers JSON.
    Http {
        /// The URL.
        url: String,
        /// JSON pointer to the array of rows; empty when the document is the array.
        rows: String,
        /// Where a row has its cells.
        fields: LedgerFields,
        /// Settled statuses.
        settled: Vec<String>,
    },
}

/// JSON pointers into one row, e.g. `/idempotencyKey`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerFields {
    /// The client's idempotency key.
    pub key: Option<String>,
    /// The row's identity.
    pub id: Option<String>,
    /// The key that is used towards the dependency.
    pub downstream_key: Option<String>,
    /// The amount in minor units.
    pub amount: Option<String>,
    /// The status.
    pub status: Option<String>,
}

/// Rows, and whether there were more than the limit.
pub(super) struct Rows {
    pub rows: Vec<LedgerRow>,
    pub cut_off: bool,
}

impl LedgerProbe {
    /// The word for it in the evidence.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres { .. } => "postgres",
            Self::Http { .. } => "http",
        }
    }

    /// Reads the ledger after the step of that name. The moment is taken before the first row is asked for: what the
    /// reading does not show had not taken place by then.
    ///
    /// # Errors
    /// When the ledger cannot be reached, or a row cannot be mapped: no row is left out silently.
    pub async fn read(
        &self,
        step: &str,
        time: &TimeBase,
        limits: &ProbeLimits,
    ) -> Result<Probed<LedgerReading>, ProbeError> {
        let at = Clock::from_base(*time).now();
        let Rows { rows, cut_off } = match self {
            Self::Sqlite { path, query, settled } => sqlite::read(path, query, settled, *limits).await?,
            Self::Postgres { url, query, settled } => postgres::read(url, query, settled, limits).await?,
            Self::Http { url, rows, fields, settled } => http_ledger::read(url, rows, fields, settled, limits).await?,
        };
        let too_many = cut_off.then(|| Note {
            at,
            // A missing row would acquit: this one does spoil.
            weight: NoteWeight::Spoils,
            code: code::TOO_MANY_ROWS.to_owned(),
            text: format!(
                "the ledger has more than {} rows, the rest was not read; narrow the query to this run or raise the limit",
                limits.rows
            ),
        });
        let reading = LedgerReading { at, step: step.to_owned(), source: self.source().to_owned(), rows };
        Ok(Probed { reading, notes: too_many.into_iter().collect() })
    }
}
