//! `isolated-cpus`: CPUs set aside, and nobody on them.

use takt_host::isolation::isolation;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "isolated-cpus",
    topic: Topic::Processors,
    title: "Isolated CPUs",
    mechanism: "The scheduler puts nothing on a CPU that was isolated at boot: set aside for a radio, it idles until a thread \
                is placed there by name.",
    looks_at: "`/sys/devices/system/cpu/isolated`, the CPUs this process may use, and `nohz_full` beside it. Never stands; isolated CPUs are noted, for they want to be named, and so is what \
               the kernel still does on them.",
    probe,
    known: "A CPU that nobody uses. Where the tick goes on, it stops the thread there some µs as often as `CONFIG_HZ` \
            says, and the kernel's deferred work (RCU) is done in between. Not measured here.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated"))?;
    if isolated.is_empty() {
        return fine("none set aside");
    }
    let own = allowed(host)?;
    let missing: Vec<usize> = isolated.iter().copied().filter(|cpu| !own.contains(cpu)).collect();
    let ticking = ticking(host, &isolated);
    let ticks = if ticking.is_empty() { String::new() } else { format!(", {} with the tick", named(&ticking)) };
    let observed = format!("{} set aside{ticks}", named(&isolated));
    if missing.is_empty() {
        notice(observed, "threads run there only where --cores puts them")
    } else {
        notice(
            format!("{observed}, {} out of this process's reach unless it is placed there", named(&missing)),
            "use --cores",
        )
    }
}

/// Those of them that the kernel still ticks on; where the tick is off, deferred work is done elsewhere, too.
fn ticking(host: &Host, isolated: &[usize]) -> Vec<usize> {
    let tickless = isolation(host).tickless.unwrap_or_default();
    isolated.iter().copied().filter(|cpu| !tickless.contains(cpu)).collect()
}

fn advise(host: &Host) -> Vec<String> {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated")).unwrap_or_default();
    let list = cpu_list::format(&isolated);
    let mut ways = vec![format!("--cores {list}")];
    if !ticking(host, &isolated).is_empty() {
        ways.push(format!(
            "nohz_full={list} on the kernel's command line, where threads run there for long without sleeping; rcu_nocbs={list} \
             alone moves the deferred work"
        ));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_were_set_aside_are_noted_and_named() {
        let isolated = |list| ("/sys/devices/system/cpu/isolated", list);
        let own = ("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
        assert_eq!(word(&RULE, &[isolated("\n")]), "fine");
        let (word_, observed) = verdict(&RULE, &[isolated("2-3\n"), own]);
        assert_eq!(word_, "notice");
        assert!(observed.starts_with("CPUs 2-3 set aside, CPUs 2-3 with the tick, CPUs 2-3 out of"), "{observed}");
        let ways = commands(&RULE, &[isolated("2-3\n")]);
        assert_eq!(ways[0], "--cores 2-3");
        assert!(ways[1].starts_with("nohz_full=2-3 "), "{ways:?}");
        let tickless = ("/sys/devices/system/cpu/nohz_full", "2-3\n");
        assert!(!verdict(&RULE, &[isolated("2-3\n"), tickless, own]).1.contains("tick"));
        assert_eq!(commands(&RULE, &[isolated("2-3\n"), tickless]), ["--cores 2-3"]);
        assert_eq!(word(&RULE, &[isolated("1\n"), own]), "notice");
        assert_eq!(word(&RULE, &[isolated("2-3\n")]), "hidden");
    }
}
