//! Leases, majorities and promises, on clocks of the test's own.

use proptest::prelude::*;

use super::*;
use crate::message::{Envelope, PROTOCOL, document};

const LEASE: u64 = 1000;
const EVERY: u64 = 100;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("n{n}")).collect()
}

/// Heartbeat of a member that receives nothing.
fn heartbeat(from: &str, sent_ns: u64) -> Heartbeat {
    Heartbeat { from: from.to_owned(), sent_ns, received: BTreeMap::new(), supports: Ballot::new(1, "m") }
}

/// Heartbeat of a member that received some, whose clocks were at 1 then.
fn naming(sent_ns: u64, received: Vec<String>) -> Heartbeat {
    Heartbeat { received: received.into_iter().map(|name| (name, 1)).collect(), ..heartbeat("n1", sent_ns) }
}

impl View {
    /// Goes from the first placing to a manager's second.
    fn next(&mut self, manager: &str) -> bool {
        self.promise(&Ballot::new(1, "m"), Ballot::new(2, manager))
    }
}

/// Members with clocks of their own; heartbeats take as long as they like, and wait for a member that is frozen.
struct Net {
    members: Vec<View>,
    /// Until when each may go on with the first placing, by its own clock.
    leases: Vec<u64>,
    frozen: Vec<bool>,
    under_way: Vec<(u64, usize, Heartbeat)>,
}

impl Net {
    fn new(count: usize) -> Net {
        let member = |name: &String| View::new(name, Ballot::new(1, "m"), LEASE);
        let mut members: Vec<View> = names(count).iter().map(member).collect();
        // As a manager does that waits for all.
        members.iter_mut().for_each(|view| _ = view.is_complete(&names(count), 0));
        Net { members, leases: vec![0; count], frozen: vec![false; count], under_way: Vec::new() }
    }

    /// How far a member's clock is ahead of the true time.
    fn ahead(member: usize) -> u64 {
        7_000 * member as u64
    }

    fn lost(&mut self, member: usize, now: u64) -> Vec<String> {
        let voters = names(self.members.len());
        self.members[member].lost(&voters, now + Net::ahead(member))
    }

    fn is_complete(&mut self, member: usize, now: u64) -> bool {
        let voters = names(self.members.len());
        self.members[member].is_complete(&voters, now + Net::ahead(member))
    }

    fn step(&mut self, now: u64, way: &dyn Fn(usize, usize) -> Option<u64>) {
        let voters = names(self.members.len());
        for from in (0..self.members.len()).filter(|&from| !self.frozen[from]) {
            let own = now + Net::ahead(from);
            let quorum = Quorum { ballot: Ballot::new(1, "m"), voters: voters.clone() };
            if let Some(until) = self.members[from].lease(&[quorum], own) {
                self.leases[from] = self.leases[from].max(until);
            }
            for to in (0..self.members.len()).filter(|&to| to != from) {
                if let Some(way) = way(from, to) {
                    self.under_way.push((now + way, to, self.members[from].heartbeat(own)));
                }
            }
        }
        let frozen = self.frozen.clone();
        let (come, later) = self.under_way.drain(..).partition(|&(at, to, _)| at <= now && !frozen[to]);
        self.under_way = later;
        let come: Vec<(u64, usize, Heartbeat)> = come;
        for (_, to, heartbeat) in come {
            // One that waited for a member is older than the last.
            let _ = self.members[to].take(heartbeat, now + Net::ahead(to));
        }
    }
}

proptest! {
    /// Whatever is slow, cut, mended or frozen, in whatever order: a lease after more than half support the next placing
    /// no member executes the one before.
    #[test]
    fn a_placing_is_not_executed_a_lease_after_most_support_the_next(
        count in 1..6_usize,
        events in prop::collection::vec((0..4_u8, 0..6_usize, 0..6_usize, 0..25_u64, 1..12_u64), 1..40),
        takeover in 0..20_usize,
    ) {
        let mut net = Net::new(count);
        let mut ways: BTreeMap<(usize, usize), Option<u64>> = BTreeMap::new();
        let (mut now, mut promised) = (10_000, None);
        for (index, (what, a, b, slow, steps)) in events.into_iter().enumerate() {
            let (a, b) = (a % count, b % count);
            match what {
                0 => { ways.insert((a, b), None); }
                1 => { ways.insert((a, b), Some(slow * EVERY)); }
                2 => { ways.remove(&(a, b)); }
                _ => net.frozen[a] = !net.frozen[a],
            }
            if index == takeover {
                // Any majority, frozen or not: a promise is made before it is answered.
                (0..=count / 2).for_each(|at| assert!(net.members[(a + at) % count].next("m")));
                promised = Some(now);
            }
            for _ in 0..steps {
                now += EVERY;
                net.step(now, &|from, to| ways.get(&(from, to)).copied().unwrap_or(Some(0)));
                if let Some(promised) = promised {
                    for (member, &until) in net.leases.iter().enumerate() {
                        prop_assert!(until <= promised + Net::ahead(member) + LEASE, "{}", member);
                    }
                }
            }
        }
    }
}

