//! CPUs for some processes, and for them alone if wanted.
//!
//! Exclusive CPUs form a scheduling domain of their own: the kernel balances nothing into it or out of it, and admits
//! DEADLINE threads in it that are allowed on all of it. With version 2 that is a partition, which the kernel makes and
//! unmakes by itself. With version 1 takt does what a partition does: it takes the load balancer from the root set, and
//! moves the root set's ordinary processes, those of everybody, to a set of the other CPUs until the value is dropped.
//! Kernel threads stay where they are. A process that was tied to CPUs stays tied to them (Linux 6.2 and newer; older kernels
//! forget the tie when a process is moved between cpusets).

use super::GroupError;
use super::borrowed::{record, released};
use super::hierarchy::{Hierarchy, Version};
use crate::host::Host;
use crate::leftovers::{Leftover, Registration, Run};
use crate::proc::cpu_list;

/// A set of CPUs for processes. Dropping it gives everything back; what is still in it returns to the root set.
#[derive(Debug)]
pub struct CpuSet {
    hierarchy: Hierarchy,
    name: String,
    /// Newest last: undone from the end.
    made: Vec<(Made, Option<Registration>)>,
}

/// A change that has to be undone.
#[derive(Debug)]
enum Made {
    Set,
    /// The set of the other CPUs, with everybody's processes in it (version 1).
    Rest,
    /// The root set's load balancer is off (version 1).
    Unbalanced,
}

impl CpuSet {
    /// Makes the set, recorded as part of `run`. `exclusive`: nobody else runs on these CPUs, kernel threads excepted.
    ///
    /// # Errors
    /// [`GroupError`] with what is missing; nothing is left of an attempt that failed.
    pub fn create(run: &Run, label: &str, cpus: &[usize], exclusive: bool) -> Result<CpuSet, GroupError> {
        CpuSet::create_at(&Host::this(), run, label, cpus, exclusive)
    }

    pub(super) fn create_at(
        host: &Host,
        run: &Run,
        label: &str,
        cpus: &[usize],
        exclusive: bool,
    ) -> Result<CpuSet, GroupError> {
        let hierarchy = Hierarchy::with(host, CONTROLLER)?;
        let online = cpu_list::parse(&host.read_opt("/sys/devices/system/cpu/online").unwrap_or_default());
        let online = online.unwrap_or_default();
        let list = cpu_list::format(cpus);
        if cpus.is_empty() || !cpus.iter().all(|cpu| online.contains(cpu)) {
            return Err(GroupError::NoSuchCpus { cpus: list });
        }
        let rest: Vec<usize> = online.into_iter().filter(|cpu| !cpus.contains(cpu)).collect();
        if exclusive && rest.is_empty() {
            return Err(GroupError::NotExclusive { cpus: list, why: "no CPU would be left to the others".to_owned() });
        }
        let mut set = CpuSet { hierarchy, name: run.name(label), made: Vec::new() };
        let registration = record(run, Leftover::ControlGroup { name: set.name.clone() })?;
        set.made.push((Made::Set, Some(registration)));
        set.hierarchy.make(&set.group())?;
        set.fill(&set.group(), &list)?;
        match (exclusive, set.hierarchy.version) {
            (false, _) => {}
            (true, Version::Two) => set.partition(&list)?,
            (true, Version::One) => set.set_apart(run, &list, &cpu_list::format(&rest))?,
        }
        Ok(set)
    }

    /// Puts a process, with all its threads, into it.
    pub fn add(&self, pid: u32) -> Result<(), GroupError> {
        self.hierarchy.put(&self.group(), pid)
    }

