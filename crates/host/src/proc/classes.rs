//! CPU time of a machine or of one CPU by what it was spent on.

use serde::{Deserialize, Serialize};

/// Nanoseconds by class, summed over the CPUs concerned; the kernel counts them in ticks of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuClasses {
    /// Programs at normal priority, guests of virtual machines included.
    pub user_ns: u64,
    pub nice_ns: u64,
    pub system_ns: u64,
    pub irq_ns: u64,
    /// Soft interrupts: the network's receive path, timers.
    pub softirq_ns: u64,
    /// Wanted to run, and the hypervisor ran something else.
    pub steal_ns: u64,
    pub idle_ns: u64,
    /// Nothing to do, with a task waiting for a disk.
    pub iowait_ns: u64,
}

impl CpuClasses {
    /// Time in which this machine worked: everything but idle, waiting and stolen time.
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        saturating_sum([self.user_ns, self.nice_ns, self.system_ns, self.irq_ns, self.softirq_ns])
    }

    #[must_use]
    pub fn total_ns(&self) -> u64 {
        saturating_sum([self.busy_ns(), self.steal_ns, self.idle_ns, self.iowait_ns])
    }

    /// Time spent since `earlier`. A counter that went back (a CPU was taken offline) counts as zero.
    #[must_use]
    pub fn since(&self, earlier: &CpuClasses) -> CpuClasses {
        CpuClasses {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            nice_ns: self.nice_ns.saturating_sub(earlier.nice_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            irq_ns: self.irq_ns.saturating_sub(earlier.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(earlier.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(earlier.iowait_ns),
        }
    }
}

/// A recorded host may claim anything; a sum never wraps.
pub(crate) fn saturating_sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
