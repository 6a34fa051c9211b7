//! One row of the acceptance table: an emulator, a judge, and the rule about repeating.

use std::sync::{Mutex, PoisonError};

use crate::emulator::Emulator;
use crate::peer;
use crate::witness::{LOST, Witness};

/// Rows take turns: they are real-time programs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const TRIES: usize = 6;

/// More false starts than this are a host that never got ahead.
const STARTS: u64 = 16;

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
    /// emulator was late or the machine lost a core meanwhile, and only then.
    pub fn judged_by(&self, judge: impl Fn(&str) -> Result<(), String>) {
        if let Some(complaint) = self.disturbed_each_time(|addr| judge(addr).map(|()| 0)) {
            panic!("{complaint}");
        }
    }

    /// As [`judged_by`](Self::judged_by), at a rate that a shared machine may not hold for seconds on end: when it was
    /// disturbed at every attempt, the row says that nothing was judged. A complaint about an undisturbed attempt fails.
    /// The judge returns how many underruns it saw: those, and only those, that the radio counted at a start are forgiven.
    pub fn judged_at_full_rate_by(&self, judge: impl Fn(&str) -> Result<u64, String>) {
        if let Some(complaint) = self.disturbed_each_time(judge) {
            eprintln!("NOT JUDGED: this machine is too busy for this rate\n{complaint}");
        }
    }

    /// The last complaint, if no attempt was undisturbed; none once the judge was content, or could not be asked.
    fn disturbed_each_time(&self, judge: impl Fn(&str) -> Result<u64, String>) -> Option<String> {
        let name = format!("row {}", self.number);
        if let Some(missing) = self.needs.iter().find(|program| peer::find(program).is_none()) {
            peer::skip(&name, missing);
            return None;
        }
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let addr = format!("127.29.{}.1", self.number);
        let mut last = None;
        for attempt in 1..=TRIES {
            let emulator = Emulator::start(&[&addr], self.emulator, None);
            let witness = Witness::start();
            let verdict = judge(&addr);
            let gone = witness.stop();
            let summary = emulator.stop();
            let (late, at_start) = (summary.own_lateness(), summary.underflows_at_start().min(STARTS));
            let verdict = verdict.and_then(|underruns| match underruns.checked_sub(at_start) {
                None | Some(0) => Ok(()),
                Some(in_flow) => Err(format!("{in_flow} of {underruns} underruns were not at the start")),
            });
            let complaint = verdict.err()?;
            let complaint = format!(
                "{name}, attempt {attempt}, emulator late {late} times, a core gone for {gone:?}:\n{complaint}"
            );
            assert!(late > 0 || gone > LOST, "{complaint}");
            eprintln!("DISTURBED {complaint}");
            last = Some(complaint);
        }
        last
    }
}

/// Waits for its turn and keeps it: for tests that bring their own emulators.
pub fn turn() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}
