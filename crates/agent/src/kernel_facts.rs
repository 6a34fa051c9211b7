//! Facts about the kernel under an agent, as far as punctuality goes, in its own words.

use rustix::time::{ClockId, clock_getres};
use serde::{Deserialize, Serialize};
use takt_host::Host;
use takt_host::kernel::{PreemptionInForce, preemption, tick_hz};

/// Facts that decide in a kernel when a sleep ends and who runs then. A fact that it does not give is `None`, never a
/// guess.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelFacts {
    /// Its command line, which may overrule how it was built.
    pub command_line: String,
    /// Ticks a second of its clock, as it was built (`CONFIG_HZ`).
    pub tick_hz: Option<u32>,
    /// Resolution of its timers, nanoseconds, as it says itself: 1, or a whole tick where sleeps end only at ticks
    /// (`clock_getres(2)`).
    pub timer_resolution_ns: u64,
    pub preemption: Option<PreemptionInForce>,
}

impl KernelFacts {
    pub(crate) fn read() -> KernelFacts {
        let (host, resolution) = (Host::this(), clock_getres(ClockId::Monotonic));
        let seconds = u64::try_from(resolution.tv_sec).unwrap_or(0);
        KernelFacts {
            command_line: host.read("/proc/cmdline").unwrap_or_default().trim().to_owned(),
            tick_hz: tick_hz(&host),
            timer_resolution_ns: seconds * 1_000_000_000 + u64::try_from(resolution.tv_nsec).unwrap_or(0),
            preemption: preemption(&host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolution_is_a_nanosecond_or_a_tick() {
        let facts = KernelFacts::read();
        let tick_ns = facts.tick_hz.map(|hz| 1_000_000_000 / u64::from(hz));
        let either =
            facts.timer_resolution_ns == 1 || tick_ns.is_none_or(|ns| facts.timer_resolution_ns.abs_diff(ns) < 1000);
        assert!(either, "{facts:?}");
        assert!(!facts.command_line.is_empty());
    }
}
