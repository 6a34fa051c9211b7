//! Tests that need another kernel: guests are booted, and takt's claims are held against what happens there. Needs QEMU
//! and a kernel for guests, and says so where they are missing. Guests may be executed in software: no time is
//! asserted, only where in a tick a wake-up came, and how much one process got beside another.
#![cfg(feature = "full")]

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::to_value;
use takt_base::Stop;
use takt_host::cgroup::{Borrowed, CpuSet, GroupError, Limit};
use takt_host::leftovers::{Registry, Run};
use takt_host::policy::{Policy, policy, set_policy};
use takt_testbed::environment::{
    Environment, EnvironmentError, EnvironmentFacts, Limits, Native, RunningEnvironment, Shell, Vm,
};
use takt_testing::{not_judged, run_delay, skip};
use takt_wakeup::{WakeupOptions, WakeupOutcome};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");
/// Set in a guest, for tests that are only for there.
const IN_GUEST: &str = "TAKT_TEST_IN_GUEST";
/// More than a guest takes on any machine.
const LONG: Duration = Duration::from_secs(300);

/// A virtual machine of so many processors; `None`, on record, where none can be had.
fn machine(run: &Run, cpus: u32) -> Option<Vm> {
    let limits = Limits { cpus: Some(f64::from(cpus)), memory_bytes: None };
    skipped(Vm::open(Native::new(PathBuf::from(TAKT), run), run.clone(), limits))
}

fn booted(machine: &Vm) -> Option<RunningEnvironment> {
    skipped(machine.start(None, &[]))
}

