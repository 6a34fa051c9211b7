//! Observations and changes of the notes that take more than a line.

use takt_host::call;
use takt_host::fingerprint;
use takt_host::isolation::isolation;
use takt_host::topology::Topology;

use crate::rules::look::*;

pub(super) fn noted(is_odd: bool, observed: String, note: &str) -> Look {
    if is_odd { notice(observed, note) } else { fine(observed) }
}

/// A sysctl that may have any value: a notice if it is not 0.
pub(super) fn sysctl_noted(host: &Host, name: &str, note: &str) -> Look {
    let value = sysctl(host, name)?;
    noted(value != 0, format!("{name} {value}"), note)
}

pub(super) fn debugfs_hides() -> Look {
    hidden(format!("root sees it if the kernel has it and debugfs is mounted: {}", call::sudo_takt("doctor")))
}

/// A file of debugfs that is not there can't be changed.
pub(super) fn debugfs_becomes(host: &Host, name: &str, value: &str) -> Plan {
    if host.read(&format!("/sys/{name}")).is_err() { Ok(Vec::new()) } else { sysfs_becomes(host, name, value) }
}

pub(super) const BUSY: [&str; 2] = ["net.core.busy_read", "net.core.busy_poll"];

pub(super) fn poll_busily(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for name in BUSY {
        if sysctl(host, name).is_ok_and(|micros| micros == 0) {
            changes.extend(sysctl_becomes(host, name, "50")?);
        }
    }
    Ok(changes)
}

pub(super) fn shared_cores(host: &Host) -> Result<Vec<Vec<usize>>, ReadError> {
    let mut shared: Vec<Vec<usize>> = Topology::read(host)?.cpus.into_iter().map(|cpu| cpu.core).collect();
    shared.retain(|core| core.len() > 1);
    shared.sort();
    shared.dedup();
    Ok(shared)
}

/// CPUs that are smaller than the largest; `None` if nothing says.
pub(super) fn small_cores(host: &Host) -> Result<Option<Vec<usize>>, ReadError> {
    if let Ok(atoms) = cpus(host, "/sys/devices/cpu_atom/cpus") {
        return Ok(Some(atoms));
    }
    let mut capacities: Vec<(usize, u32)> = of_each_cpu(host, "cpu_capacity")?
        .into_iter()
        .filter_map(|(cpu, text)| Some((cpu, text.parse().ok()?)))
        .collect();
    let Some(largest) = capacities.iter().map(|&(_, capacity)| capacity).max() else { return Ok(None) };
    capacities.retain(|&(_, capacity)| capacity < largest);
    Ok(Some(capacities.into_iter().map(|(cpu, _)| cpu).collect()))
}

pub(super) fn isolated_cpus(host: &Host) -> Look {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated"))?;
    if isolated.is_empty() {
        return fine("none isolated");
    }
    let own = allowed(host)?;
    let missing: Vec<usize> = isolated.iter().copied().filter(|cpu| !own.contains(cpu)).collect();
    let ticking = ticking(host, &isolated);
    let ticks = if ticking.is_empty() { String::new() } else { format!(", {} with the tick", named(&ticking)) };
    let observed = format!("{} isolated{ticks}", named(&isolated));
    let outside =
        if missing.is_empty() { String::new() } else { format!(", {} outside this process's CPUs", named(&missing)) };
    notice(format!("{observed}{outside}"), "threads run there only if --cores pins them")
}

/// The isolated CPUs with the tick; where it is off, deferred work (RCU) runs elsewhere, too.
fn ticking(host: &Host, isolated: &[usize]) -> Vec<usize> {
    let tickless = isolation(host).tickless.unwrap_or_default();
    isolated.iter().copied().filter(|cpu| !tickless.contains(cpu)).collect()
}

pub(super) fn use_isolated(host: &Host) -> Vec<String> {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated")).unwrap_or_default();
    let list = cpu_list::format(&isolated);
    let mut ways = vec![format!("--cores {list}")];
    if !ticking(host, &isolated).is_empty() {
        ways.push(format!(
            "boot with nohz_full={list} if threads run there for long without sleeping; rcu_nocbs={list} alone moves \
             the deferred work"
        ));
    }
    ways
}

/// `PF_KTHREAD` of linux/sched.h, in the ninth field of stat.
pub(super) const KERNEL_THREAD: u64 = 0x0020_0000;

/// Name and priority of a real-time thread, from its stat line; `None` for the kernel's and for ordinary ones.
pub(super) fn real_time(line: &str) -> Option<String> {
    let (open, close) = (line.find('(')?, line.rfind(')')?);
    let fields: Vec<&str> = line.get(close + 1..)?.split_whitespace().collect();
    // proc(5) counts from 1; field 3 follows the name.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let (flags, priority, policy) = (number(9)?, number(40)?, number(41)?);
    let name = line.get(open + 1..close)?;
    match policy {
        _ if flags & KERNEL_THREAD != 0 => None,
        1 | 2 => Some(format!("{name} at {priority}")),
        6 => Some(format!("{name} at DEADLINE")),
        _ => None,
    }
}

