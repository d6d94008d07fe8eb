//! What the rounds measured.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::contenders::Id;

/// One figure of one contender in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// The row of the table it belongs to.
    pub(crate) row: &'static str,
    pub(crate) value: f64,
    /// CPU time of the contender per unit of work, in the row's unit for that.
    pub(crate) cpu: Option<f64>,
}

impl Figure {
    pub(crate) fn new(row: &'static str, value: f64) -> Self {
        Self { row, value, cpu: None }
    }

    pub(crate) fn cpu(mut self, cpu: Option<f64>) -> Self {
        self.cpu = cpu;
        self
    }
}

/// The rounds of one contender in one row.
#[derive(Debug, Default)]
pub(crate) struct Series {
    pub(crate) values: Vec<f64>,
    pub(crate) cpu: Vec<f64>,
}

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    rows: BTreeMap<(&'static str, Id), Series>,
}

impl Samples {
    pub(crate) fn add(&mut self, id: Id, figures: Vec<Figure>) {
        for figure in figures {
            let series = self.rows.entry((figure.row, id)).or_default();
            series.values.push(figure.value);
            series.cpu.extend(figure.cpu);
        }
    }

    pub(crate) fn of(&self, row: &'static str, id: Id) -> Option<&Series> {
        self.rows.get(&(row, id))
    }

    /// A row's values, with what a direct connection took in the same round taken off where that is asked.
    pub(crate) fn values(&self, row: &'static str, id: Id, is_added: bool) -> Option<Vec<f64>> {
        let values = &self.of(row, id)?.values;
        if !is_added || id == Id::Direct {
            return Some(values.clone());
        }
        let direct = &self.of(row, Id::Direct)?.values;
        Some(values.iter().zip(direct).map(|(through, direct)| through - direct).collect())
    }

    /// Every round's figures.
    pub(crate) fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|((row, id), series)| {
            json!({ "row": row, "contender": id.name(), "values": series.values, "cpu": series.cpu })
        });
        Value::Array(rows.collect())
    }
}
