//! Evidence of who held a core up: this kernel, or the machine below it.
//!
//! A thread that comes before every other was woken late. As with the kernel's `osnoise` tracer, the question is what ran on
//! its core meanwhile: interrupts, soft interrupts and threads are this host's. Only time in which none of them ran is the
//! machine's. It shows in three ways:
//!
//! - the core was idle, although a timer was due;
//! - a busy loop of takt's had the core, which never enters the kernel by itself, and the timer did not interrupt it;
//! - a thread had the core, and executed for less than that: the kernel takes what a hypervisor stole off a thread's
//!   runtime (`sched_stat_runtime`, update_rq_clock_task).
//!
//! Interrupts held off by a thread, a soft interrupt without end, a thread of the same priority and the fair server
//! all show as time in which something of this kernel ran.

use std::io;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use takt_host::core_stop::Cause;
use takt_host::core_watch::{self, Late};

use super::tracefs::Instance;

const EVENTS: [&str; 6] = [
    "sched/sched_switch",
    "sched/sched_stat_runtime",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
];
/// Interrupts of a PC that are no device's.
const OF_A_PC: [&str; 5] = ["local_timer", "reschedule", "call_function", "call_function_single", "irq_work"];
/// Kilobytes for each core: some 25 000 events.
const BUFFER_KB: u32 = 1024;
/// Reports that come within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(200);

/// A late wake-up, and how much of it was not this kernel's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Explained {
    pub(super) late: Late,
    /// Nanoseconds; `None`: the trace no longer reaches back to it, or counters do not tell.
    pub(super) machine_ns: Option<u64>,
    /// By the counters.
    pub(super) cause: Option<Cause>,
}

impl From<core_watch::Explained> for Explained {
    fn from(explained: core_watch::Explained) -> Explained {
        let core_watch::Explained { late, cause, machine_ns } = explained;
        let machine_ns = match cause {
            Cause::Machine => Some(machine_ns),
            Cause::NotKnown => None,
            Cause::Interrupts | Cause::SoftInterrupts | Cause::Thread => Some(0),
        };
        Explained { late, machine_ns, cause: Some(cause) }
    }
}

#[derive(Debug)]
pub(super) struct Evidence(Instance);

impl Evidence {
    pub(super) fn begin() -> io::Result<Evidence> {
        let ends = |name| [format!("irq_vectors/{name}_entry"), format!("irq_vectors/{name}_exit")];
        let of_a_pc = OF_A_PC.map(ends).concat();
        Instance::begin(&EVENTS, &of_a_pc.iter().map(String::as_str).collect::<Vec<_>>(), BUFFER_KB).map(Evidence)
    }

    /// Explains what comes, until the last sender is gone.
    pub(super) fn explain(&self, late: &Receiver<Late>) -> Vec<Explained> {
        let mut explained = Vec::new();
        while let Ok(first) = late.recv() {
            std::thread::sleep(TOGETHER);
            let mut all: Vec<Late> = std::iter::once(first).chain(late.try_iter()).collect();
            all.sort_by_key(|one| one.cpu);
            for of_core in all.chunk_by(|one, other| one.cpu == other.cpu) {
                let text = of_core
                    .first()
                    .and_then(|one| self.0.text(&format!("per_cpu/cpu{}/trace", one.cpu)).ok())
                    .unwrap_or_default();
                let events: Vec<Event> = text.lines().filter_map(event).collect();
                explained.extend(of_core.iter().map(|&late| {
                    let machine_ns = machine_ns(&events, &late);
                    Explained { late, machine_ns, cause: None }
                }));
            }
        }
        explained
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    ns: u64,
    /// The thread that had the core; 0: idle.
    pid: u32,
    /// It is one that never enters the kernel by itself, and so can't hold off interrupts.
    in_user_mode: bool,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// An interrupt or a soft interrupt begins.
    Enter,
    Leave,
    /// The thread that has the core has executed for so long since this was last reported.
    Ran(u64),
    Switch(u32),
}

const BUSY: &str = "takt-busy";

/// `NAME-PID [002] d..2. 52087.631559: sched_switch: ... next_pid=2 ...`; names may have spaces and dashes in them.
fn event(line: &str) -> Option<Event> {
    let (head, tail) = line.split_once(": ")?;
    let (task, rest) = head.rsplit_once(" [")?;
    let (comm, pid) = task.trim().rsplit_once('-')?;
    let pid = pid.parse().ok()?;
    let (seconds, micros) = rest.rsplit_once(' ')?.1.split_once('.')?;
    let ns =
        seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)?.checked_mul(1_000)?;
    let (name, fields) = tail.split_once(": ")?;
    let number = |key: &str| fields.rsplit_once(key)?.1.split(' ').next()?.parse::<u64>().ok();
    let what = match name {
        "sched_switch" => What::Switch(u32::try_from(number("next_pid=")?).ok()?),
        // The trace may report a thread of another core here as well.
        "sched_stat_runtime" if number(" pid=")? == u64::from(pid) => What::Ran(number("runtime=")?),
        _ if name.ends_with("_entry") => What::Enter,
        _ if name.ends_with("_exit") => What::Leave,
        _ => return None,
    };
    Some(Event { ns, pid, in_user_mode: comm == BUSY, what })
}