proptest! {
    /// Two managers ask the same members, in any order: one of them at most has a majority.
    #[test]
    fn of_two_who_take_over_one_may(count in 1..6_usize, asked in prop::collection::vec((0..6_usize, any::<bool>()), 0..30)) {
        let mut net = Net::new(count);
        let mut support = BTreeMap::from([("m", 0), ("n", 0)]);
        for (member, first) in asked {
            let manager = if first { "m" } else { "n" };
            *support.get_mut(manager).unwrap() += usize::from(net.members[member % count].next(manager));
        }
        prop_assert!(support.values().filter(|&&votes| 2 * votes > count).count() <= 1);
    }
}

#[test]
fn a_heartbeat_that_does_not_count_says_why() {
    let mut view = View::new("n0", Ballot::new(1, "m"), LEASE);
    assert_eq!(view.take(heartbeat("n1", 7), 100), Ok(()));
    assert_eq!(view.take(heartbeat("n1", 6), 101), Err(Uncounted::Replayed));
    assert_eq!(view.take(heartbeat("n1", 7), 101), Err(Uncounted::Replayed), "the same one");
    assert_eq!(view.take(heartbeat("n0", 8), 102), Err(Uncounted::Own));
    for stranger in 1..MOST {
        assert_eq!(view.take(heartbeat(&format!("s{stranger}"), 7), 103), Ok(()));
    }
    assert_eq!(view.take(heartbeat("more", 7), 104), Err(Uncounted::Crowded));
    assert_eq!(view.take(heartbeat("n1", 8), 105), Ok(()), "known ones still count");
    assert_eq!(view.take(heartbeat("n1", 8), 106 + LEASE), Err(Uncounted::Replayed), "however late");
    assert_eq!(view.take(heartbeat("n1", 1), 106 + LEASE), Ok(()), "it was started anew");
}

#[test]
fn what_was_never_sent_prolongs_no_lease() {
    let quorums = [Quorum { ballot: Ballot::new(1, "m"), voters: names(3) }];
    let mut view = View::new("n0", Ballot::new(1, "m"), LEASE);
    let returning = |from: &str, returned_ns| {
        let received = BTreeMap::from([("n0".to_owned(), returned_ns)]);
        Heartbeat { received, ..heartbeat(from, 7) }
    };
    for from in ["n1", "n2"] {
        for returned_ns in [u64::MAX, 101] {
            assert_eq!(view.take(returning(from, returned_ns), 100), Err(Uncounted::Malformed));
        }
    }
    assert_eq!(view.lease(&quorums, 100), None);
    for from in ["n1", "n2"] {
        assert_eq!(view.take(returning(from, 100), 100), Ok(()));
    }
    assert_eq!(view.lease(&quorums, 100), Some(100 + LEASE));
}

#[test]
fn a_heartbeat_names_members_and_no_more_than_are_remembered() {
    let mut view = View::new("n0", Ballot::new(1, "m"), LEASE);
    assert_eq!(view.take(naming(7, names(MOST)), 100), Ok(()));
    assert_eq!(view.take(naming(8, names(MOST + 1)), 100), Err(Uncounted::Malformed));
    for name in [String::new(), "a/b".to_owned(), "x".repeat(NAME_BYTES + 1)] {
        let supports = Ballot::new(1, &name);
        let supporting = Heartbeat { supports, ..heartbeat("n1", 8) };
        for bad in [heartbeat(&name, 8), naming(8, vec![name.clone()]), supporting] {
            assert_eq!(view.take(bad, 100), Err(Uncounted::Malformed), "{name}");
        }
    }
    assert_eq!(view.take(naming(8, vec!["x".repeat(NAME_BYTES)]), 100), Ok(()));
}

#[test]
fn the_longest_heartbeat_has_no_more_bytes_than_one_may_have() {
    let name = |index: usize| format!("{index:0>NAME_BYTES$}");
    let received = (0..MOST).map(|index| (name(index), u64::MAX)).collect();
    let supports = Ballot::new(u32::MAX, &name(0));
    let longest = Heartbeat { from: name(0), sent_ns: u64::MAX, received, supports };
    assert!(longest.is_sound());
    assert!(document(&Envelope { protocol: PROTOCOL, body: longest }).len() <= MOST_BYTES);
}