fn skipped<T>(result: Result<T, EnvironmentError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if error.is_unavailable() => {
            skip(format!("{error}   ({})", error.fix().unwrap_or_default()));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Answer of a shell in a guest to a script, the script itself not among it.
pub(super) fn typed(held: &RunningEnvironment, script: &str) -> String {
    let Shell::Socket { path } = &held.shell else { panic!("{:?}", held.shell) };
    let mut shell = UnixStream::connect(path).expect("a shell");
    shell.set_read_timeout(Some(LONG)).expect("a limit");
    // Printed by `echo`, so that what the terminal repeats is not taken for it.
    writeln!(shell, "{{ {script}; }} 2>&1; echo END'OF'SCRIPT; exit").expect("it listens");
    let (mut said, mut part) = (String::new(), [0; 4096]);
    while !said.contains("ENDOFSCRIPT") {
        match shell.read(&mut part) {
            Ok(got) if got > 0 => said += &String::from_utf8_lossy(&part[..got]),
            // The end of a child may interrupt it, and a read with a limit is not begun anew (signal(7)).
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            gone => panic!("{gone:?} from the shell, which said: {said}\n{}", console(path)),
        }
    }
    said
}

/// Output of a guest's kernel and first process, and of QEMU.
fn console(shell: &Path) -> String {
    ["console", "stderr"].map(|file| std::fs::read_to_string(shell.with_file_name(file)).unwrap_or_default()).concat()
}

/// A guest that has this test binary in it, and the binary's name there.
pub(super) fn with_this_binary(cpus: u32) -> Option<(RunningEnvironment, String)> {
    let run = Registry::system().begin("test").expect("a record");
    let own = std::env::current_exe().expect("this binary");
    let name = own.file_name().expect("a name").to_string_lossy().into_owned();
    let held = booted(&machine(&run, cpus)?.with_shell(true).with_tool(own))?;
    Some((held, name))
}

/// The share of a span that the threads of a process waited for a processor of this machine.
struct HeldUp {
    process: u32,
    begun: Instant,
    waited: Option<Duration>,
}

impl HeldUp {
    fn begin(process: u32) -> HeldUp {
        HeldUp { process, begun: Instant::now(), waited: run_delay(process) }
    }

    fn share(&self) -> Option<f64> {
        let waited = run_delay(self.process)?.checked_sub(self.waited?)?;
        Some(waited.as_secs_f64() / self.begun.elapsed().as_secs_f64())
    }
}

/// More than this and what a guest does at which time says nothing about the guest.
const HELD_UP_MAX: f64 = 0.1;

/// Outcome of a beat in a guest, and how much of it, and of the boot before, the guest was held up.
struct Beat {
    holder: EnvironmentFacts,
    outcome: WakeupOutcome,
    held_up: Option<f64>,
    booting_held_up: Option<f64>,
}

/// Beats of 4.3 ms, which meet the ticks of 250 Hz at every part of them, in one guest with these parameters: of threads that
/// imitate ticks of so many Hz, or none.
fn beats<const N: usize>(parameters: &str, ticks_hz: [Option<u32>; N]) -> Option<[Beat; N]> {
    let run = Registry::system().begin("test").expect("a record");
    let machine = machine(&run, 1)?.with_parameters(parameters.parse().expect("on the list"));
    let begun = Instant::now();
    let mut held = booted(&machine)?;
    let booting = run_delay(held.agent.pid()).map(|waited| waited.as_secs_f64() / begun.elapsed().as_secs_f64());
    Some(ticks_hz.map(|tick_hz| beat(&mut held, tick_hz, booting)))
}

fn beat(held: &mut RunningEnvironment, tick_hz: Option<u32>, booting_held_up: Option<f64>) -> Beat {
    let options = WakeupOptions {
        duration: Duration::from_secs(3),
        interval: Duration::from_micros(4300),
        policy: "fifo:50".parse().expect("a policy"),
        tick_hz,
        ..WakeupOptions::default()
    };
    let options = to_value(options).expect("a document");
    let witness = HeldUp::begin(held.agent.pid());
    let result = held.agent.run("wakeup", options, LONG, &Stop::new());
    let held_up = witness.share();
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    let outcome = WakeupOutcome::deserialize(&result).unwrap_or_else(|error| panic!("{error}: {result:#}"));
    Beat { holder: held.holder.clone(), outcome, held_up, booting_held_up }
}

/// Half of what a tick is to be met within: a guest whose free threads mostly wake later than this meets none.
const SLOW_NS: u64 = 250_000;

#[test]
fn guest_without_high_resolution_timers_wakes_at_its_ticks_as_the_imitation_does() {
    const HZ: u32 = 250;
    let Some([free, imitated, again]) = beats("none", [None, Some(HZ), None]) else { return };
    let facts = free.holder.kernel_facts.clone().expect("a guest");
    if facts.tick_hz != Some(HZ) {
        return skip(format!("this beat is made for a guest of 250 Hz, not {:?}   (a Debian kernel)", facts.tick_hz));
    }
    let [coarse] = beats("highres=off", [None]).expect("as a moment ago");
    assert_eq!(coarse.holder.parameters.map(|given| given.to_string()).as_deref(), Some("highres=off"));
    let booting = free.booting_held_up.unwrap_or(0.0);
    if facts.timer_resolution_ns != 1 && booting > HELD_UP_MAX {
        // Its kernel measures its clocks while it boots, and takes fine timers only from one that it found steady.
        return not_judged(format!("the guest found no steady clock, held up {booting:.3} of its boot: {facts:?}"));
    }
    assert_eq!(facts.timer_resolution_ns, 1, "held up {booting:.3} of its boot: {facts:?}");
    let resolution_ns = coarse.holder.kernel_facts.as_ref().map(|facts| facts.timer_resolution_ns);
    assert_eq!(resolution_ns, Some(1_000_000_000 / u64::from(HZ)));
    let on_tick = |outcome: &WakeupOutcome| outcome.on_tick_share.expect("the clock is known");
    let above = |outcome: &WakeupOutcome, ns: u64| outcome.lateness_ns.count_above(ns) as f64 / outcome.ticks as f64;
    // From 0 to 4 ms alike, where the free ones are late by what the guest needs to run.
    let late = |outcome: &WakeupOutcome| above(outcome, 1_500_000);
    let outcomes = [&free.outcome, &coarse.outcome, &imitated.outcome];
    let seen = [outcomes.map(on_tick), outcomes.map(late)];
    let more_than_free = |[free, ticking, imitated]: [f64; 3]| ticking > free + 0.2 && imitated > free + 0.2;
    if seen.into_iter().all(more_than_free) {
        return;
    }
    let held_up = [&free, &coarse, &imitated].map(|beat| beat.held_up.unwrap_or(0.0));
    let slow = [&free, &again].map(|beat| above(&beat.outcome, SLOW_NS));
    let what = format!(
        "shares free, without fine timers, imitated: within 0.5 ms after a tick {:.3?}, late by more than 1.5 ms {:.3?}; \
         held up {held_up:.3?} of the time; free before and after, later than 0.25 ms {slow:.3?}",
        seen[0], seen[1]
    );
    let slow = slow.into_iter().any(|share| share > 0.5);
    assert!(slow || held_up.into_iter().any(|share| share > HELD_UP_MAX), "{what}");
    not_judged(what);
}

#[test]
fn guest_kernels_say_how_they_are_preempted() {
    let run = Registry::system().begin("test").expect("a record");
    let Some(machine) = machine(&run, 1) else { return };
    let Some(held) = booted(&machine.with_parameters("preempt=full".parse().expect("on the list")).with_shell(true))
    else {
        return;
    };
    let facts = held.holder.kernel_facts.clone().expect("a guest");
    let seen = facts.preemption.expect("its configuration came with it");
    assert!(seen.model == takt_host::kernel::Preemption::Full || !seen.dynamic, "{seen:?}");
    let said = typed(&held, "/takt doctor --only preemption");
    assert!(said.contains(seen.model.word()), "{said}");
}

/// A process that counts without end; killed when dropped.
struct Counting(Child);

impl Counting {
    fn start() -> Counting {
        let mut command = Command::new("sh");
        Counting(command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().expect("a shell"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// CPU time it has used, in the kernel's units (proc(5), fields 14 and 15 of stat).
    fn used(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("it runs");
        let fields = stat.rsplit(')').next().expect("a name").split_whitespace();
        fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum()
    }

    fn group(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/cgroup", self.pid())).expect("it runs").trim().to_owned()
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// CPUs that a process uses until it is over, however slow the guest is.
fn share_of_a_cpu(process: &Counting, throttled: impl Fn() -> u64) -> f64 {
    const UNITS_PER_S: f64 = 100.0;
    let (used, begun) = (process.used(), Instant::now());
    // A hundred periods of 10 ms at least, however slow the guest is.
    while begun.elapsed() < Duration::from_secs(2) || throttled() < 100 {
        thread::sleep(Duration::from_millis(50));
    }
    (process.used() - used) as f64 / UNITS_PER_S / begun.elapsed().as_secs_f64()
}

/// Tests that run in one guest, one after the other; the read-only control groups come last.
const INSIDE: [&str; 3] = ["inside_a_cap_holds", "inside_cpus_are_set_apart", "inside_control_groups_are_read_only"];

#[test]
fn guest_of_cgroup_v2_holds_caps_sets_cpus_apart_and_says_what_is_read_only_or_not_permitted() {
    let Some((held, name)) = with_this_binary(2) else { return };
    let witness = HeldUp::begin(held.agent.pid());
    // The words for success are not in the script as it stands, for the terminal repeats that.
    let inside =
        format!("inside() {{ {IN_GUEST}=1 {name} --exact guest::$1 --ignored --nocapture && echo $1 IS'WELL'; }}");
    let [cap, apart, read_only] = INSIDE;
    let without = "setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice /takt wakeup --duration 100ms";
    let short = "echo 50000 > /proc/sys/kernel/sched_deadline_period_max_us";
    let said = typed(
        &held,
        &format!(
            "{inside}; inside {cap}; inside {apart}; {without} --policy fifo:50; echo code $?; \
             {without} --policy deadline:100us; mount -o remount,ro /sys/fs/cgroup; inside {read_only}; {short}; \
             /takt wakeup --duration 1s --interval 100ms --policy deadline:100us"
        ),
    );
    for test in [apart, read_only] {
        assert!(said.contains(&format!("{test} ISWELL")), "{test} in a guest:\n{said}");
    }
    let held_up = witness.share().unwrap_or(0.0);
    if !said.contains(&format!("{cap} ISWELL")) {
        // All it says but how much time a process got does not depend on the machine below.
        assert!(said.contains(OUT_OF_CAP) && held_up > HELD_UP_MAX, "held up {held_up:.3}, in a guest:\n{said}");
        not_judged(format!("a cap in a guest that was held up {held_up:.3} of the time"));
    }
    assert!(said.contains("FIFO 50 needs CAP_SYS_NICE, or RLIMIT_RTPRIO of its priority"), "{said}");
    assert!(said.contains("code 2") && said.contains("fix   run this command with sudo"), "{said}");
    assert!(said.contains("DEADLINE 100000/1000000/1000000 ns needs CAP_SYS_NICE"), "{said}");
    assert!(said.contains("to 50000 µs on this kernel, not 100000 µs"), "{said}");
}

/// Message of a cap's test for a process that got more or less than it.
const OUT_OF_CAP: &str = "of a CPU is not near a cap of 0.2";

#[test]
#[ignore = "is called in a guest"]
fn inside_a_cap_holds() {
    only_in_a_guest();
    assert_eq!(takt_host::fingerprint::Fingerprint::read().cgroups.as_deref(), Some("v2"));
    let run = Registry::at("/tmp/records").begin("test").expect("a record");
    let mut process = Counting::start();
    std::fs::create_dir("/sys/fs/cgroup/home").expect("made");
    std::fs::write("/sys/fs/cgroup/home/cgroup.procs", process.pid().to_string()).expect("moved");
    let limit = Limit { cpus: Some(0.2), ..Limit::default() };
    let mut borrowed = Borrowed::create(&run, "cap", limit).expect("v2");
    borrowed.take(process.pid()).expect("taken");
    assert!(process.group().starts_with("0::/takt-"), "{}", process.group());
    let capped = share_of_a_cpu(&process, || borrowed.throttled().times);
    borrowed.give_back().expect("given back");
    assert_eq!(process.group(), "0::/home");
    assert!(process.0.try_wait().expect("ours").is_none(), "it lives");
    let left: Vec<_> = std::fs::read_dir("/sys/fs/cgroup").expect("mounted").flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("takt-")), "{left:?}");
    assert!((0.1..0.3).contains(&capped), "{capped} {OUT_OF_CAP}");
}

pub(super) fn only_in_a_guest() {
    assert!(std::env::var_os(IN_GUEST).is_some(), "this changes the control groups of the machine it runs on");
}

#[test]
#[ignore = "is called in a guest"]
fn inside_cpus_are_set_apart() {
    only_in_a_guest();
    let run = Registry::at("/tmp/records").begin("test").expect("a record");
    let process = Counting::start();
    let deadline = Policy::Deadline { runtime_ns: 1_000_000, deadline_ns: 100_000_000, period_ns: 100_000_000 };
    let set = CpuSet::create(&run, "apart", &[1], true).expect("a partition");
    set.add(process.pid()).expect("added");
    set_policy(process.pid(), deadline).expect("admitted on all of its domain");
    assert_eq!(policy(process.pid()).expect("it runs"), deadline);
    assert_eq!(takt_host::affinity::cpus(process.pid()).expect("it runs"), [1]);
    assert_eq!(takt_host::affinity::own_cpus(), [0], "everybody else is elsewhere");
    set_policy(process.pid(), Policy::Other { nice: 0 }).expect("given up");
    drop(set);
    assert_eq!(takt_host::affinity::own_cpus(), [0, 1]);
    assert_eq!(process.group(), "0::/");
    let all = CpuSet::create(&run, "all", &[0, 1], true).expect_err("none would be left");
    assert!(matches!(all, GroupError::NotExclusive { .. }), "{all}");
}

#[test]
#[ignore = "is called in a guest"]
fn inside_control_groups_are_read_only() {
    only_in_a_guest();
    let run = Registry::at("/tmp/records").begin("test").expect("a record");
    let refused = Borrowed::create(&run, "cap", Limit::default()).expect_err("read-only");
    assert!(refused.to_string().starts_with("control groups are read-only here, as in most containers"), "{refused}");
    assert!(refused.is_unavailable() && refused.fix().is_some_and(|fix| fix.contains("outside the container")));
    let set = CpuSet::create(&run, "set", &[0], false).expect_err("read-only");
    assert!(matches!(set, GroupError::ReadOnly(_)), "{set}");
}
