//! State of a core by the clock of the thread that runs on it.
//!
//! A thread's CPU clock stands still while the hypervisor has taken the core away: the kernel subtracts what was stolen, to
//! the microsecond, where `CONFIG_PARAVIRT_TIME_ACCOUNTING` is built in and the hypervisor tells. So time that passed
//! without the clock, and without another thread on its core, was nobody's here.
//!
//! ```
//! use takt_host::thread_clock::ThreadClock;
//! let clock = ThreadClock::of_this_thread();
//! let begun = clock.now();
//! // ... work that does not sleep ...
//! println!("the core stood still for {} ns", clock.halted_since(&begun).as_nanos());
//! ```

use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use takt_base::{Clock, MonoNs, WallClock};

use crate::Host;
use crate::fingerprint::Virtualisation;
use crate::kernel::accounts_interrupts_apart;
use crate::proc::task::Schedstat;
use crate::sys::cpu_time::own_thread_usage;

/// The calling thread's own clock. It stays with its thread.
#[derive(Debug)]
pub struct ThreadClock {
    /// Tells how long it waited for a core that others had.
    schedstat: Option<File>,
    /// Not to be sent to another thread.
    stays: PhantomData<*const ()>,
}

/// An instant of a thread, on the host's clock and on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    slept: u64,
    put_off: u64,
    waited_ns: Option<u64>,
    cpu_ns: u64,
    at: MonoNs,
}

impl ThreadClock {
    #[must_use]
    pub fn of_this_thread() -> ThreadClock {
        ThreadClock { schedstat: File::open("/proc/thread-self/schedstat").ok(), stays: PhantomData }
    }

    /// For how long this thread has run since it began.
    #[must_use]
    pub fn ran(&self) -> Duration {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        Duration::from_nanos(cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs())
    }

    /// This instant; three system calls.
    #[must_use]
    pub fn now(&self) -> Moment {
        let usage = own_thread_usage();
        let waited_ns = self.waited_ns();
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        let cpu_ns = cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs();
        let at = WallClock.now();
        Moment { slept: usage.voluntary_switches, put_off: usage.involuntary_switches, waited_ns, cpu_ns, at }
    }

    /// For how long the core stood still since: what passed without this thread running or another having its core. Zero
    /// if the thread has slept meanwhile.
    #[must_use]
    pub fn halted_since(&self, earlier: &Moment) -> Duration {
        self.now().halted_since(earlier)
    }

    /// For how long this thread has run or queued for a core since it began, nanoseconds; `None`: the kernel does not tell. Together,
    /// since the kernel takes some of the queueing for running: what it goes on with between a wake-up and the switch to the
    /// thread (`rq_clock_skip_update`), a soft interrupt for instance.
    #[must_use]
    pub fn ran_or_queued_ns(&self) -> Option<u64> {
        let waited_ns = self.waited_ns()?;
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        Some(waited_ns + cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs())
    }

    fn waited_ns(&self) -> Option<u64> {
        let mut text = [0; 96];
        let read = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..read)?).ok()?;
        Some(Schedstat::parse(text)?.run_delay_ns)
    }
}

/// Division of the time between two instants of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    pub passed_ns: u64,
    pub ran_ns: u64,
    /// It queued for a core that others had; `None`: the kernel does not tell.
    pub queued_ns: Option<u64>,
    pub slept: bool,
}

impl Moment {
    #[must_use]
    pub fn since(&self, earlier: &Moment) -> Since {
        Since {
            passed_ns: self.at.0.saturating_sub(earlier.at.0),
            ran_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            queued_ns: self.waited_ns.zip(earlier.waited_ns).map(|(now, then)| now.saturating_sub(then)),
            slept: self.slept != earlier.slept,
        }
    }

    fn halted_since(&self, earlier: &Moment) -> Duration {
        let others_ns = match (self.waited_ns, earlier.waited_ns) {
            _ if self.put_off == earlier.put_off => 0,
            (Some(now), Some(then)) => now.saturating_sub(then),
            // The kernel does not say for how long.
            _ => return Duration::ZERO,
        };
        if self.slept != earlier.slept {
            return Duration::ZERO;
        }
        let (passed, ran) = (self.at.0.saturating_sub(earlier.at.0), self.cpu_ns.saturating_sub(earlier.cpu_ns));
        Duration::from_nanos(passed.saturating_sub(ran).saturating_sub(others_ns))
    }
}

/// Why a core is not watched for stops on bare metal.
pub const NO_HYPERVISOR: &str = "no hypervisor that could stop a core";

