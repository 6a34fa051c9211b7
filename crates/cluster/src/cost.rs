//! Work of the control plane in a fleet: messages, names in them and bytes. They are counted from the rules that
//! [`crate::quorum`], the clock and the manager follow. A benchmark measures the cost of each:
//! `cargo bench -p takt-cluster --bench control_plane`.
//!
//! Rules: ten times a second every member of a run, a node or its manager, sends one heartbeat to each other member; it names each
//! member that it receives from. Every node but one asks that one what time it is, as often. The manager asks all nodes of its run
//! how they are, then pauses. Between nodes that are in no run together only links are kept.
//!
//! A test executes these rules with real members, and compares.

use std::time::Duration;

use crate::manager::{LOOK, lead};
use crate::membership::HEARTBEATS_EVERY;
use crate::message::{Envelope, PROTOCOL, document};
use crate::quorum::{Ballot, Heartbeat, View};
use takt_bridge::clock::QUESTIONS_EVERY;

/// How members reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Each has a link to each other.
    Mesh,
    /// Each has one link, to a router.
    Router,
}

/// Machines, and runs on them that are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// Nodes of the cluster.
    pub nodes: u64,
    /// Nodes of a run; each node is in one run at most, and every run has a manager. 0: no run.
    pub members: u64,
    /// How they reach each other.
    pub links: Links,
}

/// Work of one member in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Links kept.
    pub links: u64,
    /// Heartbeats made.
    pub made: u64,
    /// Copies of them that leave: one a link that has a member of the run behind it.
    pub sent: u64,
    /// Heartbeats of others that are taken.
    pub taken: u64,
    /// Members that those name, all together.
    pub names_taken: u64,
    /// Bytes of the documents that leave and come, without what Zenoh, QUIC and UDP add.
    pub bytes: u64,
    /// Requests for the time, sent or answered.
    pub clock: u64,
}

impl Fleet {
    /// Load of a node of a run whose clock is not the reference's; of any node where there is no run.
    #[must_use]
    pub fn node(&self) -> Load {
        let clock = if self.members > 1 { per_second(QUESTIONS_EVERY) } else { 0 };
        Load { clock, ..self.member() }
    }

    /// Load of the node with the reference clock: all others ask it.
    #[must_use]
    pub fn reference(&self) -> Load {
        Load { clock: per_second(QUESTIONS_EVERY) * self.members.saturating_sub(1), ..self.member() }
    }

    fn member(&self) -> Load {
        let runs = self.nodes.checked_div(self.members).unwrap_or(0);
        let links = match self.links {
            // Managers are members of the cluster too; they are reached and reach nobody but nodes.
            Links::Mesh => self.nodes - 1 + runs,
            Links::Router => 1,
        };
        if self.members == 0 {
            return Load { links, ..Load::default() };
        }
        let (beats, others) = (per_second(HEARTBEATS_EVERY), self.members);
        let copies = match self.links {
            Links::Mesh => others,
            Links::Router => 1,
        };
        let (sent, taken) = (beats * copies, beats * others);
        let bytes = (sent + taken) * heartbeat_bytes(others);
        Load { links, made: beats, sent, taken, names_taken: taken * others, bytes, clock: 0 }
    }
}

fn per_second(every: Duration) -> u64 {
    (1_000 / every.as_millis()) as u64
}

/// A heartbeat that names so many others, and what travels for it. Names are those of a fleet: five letters and digits.
#[must_use]
pub fn heartbeat(others: u64) -> (Heartbeat, Vec<u8>) {
    // Nanoseconds since start of a machine that is up for some days.
    const NOW_NS: u64 = 300_000_000_000_000;
    let supports = || Ballot::new(1, "manager-n0000-10000");
    let mut view = View::new("n0000", supports(), u64::MAX);
    for other in 0..others {
        let from = format!("n{:04}", other + 1);
        let heartbeat = Heartbeat { from, sent_ns: NOW_NS, received: Default::default(), supports: supports() };
        // Each is the first of its member.
        let _ = view.take(heartbeat, NOW_NS);
    }
    let heartbeat = view.heartbeat(NOW_NS);
    let bytes = written(&heartbeat);
    (heartbeat, bytes)
}

/// Bytes of a heartbeat, as a member writes it.
#[must_use]
pub fn written(heartbeat: &Heartbeat) -> Vec<u8> {
    document(&Envelope { protocol: PROTOCOL, body: heartbeat })
}

/// Bytes of a heartbeat that names so many others. It names those it can remember.
#[must_use]
pub fn heartbeat_bytes(others: u64) -> u64 {
    heartbeat(others).1.len() as u64
}

/// Takes a heartbeat that has come, as a member does before it looks at it.
#[must_use]
pub fn taken(bytes: &[u8]) -> Option<Heartbeat> {
    crate::message::read(bytes).ok()
}

/// How long a manager pauses between one look at its run and the next.
pub const PAUSE: Duration = LOOK;

/// How long it takes until all nodes of a run have answered, who are asked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// However many they are.
    pub fixed: Duration,
    /// More for each: what the manager does for it, and what nodes on one machine take from each other.
    pub each: Duration,
}

impl Answers {
    /// Time of the answers of so many nodes.
    #[must_use]
    pub fn of(&self, nodes: u64) -> Duration {
        self.fixed + self.each.saturating_mul(u32::try_from(nodes).unwrap_or(u32::MAX))
    }
}

/// How long a manager takes from one look at its run to the next.
#[must_use]
pub fn look(members: u64, answers: Answers) -> Duration {
    PAUSE + answers.of(members)
}

