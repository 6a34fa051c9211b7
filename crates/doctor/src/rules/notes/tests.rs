//! Each note on hosts of files, and the changes that need more than one value.

use super::*;

type Files = &'static [(&'static str, &'static str)];

const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";
const MIGRATION: &str = "/proc/sys/kernel/timer_migration";
const READ: &str = "/proc/sys/net/core/busy_read";
const POLL: &str = "/proc/sys/net/core/busy_poll";
const SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";
const FAIR: [&str; 2] =
    ["/sys/kernel/debug/sched/fair_server/cpu0/runtime", "/sys/kernel/debug/sched/fair_server/cpu0/period"];
const CONSOLE: (&str, &str) = ("/proc/consoles", "ttyS0 -W- (EC) 4:64\ntty0 -WU (E) 4:1\n");
const PRINTK: &str = "/proc/sys/kernel/printk";
const LINE: (&str, &str) = ("/proc/cmdline", "quiet\n");
const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-1\n");
const ISOLATED: &str = "/sys/devices/system/cpu/isolated";
const TICKLESS: (&str, &str) = ("/sys/devices/system/cpu/nohz_full", "1\n");
const OWN: (&str, &str) = ("/proc/self/status", "Cpus_allowed_list:\t0\n");
const LARGE: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n");
const SMALL: &str = "/sys/devices/system/cpu/cpu1/cpu_capacity";
const SIBLINGS: &str = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
const THREADED: &str = "/sys/class/net/eth0/threaded";
const EEE: &str = "/ethtool/eth0/eee";
const INIT: (&str, &str) = ("/proc/1/comm", "systemd\n");
const TUNED: Files = &[("/proc/7/comm", "tuned\n"), ("/etc/tuned/active_profile", "balanced\n")];

/// A note, a host, and the verdict there with the beginning of what it observed.
const CASES: &[(&str, Files, &str, &str)] = &[
    ("busy-poll", &[(READ, "50\n"), (POLL, "100\n")], "fine", ""),
    ("busy-poll", &[(READ, "50\n"), (POLL, "0\n")], "notice", "net.core.busy_read 50 µs, net.core.busy_poll 0 µs"),
    ("busy-poll", &[(READ, "50\n")], "hidden", ""),
    ("smt-siblings", &[ONLINE], "fine", ""),
    ("smt-siblings", &[ONLINE, (SIBLINGS, "0,2\n")], "notice", "1 core with several CPUs each, such as 0,2"),
    ("mixed-cores", &[ONLINE, LARGE, (SMALL, "1024\n")], "fine", ""),
    ("mixed-cores", &[ONLINE, LARGE, (SMALL, "446\n")], "notice", "smaller than the others: CPU 1"),
    ("mixed-cores", &[ONLINE, ("/sys/devices/cpu_atom/cpus", "1\n")], "notice", "smaller than the others: CPU 1"),
    ("mixed-cores", &[ONLINE], "hidden", ""),
    ("isolated-cpus", &[(ISOLATED, "\n")], "fine", ""),
    ("isolated-cpus", &[(ISOLATED, "1\n"), OWN], "notice", "CPU 1 isolated, CPU 1 with the tick, CPU 1 outside"),
    ("isolated-cpus", &[(ISOLATED, "1\n"), OWN, TICKLESS], "notice", "CPU 1 isolated, CPU 1 outside"),
    ("isolated-cpus", &[(ISOLATED, "0\n"), OWN], "notice", "CPU 0 isolated, CPU 0 with the tick"),
    ("isolated-cpus", &[(ISOLATED, "1\n")], "hidden", ""),
    ("fair-server", &[ONLINE], "hidden", "root sees it if "),
    ("fair-server", &[ONLINE, (FAIR[0], "0\n"), (FAIR[1], "9\n")], "hidden", "takt can't read "),
    ("preemption", &[(PREEMPT, "none voluntary (full) lazy\n")], "fine", "full"),
    ("preemption", &[("/sys/kernel/realtime", "1\n")], "fine", "real-time"),
    ("preemption", &[(PREEMPT, "(none) voluntary full lazy\n")], "notice", "none, says "),
    ("base-slice", &[(SLICE, "700000\n")], "fine", ""),
    ("base-slice", &[(SLICE, "2800000\n")], "notice", "2800000 ns"),
    ("base-slice", &[(SLICE, "x\n")], "hidden", ""),
    ("base-slice", &[], "hidden", "root sees it if "),
    ("autogroup", &[(AUTOGROUP, "0\n")], "fine", ""),
    ("autogroup", &[(AUTOGROUP, "1\n")], "notice", "kernel.sched_autogroup_enabled 1"),
    ("serial-console", &[("/proc/consoles", "tty0 -WU (EC) 4:1\n")], "fine", ""),
    ("serial-console", &[CONSOLE, (PRINTK, "4\t4\t1\t7\n")], "fine", ""),
    ("serial-console", &[CONSOLE, (PRINTK, "7\t4\t1\t7\n")], "notice", "ttyS0, messages below level 7"),
    ("serial-console", &[CONSOLE, (PRINTK, "\n")], "hidden", ""),
    ("timer-slack", &[("/proc/self/timerslack_ns", "1\n")], "fine", ""),
    ("timer-slack", &[("/proc/self/timerslack_ns", "50000\n")], "notice", "50000 ns"),
    ("timer-migration", &[(MIGRATION, "0\n")], "fine", ""),
    ("timer-migration", &[(MIGRATION, "1\n")], "notice", "kernel.timer_migration 1"),
    ("irqbalance", &[INIT], "fine", ""),
    ("irqbalance", &[INIT, ("/proc/512/comm", "irqbalance\n")], "notice", "running"),
    ("interrupt-threads", &[LINE, UP, DEVICE, (THREADED, "0\n")], "fine", ""),
    ("interrupt-threads", &[LINE, UP, DEVICE, (THREADED, "1\n")], "notice", "eth0: receives in a thread"),
    ("interrupt-threads", &[LINE, ("/sys/kernel/realtime", "1\n")], "notice", "PREEMPT_RT"),
    ("interrupt-threads", &[("/proc/cmdline", "quiet threadirqs\n")], "notice", "threadirqs"),
    ("interrupt-threads", &[LINE, UP, DEVICE], "hidden", ""),
    ("nic-eee", &[UP, DEVICE, (EEE, "0\n")], "fine", ""),
    ("nic-eee", &[UP, DEVICE, (EEE, "1\n")], "notice", "eth0: EEE on"),
    ("container", &[("/proc/1/environ", "HOME=/\0TERM=linux\0")], "fine", ""),
    ("container", &[("/proc/1/environ", "A=b\0container=lxc\0")], "notice", "lxc"),
    ("container", &[("/.dockerenv", "")], "notice", "docker"),
    ("container", &[INIT], "fine", ""),
    ("container", &[("/proc/1/comm", "takt\n")], "notice", "process 1 is takt"),
    ("power-daemon", &[INIT], "fine", ""),
    ("power-daemon", TUNED, "notice", "tuned, profile balanced"),
    ("power-daemon", &[("/proc/7/comm", "power-profiles-\n"), TUNED[1]], "notice", "power-profiles-"),
];

