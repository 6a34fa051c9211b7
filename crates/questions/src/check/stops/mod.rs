//! Stops of this machine, and what a radio would have lost by them that does not stop with it.
//!
//! The emulator is a process of this machine. A hypervisor or a kernel that holds its core up makes it late, and a radio that is
//! late sends nothing meanwhile, so that nothing is lost. A real radio goes on. All that it sends during a stop must fit into the
//! receive buffer, and all that it plays must lie in its own.
//!
//! Two witnesses look while samples stream: the emulator, whose own lateness shows stops of its core, and a thread on each core
//! of the host side ([`takt_host::core_watch`]). The emulator's lateness is no stop where its own work took so long, or where
//! another thread had its core: no radio shares a core with anybody.
//!
//! A stop of a core of the host side during which the radio went on is judged by the rounds in which it happened: they show
//! whether it cost samples. At other rates, and with a radio that stood still as well, only its length tells.
//!
//! "Yes" needs that the longest stop fits into what the buffers hold, plus a margin ([`wanted_ms`]). The margin is for what they
//! hold already when the stop begins (takt's own driver reads a receive buffer once it is a quarter full, and at least every 2 ms),
//! and for the millisecond that a look can't see of a stop.

mod seen;
mod words;

use serde::{Deserialize, Serialize};
use takt_base::shown::{duration, time};
use takt_base::words::plural;
use takt_host::core_stop::Cause;
use takt_host::core_watch::Watched;

use super::{Format, Mode, Need};

pub(crate) use seen::holds_ms;
pub(super) use seen::{Holds, Looked, of_round, stops};
pub use seen::{StopSeen, stops_of};
pub use words::who;
pub(super) use words::{blind, how_sure, of_needs, words};

/// The buffers must hold the longest stop and this share of it more, but no more than [`SPARE_MS`] more.
const SPARE_SHARE: f64 = 0.4;

/// The most that the buffers must hold beside a stop, ms: 2 lie in them already, 1 of the stop was not seen.
const SPARE_MS: f64 = 3.0;

/// How much the buffers must hold for a "yes" after a longest stop, ms.
#[must_use]
pub fn wanted_ms(longest_ms: f64) -> f64 {
    longest_ms + (longest_ms * SPARE_SHARE).min(SPARE_MS)
}

/// How often and how long this machine stood still while samples streamed. Stops below 1 ms are not seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stops {
    /// Time in which they would have been seen, seconds; rounds that do not count included.
    pub streamed_s: f64,
    pub count: usize,
    /// The longest, ms; 0 without one.
    pub longest_ms: f64,
    /// The same by who stopped the core, the longest first.
    #[serde(default)] // outcomes older than this key
    pub by: Vec<StopsBy>,
    /// Cores of the host side that were looked at; the emulator looks at its own.
    #[serde(default)] // outcomes older than this key
    pub cores: Vec<usize>,
    /// Whether takt's threads had real-time priority there.
    #[serde(default)] // outcomes older than this key
    pub real_time: bool,
    /// Why a core was not looked at, a sentence each.
    #[serde(default)] // outcomes older than this key
    pub unseen: Vec<String>,
    /// Their effect at each rate that was measured.
    pub at: Vec<StopsAt>,
}

/// The stops of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsBy {
    pub by: Cause,
    pub count: usize,
    pub longest_ms: f64,
}

/// The meaning of the stops at a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsAt {
    pub mode: Mode,
    pub format: Format,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// How much of this stream the smaller of the buffers in between holds, ms.
    pub holds_ms: f64,
    /// The longest stop whose length tells, ms: not those of its own rounds during which the radio went on.
    #[serde(default)] // outcomes older than this key
    pub longest_ms: f64,
    /// Stops that were longer: each would have cost a real radio samples.
    pub longer: usize,
    /// How much of the stream it would have lost by them, ms.
    #[serde(default)]
    pub lost_ms: f64,
    /// `holds_ms` over that stop; `None` without one.
    pub margin: Option<f64>,
}

impl StopsAt {
    /// Whether the buffers hold every stop that was seen, plus a margin.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.holds_ms >= wanted_ms(self.longest_ms)
    }
}

impl Stops {
    /// From what some watches saw in a time of `seconds`, and what that means at some rates.
    pub(super) fn of<'a>(
        seen: &[StopSeen],
        seconds: f64,
        watches: impl IntoIterator<Item = &'a Watched>,
        at: Vec<StopsAt>,
    ) -> Stops {
        let longest_ms = seen.iter().map(|stop| stop.ms).fold(0.0, f64::max);
        let mut stops = Stops {
            streamed_s: seconds,
            count: seen.len(),
            longest_ms,
            by: seen::by_cause(seen),
            real_time: true,
            ..Stops::default()
        };
        for watched in watches {
            stops.cores.extend(&watched.cores);
            stops.unseen.extend(watched.unseen.iter().cloned());
            stops.real_time &= watched.real_time;
        }
        stops.cores.sort_unstable();
        stops.cores.dedup();
        stops.unseen.sort_unstable();
        stops.unseen.dedup();
        Stops { at, ..stops }
    }

    /// Finds the meaning for a need; `None` where its rate was not measured.
    #[must_use]
    pub fn at(&self, need: &Need) -> Option<&StopsAt> {
        let is = |at: &&StopsAt| {
            (at.mode, at.format) == (need.mode, need.format) && (at.rate_sps / need.rate_sps - 1.0).abs() < 1e-6
        };
        self.at.iter().find(is)
    }

    /// Whether an answer that is due after this time could still be given in time, whenever a stop begins.
    #[must_use]
    pub fn leave_time_for(&self, delay_us: f64) -> bool {
        wanted_ms(self.longest_ms) * 1e3 < delay_us
    }

    /// The cause of the longest stop.
    #[must_use]
    pub fn worst(&self) -> Option<Cause> {
        self.by.first().map(|by| by.by)
    }

    /// `up to 43 ms, 43 times in 37 s`, of stops up to this long.
    #[must_use]
    pub fn how_long(&self, longest_ms: f64) -> String {
        let (longest, times) = (time(longest_ms * 1e-3), plural(self.count, "time"));
        format!("up to {longest}, {times} in {}", duration(self.streamed_s))
    }
}
