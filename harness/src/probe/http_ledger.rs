//! A ledger that the service shows as JSON.

use serde_json::Value;

use super::fetch::{get_json, kind};
use super::ledger::{LedgerFields, Rows};
use super::row::{Cell, Column, RowMapper};
use super::{ProbeError, ProbeLimits};

pub(super) async fn read(
    url: &str,
    rows: &str,
    fields: &LedgerFields,
    settled: &[String],
    limits: &ProbeLimits,
) -> Result<Rows, ProbeError> {
    let fields = pointers(fields)?;
    let columns: Vec<_> = fields.iter().map(|(column, _)| *column).collect();
    let mapper = RowMapper::new(&columns, settled, "field map")?;
    let document = get_json(url, limits).await?;
    let found = document.pointer(rows);
    let Some(Value::Array(list)) = found else {
        return Err(ProbeError::Pointer {
            url: url.to_owned(),
            pointer: rows.to_owned(),
            found: kind(found),
            expected: "the array of ledger rows",
        });
    };
    let mut out = Vec::with_capacity(list.len().min(limits.rows));
    for (i, row) in list.iter().take(limits.rows).enumerate() {
        out.push(mapper.row(i + 1, cells(row, &fields, i + 1)?)?);
    }
    // A field that no row has is a typing error in the contract, which would otherwise read as NULL everywhere.
    for (column, pointer) in &fields {
        if !list.is_empty() && list.iter().all(|row| row.pointer(pointer).is_none()) {
            return Err(ProbeError::Column {
                at: format!("field `{}`", column.name()),
                reason: format!("no row of {url} has `{pointer}`; the first one is {}", kind(list.first())),
            });
        }
    }
    Ok(Rows { rows: out, cut_off: list.len() > limits.rows })
}

fn pointers(fields: &LedgerFields) -> Result<Vec<(Column, &str)>, ProbeError> {
    let all = [
        (Column::Key, &fields.key),
        (Column::Id, &fields.id),
        (Column::DownstreamKey, &fields.downstream_key),
        (Column::Amount, &fields.amount),
        (Column::Status, &fields.status),
    ];
    let mut given = Vec::new();
    for (column, pointer) in all {
        let Some(pointer) = pointer else { continue };
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(ProbeError::Column {
                at: format!("field `{}`", column.name()),
                reason: format!("`{pointer}` is not a JSON pointer; write `/{pointer}`"),
            });
        }
        given.push((column, pointer.as_str()));
    }
    Ok(given)
}

fn cells(row: &Value, fields: &[(Column, &str)], number: usize) -> Result<Vec<(Column, Cell)>, ProbeError> {
    let mut cells = Vec::with_capacity(fields.len());
    if !row.is_object() && !row.is_array() {
        let reason = format!("it is {}, not an object", kind(Some(row)));
        return Err(ProbeError::Column { at: format!("row {number}"), reason });
    }
    for (column, pointer) in fields {
        cells.extend(row.pointer(pointer).and_then(Cell::of).map(|cell| (*column, cell)));
    }
    Ok(cells)
}
