//! The notes: one table of facts that are never a problem for takt. They affect other programs, or radios that want their
//! answers in less than a millisecond.

mod observe;
#[cfg(test)]
mod tests;

use takt_base::words::plural;
use takt_host::kernel::{self, Preemption};

use super::look::*;
use crate::card::CardFact;
use crate::rule::Instructions::{Always, On};
use observe::*;

const NOTE: Rule = Rule { topic: Topic::Notes, ..Rule::COMMON };

pub(super) static NOTES: &[Rule] = &[
    Rule {
        id: "busy-poll",
        title: "Readers wait for the card's interrupt",
        mechanism: "Without busy polling, a datagram reaches a sleeping reader through an interrupt, a softirq and a \
                    wake-up. With it, the reader polls the card's ring: about 5 to 20 µs less per answer, for a core.",
        looks_at: "`net.core.busy_read`, for programs that wait in the read call, and `net.core.busy_poll`, for those \
                   in poll(2), such as UHD. Noted if either is 0.",
        probe: |host| {
            let [read, poll] = [sysctl(host, BUSY[0])?, sysctl(host, BUSY[1])?];
            let note = "set both to 50 if answers are due in less than a millisecond and a core is free";
            noted(read == 0 || poll == 0, format!("{} {read} µs, {} {poll} µs", BUSY[0], BUSY[1]), note)
        },
        fix: Fix::Consent {
            plan: poll_busily,
            affects: "CPU time: in every program, each read or poll that has to wait spins for up to 50 µs first. \
                      Reads on sockets that are already open do not spin.",
        },
        proof: Proof::BEHIND_THE_CARD,
        ..NOTE
    },
    Rule {
        id: "smt-siblings",
        title: "Two CPUs that share a core",
        mechanism: "The other hardware thread of a core uses a share of its execution units. A slot's work takes \
                    longer whenever that thread is busy.",
        looks_at: "`topology/thread_siblings_list` of each online CPU. Shared cores are noted.",
        probe: |host| {
            let shared = shared_cores(host)?;
            let Some(first) = shared.first() else {
                return fine("each CPU is its own core, as far as this kernel shows");
            };
            notice(
                format!("{} with several CPUs each, such as {}", plural(shared.len(), "core"), cpu_list::format(first)),
                "place a radio's threads on CPUs of different cores, and leave their neighbours idle",
            )
        },
        fix: Fix::Advice(On(|host| {
            let shared = shared_cores(host).unwrap_or_default();
            let first: Vec<usize> = shared.iter().filter_map(|core| core.first().copied()).collect();
            vec![
                format!("--cores {}   (the first CPU of each core)", cpu_list::format(&first)),
                "echo off | sudo tee /sys/devices/system/cpu/smt/control   (one CPU per core; undo: `on`)".to_owned(),
            ]
        })),
        ..NOTE
    },
    Rule {
        id: "mixed-cores",
        title: "Large and small cores",
        mechanism: "When the scheduler moves a thread from a large core to a small one, the work of a slot takes twice \
                    as long.",
        looks_at: "`cpu_capacity` of each CPU, or `/sys/devices/cpu_atom/cpus`. Cores of several kinds are noted.",
        probe: |host| match small_cores(host)? {
            None => hidden("this kernel does not tell large cores from small ones"),
            Some(small) if small.is_empty() => fine("all cores are alike"),
            Some(small) => {
                let observed = format!("smaller than the others: {}", named(&small));
                notice(observed, "keep a radio's threads on the large ones")
            }
        },
        fix: Fix::Advice(On(|host| {
            let small = small_cores(host).ok().flatten().unwrap_or_default();
            let mut large = online(host).unwrap_or_default();
            large.retain(|cpu| !small.contains(cpu));
            vec![format!("--cores {}   (the large cores)", cpu_list::format(&large))]
        })),
        ..NOTE
    },
    Rule {
        id: "isolated-cpus",
        title: "Isolated CPUs",
        mechanism: "The scheduler places nothing on a CPU that was isolated at boot: it idles until a program pins a \
                    thread to it. If the tick is on, it stops that thread for some µs, `CONFIG_HZ` times per second.",
        looks_at: "`/sys/devices/system/cpu/isolated`, `nohz_full`, and the CPUs this process may use. Isolated CPUs \
                   are noted, and so are those of them that have the tick.",
        probe: isolated_cpus,
        fix: Fix::Advice(On(use_isolated)),
        ..NOTE
    },
    Rule {
        id: "foreign-real-time",
        title: "Real-time threads of other programs",
        mechanism: "A real-time thread of the same or a higher priority runs before a radio's thread, for as long as \
                    it wants.",
        looks_at: "Policy and priority of every thread (`/proc/PID/task/TID/stat`), except the kernel's own. Noted \
                   even if it sleeps, as most do.",
        probe: foreign_real_time,
        fix: Fix::Advice(Always(&["see a thread's priority with chrt -p PID; set takt's with --policy"])),
        ..NOTE
    },
    Rule {
        id: "fair-server",
        title: "Time reserved for ordinary threads",
        mechanism: "Ordinary threads may wait on a core that a real-time thread never leaves. The kernel then gives \
                    them 50 ms of each second by default. A polling driver stops for that time, whatever its priority \
                    and whatever rt-throttling says.",
        looks_at: "`fair_server/cpuN/runtime` and `period` in the scheduler's debugfs. Noted above 0; takt's threads \
                   sleep and are not affected.",
        kernels: KernelRange::from(6, 12),
        probe: fair_server,
        fix: Fix::Consent {
            plan: reserve_nothing,
            affects: "ordinary threads on these CPUs, including the kernel's: beside a real-time thread that never \
                      sleeps they get no time, and the host may hang.",
        },
        proof: Proof::By(Measure::SpinGap),
        ..NOTE
    },
    Rule {
        id: "preemption",
        title: "Pre-emption of the kernel itself",
        mechanism: "A real-time thread may become ready while the kernel works for another thread. It waits until the \
                    kernel finishes, or reaches a point where it can be pre-empted. With `none` and eight busy loops, \
                    that took about 0.1 ms at 99.9 % (Linux 6.18).",
        looks_at: "The model in force: `/sys/kernel/realtime`, the scheduler's debugfs, the command line and the \
                   configuration. Less than `full` is noted; an N200 works with every model.",
        kernels: KernelRange::from(5, 12),
        probe: |host| {
            let Some(seen) = kernel::preemption(host) else {
                return hidden("this kernel does not show its pre-emption model");
            };
            let is_less = !matches!(seen.model, Preemption::Full | Preemption::RealTime);
            let note = "for deadlines below a millisecond, use `full` or a kernel with PREEMPT_RT";
            noted(is_less, format!("{}, says {}", seen.model.word(), seen.by), note)
        },
        fix: Fix::Consent {
            plan: |host| debugfs_becomes(host, "kernel/debug/sched/preempt", "full"),
            affects: "throughput of all other programs: more context switches.",
        },
        proof: Proof::By(Measure::WakeUpLoaded),
        ..NOTE
    },
    Rule {
        id: "base-slice",
        title: "Long time slices of ordinary threads",
        mechanism: "A thread of normal priority that shares a core may have to wait until the other thread's time \
                    slice ends. Beside busy loops it missed its deadlines by one slice, 2.8 ms (Linux 6.18).",
        looks_at: "`base_slice_ns` of EEVDF in the scheduler's debugfs. Noted above 1 ms; real-time threads do not \
                   wait for it.",
        kernels: KernelRange::from(6, 6),
        probe: |host| match host.read_number("/sys/kernel/debug/sched/base_slice_ns") {
            Err(ReadError::Io { .. }) => debugfs_hides(),
            read => {
                let ns = read?;
                noted(ns > 1_000_000, format!("{ns} ns"), "threads of normal priority may wait this long for others")
            }
        },
        fix: Fix::Consent {
            plan: |host| debugfs_becomes(host, "kernel/debug/sched/base_slice_ns", "500000"),
            affects: "throughput of all other programs: more context switches.",
        },
        proof: Proof::By(Measure::WakeUpLoaded),
        ..NOTE
    },
    Rule {
        id: "autogroup",
        title: "Ordinary threads grouped by session",
        mechanism: "With autogroup (sched(7)), an ordinary thread's share of the CPU depends on what else runs in its \
                    session. Beside a busy session, an exiting thread waited 10 to 70 s for a CPU in 13 of 55 runs. \
                    With 0, this happened in none of 24 runs (virtual machine, Linux 6.18).",
        looks_at: "`kernel.sched_autogroup_enabled`. Noted at 1, the default of most distributions.",
        probe: |host| {
            let note = "affects only ordinary threads beside others that wake all the time";
            sysctl_noted(host, "kernel.sched_autogroup_enabled", note)
        },
        fix: Fix::Consent {
            plan: |host| sysctl_becomes(host, "kernel.sched_autogroup_enabled", "0"),
            affects: "desktop users: a build with many threads gets more of the CPU time.",
        },
        proof: Proof::Not(
            "it shows only where a thread outside a busy session waits for a CPU, and takt does not create that \
             situation",
        ),
        ..NOTE
    },
    Rule {
        id: "serial-console",
        title: "Kernel messages on a serial line",
        mechanism: "A kernel that prints to a serial console may stop a core for the whole message, with interrupts \
                    off. At 115 200 baud, a line of 80 characters takes 7 ms.",
        looks_at: "Serial lines in `/proc/consoles`, and the first number of `kernel.printk`: the kernel prints \
                   messages below that level. Noted if a serial console prints more than errors.",
        probe: serial_console,
        fix: Fix::Consent {
            plan: print_errors_only,
            affects: "people who read that console: warnings are then only in the log (dmesg).",
        },
        proof: Proof::Not("it shows only while the kernel prints, and takt does not make it print"),
        ..NOTE
    },
    Rule {
        id: "timer-slack",
        title: "Timer slack",
        mechanism: "The kernel delays wake-ups of ordinary threads to serve several at once. At the default of 50 µs, \
                    the median wake-up was 75 µs late, at 1 ns 27 µs. FIFO threads have no slack (Linux 6.18).",
        looks_at: "The slack that programs started from here inherit. Noted above 1 µs; takt sets its own.",
        probe: |host| {
            let slack = host.read_number("/proc/self/timerslack_ns")?;
            let note = "takt sets its own; other programs need PR_SET_TIMERSLACK or a real-time policy";
            noted(slack > 1000, format!("{slack} ns"), note)
        },
        fix: Fix::Advice(Always(&[
            "for another program, once it runs: echo 1 | sudo tee /proc/TID/timerslack_ns, for each TID in \
             /proc/PID/task",
        ])),
        ..NOTE
    },
    Rule {
        id: "timer-migration",
        title: "Timers that move to another CPU",
        mechanism: "The kernel may move a timer from an idle CPU, or from one without a tick, to another CPU. That CPU \
                    then wakes the first with an interrupt, which takes a few µs more.",
        looks_at: "`kernel.timer_migration`. Noted at 1, the default.",
        probe: |host| {
            sysctl_noted(host, "kernel.timer_migration", "threads pinned to CPUs without a tick may gain from 0")
        },
        fix: Fix::Consent {
            plan: |host| sysctl_becomes(host, "kernel.timer_migration", "0"),
            affects: "power: idle CPUs wake for their own timers.",
        },
        proof: Proof::By(Measure::WakeUp),
        ..NOTE
    },
    Rule {
        id: "irqbalance",
        title: "Interrupts move between CPUs",
        mechanism: "Every ten seconds, irqbalance moves interrupts by load. Sooner or later it moves one to the CPU of \
                    a radio's thread. It also reverts what you placed by hand.",
        looks_at: "Whether a process of that name runs. Most hosts gain from it.",
        probe: |host| match running(host, &["irqbalance"]) {
            None => hidden("no process is visible"),
            Some(none) if none.is_empty() => fine("not running"),
            Some(_) => notice("running", "keep it off the CPUs of a radio's threads"),
        },
        fix: Fix::Advice(Always(&[
            "set IRQBALANCE_BANNED_CPULIST=CPUS in /etc/default/irqbalance, then: sudo systemctl restart irqbalance",
            "sudo systemctl stop irqbalance   (undo: start)",
        ])),
        ..NOTE
    },
    Rule {
        id: "interrupt-threads",
        title: "Interrupts served by threads",
        mechanism: "With PREEMPT_RT or `threadirqs`, the card's interrupt is a thread at FIFO 50. A radio's thread \
                    with a higher priority that never sleeps blocks its own datagrams.",
        looks_at: "`threadirqs`, `/sys/kernel/realtime`, and `threaded` of each card. Such threads are noted, since \
                   their priority has to be right.",
        probe: interrupt_threads,
        fix: Fix::Advice(Always(&[
            "list the threads with ps -eo pid,rtprio,comm | grep -e irq/ -e napi/, and check one with chrt -p PID",
        ])),
        ..NOTE
    },
    Rule {
        id: "nic-eee",
        title: "Energy-Efficient Ethernet",
        mechanism: "Between two datagrams, the card and the switch put the link to sleep. It wakes in 16.5 µs at 1 \
                    Gb/s and in about 5 to 8 µs at 10 Gb/s (IEEE 802.3az). Some cards lose the link.",
        looks_at: "Whether EEE is on in the driver (`ethtool --show-eee`). Both ends have to agree to it.",
        probe: |host| {
            let note = "matters if answers are due in less than a millisecond, or if the link goes up and down";
            each_card(host, |card| match CardFact::Eee.read(host, card)?.now {
                0 => fine("EEE off"),
                _ => notice("EEE on", note),
            })
        },
        fix: Fix::Consent {
            plan: |host| {
                let eee = |card: &str| Setting::Card { interface: card.to_owned(), fact: CardFact::Eee };
                plan_cards(host, |card| becomes(host, eee(card), "0"))
            },
            affects: "everything behind this card: the link goes down for a moment. Also power.",
        },
        proof: Proof::BEHIND_THE_CARD,
        ..NOTE
    },
    Rule {
        id: "container",
        title: "Inside a container",
        mechanism: "The doctor sees the container's view, not the host's. A container's datagrams pass a bridge, which \
                    took away a quarter of a direct path's rate (veth, Linux 6.18). Its threads get real-time priority \
                    only if it was started with that permission.",
        looks_at: "The marks of Docker, Podman and systemd, and `container=` in the environment of process 1.",
        probe: container,
        fix: Fix::Advice(Always(&[
            "docker run --network host --cap-add SYS_NICE --ulimit rtprio=99 --ulimit memlock=-1",
            "on a kernel with RT_GROUP_SCHED, also --cpu-rt-runtime=950000",
        ])),
        ..NOTE
    },
    Rule {
        id: "power-daemon",
        title: "Power managed by a daemon",
        mechanism: "A power daemon sets governor, energy preference and sysctls by its own profile. It sets them again \
                    when the profile or the power supply changes, so you lose your own settings without a message.",
        looks_at: "Whether tuned, power-profiles-daemon, auto-cpufreq or thermald runs, and tuned's profile \
                   (`/etc/tuned/active_profile`). The settings themselves have rules.",
        probe: power_daemon,
        fix: Fix::Advice(Always(&[
            "sudo tuned-adm profile latency-performance   (note the current one first: tuned-adm active)",
            "powerprofilesctl set performance   (note the current one first: powerprofilesctl get)",
            "sudo systemctl stop NAME   (undo: start)",
        ])),
        ..NOTE
    },
];
