//! The thread that sends a member's heartbeats, receives those of others, and prolongs the leases of what runs on it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_base::{Clock, Stop, WallClock};
use takt_bridge::clock::SlotTime;
use takt_host::policy::{Policy, set_policy};
use zenoh::pubsub::Subscriber;

use crate::ClusterError;
use crate::control::Control;
use crate::message::Unread;
use crate::quorum::{Ballot, Heartbeat, Quorum, Uncounted, View};

/// The lease of a cluster: how long a node may go on that no other member reaches, and how long others wait before they take over.
pub const LEASE: Duration = Duration::from_secs(2);

/// Heartbeats of a member come as long as the last one is no older: half a lease.
pub(crate) const RECENT: Duration = Duration::from_millis(LEASE.as_millis() as u64 / 2);

/// How often a member sends a heartbeat.
pub(crate) const HEARTBEATS_EVERY: Duration = Duration::from_millis(100);

/// One member's part in the runs that it takes part in.
pub(crate) struct Membership {
    own: String,
    control: Arc<Control>,
    shared: Arc<Mutex<Shared>>,
    counts: Arc<Counts>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// Heartbeats since it began.
#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    unsent: AtomicU64,
    received: AtomicU64,
    refused: [AtomicU64; Uncounted::NAMES.len()],
}

/// Heartbeats of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heartbeats {
    /// Handed to Zenoh.
    pub(crate) sent: u64,
    /// That Zenoh did not take.
    pub(crate) unsent: u64,
    /// That counted.
    pub(crate) received: u64,
    /// That did not, by reason.
    pub(crate) refused: [u64; Uncounted::NAMES.len()],
}

type Shared = BTreeMap<String, Part>;

/// Its part in one of them.
struct Part {
    timed: Timed,
    /// Heartbeats of others come while it is kept. Dropped with the lock free only: Zenoh waits for one that is being taken.
    _receives: Subscriber<()>,
}

/// Its view of the others, and until when it may execute.
struct Timed {
    view: View,
    leased: Option<Leased>,
}

/// A run that may go on while majorities agree: of what is executed, and of each placing that was promised since.
struct Leased {
    quorums: Vec<Quorum>,
    time: SlotTime,
    /// Until when it may be executed. A lease that was given is not taken back: who promises another placing does so after what
    /// it returned for this one, and nobody executes that placing before a lease has passed since.
    until_ns: u64,
}

impl Leased {
    fn new(quorum: Quorum, time: SlotTime) -> Leased {
        Leased { quorums: vec![quorum], time, until_ns: 0 }
    }
}

