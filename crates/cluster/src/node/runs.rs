//! Runs of a node: opened, prepared for another placing, ended, forgotten.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::Node;
use super::opening::Opening;
use super::place::{Placed, Refusal, place};
use super::run::{Host, Run};
use crate::check::{Unmade, of_waveform, samples_bits_per_s};
use crate::counts::Reason;
use crate::membership::Membership;
use crate::message::{Opened, Order};
use crate::quorum::Ballot;
use crate::tenant::{Share, Tenant};

/// Runs at a time, those that have ended included.
const MOST_RUNS: usize = 64;

/// Share of its tenant's quota that a run takes beside cores: in the placing of it that takes most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Takes {
    pub(super) memory_mib: u32,
    pub(super) samples_bits_per_s: u64,
}

impl Takes {
    /// The larger one of each.
    fn most(self, other: Takes) -> Takes {
        Takes {
            memory_mib: self.memory_mib.max(other.memory_mib),
            samples_bits_per_s: self.samples_bits_per_s.max(other.samples_bits_per_s),
        }
    }
}

impl Node {
    pub(super) fn open_run(&mut self, by: &Tenant, order: Order) -> Result<Opening, Refusal> {
        let mut names =
            self.runs.iter().map(Run::name).chain(self.openings.iter().map(|opening| opening.name.as_str()));
        if names.any(|name| name == order.run) {
            return Err(Refusal::new(format!("run `{}` exists already", order.run), "give the run another name"));
        }
        let cores = order.workers.iter().filter(|worker| worker.node == self.host.node).count();
        let mut asks = Share { cores: u32::try_from(cores).unwrap_or(u32::MAX), runs: 1, ..Share::default() };
        let has = self.shares().remove(by).unwrap_or_default();
        self.admit(by, has, asks)?;
        self.make_room()?;
        let placed = place(&order, &self.host.node, &self.free(), &self.host.registry)?;
        let takes = self.needs(by, &placed)?;
        (asks.memory_mib, asks.samples_bits_per_s) = (takes.memory_mib, takes.samples_bits_per_s);
        self.admit(by, has, asks)?;
        let opening = Opening::begin(by.clone(), order, placed, self.host.opener())?;
        self.takes.insert(opening.name.clone(), takes);
        Ok(opening)
    }

    /// Whether a tenant that `has` so much of this node may have what it `asks` as well. Whatever its quota says, a tenant sends no
    /// more samples than the interface carries; what the operator sends is for him to know.
    pub(super) fn admit(&self, by: &Tenant, has: Share, asks: Share) -> Result<(), Refusal> {
        self.quotas.admit(by, has, asks)?;
        let (sends, carries) = (has.samples_bits_per_s.saturating_add(asks.samples_bits_per_s), self.bytes_per_s * 8.0);
        if *by == Tenant::operator() || sends as f64 <= carries {
            return Ok(());
        }
        let why = format!("runs of `{by}` would send {sends} bit/s of samples, but the interface carries {carries:.0}");
        Err(Refusal::new(why, "let fewer items cross nodes, or correct samples_bits_per_s in the node's cluster.toml")
            .because(Reason::Quota))
    }

    /// Forgets a run that has ended where there is room for no other: of the tenant that has most of them, so that none can
    /// keep others out by what it has left behind.
    fn make_room(&mut self) -> Result<(), Refusal> {
        if self.runs.len() + self.openings.len() < MOST_RUNS {
            return Ok(());
        }
        let mut left: BTreeMap<&Tenant, Vec<(Instant, &str)>> = BTreeMap::new();
        for run in &self.runs {
            if let Some(since) = run.ended() {
                left.entry(run.tenant()).or_default().push((since, run.name()));
            }
        }
        let most = left.into_values().max_by_key(Vec::len).unwrap_or_default();
        let oldest = most.into_iter().min().map(|(_, name)| name.to_owned());
        let oldest = oldest.ok_or_else(|| {
            Refusal::new(format!("the node has {MOST_RUNS} runs, the most allowed"), "stop a run on this node")
        })?;
        self.forget(|run, _| run.name() == oldest);
        Ok(())
    }

    /// Share that a placed run takes, if one of `owner` may have it: nothing of it is made before.
    fn needs(&self, owner: &Tenant, placed: &Placed) -> Result<Takes, Refusal> {
        let memory_mib = of_waveform(owner, &placed.graph, &placed.share, &self.host.registry)?;
        Ok(Takes { memory_mib, samples_bits_per_s: samples_bits_per_s(&placed.share) })
    }