/// How much of a late wake-up nothing of this kernel ran on its core.
fn machine_ns(events: &[Event], late: &Late) -> Option<u64> {
    // Stamps end at microseconds, and are taken a moment before or after what they stamp.
    let window = (late.due_ns, late.woke_ns);
    let mut since = events.first().filter(|first| first.ns <= late.due_ns)?.ns;
    let mut machine_ns = 0;
    // Depth of interrupts, when the outermost began, and how long they lasted: in the window, and since `since`.
    let (mut depth, mut entered, mut interrupts_in_window, mut interrupts) = (0_u32, 0, 0, 0);
    for (at, event) in events.iter().enumerate().take_while(|(_, event)| event.ns <= late.woke_ns) {
        match event.what {
            What::Enter => {
                depth += 1;
                if depth == 1 {
                    entered = event.ns;
                }
            }
            // The trace may begin within one.
            What::Leave if depth == 0 => {}
            What::Leave => {
                depth -= 1;
                if depth == 0 {
                    interrupts += event.ns - entered;
                    interrupts_in_window += overlap((entered, event.ns), window);
                }
            }
            What::Ran(ran_ns) => {
                let span = (since, event.ns);
                let missing = (event.ns - since).saturating_sub(ran_ns).saturating_sub(interrupts);
                let missing = missing.saturating_sub(charged_to_next_ns(&events[at + 1..]));
                machine_ns += missing.min(overlap(span, window).saturating_sub(interrupts_in_window));
                (since, interrupts, interrupts_in_window) = (event.ns, 0, 0);
            }
            What::Switch(_) => {
                if event.pid == 0 {
                    machine_ns += overlap((since, event.ns), window).saturating_sub(interrupts_in_window);
                }
                // No interrupt lasts beyond it; of one that seems to, the end was not traced.
                (since, depth, interrupts, interrupts_in_window) = (event.ns, 0, 0, 0);
            }
        }
    }
    Some(machine_ns.max(uninterrupted_ns(events, late)))
}

/// Time that the kernel charges to the next thread though this one had the core. After a wake-up in an interrupt it
/// spares itself a look at the clock (`rq_clock_skip_update`). So the time between the wake-up and the switch is the
/// next one's runtime.
fn charged_to_next_ns(events: &[Event]) -> u64 {
    let Some((Event { ns, what: What::Switch(next), .. }, after)) = events.split_first() else { return 0 };
    let mut own = after.iter().take_while(|event| event.pid == *next && !matches!(event.what, What::Switch(_)));
    let first = own.find_map(|event| if let What::Ran(ran_ns) = event.what { Some((event.ns, ran_ns)) } else { None });
    first.map_or(0, |(at_ns, ran_ns)| ran_ns.saturating_sub(at_ns - ns))
}

/// For how long after it was due the timer did not interrupt a thread that can't hold it off.
fn uninterrupted_ns(events: &[Event], late: &Late) -> u64 {
    let next = events.iter().find(|event| event.ns > late.due_ns).filter(|event| event.in_user_mode);
    next.map_or(0, |event| event.ns.min(late.woke_ns) - late.due_ns)
}

