//! From named cells to a ledger row, the same for SQL columns and JSON fields.

use judge::evidence::LedgerRow;
use serde_json::Value;

use super::ProbeError;

/// A column of the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Key,
    Id,
    DownstreamKey,
    Amount,
    Status,
}

/// A cell that is not NULL.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(String),
    Integer(i64),
    Real(f64),
    /// Something that no column takes, by its name.
    Other(&'static str),
}

impl Cell {
    /// The cell that a JSON value is; `None` for null.
    pub(super) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::String(text) => Self::Text(text.clone()),
            Value::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => Self::Integer(i),
                // Identities past i64 are still identities.
                (None, _) if n.is_u64() => Self::Text(n.to_string()),
                (None, Some(d)) => Self::Real(d),
                (None, None) => Self::Other("a number out of range"),
            },
            Value::Bool(_) => Self::Other("a boolean"),
            Value::Array(_) => Self::Other("an array"),
            Value::Object(_) => Self::Other("an object"),
        })
    }
}

impl Column {
    pub(super) const ALL: [Self; 5] = [Self::Key, Self::Id, Self::DownstreamKey, Self::Amount, Self::Status];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Id => "id",
            Self::DownstreamKey => "downstream_key",
            Self::Amount => "amount",
            Self::Status => "status",
        }
    }

    /// The column of that name. SQL does not tell upper case from lower.
    pub(super) fn named(name: &str) -> Result<Self, ProbeError> {
        let found = Self::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let nearest = Self::ALL
                .into_iter()
                .map(|c| (strsim::damerau_levenshtein(c.name(), &name.to_ascii_lowercase()), c.name()))
                .filter(|(distance, _)| *distance <= 2)
                .min();
            let hint = nearest.map_or_else(String::new, |(_, n)| format!(" (did you mean `{n}`?)"));
            ProbeError::Column {
                at: format!("column `{name}`"),
                reason: format!(
                    "the mapping knows key, id, downstream_key, amount and status{hint}; rename it with AS, or leave it out"
                ),
            }
        })
    }
}

/// Which statuses count as an effect that took place.
pub(super) struct RowMapper<'a> {
    settled: &'a [String],
}

impl<'a> RowMapper<'a> {
    /// Checks that the mapping can say what it must.
    pub(super) fn new(columns: &[Column], settled: &'a [String], what: &str) -> Result<Self, ProbeError> {
        let wrong = |reason: &str| ProbeError::Column { at: what.to_owned(), reason: reason.to_owned() };
        if let Some(twice) = Column::ALL.into_iter().find(|c| columns.iter().filter(|x| *x == c).count() > 1) {
            return Err(wrong(&format!("`{}` is returned twice; return each column once", twice.name())));
        }
        if !columns.contains(&Column::Key) && !columns.contains(&Column::DownstreamKey) {
            return Err(wrong(
                "it maps neither `key` nor `downstream_key`, so no row can be joined to a payment; add one",
            ));
        }
        if settled.is_empty() == columns.contains(&Column::Status) {
            return Err(wrong(if settled.is_empty() {
                "it maps `status`, but no status is declared settled; list the settled ones, or leave `status` out if \
                 every row is an effect that took place"
            } else {
                "statuses are declared settled, but it maps no `status`; add it"
            }));
        }
        Ok(Self { settled })
    }

    /// Puts a row together; absent cells are NULL.
    pub(super) fn row(&self, number: usize, cells: Vec<(Column, Cell)>) -> Result<LedgerRow, ProbeError> {
        let mut row =
            LedgerRow { key: None, id: None, downstream_key: None, amount: None, status: None, settled: false };
        for (column, cell) in cells {
            let at = || format!("row {number}, `{}`", column.name());
            match column {
                Column::Key => row.key = Some(text(cell, at)?),
                Column::Id => row.id = Some(text(cell, at)?),
                Column::DownstreamKey => row.downstream_key = Some(text(cell, at)?),
                Column::Status => row.status = Some(text(cell, at)?),
                Column::Amount => row.amount = Some(minor_units(cell, at)?),
            }
        }
        // Without a status list, a row is an effect by being there.
        row.settled = self.settled.is_empty() || row.status.as_ref().is_some_and(|s| self.settled.contains(s));
        Ok(row)
    }
}

fn text(cell: Cell, at: impl Fn() -> String) -> Result<String, ProbeError> {
    match cell {
        Cell::Text(text) => Ok(text),
        Cell::Integer(i) => Ok(i.to_string()),
        Cell::Real(d) => Err(ProbeError::Column { at: at(), reason: format!("{d} is neither text nor an integer") }),
        Cell::Other(kind) => Err(ProbeError::Column {
            at: at(),
            reason: format!("it holds {kind}, not text; convert it, in SQL e.g. with hex() or CAST(... AS TEXT)"),
        }),
    }
}

fn minor_units(cell: Cell, at: impl Fn() -> String) -> Result<i64, ProbeError> {
    let wrong = |what: String| {
        let reason = format!(
            "{what} is not a whole number of minor units (cents); convert it, e.g. CAST(ROUND(amount * 100) AS INTEGER)"
        );
        Err(ProbeError::Column { at: at(), reason })
    };
    match cell {
        Cell::Integer(i) => Ok(i),
        // Up to 2^53 a whole floating-point number is exact.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and below 2^53")]
        Cell::Real(d) if d.fract() == 0.0 && d.abs() <= 9_007_199_254_740_992.0 => Ok(d as i64),
        Cell::Real(d) => wrong(d.to_string()),
        Cell::Text(text) => text.trim().parse().or_else(|_| wrong(format!("`{text}`"))),
        Cell::Other(kind) => wrong(kind.to_owned()),
    }
}