    #[must_use]
    pub fn version(&self) -> &'static str {
        self.hierarchy.version.name()
    }

    fn fill(&self, group: &str, list: &str) -> Result<(), GroupError> {
        let refused = |error| match error {
            GroupError::Io { .. } => GroupError::NoSuchCpus { cpus: list.to_owned() },
            error => error,
        };
        self.hierarchy.set(group, "cpuset.cpus", list).map_err(refused)?;
        if self.hierarchy.version == Version::One {
            // A fresh set has no memory, and takes no process without.
            self.hierarchy.set(group, "cpuset.mems", &self.hierarchy.get("/", "cpuset.mems"))?;
        }
        Ok(())
    }

    /// Version 2. The kernel takes the word and answers by what the file says afterwards.
    fn partition(&self, list: &str) -> Result<(), GroupError> {
        let refused = |why: String| GroupError::NotExclusive { cpus: list.to_owned(), why };
        self.hierarchy.set(&self.group(), PARTITION, "root").map_err(|error| match error {
            GroupError::Io { source, .. } => refused(source.to_string()),
            error => error,
        })?;
        match self.hierarchy.get(&self.group(), PARTITION).as_str() {
            "root" => Ok(()),
            other => Err(refused(other.to_owned())),
        }
    }

    /// The kernel ends it with the group as well, but some time after the folder has gone: until then the others still lack
    /// its CPUs (seen on 6.1).
    fn end_partition(&self) -> Result<(), GroupError> {
        match self.hierarchy.get(&self.group(), PARTITION).starts_with("root") {
            true => self.hierarchy.set(&self.group(), PARTITION, "member"),
            false => Ok(()),
        }
    }

    /// Version 1: the same by hand.
    fn set_apart(&mut self, run: &Run, list: &str, others: &str) -> Result<(), GroupError> {
        let exclusive = self.hierarchy.set(&self.group(), "cpuset.cpu_exclusive", "1");
        exclusive.map_err(|error| match error {
            GroupError::Io { .. } => {
                GroupError::NotExclusive { cpus: list.to_owned(), why: "another cpuset has some of them".to_owned() }
            }
            error => error,
        })?;
        let rest = self.rest();
        let (name, controller, from) = (rest[1..].to_owned(), CONTROLLER.to_owned(), "/".to_owned());
        let borrowed = record(run, Leftover::Borrowed { name, room: None, controller, from })?;
        self.made.push((Made::Rest, Some(borrowed)));
        self.hierarchy.make(&rest)?;
        self.fill(&rest, others)?;
        if self.hierarchy.get("/", BALANCE) == "1" {
            let unbalanced = record(run, Leftover::LoadBalancer)?;
            self.made.push((Made::Unbalanced, Some(unbalanced)));
            self.hierarchy.set("/", BALANCE, "0")?;
        }
        // Twice: who was started during the first time is found the second. Kernel threads that belong to a CPU refuse,
        // and those that end meanwhile are gone.
        for pid in [(); 2].iter().flat_map(|()| self.hierarchy.members("/")) {
            let _ = self.hierarchy.put(&rest, pid);
        }
        Ok(())
    }

    fn group(&self) -> String {
        format!("/{}", self.name)
    }

    fn rest(&self) -> String {
        format!("/{}-rest", self.name)
    }

    fn undo(&mut self) -> Result<(), GroupError> {
        while let Some((made, registration)) = self.made.last_mut() {
            let registration = registration.take();
            match made {
                Made::Set => {
                    self.end_partition()?;
                    self.hierarchy.dissolve(&self.group(), "/")?;
                }
                Made::Rest => self.hierarchy.dissolve(&self.rest(), "/").map(|_| ())?,
                Made::Unbalanced => self.hierarchy.set("/", BALANCE, "1")?,
            }
            self.made.pop();
            released(registration)?;
        }
        Ok(())
    }
}

impl Drop for CpuSet {
    fn drop(&mut self) {
        // A change that could not be undone stays recorded, and `clean` finds it.
        let _ = self.undo();
    }
}

/// Gives the root set of version 1 its load balancer back; false if it has it.
pub(crate) fn balance_again(host: &Host) -> Result<bool, GroupError> {
    let hierarchy = Hierarchy::with(host, CONTROLLER)?;
    if hierarchy.version == Version::Two || hierarchy.get("/", BALANCE) != "0" {
        return Ok(false);
    }
    hierarchy.set("/", BALANCE, "1").map(|()| true)
}

const CONTROLLER: &str = "cpuset";
const BALANCE: &str = "cpuset.sched_load_balance";
const PARTITION: &str = "cpuset.cpus.partition";
