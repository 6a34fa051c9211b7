//! Heartbeats and leases: until when a node may execute a run, and who is lost.
//!
//! Every member of a run sends a heartbeat a few times a second: when it was sent, by the member's own clock; what it received
//! last from each other member of the run, and when that was sent; and which placing it supports. A node may execute a placing for a
//! lease after a time of its own that more than half of the placing's voters (its nodes and its manager) have returned to it
//! while they supported that placing. Its own clock measures that, so a heartbeat that was long under way, or waited while the
//! node was frozen, prolongs nothing. The times that others return are those that this node has sent: a later time is a
//! lie, and such a heartbeat does not count. Nor does one that has come before: it does not say that its sender is
//! still there.
//!
//! A manager that takes over has more than half of the voters promise to support the next placing first. Each supports
//! one at a time, and goes on from the one it supports to one next only: two managers that both want the next get a
//! majority for one of them at most. A lease later no other node can execute the placing before: any majority of its
//! voters has one that no longer supports it. So of two halves of a torn network at most one goes on, whatever they
//! know of each other. (Leases and majorities: Gray and Cheriton, 1989; Ongaro and Ousterhout, 2014.)
//!
//! A takeover may stop half way, and another may begin from there. So a node that has promised the next placing needs a majority
//! of both, each counted by members that support one or the other, until it sees that majorities of both support the next (joint
//! consensus: Ongaro and Ousterhout, section 6). Those of the next alone could be few, while most of the one before go over to
//! another manager's.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Why a heartbeat did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// It is no heartbeat.
    Malformed,
    /// It has another version of the protocol.
    Version,
    /// More bytes than any document has.
    Long,
    /// In the name of who received it.
    Own,
    /// Sent before one that has come.
    Replayed,
    /// It is from more members than are remembered.
    Crowded,
}

impl Uncounted {
    /// As in the label `reason`, by the order of the variants.
    pub(crate) const NAMES: [&str; 6] = ["malformed", "version", "long", "own", "replayed", "crowded"];
}

/// A placing of a run, and the manager that it is by: another one's of the same number is another placing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ballot {
    /// Number of the placing in its run, from 1.
    pub placing: u32,
    /// Its manager.
    pub manager: String,
}

impl Ballot {
    /// Ballot of a manager.
    #[must_use]
    pub fn new(placing: u32, manager: &str) -> Ballot {
        Ballot { placing, manager: manager.to_owned() }
    }
}

/// A placing, and whose support counts for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quorum {
    /// Which.
    pub ballot: Ballot,
    /// Its nodes and its manager; more than half must support it.
    pub voters: Vec<String>,
}

impl Quorum {
    /// Whether these are more than half of its voters.
    pub(crate) fn has(&self, mut voted: impl FnMut(&String) -> bool) -> bool {
        2 * self.voters.iter().filter(|&voter| voted(voter)).count() > self.voters.len()
    }
}

/// Message that a member sends a few times a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Its sender.
    pub from: String,
    /// When it was sent, by the sender's clock, nanoseconds.
    pub sent_ns: u64,
    /// Members that it receives from now, and when the last heartbeat of each was sent.
    pub received: BTreeMap<String, u64>,
    /// The placing that it supports.
    pub supports: Ballot,
}

impl Heartbeat {
    /// Whether all its names can be those of members, and are no more than one remembers.
    fn is_sound(&self) -> bool {
        let names = [&self.from, &self.supports.manager];
        self.received.len() <= MOST && names.into_iter().chain(self.received.keys()).all(|name| is_member(name))
    }
}

/// One member's knowledge of all others in a run, and what it supports. Times are of its own clock, nanoseconds.
#[derive(Debug)]
pub struct View {
    own: String,
    lease_ns: u64,
    /// The last heartbeat of each, and when it came. This member and `voters` are kept of the names in it.
    peers: BTreeMap<String, (u64, Heartbeat)>,
    supports: Ballot,
    /// Those that were last asked about: only a manager asks.
    voters: BTreeSet<String>,
    /// Since when each voter is one.
    voter_since: BTreeMap<String, u64>,
}

/// Members remembered at most.
const MOST: usize = 4096;

/// Bytes of the name of a run or a member at most: a run's has its waveform's in it, a manager's its node's, and what tells one from
/// others.
pub(crate) const NAME_BYTES: usize = 192;

/// Bytes of a heartbeat at most: one with all those names has less.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Whether that can be such a name. It is a part of a key of Zenoh's: nothing in it may mean more than itself.
pub(crate) fn is_member(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(allowed)
}

impl View {
    /// View of a member that has received nothing yet.
    #[must_use]
    pub fn new(own: &str, supports: Ballot, lease_ns: u64) -> View {
        let (peers, voters, voter_since) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        View { own: own.to_owned(), lease_ns, peers, supports, voters, voter_since }
    }

    /// From now on it supports this placing and no other, if it is `after` that it supported until now. Whether it does.
    pub fn promise(&mut self, after: &Ballot, next: Ballot) -> bool {
        let may = self.supports == *after;
        if may {
            self.supports = next;
        }
        may
    }