impl Membership {
    /// Begins to send heartbeats: none, as long as it has no part in a run.
    ///
    /// # Errors
    /// The thread is not made.
    pub(crate) fn start(control: &Arc<Control>, own: &str) -> Result<Membership, ClusterError> {
        let (shared, counts, stop) = (Arc::new(Mutex::new(Shared::new())), Arc::new(Counts::default()), Stop::new());
        let (sending, counting, until) = (Arc::clone(&shared), Arc::clone(&counts), stop.clone());
        let session = Arc::clone(control);
        let run = move || {
            // Ordinary load must not delay it; where that is not permitted, it may.
            let _ = set_policy(0, Policy::Fifo { priority: 1 });
            while !until.requested() {
                let now_ns = WallClock.now().0;
                let heartbeats: Vec<(String, Heartbeat)> =
                    lock(&sending).iter_mut().map(|(run, part)| (run.clone(), part.timed.turn(now_ns))).collect();
                for (run, heartbeat) in heartbeats {
                    // A member that can't send finds its leases not prolonged: nothing else is to be done about it.
                    let sent = session.send_heartbeat(&run, &heartbeat);
                    one_more(if sent.is_ok() { &counting.sent } else { &counting.unsent });
                }
                std::thread::sleep(HEARTBEATS_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("takt-beat".to_owned()).spawn(run);
        let thread = Some(thread.map_err(|source| ClusterError::Io { source })?);
        Ok(Membership { own: own.to_owned(), control: Arc::clone(control), shared, counts, stop, thread })
    }

    /// Takes part in a run, of which it supports a placing. `false`: it did before.
    ///
    /// # Errors
    /// The session is gone.
    pub(crate) fn join(&self, run: &str, supports: Ballot) -> Result<bool, ClusterError> {
        let (receiving, counting, of) = (Arc::clone(&self.shared), Arc::clone(&self.counts), run.to_owned());
        let receives = self.control.heartbeats(run, move |read| {
            let mut parts = lock(&receiving);
            // One of a run that has just ended is no matter any more.
            let Some(part) = parts.get_mut(&of) else { return };
            let taken = read.map_err(Uncounted::from);
            match taken.and_then(|heartbeat| part.timed.view.take(heartbeat, WallClock.now().0)) {
                Ok(()) => one_more(&counting.received),
                Err(why) => one_more(&counting.refused[why as usize]),
            }
        })?;
        let lease_ns = u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX);
        let timed = Timed { view: View::new(&self.own, supports, lease_ns), leased: None };
        let part = Part { timed, _receives: receives };
        if let Entry::Vacant(place) = lock(&self.shared).entry(run.to_owned()) {
            place.insert(part);
            return Ok(true);
        }
        Ok(false)
    }

    /// From now on this member supports a placing of a run, if it is `after` that it supported until now. Whether it
    /// does. It may go on with what it executes while majorities of both agree.
    #[must_use]
    pub(crate) fn promise(&self, run: &str, after: &Ballot, next: Quorum) -> bool {
        lock(&self.shared).get_mut(run).is_some_and(|part| part.timed.promise(after, next))
    }

    /// Whether a heartbeat of a member of a run came within such a time.
    pub(crate) fn received(&self, run: &str, member: &str, within: Duration) -> bool {
        let within_ns = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
        let since = |part: &Part| part.timed.view.silent_for_ns(member, WallClock.now().0);
        lock(&self.shared).get(run).and_then(since).is_some_and(|silent_ns| silent_ns <= within_ns)
    }

    /// From now on this placing of a run may be executed while more than half of its voters agree.
    pub(crate) fn lease(&self, run: &str, quorum: Quorum, time: SlotTime) {
        if let Some(part) = lock(&self.shared).get_mut(run) {
            part.timed.leased = Some(Leased::new(quorum, time));
            part.timed.turn(WallClock.now().0);
        }
    }

    /// Quorums that a run needs here: of what is executed, and of each placing that was promised since.
    pub(crate) fn quorums(&self, run: &str) -> Vec<Quorum> {
        let shared = lock(&self.shared);
        shared
            .get(run)
            .and_then(|part| part.timed.leased.as_ref())
            .map(|leased| leased.quorums.clone())
            .unwrap_or_default()
    }

    /// The run has ended.
    pub(crate) fn release(&self, run: &str) {
        let _part = lock(&self.shared).remove(run);
    }

    /// Heartbeats since it began.
    pub(crate) fn heartbeats(&self) -> Heartbeats {
        let (counts, read) = (&self.counts, |count: &AtomicU64| count.load(Ordering::Relaxed));
        Heartbeats {
            sent: read(&counts.sent),
            unsent: read(&counts.unsent),
            received: read(&counts.received),
            refused: std::array::from_fn(|reason| read(&counts.refused[reason])),
        }
    }

    /// Waits until all voters of a run receive each other: until then a node has no lease to begin with. `false`: some don't.
    pub(crate) fn wait_for(&self, run: &str, voters: &[String], patience: Duration) -> bool {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            let now_ns = WallClock.now().0;
            if lock(&self.shared).get_mut(run).is_some_and(|part| part.timed.view.is_complete(voters, now_ns)) {
                return true;
            }
            std::thread::sleep(HEARTBEATS_EVERY / 4);
        }
        false
    }

    /// Voters of which more than half of all receive nothing.
    pub(crate) fn lost(&self, run: &str, voters: &[String]) -> Vec<String> {
        lock(&self.shared).get_mut(run).map(|part| part.timed.view.lost(voters, WallClock.now().0)).unwrap_or_default()
    }
}

fn one_more(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl From<Unread> for Uncounted {
    fn from(unread: Unread) -> Uncounted {
        match unread {
            Unread::Version { .. } => Uncounted::Version,
            Unread::Long { .. } => Uncounted::Long,
            Unread::Json(_) => Uncounted::Malformed,
        }
    }
}

/// Placings promised one after the other, none of which was executed: a manager that goes on so does not come to an end.
const PROMISED: usize = 64;

impl Timed {
    fn promise(&mut self, after: &Ballot, next: Quorum) -> bool {
        let waiting = self.leased.as_ref().map_or(0, |leased| leased.quorums.len());
        if waiting > PROMISED || !self.view.promise(after, next.ballot.clone()) {
            return false;
        }
        if let Some(leased) = &mut self.leased {
            leased.quorums.push(next);
        }
        true
    }

    /// Prolongs what can be prolonged; the next heartbeat.
    fn turn(&mut self, now_ns: u64) -> Heartbeat {
        if let Some(Leased { quorums, time, until_ns: latest_ns }) = &mut self.leased {
            if self.view.is_settled(quorums) {
                quorums.drain(..quorums.len().saturating_sub(1));
            }
            if let Some(until_ns) = self.view.lease(quorums, now_ns) {
                *latest_ns = until_ns.max(*latest_ns);
                time.extend_lease(*latest_ns);
            }
        }
        self.view.heartbeat(now_ns)
    }
}

/// A thread that panicked left whole values behind: each is replaced at once.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there.
            let _ = thread.join();
        }
        let _parts = std::mem::take(&mut *lock(&self.shared));
    }
}