    pub(super) fn prepare(&mut self, by: &Tenant, after: &Ballot, order: Order) -> Result<Json, Refusal> {
        let name = order.run.clone();
        let next = self.on(by, &name, |run, host| run.place_next(&order, host))?;
        let takes = self.takes_with(&name, &next)?;
        // A run keeps its cores: of these its tenant has as many as before.
        let statement = self.on(by, &name, |run, host| run.prepare(after, order, next, host))?;
        self.takes.insert(name, takes);
        Ok(json!(Opened { statement }))
    }

    /// Share that a run takes once it may go over to another placing. The operator does not bring in either what its
    /// tenant may not have, when he takes over the run with the order that it has.
    fn takes_with(&self, name: &str, next: &Placed) -> Result<Takes, Refusal> {
        let run = self.runs.iter().find(|run| run.name() == name).ok_or_else(|| unknown(name))?;
        let (owner, now) = (run.tenant(), self.takes.get(name).copied().unwrap_or_default());
        let next = self.needs(owner, next)?;
        let has = self.shares().remove(owner).unwrap_or_default();
        let asks = Share {
            memory_mib: next.memory_mib.saturating_sub(now.memory_mib),
            samples_bits_per_s: next.samples_bits_per_s.saturating_sub(now.samples_bits_per_s),
            ..Share::default()
        };
        self.admit(owner, has, asks)?;
        Ok(next.most(now))
    }

    /// Does something to a run, with what the node gives it.
    pub(super) fn on<T>(
        &mut self,
        by: &Tenant,
        name: &str,
        what: impl FnOnce(&mut Run, &mut Host) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let run = self.runs.iter_mut().find(|run| run.name() == name).ok_or_else(|| unknown(name))?;
        rules(by, name, run.tenant())?;
        what(run, &mut self.host)
    }

    pub(super) fn stop_run(&mut self, by: &Tenant, name: &str, manager: Option<&str>) -> Result<Json, Refusal> {
        if let Some(opening) = self.openings.iter_mut().find(|opening| opening.name == name) {
            may_stop(by, manager, (name, &opening.tenant, &opening.manager))?;
            return Ok(json!(opening.stop()));
        }
        let found = self.find(name)?;
        may_stop(by, manager, (name, found.tenant(), found.manager()))?;
        found.stop();
        let progress = json!(found.progress());
        self.forget(|run, _| run.name() == name);
        Ok(progress)
    }

    pub(super) fn find(&mut self, name: &str) -> Result<&mut Run, Refusal> {
        self.runs.iter_mut().find(|run| run.name() == name).ok_or_else(|| unknown(name))
    }

    /// Forgets runs; what they counted stays.
    pub(super) fn forget(&mut self, mut which: impl FnMut(&mut Run, &Membership) -> bool) {
        let members = &self.host.members;
        for run in self.runs.extract_if(.., |run| which(run, members)) {
            run.add_to(&mut self.past);
            self.takes.remove(run.name());
            members.release(run.name());
        }
    }
}

impl From<Unmade> for Refusal {
    fn from(why: Unmade) -> Refusal {
        let reason = match why {
            Unmade::Files { .. } | Unmade::Isolated { .. } => Reason::Tenant,
            Unmade::Memory { .. } => Reason::Range,
        };
        Refusal::new(&why, why.fix()).because(reason)
    }
}

fn unknown(run: &str) -> Refusal {
    Refusal::new(format!("no run is called `{run}`"), "see with takt node list which runs there are")
}

fn rules(by: &Tenant, name: &str, owner: &Tenant) -> Result<(), Refusal> {
    if by.rules(owner) {
        return Ok(());
    }
    let fix = format!("give the order as `{owner}`, or as the operator");
    Err(Refusal::new(format!("run `{name}` belongs to `{owner}`"), fix).because(Reason::Tenant))
}

/// Whether a tenant may stop a run, in the name of `manager` if one is named.
fn may_stop(by: &Tenant, manager: Option<&str>, (name, owner, own): (&str, &Tenant, &str)) -> Result<(), Refusal> {
    rules(by, name, owner)?;
    let Some(manager) = manager.filter(|&manager| manager != own) else { return Ok(()) };
    Err(Refusal::new(format!("{own} watches over run `{name}`, not {manager}"), "let that manager end it"))
}
