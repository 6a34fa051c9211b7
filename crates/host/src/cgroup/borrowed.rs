//! Processes that are not takt's own, held in a control group of takt's for a while: capped or weighted, then given back.
//!
//! Each goes back to the group it came from, with all it has started meanwhile. Each is recorded before it is taken, so
//! that `takt clean` gives it back after a `kill -9`. Nobody is ended.
//!
//! ```text
//! takt-PID-LABEL        the limit, of all of them together
//! ├── 0                 those that came from /user.slice
//! └── 1                 those that came from /system.slice/x.service
//! ```

use std::time::Duration;

use super::GroupError;
use super::hierarchy::{Hierarchy, Version};
use super::quota::{self, Throttled};
use crate::host::Host;
use crate::leftovers::{Leftover, Registration, Run};

/// Limits of a group. Both at once are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// CPUs' worth of time, 0.001 to 1024; `None`: no limit. The kernel's least quota is 1 ms of a period.
    pub cpus: Option<f64>,
    /// The period over which that is counted, 1 ms to 1 s; `None`: 10 ms.
    pub period: Option<Duration>,
    /// Share against others that want to run: 1 to 10000, everybody's is 100; `None`: as everybody.
    pub weight: Option<u32>,
}

/// Others' processes in a group of ours. Dropping gives them back.
#[derive(Debug)]
pub struct Borrowed {
    run: Run,
    hierarchy: Hierarchy,
    name: String,
    rooms: Vec<Room>,
    top: Option<Registration>,
}

/// Place of those that came from one group.
#[derive(Debug)]
struct Room {
    from: String,
    registration: Option<Registration>,
}

impl Borrowed {
    /// Makes an empty group with a limit, recorded as part of `run`.
    ///
    /// # Errors
    /// [`GroupError`] with what is missing: a controller, permission, a tree that can be written.
    pub fn create(run: &Run, label: &str, limit: Limit) -> Result<Borrowed, GroupError> {
        Borrowed::create_at(&Host::this(), run, label, limit)
    }

    pub(super) fn create_at(host: &Host, run: &Run, label: &str, limit: Limit) -> Result<Borrowed, GroupError> {
        let hierarchy = Hierarchy::with(host, CONTROLLER)?;
        let name = run.name(label);
        let top = record(run, Leftover::ControlGroup { name: name.clone() })?;
        let mut borrowed = Borrowed { run: run.clone(), hierarchy, name, rooms: Vec::new(), top: Some(top) };
        borrowed.hierarchy.make(&borrowed.group())?;
        borrowed.limit(limit)?;
        Ok(borrowed)
    }

    /// Takes a process in, with all its threads; what it starts from now on is in as well. Taking it again changes nothing.
    ///
    /// # Errors
    /// It has ended, it is out of reach, or it has real-time threads (version 1).
    pub fn take(&mut self, pid: u32) -> Result<(), GroupError> {
        let from = self.hierarchy.group_of(pid)?;
        if from.strip_prefix(&self.group()).is_some_and(|below| below.starts_with('/')) {
            return Ok(());
        }
        let number = match self.rooms.iter().position(|room| room.from == from) {
            Some(number) => number,
            None => self.open_room(from)?,
        };
        self.hierarchy.put(&self.room(number), pid)
    }

    /// Changes what they may use, all together.
    pub fn limit(&mut self, limit: Limit) -> Result<(), GroupError> {
        let range = |what, got, low: f64, high: f64, expected| match (low..=high).contains(&got) {
            true => Ok(got),
            false => Err(GroupError::OutOfRange { what, got, expected }),
        };
        let cpus = limit.cpus.map(|cpus| range("a limit in CPUs", cpus, 0.001, 1024.0, "0.001 to 1024")).transpose()?;
        let period = limit.period.unwrap_or(quota::PERIOD).as_secs_f64() * 1e6;
        let period_us = range("a period in µs", period, 1e3, 1e6, "1000 to 1000000")? as u64;
        let weight = f64::from(limit.weight.unwrap_or(100));
        let weight = range("a weight", weight, 1.0, 10_000.0, "1 to 10000")? as u64;
        let group = self.group();
        let quota_us = cpus.map(|cpus| quota::quota_us(cpus, period_us));
        quota::set(&self.hierarchy, &group, quota_us, period_us)?;
        match self.hierarchy.version {
            // 1024 is everybody's share there; 2 is the least.
            Version::One => self.hierarchy.set(&group, "cpu.shares", &(weight * 1024 / 100).max(2).to_string()),
            Version::Two => self.hierarchy.set(&group, "cpu.weight", &weight.to_string()),
        }
    }

    #[must_use]
    pub fn throttled(&self) -> Throttled {
        Throttled::read(&self.hierarchy.get(&self.group(), "cpu.stat"))
    }

    /// Gives all of them back to where they came from and removes the group.
    ///
    /// # Errors
    /// One could not be moved; `takt clean` tries again.
    pub fn give_back(mut self) -> Result<(), GroupError> {
        self.dissolve()
    }

    fn dissolve(&mut self) -> Result<(), GroupError> {
        while let Some(room) = self.rooms.last_mut() {
            let (from, registration) = (room.from.clone(), room.registration.take());
            let number = self.rooms.len() - 1;
            self.hierarchy.dissolve(&self.room(number), &from)?;
            self.rooms.pop();
            released(registration)?;
        }
        self.hierarchy.dissolve(&self.group(), "/")?;
        released(self.top.take())
    }

    fn open_room(&mut self, from: String) -> Result<usize, GroupError> {
        let number = self.rooms.len();
        let room = u32::try_from(number).unwrap_or(u32::MAX);
        let (name, controller) = (self.name.clone(), CONTROLLER.to_owned());
        let borrowed = Leftover::Borrowed { name, room: Some(room), controller, from: from.clone() };
        let registration = Some(record(&self.run, borrowed)?);
        self.rooms.push(Room { from, registration });
        self.hierarchy.make_below(&self.room(number))?;
        Ok(number)
    }

    fn group(&self) -> String {
        format!("/{}", self.name)
    }

    fn room(&self, number: usize) -> String {
        format!("/{}/{number}", self.name)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // A process that could not be given back stays recorded, and `clean` finds it.
        let _ = self.dissolve();
    }
}

/// Gives back what a dead run's group holds: a record is only text, so what it names is looked at. False if there is no
/// such group.
pub(crate) fn give_back(host: &Host, controller: &str, group: &str, from: &str) -> Result<bool, GroupError> {
    let Some(controller) = ["cpu", "cpuset"].into_iter().find(|known| *known == controller) else { return Ok(false) };
    let within = from.starts_with('/') && !from.split('/').any(|part| part == "..");
    match Hierarchy::with(host, controller) {
        Ok(hierarchy) => hierarchy.dissolve(group, if within { from } else { "/" }),
        // No such tree any more, and with it went the group.
        Err(GroupError::NoController { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn record(run: &Run, leftover: Leftover) -> Result<Registration, GroupError> {
    Ok(run.will_create(leftover).map_err(Box::new)?)
}

pub(super) fn released(registration: Option<Registration>) -> Result<(), GroupError> {
    Ok(registration.map_or(Ok(()), Registration::released).map_err(Box::new)?)
}

const CONTROLLER: &str = "cpu";