fn note(id: &str) -> &'static Rule {
    NOTES.iter().find(|note| note.id == id).unwrap_or_else(|| panic!("{id}"))
}

#[test]
fn each_note_says_what_it_observed() {
    for (id, files, want, start) in CASES {
        let (word, observed) = verdict(note(id), files);
        assert!(word == *want && observed.starts_with(start), "{id} {files:?}: {word}, {observed}");
    }
}

#[test]
fn each_change_is_the_smallest_that_helps() {
    let of = |id: &str, files: &[(&str, &str)]| commands(note(id), files).join(" && ");
    let sysctl = |words: &str| format!("sudo sysctl -w {words}");
    assert_eq!(of("busy-poll", &[(READ, "50\n"), (POLL, "0\n")]), sysctl("net.core.busy_poll=50"));
    assert_eq!(of("serial-console", &[CONSOLE, (PRINTK, "7\t4\t1\t7\n")]), sysctl("kernel.printk=\"4 4 1 7\""));
    assert_eq!(of("preemption", &[]), "");
}

#[test]
fn advice_names_the_cpus_of_this_host() {
    let of = |id: &str, files: &[(&str, &str)]| commands(note(id), files);
    assert!(of("smt-siblings", &[ONLINE, (SIBLINGS, "0,2\n")])[0].starts_with("--cores 0 "));
    assert!(of("mixed-cores", &[ONLINE, LARGE, (SMALL, "446\n")])[0].starts_with("--cores 0 "));
    assert!(of("isolated-cpus", &[(ISOLATED, "1\n")])[1].contains(" nohz_full=1 "));
    assert_eq!(of("isolated-cpus", &[(ISOLATED, "1\n"), TICKLESS]), ["--cores 1"]);
}

#[test]
fn reserved_time_is_noted_and_given_up_by_name() {
    let one = [("/sys/devices/system/cpu/online", "0\n"), (FAIR[0], "50000000\n"), (FAIR[1], "1000000000\n")];
    let note = note("fair-server");
    assert_eq!(verdict(note, &one), ("notice", "50000 of 1000000 µs on CPU 0".to_owned()));
    assert_eq!(commands(note, &one), [format!("echo 0 | sudo tee {}", FAIR[0])]);
    assert_eq!(word(note, &[one[0], (FAIR[0], "0\n"), one[2]]), "fine");
}

#[test]
fn real_time_threads_of_programs_are_noted_and_the_kernels_are_not() {
    // Behind field 41 stand delayacct_blkio_ticks, guest_time, cguest_time.
    let line = |name: &str, flags: u64, priority: u64, policy: u64| {
        format!("42 ({name}) S 1 1 1 0 -1 {flags} {}{priority} {policy} 0 0 0\n", "0 ".repeat(30))
    };
    assert_eq!(real_time(&line("jackd (x)", 0, 70, 1)), Some("jackd (x) at 70".to_owned()));
    assert_eq!(real_time(&line("a", 0, 0, 6)), Some("a at DEADLINE".to_owned()));
    for other in [line("bash", 0, 0, 0), line("migration/0", KERNEL_THREAD, 99, 1), "1 (a) S 1".to_owned()] {
        assert_eq!(real_time(&other), None, "{other}");
    }
    let (first, second) = (line("pipewire", 0, 0, 0), line("data-loop.0", 0, 20, 2));
    let files = [("/proc/42/task/42/stat", first.as_str()), ("/proc/42/task/43/stat", second.as_str())];
    let note = note("foreign-real-time");
    assert_eq!(verdict(note, &files[..1]), ("fine", "none among 1 threads".to_owned()));
    assert_eq!(verdict(note, &files), ("notice", "1 with real-time priority: data-loop.0 at 20".to_owned()));
}
