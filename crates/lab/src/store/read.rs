//! Reading: runs, and the rounds of a run with their records.

use rusqlite::Row;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use takt_load::setting::former;

use super::name::expect_run_name;
use super::{PointRow, Record, RoundRow, RoundState, RunRow, Store, StoreError};

impl Store {
    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        self.runs_where("1", &[])
    }

    /// One run, by its name or by a part of it that names only one; `last` is the newest.
    ///
    /// # Errors
    /// [`StoreError::NoRun`], with the names there are.
    pub fn run(&self, name: &str) -> Result<RunRow, StoreError> {
        let mut runs = self.runs()?;
        let exact = runs.iter().position(|run| run.id == name || name == "last");
        let like: Vec<usize> =
            runs.iter().enumerate().filter(|(_, run)| run.id.contains(name)).map(|(n, _)| n).collect();
        let only = if let [only] = like[..] { Some(only) } else { None };
        if let Some(n) = exact.or(only) {
            return Ok(runs.swap_remove(n));
        }
        let meant = |(n, _): &(usize, &RunRow)| like.is_empty() || like.contains(n);
        let there = runs.iter().enumerate().filter(meant).take(5).map(|(_, run)| run.id.clone()).collect();
        Err(StoreError::NoRun { requested: name.into(), runs: self.directory().to_owned(), like: like.len(), there })
    }

    /// The newest run with rounds still to come, of this experiment file at this depth and with these options.
    pub fn unfinished(&self, file: &str, depth: &str, options: &Value) -> Result<Option<RunRow>, StoreError> {
        let options = options.to_string();
        let condition = "finished IS NULL AND file = ?1 AND depth = ?2 AND options = ?3";
        Ok(self.runs_where(condition, &[&file, &depth, &options])?.into_iter().next())
    }

    fn runs_where(&self, condition: &str, with: &[&dyn rusqlite::ToSql]) -> Result<Vec<RunRow>, StoreError> {
        let sql = format!(
            "SELECT runs.*, (SELECT count(*) FROM rounds WHERE run = runs.id) FROM runs WHERE {condition}
             ORDER BY started DESC, rowid DESC"
        );
        let whole = |(run, options, host): (RunRow, String, String)| {
            expect_run_name(&run.id)?;
            Ok(RunRow { options: parse("options", 0, &options)?, host: document("host", 0, &host)?, ..run })
        };
        self.rows(&sql, with, run_row)?.into_iter().map(whole).collect()
    }

    /// The points of a run, in the order of their numbers.
    pub fn points(&self, run: &str) -> Result<Vec<PointRow>, StoreError> {
        let sql = "SELECT part, factors FROM points WHERE run = ?1 ORDER BY point";
        let point = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let read = |(part, factors): (String, String)| {
            Ok(PointRow { part, factors: former::rename(parse("factors", 0, &factors)?) })
        };
        self.rows(sql, &[&run], point)?.into_iter().map(read).collect()
    }

    /// The rounds of a run in the order in which they were run, with their records.
    pub fn rounds(&self, run: &str) -> Result<Vec<RoundRow>, StoreError> {
        let sql = "SELECT rounds.id, point, part, factors, block, attempt, state, why, started, took_s,
                          settings, result, before, after, in_force, emulator, machine
                   FROM rounds JOIN points USING (run, point) LEFT JOIN records ON records.round = rounds.id
                   WHERE run = ?1 ORDER BY rounds.id";
        let read = |(round, factors, documents): (RoundRow, String, Option<Documents>)| {
            let record = documents.map(|documents| record(round.id, &documents)).transpose()?;
            Ok(RoundRow { factors: former::rename(parse("factors", round.id, &factors)?), record, ..round })
        };
        self.rows(sql, &[&run], round_row)?.into_iter().map(read).collect()
    }

    fn rows<T>(
        &self,
        sql: &str,
        with: &[&dyn rusqlite::ToSql],
        row: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || -> rusqlite::Result<Vec<T>> { self.connection.prepare(sql)?.query_map(with, row)?.collect() };
        let rows = rows().map_err(|e| self.error(e))?;
        self.expect_unchanged()?;
        Ok(rows)
    }
}

/// A run without its documents, and they as text.
fn run_row(row: &Row<'_>) -> rusqlite::Result<(RunRow, String, String)> {
    let run = RunRow {
        id: row.get("id")?,
        experiment: row.get("experiment")?,
        file: row.get("file")?,
        depth: row.get("depth")?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        options: Value::Null,
        host: Value::Null,
        takt_version: row.get("takt_version")?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        rounds: row.get(10)?,
    };
    Ok((run, row.get("options")?, row.get("host")?))
}

/// The seven documents of a record, in the order of the columns.
type Documents = [String; 7];

fn round_row(row: &Row<'_>) -> rusqlite::Result<(RoundRow, String, Option<Documents>)> {
    let word: String = row.get(6)?;
    let unknown = || rusqlite::Error::InvalidColumnType(6, word.clone(), rusqlite::types::Type::Text);
    let round = RoundRow {
        id: row.get(0)?,
        point: row.get(1)?,
        part: row.get(2)?,
        block: row.get(4)?,
        attempt: row.get(5)?,
        state: RoundState::of_word(&word).ok_or_else(unknown)?,
        why: row.get(7)?,
        started: row.get(8)?,
        took_s: row.get(9)?,
        ..RoundRow::default()
    };
    let documents = match row.get::<_, Option<String>>(10)? {
        None => None,
        Some(first) => {
            Some([first, row.get(11)?, row.get(12)?, row.get(13)?, row.get(14)?, row.get(15)?, row.get(16)?])
        }
    };
    Ok((round, row.get(3)?, documents))
}

fn record(round: i64, documents: &Documents) -> Result<Record, StoreError> {
    let [settings, result, before, after, in_force, emulator, machine] = documents;
    Ok(Record {
        settings: json!(parse::<Option<_>>("settings", round, settings)?.map(former::rename)),
        result: document("result", round, result)?,
        before: document("before", round, before)?,
        after: document("after", round, after)?,
        in_force: document("in_force", round, in_force)?,
        emulator: document("emulator", round, emulator)?,
        machine: document("machine", round, machine)?,
    })
}

/// One that may be of an older version.
fn document(what: &'static str, round: i64, text: &str) -> Result<Value, StoreError> {
    let mut document = parse(what, round, text)?;
    former::rename_keys(&mut document);
    Ok(document)
}

fn parse<T: DeserializeOwned>(what: &'static str, round: i64, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|source| StoreError::Document { what, round, source })
}
