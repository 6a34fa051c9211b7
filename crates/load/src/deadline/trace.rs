//! Threads that ran while the worst answer waited: the kernel's own account of every change of thread (`sched_switch`).

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::outcome::Answered;
use super::stages::{STAGES, Stage};
use super::tracefs::Instance;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    /// From the first downlink slot to the answer, nanoseconds.
    pub total_ns: i64,
    /// The stage that took longest, the air left out.
    pub stage: String,
    pub stage_ns: i64,
    pub waited: String,
    /// The core on which that thread ran in the end; `None`: it is not in the trace.
    pub cpu: Option<u32>,
    pub ran: Vec<Ran>,
    /// Why there is no trace, if there is none.
    pub hidden: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The thread's name; of a core that did nothing, `idle`.
    pub name: String,
    pub ns: i64,
    pub times: u64,
    /// The longest of these turns, nanoseconds; what lies before and after the stage included.
    pub longest_ns: i64,
}

pub(super) struct Trace(Instance);

/// Kilobytes for each core: some 100 000 changes.
const BUFFER_KB: u32 = 8192;

impl Trace {
    pub(super) fn begin() -> io::Result<Trace> {
        Instance::begin(&["sched/sched_switch"], &[], BUFFER_KB).map(Trace)
    }

    /// Ends it, and looks at the worst answer.
    pub(super) fn look(self, worst: &Answered) -> io::Result<Traced> {
        self.0.stop()?;
        Ok(explain(&self.0.text("trace")?, worst))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Switch<'a> {
    cpu: u32,
    ns: i64,
    from: &'a str,
    to: &'a str,
}

/// `NAME-PID [002] d..2. 52087.631559: sched_switch: prev_comm=A prev_pid=1 ... ==> next_comm=B next_pid=2 ...`; names may
/// have spaces in them.
fn switch(line: &str) -> Option<Switch<'_>> {
    let (head, tail) = line.split_once(": sched_switch: ")?;
    let cpu = head.rsplit_once(" [")?.1.split_once(']')?.0.parse().ok()?;
    let (seconds, fraction) = head.rsplit_once(' ')?.1.split_once('.')?;
    let micros: i64 = fraction.parse().ok()?;
    let ns = seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(micros * 1_000)?;
    let name = |key: &str, end: &str| Some(tail.split_once(key)?.1.split_once(end)?.0);
    Some(Switch { cpu, ns, from: name("prev_comm=", " prev_pid=")?, to: name("next_comm=", " next_pid=")? })
}

fn explain(text: &str, worst: &Answered) -> Traced {
    let Some((stage, from, until)) = longest(worst) else { return Traced::default() };
    let waited = stage.thread;
    let switches: Vec<Switch<'_>> = text.lines().filter_map(switch).collect();
    // The stamps are taken just after the switch, and times in the text end at microseconds.
    let arrival = switches.iter().filter(|s| s.to == waited && s.ns <= until + 1_000).max_by_key(|s| s.ns);
    let cpu = arrival.map(|switch| switch.cpu);
    let ran = cpu.map(|cpu| ran(&switches, cpu, waited, from, until)).unwrap_or_default();
    Traced {
        total_ns: worst.total_ns,
        stage: stage.name().to_owned(),
        stage_ns: until - from,
        waited: waited.to_owned(),
        cpu,
        ran,
        hidden: None,
    }
}

/// The longest stage but the air, and when it was.
fn longest(worst: &Answered) -> Option<(Stage, i64, i64)> {
    let mut at = worst.from_ns;
    let spans = STAGES.map(|stage| {
        let from = at;
        at += worst.stages_ns.get(stage.name()).copied().unwrap_or(0);
        (stage, from, at)
    });
    spans.into_iter().skip(1).max_by_key(|(_, from, until)| until - from)
}

/// Others on a core between two instants.
fn ran(switches: &[Switch<'_>], cpu: u32, waited: &str, from: i64, until: i64) -> Vec<Ran> {
    let mut by: BTreeMap<&str, (i64, u64, i64)> = BTreeMap::new();
    let mut since = i64::MIN;
    let own = switches.iter().filter(|switch| switch.cpu == cpu);
    for switch in own {
        let (begin, end) = (since.max(from), switch.ns.min(until));
        if end > begin && switch.from != waited {
            let (ns, times, longest) = by.entry(switch.from).or_default();
            *ns += end - begin;
            *times += 1;
            // The trace may begin within a turn.
            *longest = (*longest).max(switch.ns - if since == i64::MIN { begin } else { since });
        }
        since = switch.ns;
    }
    let name = |name: &str| if name.starts_with("swapper") { "idle".to_owned() } else { name.to_owned() };
    let ran = |(who, (ns, times, longest_ns))| Ran { name: name(who), ns, times, longest_ns };
    let mut ran: Vec<Ran> = by.into_iter().map(ran).collect();
    ran.sort_by_key(|ran| std::cmp::Reverse(ran.ns));
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# tracer: nop
           <...>-1       [000] d..2.     1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=takt-busy next_pid=7 next_prio=120
 Web Content 1-7       [001] d..2.     1.000100: sched_switch: prev_comm=Web Content 1 prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=takt-busy next_pid=8 next_prio=120
       takt-busy-8       [001] d..2.     1.002100: sched_switch: prev_comm=takt-busy prev_pid=8 prev_prio=120 prev_state=R+ ==> next_comm=kworker/1:0 next_pid=9 next_prio=120
   kworker/1:0-9       [001] d..2.     1.002900: sched_switch: prev_comm=kworker/1:0 prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=takt-physical next_pid=10 next_prio=120
";

    fn worst() -> Answered {
        let stages = [("air", 2_700_000), ("wake_physical", 2_900_000), ("physical", 100_000)];
        Answered {
            subframe: 3,
            from_ns: 1_000_000_000 - 2_700_000,
            total_ns: 5_700_000,
            stages_ns: stages.map(|(name, ns)| (name.to_owned(), ns)).into(),
        }
    }

    #[test]
    fn who_ran_on_the_core_where_it_waited_is_named_with_times() {
        let traced = explain(TEXT, &worst());
        assert_eq!((traced.stage.as_str(), traced.stage_ns), ("wake_physical", 2_900_000));
        assert_eq!((traced.waited.as_str(), traced.cpu), ("takt-physical", Some(1)));
        let ran: Vec<(&str, i64)> = traced.ran.iter().map(|ran| (ran.name.as_str(), ran.ns)).collect();
        assert_eq!(ran, [("takt-busy", 2_000_000), ("kworker/1:0", 800_000), ("Web Content 1", 100_000)]);
    }

    #[test]
    fn a_trace_without_it_blames_nobody() {
        assert_eq!(explain("", &worst()).cpu, None);
        assert!(explain("rubbish\n : sched_switch: \n", &worst()).ran.is_empty());
    }
}