/// How long it takes from the order to slot 0 at most, where `opening` is how long nodes take to get ready and to be started.
#[must_use]
pub fn beginning(members: u64, opening: Answers) -> Duration {
    opening.of(members) + lead(usize::try_from(members).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::membership::LEASE;

    /// A run's members, who do what the rules say.
    struct Run(Vec<(String, View)>);

    impl Run {
        fn new(first: u64, nodes: u64) -> Run {
            let names = (first..=first + nodes).map(|member| format!("n{member:04}"));
            let view = |name: &String| View::new(name, Ballot::new(1, "m"), LEASE.as_nanos() as u64);
            Run(names.map(|name| (name.clone(), view(&name))).collect())
        }

        /// One beat: what each sends is taken by all others.
        fn beat(&mut self, now_ns: u64, links: Links, loads: &mut BTreeMap<String, Load>) {
            let all: Vec<Heartbeat> = self.0.iter().map(|(_, view)| view.heartbeat(now_ns)).collect();
            for heartbeat in all {
                let bytes = written(&heartbeat);
                let sender = loads.get_mut(&heartbeat.from).unwrap();
                sender.made += 1;
                if links == Links::Router {
                    (sender.sent, sender.bytes) = (sender.sent + 1, sender.bytes + bytes.len() as u64);
                }
                for (name, view) in self.0.iter_mut().filter(|(name, _)| *name != heartbeat.from) {
                    if links == Links::Mesh {
                        let sender = loads.get_mut(&heartbeat.from).unwrap();
                        (sender.sent, sender.bytes) = (sender.sent + 1, sender.bytes + bytes.len() as u64);
                    }
                    let load = loads.get_mut(name).unwrap();
                    let heartbeat = taken(&bytes).unwrap();
                    load.taken += 1;
                    load.names_taken += heartbeat.received.len() as u64;
                    load.bytes += bytes.len() as u64;
                    view.take(heartbeat, now_ns).unwrap();
                }
            }
        }
    }

    /// Work of members in a second once all know each other, by name; each run's manager is its last.
    fn executed(fleet: &Fleet) -> BTreeMap<String, Load> {
        let each = fleet.members + 1;
        let mut runs: Vec<Run> =
            (0..fleet.nodes / fleet.members).map(|run| Run::new(run * each, fleet.members)).collect();
        let mut loads = BTreeMap::new();
        // As many digits as a time of some days has.
        let (begin_ns, every_ns) = (300_000_000_000_000, HEARTBEATS_EVERY.as_nanos() as u64);
        for beat in 0..20 {
            if beat == 10 {
                loads.clear();
            }
            for run in &mut runs {
                let links = u64::from(fleet.links == Links::Router);
                for (name, _) in &run.0 {
                    loads.entry(name.clone()).or_insert(Load { links, ..Load::default() });
                }
                run.beat(begin_ns + beat * every_ns, fleet.links, &mut loads);
            }
        }
        // A link between any two, of which one at least is a node.
        let managers = |name: &str| name[1..].parse::<u64>().unwrap() % each == fleet.members;
        let all: Vec<String> = loads.keys().cloned().collect();
        for one in all.iter().filter(|_| fleet.links == Links::Mesh) {
            let linked = |other: &&String| *other != one && !(managers(one) && managers(other));
            loads.get_mut(one).unwrap().links += all.iter().filter(linked).count() as u64;
        }
        loads.retain(|name, _| !managers(name));
        loads
    }

    #[test]
    fn it_counts_what_members_do() {
        for links in [Links::Mesh, Links::Router] {
            for (nodes, members) in [(1, 1), (2, 2), (4, 2), (6, 3), (12, 4), (16, 16)] {
                let fleet = Fleet { nodes, members, links };
                let counted = fleet.node();
                let executed = executed(&fleet);
                assert_eq!(executed.len() as u64, nodes);
                for (name, mut load) in executed {
                    load.clock = counted.clock;
                    // Their ballots name another manager than a fleet's do.
                    let shorter = ("manager-n0000-10000".len() - "m".len()) as u64;
                    load.bytes += (load.sent + load.taken) * shorter;
                    assert_eq!(load, counted, "{name} of {fleet:?}");
                }
            }
        }
    }

    #[test]
    fn all_others_ask_the_reference() {
        for members in 1..8 {
            let fleet = Fleet { nodes: 8, members, links: Links::Mesh };
            assert_eq!(fleet.reference().clock, (members - 1) * fleet.node().clock, "{members}");
        }
        let waiting = Fleet { nodes: 8, members: 0, links: Links::Mesh };
        assert_eq!(waiting.node(), Load { links: 7, ..Load::default() });
    }

    #[test]
    fn a_heartbeat_names_each_other_member_once() {
        for others in [0, 1, 40] {
            let (heartbeat, bytes) = heartbeat(others);
            assert_eq!(heartbeat.received.len() as u64, others);
            assert_eq!(taken(&bytes), Some(heartbeat));
        }
        let name = heartbeat_bytes(41) - heartbeat_bytes(40);
        assert_eq!(name, "\"n0041\":300000000000000,".len() as u64);
    }

    #[test]
    fn answers_delay_a_look_and_getting_ready_the_begin() {
        let opening = Answers { fixed: Duration::from_millis(100), each: Duration::from_millis(30) };
        let answers = Answers { fixed: Duration::from_millis(2), each: Duration::from_millis(1) };
        assert_eq!(look(10, answers), PAUSE + Duration::from_millis(12));
        assert_eq!(beginning(3, opening), Duration::from_millis(100 + 3 * 30) + lead(3));
    }
}
