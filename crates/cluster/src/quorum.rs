//! Who hears whom, and what follows: whether this member may go on, and who is lost.
//!
//! Every member says a few times a second whom it hears. A node executes a run only while more than half of the run's voters (its
//! nodes and its manager) hear it and are heard by it. So of two halves of a torn network at most one goes on, and a node that
//! was frozen finds, before it executes anything, that its time is over.
//!
//! Let L be the lease. A member hears another whose word is no older than L/2. A node that has a quorum may go on for L/2. When
//! more than half of the voters say that they do not hear X, their words from X are older than L/2, so X has no quorum later
//! than L/2 from now, and executes nothing later than L from now: from then on somebody else may execute what X did.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What a member says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Who.
    pub from: String,
    /// Whom it hears.
    pub hears: BTreeSet<String>,
}

/// What one member knows of all others. Times are of its own clock, nanoseconds.
#[derive(Debug)]
pub struct Hearing {
    own: String,
    lease_ns: u64,
    heard: BTreeMap<String, (u64, BTreeSet<String>)>,
}

/// Members remembered at most.
const MOST: usize = 4096;

impl Hearing {
    /// Of a member that has heard nobody yet.
    #[must_use]
    pub fn new(own: &str, lease_ns: u64) -> Hearing {
        Hearing { own: own.to_owned(), lease_ns, heard: BTreeMap::new() }
    }

    /// A word has come.
    pub fn take(&mut self, beat: Beat, now_ns: u64) {
        if beat.from != self.own && (self.heard.len() < MOST || self.heard.contains_key(&beat.from)) {
            self.heard.insert(beat.from, (now_ns, beat.hears));
        }
    }

    /// What this member says of itself now.
    #[must_use]
    pub fn beat(&self, now_ns: u64) -> Beat {
        let hears = self.heard.keys().filter(|name| self.hears(name, now_ns).is_some()).cloned().collect();
        Beat { from: self.own.clone(), hears }
    }

    fn hears(&self, name: &str, now_ns: u64) -> Option<&BTreeSet<String>> {
        let (at, hears) = self.heard.get(name)?;
        (now_ns.saturating_sub(*at) <= self.lease_ns / 2).then_some(hears)
    }

    /// Until when this member may go on with what these voters share, if it has a quorum now.
    #[must_use]
    pub fn lease(&self, voters: &[String], now_ns: u64) -> Option<u64> {
        let agrees = |voter: &&String| {
            **voter == self.own || self.hears(voter, now_ns).is_some_and(|hears| hears.contains(&self.own))
        };
        let agreeing = voters.iter().filter(agrees).count();
        (2 * agreeing > voters.len()).then(|| now_ns.saturating_add(self.lease_ns / 2))
    }

    /// Voters of whom more than half of the voters hear nothing, as this one knows; a lease from now they execute nothing.
    #[must_use]
    pub fn lost(&self, voters: &[String], now_ns: u64) -> Vec<String> {
        let deaf_to = |voter: &String, lost: &str| {
            if *voter == self.own {
                self.hears(lost, now_ns).is_none()
            } else {
                *voter != lost && self.hears(voter, now_ns).is_some_and(|hears| !hears.contains(lost))
            }
        };
        let is_lost = |lost: &&String| {
            let deaf = voters.iter().filter(|voter| deaf_to(voter, lost)).count();
            **lost != self.own && 2 * deaf > voters.len()
        };
        voters.iter().filter(is_lost).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEASE: u64 = 1000;
    const EVERY: u64 = 100;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n}")).collect()
    }

    /// Members on one clock, with links that are cut and mended in one direction at a time.
    struct Net {
        members: Vec<Hearing>,
        /// Until when each may go on.
        leases: Vec<u64>,
        frozen: Vec<bool>,
    }

    impl Net {
        fn new(count: usize) -> Net {
            let members = names(count).iter().map(|name| Hearing::new(name, LEASE)).collect();
            Net { members, leases: vec![0; count], frozen: vec![false; count] }
        }

        fn step(&mut self, now: u64, passes: &dyn Fn(usize, usize) -> bool) {
            let voters = names(self.members.len());
            for from in 0..self.members.len() {
                if self.frozen[from] {
                    continue;
                }
                if let Some(until) = self.members[from].lease(&voters, now) {
                    self.leases[from] = until;
                }
                let beat = self.members[from].beat(now);
                for to in 0..self.members.len() {
                    if from != to && passes(from, to) && !self.frozen[to] {
                        self.members[to].take(beat.clone(), now);
                    }
                }
            }
        }
    }

    proptest! {
        /// Whatever is cut, mended or frozen, in whatever order: who is said to be lost executes nothing a lease later.
        #[test]
        fn nobody_goes_on_a_lease_after_being_said_to_be_lost(
            count in 2..6_usize,
            events in prop::collection::vec((0..3_u8, 0..6_usize, 0..6_usize, 1..12_u64), 1..40),
        ) {
            let voters = names(count);
            let mut net = Net::new(count);
            let mut cut = BTreeSet::new();
            let mut now = 10_000;
            // Since when each is said to be lost by somebody, without a break.
            let mut lost_since: BTreeMap<usize, u64> = BTreeMap::new();
            for (what, a, b, steps) in events {
                let (a, b) = (a % count, b % count);
                match what {
                    0 => { cut.insert((a, b)); }
                    1 => { cut.remove(&(a, b)); }
                    _ => net.frozen[a] = !net.frozen[a],
                }
                for _ in 0..steps {
                    now += EVERY;
                    net.step(now, &|from, to| !cut.contains(&(from, to)));
                    let mut lost = BTreeSet::new();
                    for member in (0..count).filter(|&member| !net.frozen[member]) {
                        for name in net.members[member].lost(&voters, now) {
                            lost.insert(voters.iter().position(|voter| *voter == name).unwrap());
                        }
                    }
                    lost_since.retain(|x, _| lost.contains(x));
                    for &x in &lost {
                        let since = *lost_since.entry(x).or_insert(now);
                        prop_assert!(net.leases[x] <= since + LEASE, "{} until {} lost since {}", x, net.leases[x], since);
                    }
                }
            }
        }
    }

    #[test]
    fn of_two_halves_one_goes_on_at_most() {
        for count in 2..6 {
            for split in 1..count {
                let mut net = Net::new(count);
                for now in (10_000..20_000).step_by(EVERY as usize) {
                    net.step(now, &|_, _| true);
                }
                assert!(net.leases.iter().all(|&until| until >= 20_000), "all together");
                for now in (20_000..30_000).step_by(EVERY as usize) {
                    net.step(now, &|from, to| (from < split) == (to < split));
                }
                let goes_on =
                    |members: std::ops::Range<usize>| net.leases[members].iter().all(|&until| until >= 30_000);
                assert_eq!(goes_on(0..split), 2 * split > count);
                assert_eq!(goes_on(split..count), 2 * (count - split) > count);
            }
        }
    }
}
