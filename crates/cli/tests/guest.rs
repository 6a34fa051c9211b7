//! What only another kernel can show: guests are booted, and what takt says is held against what happens there. Needs
//! QEMU and a kernel for guests, and says so where they are missing. Guests may be executed in software: no time is
//! asserted, only where in a tick a wake-up came, and how much one process got beside another.
#![cfg(feature = "full")]
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::to_value;
use takt_base::Stop;
use takt_host::cgroup::{CpuSet, GroupError, Guests, Limit};
use takt_host::leftovers::{Registry, Run};
use takt_host::policy::{Policy, policy, set_policy};
use takt_lab::environment::{Environment, EnvironmentError, Held, Holder, Limits, Native, Shell, Vm};
use takt_lab::experiment::settings;
use takt_lab::workload::wakeup::{Options, Outcome};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");
/// Set in a guest, where a test of this file is then run for real.
const IN_GUEST: &str = "TAKT_TEST_IN_GUEST";
/// More than a guest takes on any machine.
const LONG: Duration = Duration::from_secs(300);

/// One guest at a time: where QEMU executes them, several leave each other too little.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A virtual machine of so many processors, or a spoken reason why none can be had here.
fn machine(run: &Run, cpus: u32) -> Option<Vm> {
    let limits = Limits { cpus: Some(f64::from(cpus)), memory_bytes: None };
    skipped(Vm::open(Native::new(PathBuf::from(TAKT), run), run.clone(), limits))
}

fn booted(machine: &Vm) -> Option<Held> {
    skipped(machine.hold(None, &[]))
}

