//! `load`: other programs use the cores that a radio needs.

use std::time::Duration;

use takt_host::accounting::read_stat;
use takt_host::proc::{stat, task, ticks_to_ns};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "load",
    topic: Topic::Cores,
    title: "Other programs use the cores",
    mechanism: "Receiving, transmitting and computing each need a core. While other programs use the cores, a radio's \
                threads wait.",
    looks_at: "The busy time of all CPUs over a third of a second, without this program's own. A problem if fewer than \
               2.5 CPUs are free (on smaller hosts: all but half a CPU).",
    probe,
    known: "A sender pinned to the same CPU as another program's thread got 20 % of it, while the other three CPUs \
            idled. While others compiled, the rate of 64-byte datagrams fell from 307 thousand per second to between \
            189 and 308 thousand. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "end the programs named above, move them with taskset -cp CPUS PID, or nice them; pin takt's own threads with \
         --cores",
    ])),
    ..Rule::COMMON
};

const WINDOW: Duration = Duration::from_millis(300);
const NEEDED_CPUS: f64 = 2.5;

fn probe(host: &Host) -> Look {
    let before = Times::read(host)?;
    host.wait(WINDOW);
    let after = Times::read(host)?;
    let spent = after.machine.total.since(&before.machine.total);
    let cpus = after.machine.cpus.len() as f64;
    if spent.total_ns() == 0 || cpus == 0.0 {
        return hidden("the kernel's CPU times do not advance");
    }
    // Shares of the time that passed by the same clock, so the length of the window does not matter.
    let per_cpu_ns = spent.total_ns() as f64 / cpus;
    let own_ns = after.own_ns.saturating_sub(before.own_ns);
    let foreign = spent.busy_ns().saturating_sub(own_ns) as f64 / per_cpu_ns;
    let busiest = busiest(&before, &after, per_cpu_ns);
    let names = if busiest.is_empty() { String::new() } else { format!(": {}", busiest.join(", ")) };
    let observed = format!("{foreign:.1} of {cpus} CPUs in use{names}");
    let needed = NEEDED_CPUS.min(cpus - 0.5);
    if cpus - foreign < needed { problem(observed, format!("{needed} CPUs free")) } else { fine(observed) }
}

/// CPU time of the machine, of this program and of every process.
struct Times {
    machine: stat::Stat,
    own_ns: u64,
    tasks: Vec<(u32, task::Stat)>,
}

impl Times {
    fn read(host: &Host) -> Result<Times, ReadError> {
        let machine = stat::read(host)?;
        let stat_of = |pid| Some((pid, read_stat(host, &format!("/proc/{pid}/stat")).ok().flatten()?));
        let own = if host.is_this() { read_stat(host, "/proc/self/stat")? } else { None };
        let numbers = host.list("/proc").into_iter().filter_map(|name| name.parse().ok());
        Ok(Times { machine, own_ns: own.as_ref().map_or(0, cpu_ns), tasks: numbers.filter_map(stat_of).collect() })
    }
}

fn cpu_ns(stat: &task::Stat) -> u64 {
    ticks_to_ns(stat.user_ticks.saturating_add(stat.system_ticks))
}

/// The three programs that used most, if a twentieth of a CPU at least: `rustc (417) 98 %`.
fn busiest(before: &Times, after: &Times, per_cpu_ns: f64) -> Vec<String> {
    let own = std::process::id();
    let used = |(pid, now): &(u32, task::Stat)| {
        let then = before.tasks.iter().find(|(p, t)| p == pid && t.start_ticks == now.start_ticks);
        let percent = cpu_ns(now).saturating_sub(then.map_or(0, |(_, t)| cpu_ns(t))) as f64 / per_cpu_ns * 100.0;
        // One that began within the window has at most the window; the kernel's sum is trusted.
        (percent >= 5.0 && *pid != own).then(|| (percent, format!("{} ({pid}) {percent:.0} %", now.name)))
    };
    let mut all: Vec<(f64, String)> = after.tasks.iter().filter_map(used).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(3).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(user: u64, idle: u64) -> String {
        let line = |name: &str, factor: u64| format!("{name} {} 0 0 {} 0 0 0 0 0 0\n", user * factor, idle * factor);
        line("cpu ", 4) + &(0..4).map(|cpu| line(&format!("cpu{cpu}"), 1)).collect::<String>()
    }

    fn process(ticks: u64) -> String {
        format!("42 (stress ng) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 7 0 0\n")
    }

    fn watched(busy: u64, idle: u64, by_process: u64) -> Finding {
        let tree = |busy, idle, ticks| {
            Tree::new().with("/proc/stat", &stat(busy, idle)).with("/proc/42/stat", &process(ticks))
        };
        let (before, after) = (tree(1000, 1000, 500), tree(1000 + busy, 1000 + idle, 500 + by_process));
        probe(&before.host().and_later(after.root())).unwrap()
    }

    #[test]
    fn an_idle_machine_is_fine() {
        assert_eq!(watched(1, 99, 0), Finding::Fine { observed: "0.0 of 4 CPUs in use".to_owned() });
    }

    #[test]
    fn a_busy_machine_is_a_problem_and_its_busiest_program_is_named() {
        let Finding::Problem { observed, wanted } = watched(50, 50, 98) else { panic!("problem") };
        assert_eq!(observed, "2.0 of 4 CPUs in use: stress ng (42) 98 %");
        assert_eq!(wanted, "2.5 CPUs free");
    }

    #[test]
    fn times_that_do_not_move_are_not_called_idle() {
        assert!(matches!(watched(0, 0, 0), Finding::NotVisible { .. }));
        assert!(probe(&Tree::new().host()).is_err());
    }
}
