//! One row of the acceptance table: an emulator, a judge, and the rule about repeating.
//!
//! A complaint fails the row at once, unless the emulator counted that it was late itself during this attempt
//! (`lag.over_limit` in its summary): such an attempt is repeated, twice at most. Other evidence (a core that was gone,
//! a program that waited) stands in the complaint and excuses nothing. CI always gives the judged program real-time
//! priority. Without it, waiting longer than [`LOST`] for a core to run on is such a disturbance too.
//!
//! A row whose attempts were all disturbed is not judged. `./test` allows few of those (`tests/gate/parts.sh`).

use std::sync::OnceLock;

use takt_host::Host;

use crate::emulator::{Emulator, Site};
use crate::peer::{self, Attempt};
use crate::witness::{LOST, Witness};

const TRIES: usize = 3;

/// More false starts than this are a host that never got ahead.
const STARTS: u64 = 16;

/// An acceptance row.
pub struct Row {
    /// Which radio.
    pub model: &'static str,
    /// Its number in the table; also the last number of its address.
    pub number: u8,
    /// Programs without which it can't run.
    pub needs: &'static [&'static str],
    /// Arguments of the emulator beyond its address.
    pub emulator: &'static [&'static str],
}

/// A row of UHD's programs with an N200 as it is by default.
pub fn row(number: u8) -> Row {
    Row { model: "n200", number, needs: &["uhd_usrp_probe", "benchmark_rate"], emulator: &[] }
}

impl Row {
    /// Puts the emulator before `judge`, which says what it did not like.
    pub fn judged_by(&self, judge: impl Fn(&Attempt) -> Result<(), String>) {
        self.judged_with_underruns_by(|attempt| judge(attempt).map(|()| 0));
    }

    /// The same for a judge who returns how many underruns it saw: those, and only those, that the radio counted at a start
    /// are forgiven.
    pub fn judged_with_underruns_by(&self, judge: impl Fn(&Attempt) -> Result<u64, String>) {
        self.judged_at(&Site::loopback(&[self.number]), judge);
    }

    /// The same with radios at another place.
    pub fn judged_at(&self, site: &Site, judge: impl Fn(&Attempt) -> Result<u64, String>) {
        self.judged_before(&site.addrs[0], || Emulator::start(site, self.model, self.emulator), judge);
    }

    /// The same before what `start` starts, by a judge to whom one address is told.
    pub fn judged_before(
        &self,
        addr: &str,
        start: impl Fn() -> Emulator,
        judge: impl Fn(&Attempt) -> Result<u64, String>,
    ) {
        if let Some(missing) = self.needs.iter().find(|program| peer::find(program).is_none()) {
            return takt_testing::skip(format!(
                "row {}: {missing} is not installed   (./test installs it)",
                self.number
            ));
        }
        let mut last = None;
        for number in 1..=TRIES {
            let Some(complaint) = self.attempt(addr, &start, &judge) else {
                if number > 1 {
                    takt_testing::repeated(format!("row {}: content with attempt {number}", self.number));
                }
                return;
            };
            let complaint = format!("row {}, attempt {number}, {complaint}", self.number);
            say(&format!("DISTURBED {complaint}"));
            last = Some(complaint);
        }
        takt_testing::not_judged(last.unwrap_or_default());
    }

    /// Complaint about a disturbed attempt; none when the judge was content.
    ///
    /// # Panics
    /// With a complaint about an attempt that nothing disturbed.
    fn attempt(
        &self,
        addr: &str,
        start: impl Fn() -> Emulator,
        judge: impl Fn(&Attempt) -> Result<u64, String>,
    ) -> Option<String> {
        let emulator = start();
        let witness = Witness::start();
        let attempt = Attempt::new(addr);
        let verdict = judge(&attempt);
        let gone = witness.stop();
        let waited = attempt.longest_wait();
        let summary = emulator.stop();
        let (late, at_start) = (summary.own_lateness(), summary.underflows_at_start().min(STARTS));
        let verdict = verdict.and_then(|underruns| match underruns.checked_sub(at_start) {
            None | Some(0) => Ok(()),
            Some(in_flow) => Err(format!("{in_flow} of {underruns} underruns were not at the start")),
        });
        let verdict = match summary.idle_fault() {
            Some(fault) => verdict.and(Err(format!("the fault {fault} never struck"))),
            None => verdict,
        };
        let complaint = format!(
            "emulator late {late} times, a core gone for {gone:?}, the program without one for {waited:?}:\n{}",
            verdict.err()?
        );
        let kept_waiting = waited > LOST && !may_be_real_time();
        assert!(late > 0 || kept_waiting, "row {}, {complaint}", self.number);
        Some(complaint)
    }
}

/// Whether this process may give real-time priority.
pub fn may_be_real_time() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| matches!(Host::this().attempt_fifo(), Some(Ok(()))))
}

/// An attempt that is repeated is said aloud.
#[expect(clippy::print_stderr, reason = "what was disturbed is seen in the log")]
fn say(line: &str) {
    eprintln!("{line}");
}
