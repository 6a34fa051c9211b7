//! One line a round, for everybody else's tools.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde_json::Value;

use super::{RoundRow, Store, StoreError};

impl Store {
    /// Writes the rounds of a run as CSV (RFC 4180): what a round was, its factors, then every number, text and flag of
    /// its documents under its path (`result.rx.samples`). A cell is empty where a round has no such value. The packed
    /// counts of histograms are left out.
    ///
    /// # Errors
    /// The store can't be read, or `out` not be written.
    pub fn export_csv(&self, run: &str, out: &mut dyn Write) -> Result<(), StoreError> {
        let rounds = self.rounds(run)?;
        let rows: Vec<_> = rounds.iter().map(cells).collect();
        let columns: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
        let columns: Vec<&str> = FIRST.iter().copied().chain(columns.into_iter().map(String::as_str)).collect();
        let mut text = line(columns.iter().map(|c| (*c).to_owned()));
        for (round, cells) in rounds.iter().zip(&rows) {
            let first = first(run, round);
            let rest = columns.iter().skip(FIRST.len()).map(|c| cells.get(*c).cloned().unwrap_or_default());
            text.push_str(&line(first.into_iter().chain(rest)));
        }
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|source| StoreError::Export { source })
    }
}

const FIRST: [&str; 10] = ["run", "round", "part", "point", "block", "attempt", "state", "why", "started", "took_s"];

/// A histogram's packed counts, which no spreadsheet reads; its count, minimum and maximum stand beside them.
const HISTOGRAM: &str = "hdr_v2_base64";

fn first(run: &str, round: &RoundRow) -> [String; 10] {
    [
        run.to_owned(),
        round.id.to_string(),
        round.part.clone(),
        round.point.to_string(),
        round.block.to_string(),
        round.attempt.to_string(),
        round.state.word().to_owned(),
        round.why.clone().unwrap_or_default(),
        round.started.clone(),
        round.took_s.to_string(),
    ]
}

/// Every leaf of a round's documents by its path.
fn cells(round: &RoundRow) -> BTreeMap<String, String> {
    let mut cells = BTreeMap::new();
    for (name, level) in &round.factors {
        leaves(&format!("factor.{name}"), level, &mut cells);
    }
    if let Some(record) = &round.record {
        let documents = [
            ("settings", &record.settings),
            ("result", &record.result),
            ("before", &record.before),
            ("after", &record.after),
            ("in_force", &record.in_force),
            ("emulator", &record.emulator),
            ("machine", &record.machine),
        ];
        for (name, document) in documents {
            leaves(name, document, &mut cells);
        }
    }
    cells
}

fn leaves(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            let readable = map.iter().filter(|(key, _)| *key != HISTOGRAM);
            readable.for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, into));
        }
        Value::Array(list) => {
            for (n, value) in list.iter().enumerate() {
                leaves(&format!("{path}.{n}"), value, into);
            }
        }
        Value::String(text) => drop(into.insert(path.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => drop(into.insert(path.to_owned(), value.to_string())),
    }
}

/// RFC 4180: a field with a comma, a quote or a line end is quoted, quotes are doubled.
fn line(fields: impl Iterator<Item = String>) -> String {
    let quoted = fields.map(|field| {
        if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
    });
    let mut line = quoted.collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}