fn skipped<T>(result: Result<T, EnvironmentError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if error.is_unavailable() => {
            assert!(std::env::var_os("TAKT_REQUIRE_PEERS").is_none(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// What a shell in a guest answers to a script, the script itself not among it.
fn typed(held: &Held, script: &str) -> String {
    let Shell::Socket { path } = &held.shell else { panic!("{:?}", held.shell) };
    let mut shell = UnixStream::connect(path).expect("a shell");
    shell.set_read_timeout(Some(LONG)).expect("a limit");
    // Said by `echo`, so that what the terminal repeats is not taken for it.
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

/// What a guest's kernel and first process said, and what QEMU did.
fn console(shell: &Path) -> String {
    ["console", "stderr"].map(|file| std::fs::read_to_string(shell.with_file_name(file)).unwrap_or_default()).concat()
}

/// Runs `test` of this binary again in a guest that a shell script has prepared; true there.
fn in_guest(test: &str, cpus: u32, prepare: &str) -> bool {
    if std::env::var(IN_GUEST).as_deref() == Ok(test) {
        return true;
    }
    let _turn = turn();
    let run = Registry::system().begin("test").expect("a record");
    let own = std::env::current_exe().expect("this binary");
    let name = own.file_name().expect("a name").to_string_lossy().into_owned();
    let Some(machine) = machine(&run, cpus) else { return false };
    let machine = machine.with_shell(true).with_tool(own);
    let Some(held) = booted(&machine) else { return false };
    let said = typed(&held, &format!("{prepare}; {IN_GUEST}={test} {name} --exact {test} --nocapture"));
    assert!(said.contains("1 passed"), "{test} in a guest:\n{said}");
    false
}

/// A beat of 4.3 ms, which meets the ticks of 250 Hz at every part of them, in a guest told these parameters.
fn beat(parameters: &str, tick_hz: Option<u32>) -> Option<(Holder, Outcome)> {
    let run = Registry::system().begin("test").expect("a record");
    let machine = machine(&run, 1)?.told(parameters.parse().expect("on the list"));
    let mut held = booted(&machine)?;
    let options = Options {
        duration: Duration::from_secs(3),
        interval: Duration::from_micros(4300),
        policy: "fifo:50".parse().expect("a policy"),
        tick_hz,
        ..Options::default()
    };
    let options = to_value(options).expect("a document");
    let result = held.agent.run(settings::Kind::Wakeup, options, LONG, &Stop::new());
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    Some((held.holder.clone(), Outcome::deserialize(&result).unwrap_or_else(|error| panic!("{error}: {result:#}"))))
}

#[test]
fn guest_without_high_resolution_timers_wakes_at_its_ticks_as_the_imitation_does() {
    let _turn = turn();
    let Some((fine, free)) = beat("none", None) else { return };
    let facts = fine.kernel_facts.expect("a guest");
    let Some(hz) = facts.tick_hz.filter(|hz| *hz == 250) else {
        return eprintln!("skipped: this beat is made for a guest of 250 Hz, not {:?}", facts.tick_hz);
    };
    let (coarse, ticking) = beat("highres=off", None).expect("as a moment ago");
    let (_, imitated) = beat("none", Some(hz)).expect("as a moment ago");
    assert_eq!(coarse.parameters.map(|given| given.to_string()).as_deref(), Some("highres=off"));
    assert_eq!(facts.timer_resolution_ns, 1, "{facts:?}");
    let resolution_ns = coarse.kernel_facts.as_ref().map(|facts| facts.timer_resolution_ns);
    assert_eq!(resolution_ns, Some(1_000_000_000 / u64::from(hz)));
    let on_tick = |outcome: &Outcome| outcome.on_tick_share.expect("the clock is known");
    more_than_free("within 0.5 ms after a tick", [&free, &ticking, &imitated].map(on_tick));
    // From 0 to 4 ms alike, where the free ones are late by what the guest needs to run.
    let late = |outcome: &Outcome| outcome.lateness_ns.count_above(1_500_000) as f64 / outcome.ticks as f64;
    more_than_free("late by more than 1.5 ms", [&free, &ticking, &imitated].map(late));
}

fn more_than_free(what: &str, [free, ticking, imitated]: [f64; 3]) {
    eprintln!("{what}: {free:.3} free, {ticking:.3} without fine timers, {imitated:.3} imitated");
    assert!(ticking > free + 0.2 && imitated > free + 0.2, "{what}: {free} {ticking} {imitated}");
}

#[test]
fn guest_kernels_say_how_they_are_preempted() {
    let _turn = turn();
    let run = Registry::system().begin("test").expect("a record");
    let Some(machine) = machine(&run, 1) else { return };
    let Some(held) = booted(&machine.told("preempt=full".parse().expect("on the list")).with_shell(true)) else {
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

/// What a process uses of the time that all of the guest's processors have until it is over.
fn share_of_a_cpu(process: &Counting, throttled: impl Fn() -> u64) -> f64 {
    const UNITS_PER_S: f64 = 100.0;
    let (used, begun) = (process.used(), Instant::now());
    // A hundred periods of 10 ms at least, however slow the guest is.
    while begun.elapsed() < Duration::from_secs(5) || throttled() < 100 {
        thread::sleep(Duration::from_millis(50));
    }
    (process.used() - used) as f64 / UNITS_PER_S / begun.elapsed().as_secs_f64()
}

#[test]
fn guest_of_cgroup_v2_holds_a_cap_and_restores_what_was() {
    if !in_guest("guest_of_cgroup_v2_holds_a_cap_and_restores_what_was", 2, ":") {
        return;
    }
    assert_eq!(takt_host::fingerprint::Fingerprint::read().cgroups.as_deref(), Some("v2"));
    let run = Registry::at("/tmp/records").begin("test").expect("a record");
    let mut process = Counting::start();
    std::fs::create_dir("/sys/fs/cgroup/home").expect("made");
    std::fs::write("/sys/fs/cgroup/home/cgroup.procs", process.pid().to_string()).expect("moved");
    let limit = Limit { cpus: Some(0.2), ..Limit::default() };
    let mut guests = Guests::invite(&run, "cap", limit).expect("v2");
    guests.take(process.pid()).expect("taken");
    assert!(process.group().starts_with("0::/takt-"), "{}", process.group());
    let capped = share_of_a_cpu(&process, || guests.throttled().times);
    eprintln!("a cap of 0.2 of a CPU: it used {capped:.3}");
    assert!((0.1..0.3).contains(&capped), "{capped}");
    guests.give_back().expect("given back");
    assert_eq!(process.group(), "0::/home");
    assert!(process.0.try_wait().expect("ours").is_none(), "it lives");
    let left: Vec<_> = std::fs::read_dir("/sys/fs/cgroup").expect("mounted").flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("takt-")), "{left:?}");
}

#[test]
fn guest_of_cgroup_v2_sets_cpus_apart_and_admits_deadline_there() {
    if !in_guest("guest_of_cgroup_v2_sets_cpus_apart_and_admits_deadline_there", 2, ":") {
        return;
    }
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
fn guest_with_read_only_cgroups_says_so() {
    if !in_guest("guest_with_read_only_cgroups_says_so", 1, "mount -o remount,ro /sys/fs/cgroup") {
        return;
    }
    let run = Registry::at("/tmp/records").begin("test").expect("a record");
    let refused = Guests::invite(&run, "cap", Limit::default()).expect_err("read-only");
    assert!(refused.to_string().starts_with("control groups are read-only here, as in most containers"), "{refused}");
    assert!(refused.is_unavailable() && refused.fix().is_some_and(|fix| fix.contains("outside the container")));
    let set = CpuSet::create(&run, "set", &[0], false).expect_err("read-only");
    assert!(matches!(set, GroupError::ReadOnly(_)), "{set}");
}

#[test]
fn guest_that_may_not_be_real_time_says_what_is_missing() {
    let _turn = turn();
    let run = Registry::system().begin("test").expect("a record");
    let Some(machine) = machine(&run, 1) else { return };
    let Some(held) = booted(&machine.with_shell(true)) else { return };
    let without = "setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice /takt wakeup --duration 100ms";
    let short = "echo 50000 > /proc/sys/kernel/sched_deadline_period_max_us";
    let said = typed(
        &held,
        &format!(
            "{without} --policy fifo:50; echo code $?; {without} --policy deadline:100us; \
             {short}; /takt wakeup --duration 1s --interval 100ms --policy deadline:100us"
        ),
    );
    assert!(said.contains("FIFO 50 needs CAP_SYS_NICE, or RLIMIT_RTPRIO of its priority"), "{said}");
    assert!(said.contains("code 2") && said.contains("fix   run this command with sudo"), "{said}");
    assert!(said.contains("DEADLINE 100000/1000000/1000000 ns needs CAP_SYS_NICE"), "{said}");
    assert!(said.contains("to 50000 µs on this kernel, not 100000 µs"), "{said}");
}
