//! Writing: a run with its points, a round with its record. Each is one transaction.

use rusqlite::{Transaction, TransactionBehavior, params};
use serde_json::{Value, json};
use takt_base::Utc;

use super::error::{ROUND_BYTES, free_bytes};
use super::name::expect_run_name;
use super::{NewRound, NewRun, Record, Store, StoreError};

impl Store {
    /// Enters a run and its points; returns its name.
    ///
    /// # Errors
    /// The experiment's name can't be part of a folder's, or the file can't be written.
    pub fn begin_run(&self, run: &NewRun) -> Result<String, StoreError> {
        expect_run_name(&base_of(&Utc::now().to_string(), &run.experiment))?;
        self.in_transaction(|t| {
            let started = Utc::now().to_string();
            let id = free_id(t, &started, &run.experiment)?;
            t.execute(
                "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL)",
                params![
                    id,
                    run.experiment,
                    run.file,
                    run.depth,
                    // `SQLite`'s integers are signed: the bits are kept, and read back as such.
                    run.seed.cast_signed(),
                    run.options.to_string(),
                    run.host.to_string(),
                    run.takt_version,
                    started
                ],
            )?;
            for (number, point) in (0_u32..).zip(&run.points) {
                t.execute(
                    "INSERT INTO points VALUES (?1, ?2, ?3, ?4)",
                    params![id, number, point.part, json!(point.factors).to_string()],
                )?;
            }
            Ok(id)
        })
    }

    /// Whether the disk can take another round; checked before one is begun, so that none is measured in vain.
    ///
    /// # Errors
    /// [`StoreError::Full`] if not.
    pub fn room_for_a_round(&self) -> Result<(), StoreError> {
        match free_bytes(&self.path) {
            Some(free) if free < ROUND_BYTES => Err(StoreError::full(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// Writes a round that has ended and syncs it; returns its row. After this returns, nothing loses it.
    ///
    /// # Errors
    /// The file can't be written; then no part of the round is in it.
    pub fn finish_round(&self, run: &str, round: &NewRound) -> Result<i64, StoreError> {
        self.in_transaction(|t| {
            t.execute(
                "INSERT INTO rounds (run, point, block, attempt, state, why, started, took_s)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    run,
                    round.point,
                    round.block,
                    round.attempt,
                    round.state.word(),
                    round.why,
                    round.started,
                    round.took_s
                ],
            )?;
            let id = t.last_insert_rowid();
            if let Some(record) = &round.record {
                insert_record(t, id, record)?;
            }
            Ok(id)
        })
    }

    /// Marks a run whose rounds have all been run.
    pub fn finish_run(&self, run: &str) -> Result<(), StoreError> {
        self.in_transaction(|t| {
            t.execute("UPDATE runs SET finished = ?2 WHERE id = ?1", params![run, Utc::now().to_string()]).map(|_| ())
        })
    }

    pub(super) fn in_transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let t = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let done = work(&t)?;
            t.commit()?;
            Ok(done)
        };
        attempt().map_err(|e| self.error(e))
    }
}

fn insert_record(t: &Transaction<'_>, round: i64, record: &Record) -> rusqlite::Result<()> {
    let Record { settings, result, before, after, in_force, emulator, machine } = record;
    let json = [settings, result, before, after, in_force, emulator, machine].map(Value::to_string);
    let [settings, result, before, after, in_force, emulator, machine] = json;
    t.execute(
        "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![round, settings, result, before, after, in_force, emulator, machine],
    )?;
    Ok(())
}

/// `2026-11-21T100412-check`, with `-2`, `-3` ... behind it if that second already has one.
fn free_id(t: &Transaction<'_>, started: &str, experiment: &str) -> rusqlite::Result<String> {
    let base = base_of(started, experiment);
    let mut id = base.clone();
    let mut n = 1;
    while t.query_row("SELECT count(*) FROM runs WHERE id = ?1", [&id], |row| row.get::<_, i64>(0))? > 0 {
        n += 1;
        id = format!("{base}-{n}");
    }
    Ok(id)
}

fn base_of(started: &str, experiment: &str) -> String {
    let second: String = started.chars().filter(|c| !matches!(c, ':' | 'Z')).collect();
    format!("{second}-{experiment}")
}
