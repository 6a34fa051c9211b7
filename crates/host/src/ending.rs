//! How a program ends: the first signal stops it in good order, a later one ends it at once, and a killed one has to run for that.

use std::io;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};

use crate::host::Host;
use crate::policy::{Policy, set_policy};
use crate::sys::signal::on_signal;

/// Signals closer than this are one request. `timeout` signals its child and then the child's whole group; a person does
/// not press Ctrl-C twice within it and mean "at once".
pub const ONE_REQUEST: Duration = Duration::from_secs(1);

/// From now on the first of `signals` raises `stop`, and one that comes [`ONE_REQUEST`] after it or later ends the process
/// with status 128 + signal, as a shell says it.
///
/// # Errors
/// The kernel refuses a handler, or a signal is none that a program can handle.
///
/// ```
/// let stop = takt_base::Stop::new();
/// takt_host::ending::stop_or_end(&[10], &stop)?; // SIGUSR1 on x86-64 and aarch64
/// for _ in 0..2 {
///     rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1)?;
/// }
/// assert!(stop.requested()); // and this process lives
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn stop_or_end(signals: &[i32], stop: &Stop) -> io::Result<()> {
    // The first reading of the clock may look for the kernel's page of it; a handler must not be the one that does.
    let _ = WallClock.now();
    let requests = Arc::new(Requests::default());
    for &signal in signals {
        let (requests, stop) = (Arc::clone(&requests), stop.clone());
        // A handler may do little (signal-safety(7)): this reads a clock, changes two atomic words, and may end the process.
        on_signal(signal, move || match requests.meaning(WallClock.now()) {
            Meaning::Stop => stop.request(),
            Meaning::Same => {}
            Meaning::EndNow => signal_hook::low_level::exit(128 + signal),
        })?;
    }
    Ok(())
}

/// Kills a child, which is to be waited for.
///
/// A killed thread has to run once more to end. A thread of real-time priority that another one of higher priority keeps from its
/// core gets no time for that; an ordinary one does, since the kernel keeps some for those. So all threads of the child become
/// ordinary first. One that is not ours to change keeps its priority.
///
/// # Errors
/// As [`Child::kill`].
pub fn kill(child: &mut Child) -> io::Result<()> {
    give_way(child.id());
    child.kill()
}

/// Gives every thread of a process ordinary priority, as far as it may be given.
pub(crate) fn give_way(pid: u32) {
    for thread in Host::this().list(&format!("/proc/{pid}/task")) {
        let _refused_or_gone = thread.parse().map(|tid| set_policy(tid, Policy::Other { nice: 0 }));
    }
}

/// Meaning of a signal, given those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// It is the first.
    Stop,
    /// It belongs to the first.
    Same,
    /// It comes after the first was not obeyed.
    EndNow,
}

/// When the first signal came, in nanoseconds of the monotonic clock; 0 before.
#[derive(Debug, Default)]
struct Requests {
    first_ns: AtomicU64,
}

impl Requests {
    fn meaning(&self, now: MonoNs) -> Meaning {
        // Relaxed: the word publishes nothing but itself, and a handler on another core that sees it late takes its own
        // signal for the first, which only raises the flag once more.
        match self.first_ns.compare_exchange(0, now.0.max(1), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Meaning::Stop,
            Err(first_ns) if now.saturating_since(MonoNs(first_ns)) < ONE_REQUEST => Meaning::Same,
            Err(_) => Meaning::EndNow,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::policy::policy;

    #[test] // an emulator at FIFO 10 beside threads at RR 49 could not be killed until those ended
    fn a_process_that_gives_way_has_no_thread_of_real_time_priority() {
        let mut sleeps = Command::new("sleep").arg("600").spawn().expect("every machine has it");
        let given = set_policy(sleeps.id(), Policy::Fifo { priority: 1 });
        give_way(sleeps.id());
        let left = policy(sleeps.id());
        kill(&mut sleeps).and_then(|()| sleeps.wait()).expect("ours");
        match given {
            Ok(()) => assert_eq!(left.expect("it was there"), Policy::Other { nice: 0 }),
            Err(refused) => takt_testing::skip(format!("it needs real-time priority to lose it: {refused}")),
        }
    }

    #[test]
    fn two_signals_at_once_are_one_request_and_one_a_second_later_ends() {
        let requests = Requests::default();
        let first = MonoNs(5_000_000_000);
        assert_eq!(requests.meaning(first), Meaning::Stop);
        assert_eq!(requests.meaning(first), Meaning::Same);
        assert_eq!(requests.meaning(first + Duration::from_millis(999)), Meaning::Same);
        assert_eq!(requests.meaning(first + ONE_REQUEST), Meaning::EndNow);
        assert_eq!(requests.meaning(first + Duration::from_secs(3600)), Meaning::EndNow);
    }

    #[test]
    fn a_first_signal_at_the_clocks_zero_is_remembered() {
        let requests = Requests::default();
        assert_eq!(requests.meaning(MonoNs(0)), Meaning::Stop);
        assert_eq!(requests.meaning(MonoNs(0)), Meaning::Same);
    }
}