/// Why a core that stood still says nothing about a hypervisor, if it does not.
#[must_use]
pub fn why_not(host: &Host) -> Option<&'static str> {
    if Virtualisation::of(host) == Virtualisation::None {
        return Some(NO_HYPERVISOR);
    }
    match accounts_interrupts_apart(host) {
        Some(false) => None,
        Some(true) => Some("threads' clocks stand still in interrupts too (CONFIG_IRQ_TIME_ACCOUNTING)"),
        None => Some("the kernel's configuration can't be read: threads' clocks may stand still in interrupts too"),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;

    use super::*;
    use crate::testing::Tree;

    #[test]
    fn who_slept_was_not_halted() {
        let clock = ThreadClock::of_this_thread();
        let begun = clock.now();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(clock.halted_since(&begun), Duration::ZERO);
    }

    #[test]
    fn a_core_is_halted_for_no_longer_than_time_has_passed() {
        let clock = ThreadClock::of_this_thread();
        for _ in 0..100 {
            let begun = clock.now();
            (0..10_000_u64).fold(0, |sum, n| black_box(sum ^ n));
            let halted = clock.halted_since(&begun);
            assert!(halted <= Duration::from_nanos(WallClock.now().0 - begun.at.0));
        }
    }

    #[test]
    fn what_passed_without_the_threads_clock_is_halted_but_for_what_others_had() {
        let begun = Moment { slept: 3, put_off: 7, waited_ns: Some(5_000), cpu_ns: 1_000, at: MonoNs(10_000) };
        let worked = Moment { cpu_ns: 61_000, at: MonoNs(510_000), ..begun };
        assert_eq!(worked.halted_since(&begun), Duration::from_micros(440));
        let shared = Moment { put_off: 8, waited_ns: Some(45_000), ..worked };
        assert_eq!(shared.halted_since(&begun), Duration::from_micros(400));
        assert_eq!(
            Moment { waited_ns: None, ..shared }.halted_since(&begun),
            Duration::ZERO,
            "nobody knows who had it"
        );
        assert_eq!(Moment { slept: 4, ..worked }.halted_since(&begun), Duration::ZERO);
        let ahead = Moment { cpu_ns: 600_000, ..worked };
        assert_eq!(ahead.halted_since(&begun), Duration::ZERO, "clocks are read one after the other");
    }

    #[test]
    fn who_shares_a_core_was_not_halted_while_the_other_ran() {
        let cpus = crate::affinity::own_cpus();
        let other_runs = takt_base::Stop::new();
        let over = other_runs.clone();
        let cpu = cpus[0];
        let other = thread::spawn(move || {
            crate::affinity::pin_self(&[cpu]).unwrap();
            while !over.requested() {
                black_box(0);
            }
        });
        let mine = thread::spawn(move || {
            crate::affinity::pin_self(&[cpu]).unwrap();
            let clock = ThreadClock::of_this_thread();
            let begun = clock.now();
            // Until the other has had its turns.
            while clock.now().put_off < begun.put_off + 5 {
                black_box(0);
            }
            let now = clock.now();
            (now.waited_ns.zip(begun.waited_ns), now.at.0 - begun.at.0, now.halted_since(&begun))
        });
        let (waited, passed_ns, halted) = mine.join().unwrap();
        other_runs.request();
        other.join().unwrap();
        // Whatever the hypervisor did: what the other had is not in it. A moment's wait is read before its instant, so that
        // of the other's last turn may be longer than the time that passed.
        let waited_ns = waited.map_or(passed_ns, |(now, then)| now - then);
        let rest_ns = passed_ns.saturating_sub(waited_ns);
        assert!(waited_ns > 0 && halted.as_nanos() as u64 <= rest_ns, "{halted:?} of {passed_ns} ns");
    }

    #[test]
    fn only_a_guest_whose_kernel_lays_interrupts_to_threads_can_tell() {
        let tree = Tree::new();
        tree.put("/proc/sys/kernel/osrelease", "6.1.0");
        let said =
            |words: &str| why_not(&tree.host().under_hypervisor("KVMKVMKVM")).is_some_and(|why| why.contains(words));
        assert!(why_not(&tree.host()).is_some_and(|why| why.contains("no hypervisor")));
        assert!(said("can't be read"));
        tree.put("/boot/config-6.1.0", "CONFIG_IRQ_TIME_ACCOUNTING=y\n");
        assert!(said("CONFIG_IRQ_TIME_ACCOUNTING"));
        tree.put("/boot/config-6.1.0", "# CONFIG_IRQ_TIME_ACCOUNTING is not set\n");
        assert_eq!(why_not(&tree.host().under_hypervisor("KVMKVMKVM")), None);
    }
}