fn overlap(one: (u64, u64), other: (u64, u64)) -> u64 {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core's trace: microsecond, the thread that has the core, what the kernel says.
    fn trace(lines: &[(u64, u32, &str)]) -> Vec<Event> {
        let line = |&(us, pid, says): &(u64, u32, &str)| {
            let text = format!("   a - b-{pid}   [001] d.h2.     7.{us:06}: {says}");
            event(&text).unwrap_or_else(|| panic!("{text}"))
        };
        lines.iter().map(line).collect()
    }

    fn switch(to: u32) -> String {
        format!(
            "sched_switch: prev_comm=x prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=y z next_pid={to} next_prio=0"
        )
    }

    fn ran(pid: u32, us: u64) -> String {
        format!("sched_stat_runtime: comm=a pid=9 pid={pid} runtime={} [ns]", us * 1000)
    }

    /// Due at 1000 us, woken at 3000.
    fn machine_us(lines: &[(u64, u32, &str)]) -> Option<u64> {
        let late = Late { cpu: 1, number: 0, due_ns: 7_001_000_000, woke_ns: 7_003_000_000, queued_ns: None };
        machine_ns(&trace(lines), &late).map(|ns| ns / 1000)
    }

    const ENTER: &str = "local_timer_entry: vector=236";
    const LEAVE: &str = "local_timer_exit: vector=236";

    #[test]
    fn an_idle_core_that_does_not_wake_was_stopped_by_the_machine() {
        let (idle, wakes) = (switch(0), switch(99));
        let stopped = [(500, 5, idle.as_str()), (2_980, 0, ENTER), (2_990, 0, LEAVE), (2_995, 0, &wakes)];
        assert_eq!(machine_us(&stopped), Some(1_985), "but for the interrupt");
    }

    #[test]
    fn a_thread_that_executed_for_less_than_it_had_the_core_was_stopped_with_it() {
        let (begins, all, less, wakes) = (switch(5), ran(5, 2_490), ran(5, 790), switch(99));
        let had = |ran| machine_us(&[(500, 1, begins.as_str()), (2_990, 5, ran), (2_995, 5, &wakes)]);
        assert_eq!(had(&all), Some(0), "interrupts held off, a thread of the same priority, the fair server");
        assert_eq!(had(&less), Some(1_700));
        // Stopped for 1.5 ms before the wake-up was due, and then kept the core.
        let (early, late) = (ran(5, 100), ran(5, 1_990));
        let before = [(300, 1, begins.as_str()), (1_000, 5, &early), (2_990, 5, &late), (2_995, 5, &wakes)];
        assert_eq!(machine_us(&before), Some(0));
    }

    #[test]
    fn a_busy_loop_that_no_timer_interrupts_was_stopped_by_the_machine() {
        let interrupted_at = |us: u64| {
            let begins =
                "loop-1 [001] d..2. 7.000500: sched_switch: prev_pid=1 ==> next_comm=takt-busy next_pid=5 next_prio=0";
            let timer = format!(" takt-busy-5 [001] d.h.. 7.{us:06}: {ENTER}");
            let ran = "takt-busy-5 [001] d.h.. 7.002990: sched_stat_runtime: comm=takt-busy pid=5 runtime=2490000 [ns]";
            let events: Vec<Event> = [begins, &timer, ran].into_iter().filter_map(event).collect();
            machine_ns(
                &events,
                &Late { cpu: 1, number: 0, due_ns: 7_001_000_000, woke_ns: 7_003_000_000, queued_ns: None },
            )
        };
        assert_eq!(interrupted_at(2_985), Some(1_985_000));
        let fair_server = interrupted_at(1_004);
        assert_eq!(fair_server, Some(4_000), "the timer came, and something else went first");
    }

    #[test]
    fn soft_interrupts_without_end_are_this_kernels() {
        let (idle, wakes) = (switch(0), switch(99));
        let (enter, leave) = ("softirq_entry: vec=3 [action=NET_RX]", "softirq_exit: vec=3 [action=NET_RX]");
        let storm = [
            (500, 5, idle.as_str()),
            (990, 0, ENTER),
            (991, 0, LEAVE),
            (992, 0, enter),
            (1_005, 0, ENTER),
            (1_010, 0, LEAVE),
            (2_980, 0, leave),
            (2_990, 0, &wakes),
        ];
        assert_eq!(machine_us(&storm), Some(10));
    }

    #[test]
    fn what_the_next_thread_is_charged_for_was_no_stop() {
        // As Linux 6.18 says it: the clock of the wake-up, at 1005, is also that of the switch.
        let (begins, ran_little, wakes, ran_more) = (switch(5), ran(5, 505), switch(99), ran(99, 2_000));
        let mut late = vec![
            (500, 1, begins.as_str()),
            (1_000, 5, ENTER),
            (1_005, 5, LEAVE),
            (2_995, 5, &ran_little),
            (2_996, 5, &wakes),
            (3_006, 99, &ran_more),
        ];
        assert_eq!(machine_us(&late), Some(0), "{:?}", trace(&late));
        late.pop();
        assert_eq!(machine_us(&late), Some(1_985), "nobody is charged for it");
    }

    #[test]
    fn a_soft_interrupt_whose_end_was_not_traced_hides_no_other() {
        let (begins, ran_little, wakes) = (switch(5), ran(5, 505), switch(99));
        let (enter, leave) = ("softirq_entry: vec=3 [action=NET_RX]", "softirq_exit: vec=3 [action=NET_RX]");
        let storm = [
            (400, 1, enter),
            (500, 1, &begins),
            (990, 5, enter),
            (2_994, 5, leave),
            (2_995, 5, &ran_little),
            (2_996, 5, &wakes),
        ];
        assert_eq!(machine_us(&storm), Some(0));
    }

    #[test]
    fn what_a_trace_does_not_reach_back_to_is_not_explained() {
        assert_eq!(machine_us(&[]), None);
        assert_eq!(machine_us(&[(1_001, 0, ENTER), (1_002, 0, LEAVE)]), None);
    }

    #[test]
    fn a_thread_of_another_core_says_nothing_of_this_one() {
        let other = "a-5 [001] d.s4. 7.000001: sched_stat_runtime: comm=rustc pid=7 runtime=5 [ns]";
        assert_eq!(event(other), None);
        for rubbish in ["", "# tracer: nop", "CPU:1 [LOST 12 EVENTS]", "a-b [001] d 1.2: x_entry: y", ": : : "] {
            assert_eq!(event(rubbish), None, "{rubbish}");
        }
    }
}
