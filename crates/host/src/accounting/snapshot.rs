//! Everything that counts, at one instant, and the difference of two.

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, WallClock};

use super::{CpuClasses, ProcessCpu};
use crate::error::ReadError;
use crate::host::Host;
use crate::proc::classes::saturating_sum;
use crate::proc::{pressure, softnet, stat};

/// The counters of this process, of others named, and of the machine, since each began.
#[derive(Clone, Debug)]
pub struct Snapshot {
    at: MonoNs,
    process: ProcessCpu,
    companions: Vec<ProcessCpu>,
    machine: stat::Stat,
    softnet: Option<softnet::Softnet>,
    pressure: Option<Stalls>,
}

/// Stalls of a CPU, of a disk, of memory.
type Stalls = [pressure::Stall; 3];

/// Changes between two snapshots. A plain value: it is what records and JSON documents hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub wall_ns: u64,
    pub process: ProcessCpu,
    /// Other processes that were named as ours and still live.
    pub companions: Vec<ProcessCpu>,
    pub machine: CpuClasses,
    pub cpus: Vec<CpuUse>,
    /// CPU used by others: the machine's busy time less that of this process and its companions. Interrupt time belongs
    /// to nobody, so on kernels that keep it out of a task's account our own packets' share is in here as well;
    /// [`foreign_task_cpu_ns`](Usage::foreign_task_cpu_ns) leaves it out.
    pub foreign_cpu_ns: u64,
    /// As above without interrupt and soft-interrupt time: the lower bound.
    pub foreign_task_cpu_ns: u64,
    /// The network's receive path on all CPUs. `None`: not visible here.
    pub softnet: Option<Softnet>,
    /// Time in which tasks of the machine waited (PSI). `None`: this kernel does not count it.
    pub pressure: Option<Pressure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUse {
    pub cpu: usize,
    #[serde(flatten)]
    pub classes: CpuClasses,
}

/// Frames in the kernel's receive path, all interfaces and CPUs of the machine together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Softnet {
    pub processed_frames: u64,
    /// Frames dropped for a full backlog (`net.core.netdev_max_backlog`).
    pub dropped_frames: u64,
    /// Times work was left over when budget or time was used up.
    pub squeezed: u64,
}

/// Time in which at least one task waited for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    pub cpu_some_ns: u64,
    pub io_some_ns: u64,
    pub memory_some_ns: u64,
}

impl Snapshot {
    /// Reads the counters of this process and of the machine. Some tens of microseconds a thread; not for the
    /// real-time path.
    ///
    /// # Errors
    /// `/proc` is not mounted or says something takt does not understand.
    pub fn take() -> Result<Snapshot, ReadError> {
        Snapshot::take_with(&[])
    }

    /// As [`take`](Snapshot::take), and processes `companions` as well: their use is listed and is not foreign. One that
    /// has ended is left out.
    pub fn take_with(companions: &[u32]) -> Result<Snapshot, ReadError> {
        Snapshot::of(&Host::this(), std::process::id(), companions)
    }