pub(super) fn foreign_real_time(host: &Host) -> Look {
    let numbers = host.list("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    let others = numbers.filter(|&pid| !(host.is_this() && pid == std::process::id()));
    // A sound server's first thread is ordinary; its real-time thread is another.
    let threads = |pid: u32| {
        let tasks = format!("/proc/{pid}/task");
        host.list(&tasks).into_iter().filter_map(move |tid| host.read_opt(&format!("{tasks}/{tid}/stat")))
    };
    let lines: Vec<String> = others.flat_map(threads).collect();
    let mut found: Vec<String> = lines.iter().filter_map(|line| real_time(line)).collect();
    if lines.is_empty() {
        return hidden("no process is visible");
    }
    if found.is_empty() {
        return fine(format!("none among {} threads", lines.len()));
    }
    let count = found.len();
    found.truncate(4);
    notice(
        format!("{count} with real-time priority: {}", found.join(", ")),
        "give a radio's threads a higher priority; DEADLINE threads still run first",
    )
}

const FAIR_SERVER: &str = "kernel/debug/sched/fair_server";

/// CPUs with time reserved, each with that time per period and the period, ns.
fn reserved(host: &Host) -> Result<Vec<(usize, i64, i64)>, ReadError> {
    let of = |cpu: usize| {
        let number = |file| host.read_number(&format!("/sys/{FAIR_SERVER}/cpu{cpu}/{file}"));
        Ok((cpu, number("runtime")?, number("period")?))
    };
    let mut all = online(host)?.into_iter().map(of).collect::<Result<Vec<_>, ReadError>>()?;
    all.retain(|&(_, runtime, _)| runtime > 0);
    Ok(all)
}

pub(super) fn fair_server(host: &Host) -> Look {
    if host.list(&format!("/sys/{FAIR_SERVER}")).is_empty() {
        return debugfs_hides();
    }
    let reserved = reserved(host)?;
    let Some(&(_, runtime, period)) = reserved.first() else { return fine("none reserved") };
    let cpus: Vec<usize> = reserved.iter().map(|&(cpu, ..)| cpu).collect();
    notice(
        format!("{} of {} µs on {}", runtime / 1000, period / 1000, named(&cpus)),
        "affects only real-time threads that never sleep (polling drivers under FIFO)",
    )
}

pub(super) fn reserve_nothing(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for (cpu, ..) in reserved(host).unwrap_or_default() {
        changes.extend(sysfs_becomes(host, &format!("{FAIR_SERVER}/cpu{cpu}/runtime"), "0")?);
    }
    Ok(changes)
}

pub(super) fn serial_console(host: &Host) -> Look {
    let slow = |name: &&str| {
        ["ttyS", "ttyAMA", "ttyUSB", "ttymxc", "ttyPS", "ttySAC"].iter().any(|kind| name.starts_with(kind))
    };
    let consoles = host.read("/proc/consoles")?;
    let serial: Vec<&str> = consoles.lines().filter_map(|line| line.split_whitespace().next()).filter(slow).collect();
    if serial.is_empty() {
        return fine("no serial console");
    }
    let path = "/proc/sys/kernel/printk";
    let text = host.read(path)?;
    let level = text.split_whitespace().next().and_then(|word| word.parse::<u32>().ok());
    let level = level.ok_or_else(|| malformed(path, "numbers", &text))?;
    let observed = format!("{}, messages below level {level}", serial.join(", "));
    noted(level > 4, observed, "a message there stops a core for milliseconds")
}

/// Emergencies, alerts, critical conditions and errors: numbers 0 to 3. The other numbers stay.
pub(super) fn print_errors_only(host: &Host) -> Plan {
    let was = Setting::Sysctl("kernel.printk".to_owned()).get(host)?;
    let rest = was.split_once(' ').map_or(String::new(), |(_, rest)| format!(" {rest}"));
    sysctl_becomes(host, "kernel.printk", &format!("4{rest}"))
}

pub(super) fn interrupt_threads(host: &Host) -> Look {
    let note = "give polling threads a priority below 50";
    if boot_option(host, "threadirqs")?.is_some() {
        return notice("threadirqs on the kernel's command line", note);
    }
    if host.read_opt("/sys/kernel/realtime").as_deref() == Some("1") {
        return notice("PREEMPT_RT", note);
    }
    each_card(host, |card| match host.read_number(&format!("{NET}/{card}/threaded"))? {
        0 => fine("by interrupt"),
        _ => notice("receives in a thread of normal priority", "give that thread (napi/…) a real-time priority"),
    })
}

pub(super) fn container(host: &Host) -> Look {
    let note = "run the doctor on the host as well";
    if let Some(engine) = fingerprint::container(host) {
        return notice(engine, note);
    }
    // The first process names its engine; only root may look.
    let first = host.read("/proc/1/environ");
    match first.as_ref().map(|text| text.split('\0').find_map(|one| one.strip_prefix("container="))) {
        Ok(Some(engine)) => notice(engine, note),
        Ok(None) => fine("no mark of a container"),
        // Without it, only a known init as process 1 shows that this is not a container.
        Err(_) => match host.read("/proc/1/comm")?.trim() {
            "systemd" | "init" | "runit" | "openrc-init" => fine("no mark of a container"),
            other => notice(format!("process 1 is {other}"), format!("it may be a container: {note}")),
        },
    }
}

/// Names as the kernel has them, at most 15 bytes.
const DAEMONS: [&str; 4] = ["tuned", "power-profiles-", "auto-cpufreq", "thermald"];

pub(super) fn power_daemon(host: &Host) -> Look {
    let Some(running) = running(host, &DAEMONS) else { return hidden("no process is visible") };
    if running.is_empty() {
        return fine("no known daemon");
    }
    let profile = host.read_opt("/etc/tuned/active_profile").filter(|_| running.iter().any(|name| name == "tuned"));
    let profile = profile.map_or(String::new(), |profile| format!(", profile {profile}"));
    notice(format!("{}{profile}", running.join(", ")), "choose its profile, or stop it, before you change settings")
}
