//! The thread that sends a member's heartbeats, receives those of others, and prolongs the leases of what runs on it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_bridge::clock::SlotTime;
use takt_host::policy::{Policy, set_policy};
use zenoh::pubsub::Subscriber;

use crate::ClusterError;
use crate::control::Control;
use crate::quorum::{Ballot, Heartbeat, View};

/// The lease of a cluster: how long a node may go on that no other member reaches, and how long others wait before they take over.
pub const LEASE: Duration = Duration::from_secs(2);

/// How often a member sends a heartbeat.
const EVERY: Duration = Duration::from_millis(100);

/// One member's part in the runs that it takes part in.
pub(crate) struct Membership {
    own: String,
    control: Arc<Control>,
    shared: Arc<Mutex<Shared>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

type Shared = BTreeMap<String, Part>;

/// Its part in one of them.
struct Part {
    view: View,
    leased: Option<Leased>,
    /// Heartbeats of others come while it is kept. Dropped with the lock free only: Zenoh waits for one that is being taken.
    _receives: Subscriber<()>,
}

/// A run that may go on while its voters agree.
struct Leased {
    placing: Ballot,
    voters: Vec<String>,
    time: SlotTime,
}

impl Membership {
    /// Begins to send heartbeats: none, as long as it has no part in a run.
    ///
    /// # Errors
    /// The thread is not made.
    pub(crate) fn start(control: &Arc<Control>, own: &str) -> Result<Membership, ClusterError> {
        let (shared, stop) = (Arc::new(Mutex::new(Shared::new())), Stop::new());
        let (sending, until, session) = (Arc::clone(&shared), stop.clone(), Arc::clone(control));
        let run = move || {
            // Ordinary load must not delay it; where that is not permitted, it may.
            let _ = set_policy(0, Policy::Fifo { priority: 1 });
            while !until.requested() {
                let now_ns = WallClock.now().0;
                let heartbeats: Vec<(String, Heartbeat)> =
                    lock(&sending).iter().map(|(run, part)| (run.clone(), part.turn(now_ns))).collect();
                for (run, heartbeat) in heartbeats {
                    // A member that can't send finds its leases not prolonged: nothing else is to be done about it.
                    let _ = session.send_heartbeat(&run, &heartbeat);
                }
                std::thread::sleep(EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("takt-beat".to_owned()).spawn(run);
        let thread = Some(thread.map_err(|source| ClusterError::Io { source })?);
        Ok(Membership { own: own.to_owned(), control: Arc::clone(control), shared, stop, thread })
    }

    /// Takes part in a run, of which it supports a placing. `false`: it did before.
    ///
    /// # Errors
    /// The session is gone.
    pub(crate) fn join(&self, run: &str, supports: Ballot) -> Result<bool, ClusterError> {
        let (receiving, of) = (Arc::clone(&self.shared), run.to_owned());
        let receives = self.control.heartbeats(run, move |heartbeat: Heartbeat| {
            if let Some(part) = lock(&receiving).get_mut(&of) {
                part.view.take(heartbeat, WallClock.now().0);
            }
        })?;
        let lease_ns = u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX);
        let part = Part { view: View::new(&self.own, supports, lease_ns), leased: None, _receives: receives };
        if let Entry::Vacant(place) = lock(&self.shared).entry(run.to_owned()) {
            place.insert(part);
            return Ok(true);
        }
        Ok(false)
    }

    /// From now on this member supports a placing of a run, if it is `after` that it supported until now. Whether it does.
    #[must_use]
    pub(crate) fn promise(&self, run: &str, after: &Ballot, next: Ballot) -> bool {
        lock(&self.shared).get_mut(run).is_some_and(|part| part.view.promise(after, next))
    }

    /// Whether heartbeats of a member of a run come.
    pub(crate) fn receives(&self, run: &str, member: &str) -> bool {
        lock(&self.shared).get(run).is_some_and(|part| part.view.receives(member, WallClock.now().0))
    }

    /// From now on this placing of a run may be executed while more than half of its voters agree.
    pub(crate) fn lease(&self, run: &str, placing: Ballot, voters: Vec<String>, time: SlotTime) {
        if let Some(part) = lock(&self.shared).get_mut(run) {
            part.leased = Some(Leased { placing, voters, time });
            part.turn(WallClock.now().0);
        }
    }

    /// The run has ended.
    pub(crate) fn release(&self, run: &str) {
        let _part = lock(&self.shared).remove(run);
    }

    /// Voters of which more than half of all receive nothing.
    pub(crate) fn lost(&self, run: &str, voters: &[String]) -> Vec<String> {
        lock(&self.shared).get_mut(run).map(|part| part.view.lost(voters, WallClock.now().0)).unwrap_or_default()
    }
}

impl Part {
    /// Prolongs what can be prolonged; the next heartbeat.
    fn turn(&self, now_ns: u64) -> Heartbeat {
        if let Some(Leased { placing, voters, time }) = &self.leased
            && let Some(until_ns) = self.view.lease(placing, voters, now_ns)
        {
            time.lend(until_ns);
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
