//! The thread that sends a member's heartbeats, receives those of others, and prolongs the leases of what runs on it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_host::policy::{Policy, set_policy};

use crate::ClusterError;
use crate::clock::SlotTime;
use crate::control::Control;
use crate::quorum::{Ballot, Heartbeat, View};

/// The lease of a cluster: how long a node may go on that no other member reaches, and how long others wait before they take over.
pub const LEASE: Duration = Duration::from_secs(2);

/// How often a member sends a heartbeat.
const EVERY: Duration = Duration::from_millis(100);

/// One member's part.
pub(crate) struct Membership {
    shared: Arc<Mutex<Shared>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    view: View,
    leases: Vec<Leased>,
}

/// A run that may go on while its voters agree.
struct Leased {
    run: String,
    placing: Ballot,
    voters: Vec<String>,
    time: SlotTime,
}

impl Membership {
    /// Begins to send heartbeats and to receive them.
    ///
    /// # Errors
    /// The session is gone, or the thread is not made.
    pub(crate) fn start(control: &Arc<Control>, own: &str) -> Result<Membership, ClusterError> {
        let lease_ns = u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX);
        let view = View::new(own, lease_ns);
        let shared = Arc::new(Mutex::new(Shared { view, leases: Vec::new() }));
        let receiving = Arc::clone(&shared);
        let subscriber =
            control.heartbeats(move |heartbeat: Heartbeat| lock(&receiving).view.take(heartbeat, WallClock.now().0))?;
        let (sending, until, control) = (Arc::clone(&shared), Stop::new(), Arc::clone(control));
        let stop = until.clone();
        let run = move || {
            let _receives = subscriber;
            // Ordinary load must not delay it; where that is not permitted, it may.
            let _ = set_policy(0, Policy::Fifo { priority: 1 });
            while !until.requested() {
                let heartbeat = turn(&mut lock(&sending));
                // A member that can't send finds its leases not prolonged: nothing else is to be done about it.
                let _ = control.send_heartbeat(&heartbeat);
                std::thread::sleep(EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("takt-beat".to_owned()).spawn(run);
        let thread = thread.map_err(|source| ClusterError::Io { source })?;
        Ok(Membership { shared, stop, thread: Some(thread) })
    }

    /// From now on this member supports a placing of a run, if it is `after` that it supported until now. Whether it does.
    #[must_use]
    pub(crate) fn promise(&self, run: &str, after: Option<&Ballot>, next: Ballot) -> bool {
        lock(&self.shared).view.promise(run, after, next)
    }

    /// Whether a member's heartbeats come.
    pub(crate) fn receives(&self, member: &str) -> bool {
        lock(&self.shared).view.receives(member, WallClock.now().0)
    }

    /// From now on this placing of a run may be executed while more than half of its voters agree.
    pub(crate) fn lease(&self, run: &str, placing: Ballot, voters: Vec<String>, time: SlotTime) {
        let mut shared = lock(&self.shared);
        shared.leases.retain(|leased| leased.run != run);
        shared.leases.push(Leased { run: run.to_owned(), placing, voters, time });
        turn(&mut shared);
    }

    /// The run has ended.
    pub(crate) fn release(&self, run: &str) {
        let mut shared = lock(&self.shared);
        shared.leases.retain(|leased| leased.run != run);
        shared.view.forget(run);
    }

    /// Voters of which more than half of all receive nothing.
    pub(crate) fn lost(&self, voters: &[String]) -> Vec<String> {
        lock(&self.shared).view.lost(voters, WallClock.now().0)
    }
}

/// Prolongs what can be prolonged; the next heartbeat.
fn turn(shared: &mut Shared) -> Heartbeat {
    let now_ns = WallClock.now().0;
    for leased in &shared.leases {
        if let Some(until_ns) = shared.view.lease((&leased.run, &leased.placing), &leased.voters, now_ns) {
            leased.time.lend(until_ns);
        }
    }
    shared.view.heartbeat(now_ns)
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
    }
}