    /// The counters of process `own` and of the machine as `host` shows them.
    pub(crate) fn of(host: &Host, own: u32, companions: &[u32]) -> Result<Snapshot, ReadError> {
        let process = ProcessCpu::read(host, own)?.ok_or_else(|| ReadError::Io {
            path: format!("/proc/{own}/stat"),
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        // Beside these counters, and not after all the others: a reader that is held up would make the time between two
        // snapshots another than that in which they counted.
        let at = WallClock.now();
        let mut others = Vec::new();
        for &pid in companions.iter().filter(|&&pid| pid != own) {
            others.extend(ProcessCpu::read(host, pid)?);
        }
        let machine = stat::read(host)?;
        Ok(Snapshot {
            at,
            process,
            companions: others,
            machine,
            softnet: host.read("/proc/net/softnet_stat").ok().and_then(|text| softnet::parse(&text)),
            pressure: stalls(host),
        })
    }

    #[must_use]
    pub fn at(&self) -> MonoNs {
        self.at
    }

    /// Changes since `earlier`. Threads and processes that began in between count from their beginning.
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Usage {
        let process = self.process.since(Some(&earlier.process));
        let companions: Vec<ProcessCpu> = self
            .companions
            .iter()
            .map(|now| now.since(earlier.companions.iter().find(|then| then.pid == now.pid)))
            .collect();
        let machine = self.machine.total.since(&earlier.machine.total);
        let ours_ns = companions.iter().fold(process.cpu_ns, |sum, c| sum.saturating_add(c.cpu_ns));
        let tasks_ns = saturating_sum([machine.user_ns, machine.nice_ns, machine.system_ns]);
        let softnet = self.softnet.zip(earlier.softnet).map(|(now, then)| Softnet {
            processed_frames: now.processed.saturating_sub(then.processed),
            dropped_frames: now.dropped.saturating_sub(then.dropped),
            squeezed: now.squeezed.saturating_sub(then.squeezed),
        });
        Usage {
            wall_ns: u64::try_from(self.at.saturating_since(earlier.at).as_nanos()).unwrap_or(u64::MAX),
            process,
            companions,
            machine,
            cpus: per_cpu(&self.machine, &earlier.machine),
            foreign_cpu_ns: machine.busy_ns().saturating_sub(ours_ns),
            foreign_task_cpu_ns: tasks_ns.saturating_sub(ours_ns),
            softnet,
            pressure: self.pressure.zip(earlier.pressure).map(|(now, then)| pressure_since(now, then)),
        }
    }
}

/// CPUs online at both ends.
fn per_cpu(now: &stat::Stat, then: &stat::Stat) -> Vec<CpuUse> {
    let earlier = |cpu| then.cpus.iter().find(|&&(c, _)| c == cpu).map(|(_, classes)| classes);
    now.cpus.iter().filter_map(|&(cpu, classes)| Some(CpuUse { cpu, classes: classes.since(earlier(cpu)?) })).collect()
}

fn stalls(host: &Host) -> Option<Stalls> {
    let read = |what| pressure::parse(&host.read(&format!("/proc/pressure/{what}")).ok()?);
    Some([read("cpu")?, read("io")?, read("memory")?])
}

fn pressure_since(now: Stalls, then: Stalls) -> Pressure {
    let ns = |at: usize| u64::try_from(now[at].some.saturating_sub(then[at].some).as_nanos()).unwrap_or(u64::MAX);
    Pressure { cpu_some_ns: ns(0), io_some_ns: ns(1), memory_some_ns: ns(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::tick_ns;
    use crate::testing::Tree;

    const OURS: u32 = 70;
    const COMPANION: u32 = 80;

    /// A `stat` of a process, times in ticks.
    fn stat(pid: u32, user: u64, system: u64) -> String {
        format!("{pid} (x) R 1 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 1 0 5 0 0\n")
    }

    /// A machine's times in ticks: `user nice system idle iowait irq softirq steal`.
    fn put(tree: &Tree, ours: (u64, u64), companion: (u64, u64), machine: [u64; 8]) {
        tree.put(&format!("/proc/{OURS}/stat"), &stat(OURS, ours.0, ours.1));
        tree.put(&format!("/proc/{COMPANION}/stat"), &stat(COMPANION, companion.0, companion.1));
        let numbers = machine.map(|ticks| ticks.to_string()).join(" ");
        tree.put("/proc/stat", &format!("cpu  {numbers} 0 0\ncpu0 {numbers} 0 0\n"));
    }

    #[test]
    fn what_is_neither_ours_nor_a_companions_is_foreign() {
        let tree = Tree::new();
        put(&tree, (100, 10), (200, 20), [1000, 10, 500, 9000, 0, 50, 40, 7]);
        let foreign = |companions: &[u32]| {
            put(&tree, (100, 10), (200, 20), [1000, 10, 500, 9000, 0, 50, 40, 7]);
            let before = Snapshot::of(&tree.host(), OURS, companions).unwrap();
            put(&tree, (103, 11), (210, 25), [1030, 11, 511, 9100, 9, 52, 43, 8]);
            let usage = Snapshot::of(&tree.host(), OURS, companions).unwrap().since(&before);
            assert_eq!(usage.process.cpu_ns, 4 * tick_ns());
            assert_eq!(usage.machine.busy_ns(), (30 + 1 + 11 + 2 + 3) * tick_ns());
            (usage.foreign_cpu_ns / tick_ns(), usage.foreign_task_cpu_ns / tick_ns())
        };
        // Tasks have 42 of 47 busy ticks: 4 ours, 15 the companion's.
        assert_eq!(foreign(&[COMPANION]), (28, 23));
        assert_eq!(foreign(&[]), (43, 38), "one that is not named is foreign");
    }
}
