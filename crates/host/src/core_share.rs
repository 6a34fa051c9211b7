//! How much of a core an ordinary thread gets, and who has the rest.
//!
//! A thread of ordinary priority works on each core for a while without a pause. Others had the time that its own clock does not
//! show. The kernel accounts for interrupts and the hypervisor; other programs had the rest.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::shown::percent;
use takt_base::{Clock, WallClock};

use crate::accounting::CpuClasses;
use crate::affinity::pin_self;
use crate::proc::{self, stat};
use crate::thread_clock::ThreadClock;
use crate::{Host, ReadError};

/// Below this share a core has no room for a radio's program: half of it goes to one at an N200's full rate.
const ROOM: f64 = 0.6;

/// The share of a core that an ordinary thread got, and the shares of others, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreShare {
    pub cpu: usize,
    pub got: f64,
    pub interrupts: f64,
    pub stolen: f64,
    /// Other programs, and interrupts that the kernel lays to them.
    pub others: f64,
}

impl CoreShare {
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.got >= ROOM
    }

    /// `an ordinary thread gets 31 % of core 0: other programs have 60 %, interrupts 9 %`.
    #[must_use]
    pub fn words(&self) -> String {
        let parts = [(self.others, "other programs"), (self.interrupts, "interrupts"), (self.stolen, "the hypervisor")];
        let parts = parts.iter().filter(|(share, _)| *share >= 0.01);
        let parts: Vec<String> = parts.map(|(share, who)| format!("{who} {}", percent(*share))).collect();
        let rest = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        format!("an ordinary thread gets {} of core {}{rest}", percent(self.got), self.cpu)
    }
}

/// Works on these cores for a time, all at once. A core on which nothing may be started is left out.
///
/// # Errors
/// The kernel's account of its cores can't be read.
pub fn measure(cores: &[usize], span: Duration) -> Result<Vec<CoreShare>, ReadError> {
    let host = Host::this();
    let before: BTreeMap<usize, CpuClasses> = stat::read(&host)?.cpus.into_iter().collect();
    let ran: Vec<(usize, Option<f64>)> = thread::scope(|scope| {
        let work = |&cpu: &usize| (cpu, scope.spawn(move || pin_self(&[cpu]).is_ok().then(|| share_of(span))));
        let threads: Vec<_> = cores.iter().map(work).collect();
        threads.into_iter().map(|(cpu, thread)| (cpu, thread.join().ok().flatten())).collect()
    });
    let after: BTreeMap<usize, CpuClasses> = stat::read(&host)?.cpus.into_iter().collect();
    let share = |(cpu, got): (usize, Option<f64>)| {
        let classes = after.get(&cpu)?.since(before.get(&cpu)?);
        Some(of(cpu, got?, &classes))
    };
    Ok(ran.into_iter().filter_map(share).collect())
}

/// The share of the time in which the calling thread ran.
fn share_of(span: Duration) -> f64 {
    let (clock, until) = (ThreadClock::of_this_thread(), WallClock.now() + span);
    let begun = clock.now();
    while WallClock.now() < until {
        std::hint::spin_loop();
    }
    let since = clock.now().since(&begun);
    (since.ran_ns as f64 / since.passed_ns.max(1) as f64).min(1.0)
}

fn of(cpu: usize, got: f64, classes: &CpuClasses) -> CoreShare {
    // A tick more or less is no account.
    let all_ns = classes.total_ns().max(proc::tick_ns()) as f64;
    let interrupts = ((classes.irq_ns + classes.softirq_ns) as f64 / all_ns).min(1.0 - got);
    let stolen = (classes.steal_ns as f64 / all_ns).min(1.0 - got - interrupts).max(0.0);
    CoreShare { cpu, got, interrupts, stolen, others: (1.0 - got - interrupts - stolen).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_did_not_get_others_had() {
        let [user_ns, irq_ns, softirq_ns, steal_ns] = [600, 100, 100, 200].map(|ms: u64| ms * 1_000_000);
        let classes = CpuClasses { user_ns, irq_ns, softirq_ns, steal_ns, ..CpuClasses::default() };
        let share = of(1, 0.3, &classes);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(share.interrupts, 0.2) && near(share.stolen, 0.2) && near(share.others, 0.3), "{share:?}");
        assert!(!share.has_room() && of(1, 0.7, &classes).has_room());
        let words = "an ordinary thread gets 30 % of core 1; other programs 30 %, interrupts 20 %, the hypervisor 20 %";
        assert_eq!(share.words(), words);
        let all = of(0, 1.0, &CpuClasses::default());
        assert_eq!(all.words(), "an ordinary thread gets 100 % of core 0");
    }

    #[test]
    fn a_thread_that_shares_its_core_gets_less_than_all_of_it() {
        let cpu = crate::affinity::own_cpus()[0];
        let shares = measure(&[cpu, cpu], Duration::from_millis(400)).unwrap();
        let all: f64 = shares.iter().map(|share| share.got).sum();
        assert!(shares.len() == 2 && all > 0.0 && all < 1.2, "two on one core: {shares:?}");
        assert_eq!(measure(&[100_000], Duration::from_millis(1)).unwrap(), []);
    }
}
