//! The rounds of a run as a table: a row a round, a column a leaf of what it holds. Every export is made of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Record, RoundRow, Store, StoreError};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The round's own columns, its factors, then every number, text and flag of its documents under its path
    /// (`result.rx.samples`), in the order of their names.
    pub columns: Vec<Column>,
    pub rows: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
    /// A cell a row; `None` where a round has no such value.
    pub cells: Vec<Option<Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Whole numbers that fit 64 bits with a sign.
    Integer,
    Number,
    Flag,
    /// Text; also where rounds differ in kind.
    Text,
}

impl Store {
    /// The rounds of a run, in the order in which they were run. The packed counts of histograms are left out.
    pub fn table(&self, run: &str) -> Result<Table, StoreError> {
        let rounds = self.rounds(run)?;
        let mut first: Vec<Column> = FIRST.iter().map(|name| Column::empty((*name).to_owned())).collect();
        let mut others: BTreeMap<String, Column> = BTreeMap::new();
        for (row, round) in rounds.iter().enumerate() {
            first.iter_mut().zip(what(run, round)).for_each(|(column, cell)| column.cells.push(cell));
            leaves_of(round, &mut |path, value| {
                let column = others.entry(path).or_insert_with_key(|name| Column::empty(name.clone()));
                column.cells.resize(row, None);
                column.cells.push(Some(value.clone()));
            });
        }
        let complete = |mut column: Column| {
            column.cells.resize(rounds.len(), None);
            column.kind = kind(&column.cells);
            column
        };
        let columns = first.into_iter().chain(others.into_values()).map(complete).collect();
        Ok(Table { columns, rows: rounds.len() })
    }
}

impl Column {
    fn empty(name: String) -> Column {
        Column { name, kind: ColumnKind::Text, cells: Vec::new() }
    }
}

const FIRST: [&str; 10] = ["run", "round", "part", "point", "block", "attempt", "state", "why", "started", "took_s"];

/// A histogram's packed counts, which no spreadsheet reads; its count, minimum and maximum stand beside them.
const HISTOGRAM: &str = "hdr_v2_base64";

fn what(run: &str, round: &RoundRow) -> [Option<Value>; 10] {
    [
        Some(run.into()),
        Some(round.id.into()),
        Some(round.part.clone().into()),
        Some(round.point.into()),
        Some(round.block.into()),
        Some(round.attempt.into()),
        Some(round.state.word().into()),
        round.why.clone().map(Value::from),
        Some(round.started.clone().into()),
        Some(round.took_s.into()),
    ]
}

fn leaves_of(round: &RoundRow, each: &mut dyn FnMut(String, &Value)) {
    for (name, level) in &round.factors {
        leaves(&format!("factor.{name}"), level, each);
    }
    for (name, document) in round.record.iter().flat_map(Record::documents) {
        leaves(name, document, each);
    }
}

fn leaves(path: &str, value: &Value, each: &mut dyn FnMut(String, &Value)) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            let readable = map.iter().filter(|(key, _)| *key != HISTOGRAM);
            readable.for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, each));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, value)| leaves(&format!("{path}.{n}"), value, each));
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) => each(path.to_owned(), value),
    }
}

/// The narrowest that holds all cells.
fn kind(cells: &[Option<Value>]) -> ColumnKind {
    let all = |is: fn(&Value) -> bool| cells.iter().flatten().all(is);
    match () {
        () if cells.iter().flatten().next().is_none() => ColumnKind::Text,
        () if all(Value::is_i64) => ColumnKind::Integer,
        () if all(Value::is_number) => ColumnKind::Number,
        () if all(Value::is_boolean) => ColumnKind::Flag,
        () => ColumnKind::Text,
    }
}

impl Table {
    /// A cell as text, whatever its column holds.
    #[must_use]
    pub fn text(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_is_as_narrow_as_its_cells_allow() {
        let of = |values: &[Value]| kind(&values.iter().cloned().map(Some).chain([None]).collect::<Vec<_>>());
        assert_eq!(of(&[json!(1), json!(-3)]), ColumnKind::Integer);
        assert_eq!(of(&[json!(1), json!(u64::MAX)]), ColumnKind::Number);
        assert_eq!(of(&[json!(1), json!(0.5)]), ColumnKind::Number);
        assert_eq!(of(&[json!(true)]), ColumnKind::Flag);
        assert_eq!(of(&[json!(true), json!(1)]), ColumnKind::Text);
        assert_eq!(of(&[json!("all"), json!(2)]), ColumnKind::Text);
        assert_eq!(of(&[]), ColumnKind::Text);
    }
}
