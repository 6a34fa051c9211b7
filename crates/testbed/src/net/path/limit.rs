//! A router that may use a share of a CPU, and how large that share is: as large as makes it as fast as the study's.
//!
//! ```text
//!   lan-card ──> ring of 256 ──> kernel thread, DEADLINE: share of each millisecond ──> wan-card      and back, likewise
//!                   full: lost
//! ```
//!
//! A control group's quota is felt on return to user mode, which a kernel thread never does. A deadline reservation is the
//! scheduler's own account: a thread that has used it up does not run before the next period, whatever it is, and until then
//! it runs before everything else, so that the router is as fast on a busy machine as on an idle one.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, WallClock};
use takt_host::accounting::{Snapshot, Usage};
use takt_host::policy::{Policy, set_policy};

use super::super::PathError;
use super::Path;
use super::calibrate::offer;
use super::chain::CARDS;
use super::counters::InterfaceCounters;

/// Datagrams of [`SMALL_PAYLOAD_BYTES`] that the study's small router, a Raspberry Pi 4, passed each second without loss: all
/// that 100 Mb/s carry. How much faster it is than that the study does not say.
pub const SMALL_DATAGRAMS_PER_S: f64 = 64_424.0;
pub const SMALL_PAYLOAD_BYTES: usize = 128;

/// Shares that can be set. A CPU for each way would be none of a small computer.
pub(super) const SHARES: RangeInclusive<f64> = 0.01..=0.9;

/// The cost of a datagram differs by about this much from one second to the next. At its average cost the router would
/// lose in every other one.
const MARGIN: f64 = 1.25;
/// By so much a share grows that was not enough.
const STEP: f64 = 1.1;
/// A trial that offers less than this share of the study's datagrams says little: something else had this machine.
const OFFERED_MIN: f64 = 0.95;
/// Length of a trial.
const SPAN: Duration = Duration::from_millis(200);
/// So small that any sender has it used up.
const TRIAL_SHARE: f64 = 0.05;
/// Short enough that the ring holds what arrives meanwhile.
const PERIOD: Duration = Duration::from_millis(1);

/// Limit of a router, and how it came to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub share: f64,
    /// Processor time that a datagram of [`SMALL_PAYLOAD_BYTES`] took when the share was found out, nanoseconds; `None`: the
    /// share was set.
    pub datagram_ns: Option<f64>,
    /// Datagrams of that size offered each second when the share was tried, none of which was lost; `None`: the share was
    /// set, or some were lost in every trial.
    #[serde(default)] // records older than this key
    pub passed_per_s: Option<f64>,
}

impl Limit {
    /// The node that has it, as in the topology.
    pub const NODE: &str = "router";

    /// Datagrams of [`SMALL_PAYLOAD_BYTES`] that the share is enough for each second, at the cost that was found out.
    #[must_use]
    pub fn datagrams_per_s(&self) -> Option<f64> {
        Some(self.share * 1e9 / self.datagram_ns?)
    }

    fn policy(&self) -> Policy {
        let period_ns = PERIOD.as_nanos() as u64;
        let runtime_ns = (self.share * period_ns as f64) as u64;
        Policy::Deadline { runtime_ns, deadline_ns: period_ns, period_ns }
    }
}

impl Path {
    /// Limits the router's threads to the share that the specification asks for, or to what makes it as fast as the study's.
    pub(super) fn put_limit(&mut self) -> Result<(), PathError> {
        let limit = match self.spec.cpu_share {
            Some(share) => Limit { share, ..Limit::default() },
            None => self.as_the_study()?,
        };
        self.set_limit(limit)?;
        if let Some(router) = self.topology.nodes.iter_mut().find(|node| node.name == Limit::NODE) {
            router.notes.push(format!("{:.1} % of a CPU each way", limit.share * 100.0));
        }
        Ok(())
    }

    fn set_limit(&mut self, limit: Limit) -> Result<(), PathError> {
        for thread in self.pids_of(Limit::NODE) {
            let refused = |source| PathError::Limit { share_percent: limit.share * 100.0, source: Box::new(source) };
            set_policy(thread, limit.policy()).map_err(refused)?;
        }
        self.limit = Some(limit);
        Ok(())
    }

    /// Share of the limit that the busier way used during `work`; `None`: there is no limit.
    pub(super) fn limit_used<T>(
        &self,
        work: impl FnOnce() -> Result<T, PathError>,
    ) -> Result<(T, Option<f64>), PathError> {
        let Some(limit) = self.limit else { return Ok((work()?, None)) };
        let (done, usage) = during(&self.pids_of(Limit::NODE), work)?;
        let busier_ns = usage.companions.iter().map(|thread| thread.cpu_ns).max().unwrap_or(0);
        Ok((done, Some(busier_ns as f64 / usage.wall_ns.max(1) as f64 / limit.share)))
    }

