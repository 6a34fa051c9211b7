//! CPU of one process and of its threads.

use serde::{Deserialize, Serialize};

use crate::error::ReadError;
use crate::host::Host;
use crate::proc::classes::saturating_sum;
use crate::proc::{status, task, ticks_to_ns};
use crate::sys::cpu_time;

/// CPU of one thread. In a snapshot since it began; in a [`Usage`](super::Usage) between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCpu {
    pub tid: u32,
    pub name: String,
    /// Time on a CPU, exact where the kernel has scheduler statistics, else the sum of the next two.
    pub cpu_ns: u64,
    /// In its own code; ticks of 10 ms.
    pub user_ns: u64,
    /// In the kernel for it; ticks of 10 ms.
    pub system_ns: u64,
    /// Ready to run and waiting for a CPU. `None`: this kernel does not count it.
    pub run_delay_ns: Option<u64>,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub last_cpu: Option<u32>,
    /// When it began, in the kernel's ticks since boot; tells apart two threads that had the same number.
    pub start_ticks: u64,
}

/// CPU of one process. In a snapshot since it began; in a [`Usage`](super::Usage) between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCpu {
    pub pid: u32,
    pub name: String,
    /// Time on a CPU, exact; threads that have ended are included.
    pub cpu_ns: u64,
    /// In its own code: microseconds for this process, ticks of 10 ms for others.
    pub user_ns: u64,
    /// In the kernel for it: microseconds for this process, ticks of 10 ms for others.
    pub system_ns: u64,
    /// Times its threads slept of their own accord; of other processes only those threads that live.
    pub voluntary_switches: u64,
    /// Times its threads were put aside for another; of other processes only those threads that live.
    pub involuntary_switches: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    /// Threads that live, in order of their numbers. The use of ended ones is in the process' own figures only.
    pub threads: Vec<ThreadCpu>,
    /// When it began, in the kernel's ticks since boot.
    pub start_ticks: u64,
}

impl ProcessCpu {
    /// Reads process `pid` as it is now; `None` if there is no such process.
    pub(crate) fn read(host: &Host, pid: u32) -> Result<Option<ProcessCpu>, ReadError> {
        let Some(stat) = read_stat(host, &format!("/proc/{pid}/stat"))? else { return Ok(None) };
        let mut threads = Vec::new();
        for name in host.list(&format!("/proc/{pid}/task")) {
            let Ok(tid) = name.parse() else { continue };
            // A thread may end between the listing and the reading: it is left out then, as any other ended thread.
            threads.extend(read_thread(host, pid, tid)?);
        }
        threads.sort_by_key(|thread| thread.tid);
        let mut process = ProcessCpu {
            pid,
            cpu_ns: ticks_to_ns(stat.user_ticks.saturating_add(stat.system_ticks)),
            user_ns: ticks_to_ns(stat.user_ticks),
            system_ns: ticks_to_ns(stat.system_ticks),
            voluntary_switches: saturating_sum(threads.iter().map(|t| t.voluntary_switches)),
            involuntary_switches: saturating_sum(threads.iter().map(|t| t.involuntary_switches)),
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            start_ticks: stat.start_ticks,
            name: stat.name,
            threads,
        };
        if host.is_this() {
            process.refine();
        }
        Ok(Some(process))
    }

    /// Replaces ticks by what finer clocks of this machine say.
    fn refine(&mut self) {
        if let Ok(exact) = cpu_time::process_cpu_ns(self.pid) {
            self.cpu_ns = exact;
        }
        if self.pid == std::process::id() {
            let own = cpu_time::own_usage();
            self.user_ns = own.user_ns;
            self.system_ns = own.system_ns;
            self.voluntary_switches = own.voluntary_switches;
            self.involuntary_switches = own.involuntary_switches;
            self.minor_faults = own.minor_faults;
            self.major_faults = own.major_faults;
        }
    }

    /// Resource usage of this process since `earlier`; everything if `earlier` was another process of the same number.
    pub(crate) fn since(&self, earlier: Option<&ProcessCpu>) -> ProcessCpu {
        let Some(earlier) = earlier.filter(|e| e.pid == self.pid && e.start_ticks == self.start_ticks) else {
            return self.clone();
        };
        let threads = self.threads.iter().map(|now| {
            let same = |then: &&ThreadCpu| then.tid == now.tid && then.start_ticks == now.start_ticks;
            now.since(earlier.threads.iter().find(same))
        });
        ProcessCpu {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            threads: threads.collect(),
            ..self.clone()
        }
    }
}

impl ThreadCpu {
    fn since(&self, earlier: Option<&ThreadCpu>) -> ThreadCpu {
        let Some(earlier) = earlier else { return self.clone() };
        ThreadCpu {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            run_delay_ns: self.run_delay_ns.zip(earlier.run_delay_ns).map(|(now, then)| now.saturating_sub(then)),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            ..self.clone()
        }
    }
}

/// A thread's figures since it began; `None` if it has ended.
fn read_thread(host: &Host, pid: u32, tid: u32) -> Result<Option<ThreadCpu>, ReadError> {
    let folder = format!("/proc/{pid}/task/{tid}");
    let Some(stat) = read_stat(host, &format!("{folder}/stat"))? else { return Ok(None) };
    let Ok(status_text) = host.read(&format!("{folder}/status")) else { return Ok(None) };
    let exact = host.read(&format!("{folder}/schedstat")).ok().and_then(|text| task::Schedstat::parse(&text));
    let ticks_ns = ticks_to_ns(stat.user_ticks.saturating_add(stat.system_ticks));
    Ok(Some(ThreadCpu {
        tid,
        name: stat.name,
        cpu_ns: exact.map_or(ticks_ns, |e| e.on_cpu_ns),
        user_ns: ticks_to_ns(stat.user_ticks),
        system_ns: ticks_to_ns(stat.system_ticks),
        run_delay_ns: exact.map(|e| e.run_delay_ns),
        voluntary_switches: status::number(&status_text, "voluntary_ctxt_switches").unwrap_or(0),
        involuntary_switches: status::number(&status_text, "nonvoluntary_ctxt_switches").unwrap_or(0),
        last_cpu: stat.last_cpu,
        start_ticks: stat.start_ticks,
    }))
}

/// A `stat` file; `None` if what it described is gone.
pub fn read_stat(host: &Host, path: &str) -> Result<Option<task::Stat>, ReadError> {
    let Ok(text) = host.read(path) else { return Ok(None) };
    task::Stat::parse(&text).map(Some).ok_or_else(|| ReadError::malformed(path, "a line as in proc(5)", &text))
}