    /// A heartbeat has come.
    ///
    /// # Errors
    /// It does not count, and has changed nothing.
    pub fn take(&mut self, mut heartbeat: Heartbeat, now_ns: u64) -> Result<(), Uncounted> {
        // Nobody can have received what is yet to be sent: it would prolong a lease without end.
        let ahead = heartbeat.received.get(&self.own).is_some_and(|&sent_ns| sent_ns > now_ns);
        if ahead || !heartbeat.is_sound() {
            return Err(Uncounted::Malformed);
        }
        let known = self.peers.get(&heartbeat.from);
        // A member sends one at a time: what has the same time is the same one, and no sign of life.
        let newer = known.is_none_or(|(_, last)| heartbeat.sent_ns > last.sent_ns);
        // One that was started anew may have a younger clock; what it sent before is out of date by then.
        let anew = known
            .is_some_and(|(at, last)| heartbeat.sent_ns < last.sent_ns && now_ns.saturating_sub(*at) > self.lease_ns);
        if heartbeat.from == self.own {
            return Err(Uncounted::Own);
        }
        if !newer && !anew {
            return Err(Uncounted::Replayed);
        }
        if known.is_none() && self.peers.len() >= MOST {
            return Err(Uncounted::Crowded);
        }
        heartbeat.received.retain(|name, _| *name == self.own || self.voters.contains(name));
        self.peers.insert(heartbeat.from.clone(), (now_ns, heartbeat));
        Ok(())
    }

    /// The heartbeat of this member now.
    #[must_use]
    pub fn heartbeat(&self, now_ns: u64) -> Heartbeat {
        let sent = |name: &String| Some((name.clone(), self.recent(name, now_ns)?.sent_ns));
        let received = self.peers.keys().filter_map(sent).collect();
        Heartbeat { from: self.own.clone(), sent_ns: now_ns, received, supports: self.supports.clone() }
    }

    /// How long ago the last heartbeat of a member came; `None`: none did.
    #[must_use]
    pub fn silent_for_ns(&self, name: &str, now_ns: u64) -> Option<u64> {
        self.peers.get(name).map(|(at, _)| now_ns.saturating_sub(*at))
    }

    /// The last heartbeat of a member, if it came within half a lease.
    fn recent(&self, name: &str, now_ns: u64) -> Option<&Heartbeat> {
        let (at, heartbeat) = self.peers.get(name)?;
        (now_ns.saturating_sub(*at) <= self.lease_ns / 2).then_some(heartbeat)
    }

    /// Whether a member is received from.
    #[must_use]
    pub fn receives(&self, name: &str, now_ns: u64) -> bool {
        self.recent(name, now_ns).is_some()
    }

    /// Whether all voters receive each other, as this one knows by heartbeats that came since it was first asked about them.
    #[must_use]
    pub fn is_complete(&mut self, voters: &[String], now_ns: u64) -> bool {
        self.voters = voters.iter().cloned().collect();
        let receives_all = |voter: &String| {
            let others = || voters.iter().filter(|other| *other != voter);
            if *voter == self.own {
                return others().all(|other| self.receives(other, now_ns));
            }
            self.recent(voter, now_ns)
                .is_some_and(|heartbeat| others().all(|other| heartbeat.received.contains_key(other)))
        };
        voters.iter().all(receives_all)
    }

    /// Until when this member may execute; `None`: not at all. The first of `quorums` is of what it executes, and each
    /// other one is of what it has promised since.
    #[must_use]
    pub fn lease(&self, quorums: &[Quorum], now_ns: u64) -> Option<u64> {
        let counts = |supports: &Ballot| quorums.iter().any(|quorum| quorum.ballot == *supports);
        let returned = |voter: &String| {
            if *voter == self.own {
                return counts(&self.supports).then_some(now_ns);
            }
            let (_, heartbeat) = self.peers.get(voter)?;
            heartbeat.received.get(&self.own).copied().filter(|_| counts(&heartbeat.supports))
        };
        let until = |quorum: &Quorum| {
            let mut times: Vec<u64> = quorum.voters.iter().filter_map(returned).collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            // The latest that more than half have returned.
            times.get(quorum.voters.len() / 2).map(|sent_ns| sent_ns.saturating_add(self.lease_ns))
        };
        quorums.iter().map(until).min().flatten()
    }

    /// Whether the last of `quorums` may stand alone: majorities of all support it, so none of those before comes back.
    #[must_use]
    pub fn is_settled(&self, quorums: &[Quorum]) -> bool {
        let Some(last) = quorums.last() else { return true };
        let supports = |voter: &String| {
            let other = || self.peers.get(voter).is_some_and(|(_, heartbeat)| heartbeat.supports == last.ballot);
            if *voter == self.own { self.supports == last.ballot } else { other() }
        };
        quorums.iter().all(|quorum| quorum.has(supports))
    }

    /// Voters of which more than half of all receive nothing, as this one knows. Nobody may have received anything yet
    /// of one that has been a voter for less than half a lease: it is not lost.
    #[must_use]
    pub fn lost(&mut self, voters: &[String], now_ns: u64) -> Vec<String> {
        // Earlier heartbeats may not name one that is new here: they are too old to count once it may be lost.
        self.voters = voters.iter().cloned().collect();
        self.voter_since.retain(|name, _| voters.contains(name));
        for voter in voters {
            self.voter_since.entry(voter.clone()).or_insert(now_ns);
        }
        let is_new = |voter: &str| now_ns.saturating_sub(self.voter_since[voter]) <= self.lease_ns / 2;
        let deaf_to = |voter: &String, lost: &str| {
            if *voter == self.own {
                self.recent(lost, now_ns).is_none()
            } else {
                *voter != lost
                    && self.recent(voter, now_ns).is_some_and(|heartbeat| !heartbeat.received.contains_key(lost))
            }
        };
        let is_lost = |lost: &&String| {
            let deaf = voters.iter().filter(|voter| deaf_to(voter, lost)).count();
            **lost != self.own && !is_new(lost) && 2 * deaf > voters.len()
        };
        voters.iter().filter(is_lost).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
