//! [`State`]: a placement, whole or half done, with the sums that a change of one group changes.

use super::depth::NOWHERE;
use super::problem::{NEVER, Problem, Way};

#[derive(Clone)]
pub(crate) struct State<'p> {
    pub problem: &'p Problem,
    pub placed: Vec<usize>,
    /// Work of each core, ns, without its base.
    work: Vec<u64>,
    count: Vec<u32>,
    /// Bytes a slot over each channel.
    pub bytes: Vec<u64>,
    /// Bytes a slot that cross cores.
    pub crossing: u64,
    /// Groups where they must not be, and flows without a way.
    wrong: u32,
}

/// Score by which placements compare: period first; balance tells moves apart that leave the period as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    pub period_ns: u64,
    pub balance: u128,
}

impl<'p> State<'p> {
    pub fn empty(problem: &'p Problem) -> State<'p> {
        let cores = problem.kind_of.len();
        State {
            problem,
            placed: vec![NOWHERE; problem.groups.len()],
            work: vec![0; cores],
            count: vec![0; cores],
            bytes: vec![0; problem.channels.len()],
            crossing: 0,
            wrong: 0,
        }
    }

    pub fn of(problem: &'p Problem, placed: &[usize]) -> State<'p> {
        let mut state = State::empty(problem);
        for (group, &core) in placed.iter().enumerate() {
            state.put(group, core);
        }
        state
    }

    pub fn put(&mut self, group: usize, core: usize) {
        match self.problem.cost(group, self.problem.kind_of[core]) {
            NEVER => self.wrong += 1,
            cost => self.work[core] += cost,
        }
        self.count[core] += 1;
        self.placed[group] = core;
        self.traffic(group, core, true);
    }

    pub fn take(&mut self, group: usize) {
        let core = self.placed[group];
        self.traffic(group, core, false);
        self.placed[group] = NOWHERE;
        match self.problem.cost(group, self.problem.kind_of[core]) {
            NEVER => self.wrong -= 1,
            cost => self.work[core] -= cost,
        }
        self.count[core] -= 1;
    }

    fn traffic(&mut self, group: usize, core: usize, add: bool) {
        for &index in &self.problem.flows_of[group] {
            let flow = self.problem.flows[index];
            let other = self.placed[if flow.from == group { flow.to } else { flow.from }];
            if other == NOWHERE || other == core {
                continue;
            }
            let (from, to) = if flow.from == group { (core, other) } else { (other, core) };
            let change = |sum: &mut u64| *sum = if add { *sum + flow.bytes } else { *sum - flow.bytes };
            change(&mut self.crossing);
            match self.problem.way(&flow, from, to) {
                Way::Free => {}
                Way::Over(channel) => change(&mut self.bytes[channel]),
                Way::None if add => self.wrong += 1,
                Way::None => self.wrong -= 1,
            }
        }
    }

    /// Work of a core with its base, ns; 0 where nothing runs.
    pub fn load_ns(&self, core: usize) -> u64 {
        let base = self.problem.kinds[self.problem.kind_of[core]].base_ns;
        if self.count[core] == 0 { 0 } else { self.work[core] + base }
    }

    pub fn empty_core(&self, core: usize) -> bool {
        self.count[core] == 0
    }

    /// Shortest slot this would keep up with; [`NEVER`] if it must not be.
    pub fn period_ns(&self) -> u64 {
        if self.wrong > 0 {
            return NEVER;
        }
        let cores = (0..self.work.len()).map(|core| self.load_ns(core));
        let channels = self.bytes.iter().enumerate().map(|(channel, &bytes)| self.problem.channel_ns(channel, bytes));
        cores.chain(channels).max().unwrap_or(0)
    }

    pub fn score(&self) -> Score {
        let square = |ns: u64| u128::from(ns) * u128::from(ns);
        let cores = (0..self.work.len()).map(|core| square(self.load_ns(core)));
        let channels = self.bytes.iter().enumerate().map(|(c, &bytes)| square(self.problem.channel_ns(c, bytes)));
        let balance = cores.chain(channels).fold(0, u128::saturating_add);
        Score { period_ns: self.period_ns(), balance }
    }

    /// Whether what is placed so far can be run.
    pub fn legal(&self) -> bool {
        self.problem.hops.legal(|component| self.placed[self.problem.group_of[component]])
    }

    pub fn latency_slots(&self) -> Option<u32> {
        self.problem.hops.latency(|component| self.placed[self.problem.group_of[component]], self.problem.latency)
    }
}