#[cfg(test)]
mod tests {
    use takt_base::MonoNs;

    use super::*;

    const LEASE_NS: u64 = 1000;

    /// Heartbeat of a member that received the last one of `b` at `returned_ns`.
    fn heartbeat(from: &str, sent_ns: u64, returned_ns: u64, supports: &Ballot) -> Heartbeat {
        let received = BTreeMap::from([("b".to_owned(), returned_ns)]);
        Heartbeat { from: from.to_owned(), sent_ns, received, supports: supports.clone() }
    }

    /// One of four has failed, and another one promises the next placing before this one gets the request: it executes on, until the
    /// lease is over that the others gave it before.
    #[test]
    fn a_lease_is_not_taken_back_by_those_who_promise_another_placing() {
        let (first, next) = (Ballot::new(1, "m"), Ballot::new(2, "m"));
        let voters = ["a", "b", "c", "m"].map(str::to_owned).to_vec();
        let time = SlotTime::new(10);
        let leased = Some(Leased::new(Quorum { ballot: first.clone(), voters }, time.clone()));
        let mut timed = Timed { view: View::new("b", first.clone(), LEASE_NS), leased };
        let mut until = |now_ns, returned: [(&str, u64, &Ballot); 3]| {
            for (from, returned_ns, supports) in returned {
                let heartbeat = heartbeat(from, now_ns, returned_ns, supports);
                assert!(timed.view.take(heartbeat, now_ns).is_ok(), "a newer one");
            }
            timed.turn(now_ns);
            (0..3000).find(|&ns| !time.may_execute(MonoNs(ns + 1)))
        };
        assert_eq!(
            until(100, [("a", 10, &first), ("c", 90, &first), ("m", 90, &first)]),
            Some(1090),
            "three of four returned"
        );
        assert_eq!(
            until(200, [("a", 10, &first), ("c", 190, &next), ("m", 190, &first)]),
            Some(1090),
            "what they gave"
        );
        assert_eq!(until(300, [("a", 10, &first), ("c", 290, &next), ("m", 290, &next)]), Some(1090), "and no more");
    }
}
