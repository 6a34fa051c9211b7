//! One row of the acceptance table: an emulator, a judge, and the rule about repeating.

use std::sync::{Mutex, PoisonError};

use crate::emulator::Emulator;
use crate::peer;

/// Rows take turns: they are real-time programs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const TRIES: usize = 3;

/// An acceptance row.
pub struct Row {
    /// Its number in the table; also its address, 127.29.N.1, so that rows of two runs never meet.
    pub number: u8,
    /// Programs without which it can't run.
    pub needs: &'static [&'static str],
    /// Arguments of the emulator beyond its address.
    pub emulator: &'static [&'static str],
}

impl Row {
    /// Puts the emulator before `judge`, which gets its address and says what it did not like. Repeats when the
    /// emulator itself was late, and only then.
    pub fn judged_by(&self, judge: impl Fn(&str) -> Result<(), String>) {
        let name = format!("row {}", self.number);
        if let Some(missing) = self.needs.iter().find(|program| peer::find(program).is_none()) {
            return peer::skip(&name, missing);
        }
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let addr = format!("127.29.{}.1", self.number);
        for attempt in 1..=TRIES {
            let emulator = Emulator::start(&[&addr], self.emulator, None);
            let verdict = judge(&addr);
            let summary = emulator.stop();
            let Err(complaint) = verdict else { return };
            let late = summary.own_lateness();
            assert!(late > 0 && attempt < TRIES, "{name}, attempt {attempt}, emulator late {late} times:\n{complaint}");
            eprintln!("REPEATED {name}: the emulator was late {late} times in attempt {attempt}\n{complaint}");
        }
    }
}

/// Waits for its turn and keeps it: for tests that bring their own emulators.
pub fn turn() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}