    /// The share with which the router passes what the study's did: first by what a datagram costs a router at its limit, then
    /// larger for as long as some of the study's datagrams are lost. One that comes alone costs more than one of many, and how
    /// much more differs from processor to processor.
    fn as_the_study(&mut self) -> Result<Limit, PathError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let datagram_ns = self.cost_at_its_limit()?;
        let mut share = (SMALL_DATAGRAMS_PER_S * MARGIN * datagram_ns / 1e9).max(*SHARES.start());
        let until = WallClock.now() + PATIENCE;
        while SHARES.contains(&share) {
            self.set_limit(Limit { share, ..Limit::default() })?;
            let (offered_per_s, lost) = self.offer_the_study()?;
            let passed_per_s = (lost == 0).then_some(offered_per_s);
            if passed_per_s >= Some(SMALL_DATAGRAMS_PER_S * OFFERED_MIN) || WallClock.now() > until {
                return Ok(Limit { share, datagram_ns: Some(datagram_ns), passed_per_s });
            }
            if lost > 0 {
                share *= STEP;
            }
        }
        let datagrams_per_s = SMALL_DATAGRAMS_PER_S * SHARES.end() / share;
        Err(PathError::TooSlow { datagrams_per_s, needed_per_s: SMALL_DATAGRAMS_PER_S })
    }

    /// Processor time that a datagram takes of a router that has more to do than its share allows, nanoseconds.
    fn cost_at_its_limit(&mut self) -> Result<f64, PathError> {
        /// The first datagrams wait for addresses to be resolved, perhaps over a delay.
        const PATIENCE: Duration = Duration::from_secs(15);
        const ENOUGH: u64 = 1000;
        self.set_limit(Limit { share: TRIAL_SHARE, ..Limit::default() })?;
        let threads = self.pids_of(Limit::NODE);
        let (mut cpu_ns, mut frames, until) = (0, 0, WallClock.now() + PATIENCE);
        while frames < ENOUGH && WallClock.now() < until {
            let before = self.left_router()?;
            let flat_out = || offer(self.way_forth(SMALL_PAYLOAD_BYTES)?, SMALL_PAYLOAD_BYTES, SPAN, Duration::ZERO);
            let (_, usage) = during(&threads, flat_out)?;
            frames += self.left_router()?.saturating_sub(before);
            cpu_ns += usage.companions.iter().map(|thread| thread.cpu_ns).sum::<u64>();
        }
        match frames == 0 || cpu_ns == 0 {
            true => Err(PathError::Uncalibrated),
            false => Ok(cpu_ns as f64 / frames as f64),
        }
    }

    /// Offers what the study's router passed. Datagrams offered each second, and frames that found the ring full.
    fn offer_the_study(&self) -> Result<(f64, u64), PathError> {
        let before = self.lost_at_ring()?;
        // A cable that carries no more than these paces them itself, and less evenly than a sender that waits.
        let gap = match self.spec.ceiling_datagrams_per_s(SMALL_PAYLOAD_BYTES) {
            Some(carried) if carried < SMALL_DATAGRAMS_PER_S * STEP => Duration::ZERO,
            _ => Duration::from_secs_f64(1.0 / SMALL_DATAGRAMS_PER_S),
        };
        let (_, offered_per_s) = offer(self.way_forth(SMALL_PAYLOAD_BYTES)?, SMALL_PAYLOAD_BYTES, SPAN, gap)?;
        Ok((offered_per_s, self.lost_at_ring()?.saturating_sub(before)))
    }

    /// Frames that have left the router towards the radio.
    fn left_router(&self) -> Result<u64, PathError> {
        self.counted(Limit::NODE, |counters| counters.counts.tx_frames)
    }

    /// Frames towards the radio that the card before the router had no room for.
    fn lost_at_ring(&self) -> Result<u64, PathError> {
        self.counted(CARDS[0], |counters| counters.counts.tx_dropped)
    }

    /// A counter of a node's interface on the side of the radio.
    fn counted(&self, node: &str, counter: fn(&InterfaceCounters) -> u64) -> Result<u64, PathError> {
        let nodes = self.counters()?;
        let node = nodes.iter().find(|one| one.node == node);
        Ok(node.and_then(|node| node.interfaces.get("wan0")).map_or(0, counter))
    }
}

/// Resource usage of threads while something was done.
fn during<T>(threads: &[u32], work: impl FnOnce() -> Result<T, PathError>) -> Result<(T, Usage), PathError> {
    let earlier = Snapshot::take_with(threads).map_err(PathError::Account)?;
    let done = work()?;
    Ok((done, Snapshot::take_with(threads).map_err(PathError::Account)?.since(&earlier)))
}