#[test]
fn names_are_kept_of_voters_alone() {
    let mut view = View::new("n0", Ballot::new(1, "m"), LEASE);
    let mut kept = |voters: usize, sent_ns| {
        if voters > 0 {
            assert_eq!(view.lost(&names(voters), 100), [""; 0]);
        }
        assert_eq!(view.take(naming(sent_ns, names(MOST)), 100), Ok(()));
        view.peers["n1"].1.received.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(kept(0, 7), names(1), "what a lease needs");
    assert_eq!(kept(3, 8), names(3));
    assert_eq!(kept(2, 9), names(2));
}

#[test]
fn a_node_is_lost_though_its_last_heartbeat_is_sent_again() {
    let mut net = Net::new(3);
    for now in (10_000..12_000).step_by(EVERY as usize) {
        net.step(now, &|_, _| Some(0));
        assert_eq!(net.lost(0, now), [""; 0], "{now}");
    }
    let last = net.members[2].heartbeat(11_900 + Net::ahead(2));
    net.frozen[2] = true;
    for now in (12_000..15_000).step_by(EVERY as usize) {
        for to in [0, 1] {
            // Whether it counts shows below.
            let _ = net.members[to].take(last.clone(), now + Net::ahead(to));
        }
        net.step(now, &|_, _| Some(0));
        assert_eq!(net.lost(0, now).contains(&"n2".to_owned()), now > 11_900 + LEASE / 2, "{now}");
    }
}

#[test]
fn of_two_halves_one_goes_on_at_most_and_finds_the_other_lost() {
    for count in 2..6 {
        for split in 1..count {
            let mut net = Net::new(count);
            for now in (10_000..20_000).step_by(EVERY as usize) {
                net.step(now, &|_, _| Some(0));
            }
            for member in 0..count {
                assert_eq!(net.lost(member, 20_000), [""; 0], "all together");
                assert!(net.is_complete(member, 20_000));
            }
            let goes_on = |net: &Net, now: u64| -> BTreeSet<usize> {
                (0..count).filter(|&member| net.leases[member] >= now + Net::ahead(member)).collect()
            };
            assert_eq!(goes_on(&net, 20_000).len(), count, "all together");
            for now in (20_000..30_000).step_by(EVERY as usize) {
                net.step(now, &|from, to| ((from < split) == (to < split)).then_some(0));
            }
            let larger: BTreeSet<usize> = match () {
                () if 2 * split > count => (0..split).collect(),
                () if 2 * split < count => (split..count).collect(),
                () => BTreeSet::new(),
            };
            assert_eq!(goes_on(&net, 30_000), larger, "{split} of {count}");
            for member in 0..count {
                assert!(!net.is_complete(member, 30_000));
                let lost = net.lost(member, 30_000);
                let others = (0..count).filter(|other| !larger.contains(other)).map(|other| format!("n{other}"));
                assert_eq!(lost, if larger.contains(&member) { others.collect() } else { Vec::new() });
            }
        }
    }
}

#[test]
fn a_voter_is_lost_half_a_lease_after_it_became_one_at_the_earliest() {
    let mut net = Net::new(3);
    let without_the_third = |from: usize, to: usize| (from != 2 && to != 2).then_some(0);
    for now in (10_000..12_000).step_by(EVERY as usize) {
        net.step(now, &without_the_third);
        assert_eq!(net.lost(0, now), if now > 10_000 + LEASE / 2 { vec!["n2"] } else { Vec::new() }, "{now}");
    }
    // It leaves and comes again: as new.
    assert_eq!(net.members[0].lost(&names(2), 12_000), [""; 0]);
    assert_eq!(net.lost(0, 12_000), [""; 0]);
}

#[test]
fn a_frozen_node_finds_its_lease_over_though_heartbeats_have_waited_for_it() {
    let mut net = Net::new(3);
    for now in (10_000..12_000).step_by(EVERY as usize) {
        net.step(now, &|_, _| Some(0));
    }
    net.frozen[1] = true;
    for now in (12_000..20_000).step_by(EVERY as usize) {
        net.step(now, &|_, _| Some(0));
    }
    net.frozen[1] = false;
    for member in [0, 2] {
        assert!(net.members[member].next("m"));
    }
    for now in (20_000..25_000).step_by(EVERY as usize) {
        net.step(now, &|_, _| Some(0));
        assert!(net.leases[1] <= 13_000 + Net::ahead(1), "{}", net.leases[1]);
    }
}
