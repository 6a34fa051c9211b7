//! Options of a round of the exchange.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_host::idle::Idle;
use takt_host::policy::Policy;
use takt_host::timer::Method;
use takt_packet::EngineKind;

use super::placement::ThreadPlacement;
use super::{DeadlineError, SUBFRAME_NS};
use crate::setting::{PolicyName, words};

/// The options of a round of the exchange. Start from [`DeadlineOptions::default`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeadlineOptions {
    pub addr: IpAddr,
    pub duration: Duration,
    pub warm_up: Duration,
    pub engine: EngineKind,
    /// Under `fifo` and `rr` the process that is nearer to the answer comes first, the physical layer last.
    pub policy: PolicyName,
    /// Only the interface has that policy, as in the study; the others are `other`.
    pub interface_alone: bool,
    pub wake: Wake,
    /// Ticks at which the sleeps of a timer end, Hz; 0: whenever the kernel's own timers can.
    pub tick_hz: u32,
    pub handover: Handover,
    pub idle: Idle,
    pub process_cpus: ProcessCpus,
    /// The cores of the host side: where time may be stolen from it.
    pub host_cpus: Vec<usize>,
    pub codes: usize,
    pub seed: u64,
    pub apart: Apart,
    /// Note who ran where around the worst subframe.
    pub trace: bool,
    pub force: bool,
    pub transmit: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wake {
    /// The samples themselves.
    #[default]
    Arrival,
    /// A timer, set to when the last of them is due.
    Timer(Method),
}

/// When the interface hands samples over to the physical layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// When the subframe is whole, as in the study.
    #[default]
    Subframe,
    /// Each slot as soon as it is there, so that only the last is left to do when the subframe ends.
    Slot,
}

words! {
    Handover: "subframe" => Handover::Subframe, "slot" => Handover::Slot;
}

/// CPUs of each process; empty: those of the host side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCpus {
    pub interface: Vec<usize>,
    pub physical: Vec<usize>,
    pub higher: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// Processes, as in the study.
    #[default]
    Processes,
    /// Threads of one process: what tests have, and a comparison.
    Threads,
}

impl Default for DeadlineOptions {
    fn default() -> DeadlineOptions {
        DeadlineOptions {
            addr: Ipv4Addr::LOCALHOST.into(),
            duration: Duration::from_secs(2),
            warm_up: Duration::from_millis(200),
            engine: EngineKind::Mmsg,
            policy: PolicyName::default(),
            interface_alone: false,
            wake: Wake::default(),
            tick_hz: 0,
            handover: Handover::default(),
            idle: Idle::default(),
            process_cpus: ProcessCpus::default(),
            host_cpus: Vec::new(),
            codes: 16,
            seed: 1,
            apart: Apart::default(),
            trace: false,
            force: false,
            transmit: false,
        }
    }
}

impl DeadlineOptions {
    /// Whether such a round can be run, as far as that can be known before.
    ///
    /// # Errors
    /// Less than a subframe of time, ticks for something that does not sleep, or slots for an interface that a timer wakes.
    pub fn check(&self) -> Result<(), DeadlineError> {
        if self.duration.as_nanos() < u128::from(SUBFRAME_NS) {
            return Err(DeadlineError::NoTime { duration: self.duration });
        }
        if self.tick_hz > 0 && matches!(self.wake, Wake::Arrival | Wake::Timer(Method::Spin)) {
            return Err(DeadlineError::TicksWithoutSleep { hz: self.tick_hz });
        }
        if self.handover == Handover::Slot && self.wake != Wake::Arrival {
            return Err(DeadlineError::SlotsWithoutArrival);
        }
        Ok(())
    }

    /// CPUs on which the processes may be: each on cores of its own, or anywhere on the host side.
    pub(super) fn used_cpus(&self) -> Vec<usize> {
        let process_cpus = [&self.process_cpus.interface, &self.process_cpus.physical, &self.process_cpus.higher];
        let mut cpus = self.host_cpus.clone();
        if process_cpus.iter().all(|cpus| !cpus.is_empty()) {
            cpus = process_cpus.into_iter().flatten().copied().collect();
        }
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// CPUs and policy of the process with this rank.
    pub(super) fn placement(&self, rank: u8) -> ThreadPlacement {
        let ProcessCpus { interface, physical, higher } = &self.process_cpus;
        let cpus = [interface, higher, physical][usize::from(rank.min(2))].clone();
        ThreadPlacement { cpus, policy: self.policy(rank) }
    }

    /// The policy of the process with this rank: 0 the interface, 1 the higher, 2 the physical layer. On one core each
    /// hands over to one that comes before it, so that it does not make it wait for what it does afterwards.
    pub(super) fn policy(&self, rank: u8) -> Policy {
        // Both threads of the interface and both layers fit into the 95 % of one CPU that the kernel promises at most.
        let (run_us, each_us) = [(200, 1_000), (100, 1_000), (1_600, 4_000)][usize::from(rank.min(2))];
        match self.policy {
            _ if self.interface_alone && rank > 0 => Policy::Other { nice: 0 },
            PolicyName::Other => Policy::Other { nice: 0 },
            PolicyName::Fifo => Policy::Fifo { priority: HIGHEST - rank },
            PolicyName::Rr => Policy::RoundRobin { priority: HIGHEST - rank },
            PolicyName::Deadline => Policy::Deadline {
                runtime_ns: run_us * 1_000,
                deadline_ns: each_us * 1_000,
                period_ns: each_us * 1_000,
            },
        }
    }
}

/// Priority of the interface: above everything that takt runs, below the kernel's own threads of importance.
const HIGHEST: u8 = 52;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_study_only_the_interface_had_a_priority() {
        let all = DeadlineOptions { policy: PolicyName::Fifo, ..DeadlineOptions::default() };
        let alone = DeadlineOptions { interface_alone: true, ..all.clone() };
        assert_eq!([0, 1, 2].map(|rank| all.policy(rank)), [52, 51, 50].map(|priority| Policy::Fifo { priority }));
        assert_eq!(alone.policy(0), Policy::Fifo { priority: 52 });
        assert_eq!(alone.policy(1), Policy::Other { nice: 0 });
    }

    #[test]
    fn what_can_not_be_is_refused_before_anything_is_opened() {
        let ticks = DeadlineOptions { tick_hz: 128, ..DeadlineOptions::default() };
        assert!(matches!(ticks.check(), Err(DeadlineError::TicksWithoutSleep { hz: 128 })));
        let sleeps = DeadlineOptions { wake: Wake::Timer(Method::Nanosleep), ..ticks };
        assert!(sleeps.check().is_ok());
        let slots = DeadlineOptions { handover: Handover::Slot, tick_hz: 0, ..sleeps };
        assert!(matches!(slots.check(), Err(DeadlineError::SlotsWithoutArrival)));
        let short = DeadlineOptions { duration: Duration::from_millis(4), ..DeadlineOptions::default() };
        assert!(matches!(short.check(), Err(DeadlineError::NoTime { .. })));
    }
}
