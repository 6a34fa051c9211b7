//! `isolated-cpus`: CPUs set aside, and nobody on them.

use super::look::{CPUS, Look, allowed, cpus, fine, named, notice};
use crate::doctor::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};
use crate::host::Host;

pub(super) static RULE: Rule = Rule {
    id: "isolated-cpus",
    topic: Topic::Processors,
    title: "Isolated CPUs",
    mechanism: "The scheduler puts nothing on a CPU that was isolated at boot: set aside for a radio, it idles until a thread \
                is placed there by name.",
    looks_at: "`/sys/devices/system/cpu/isolated` and the CPUs this process may use. Never stands; isolated CPUs are noted, \
               for they want to be named.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect { known: "A CPU that nobody uses. Not measured here.", here: None },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

fn probe(host: &Host) -> Look {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated"))?;
    if isolated.is_empty() {
        return fine("none set aside");
    }
    let own = allowed(host)?;
    let missing: Vec<usize> = isolated.iter().copied().filter(|cpu| !own.contains(cpu)).collect();
    let seen = format!("{} set aside", named(&isolated));
    if missing.is_empty() {
        notice(seen, "threads run there only where --cores puts them")
    } else {
        notice(
            format!("{seen}, {} out of this process's reach unless it is placed there", named(&missing)),
            "use --cores",
        )
    }
}

fn advise(host: &Host) -> Vec<String> {
    let isolated = cpus(host, &format!("/sys/{CPUS}/isolated")).unwrap_or_default();
    vec![format!("--cores {}", crate::proc::cpu_list::format(&isolated))]
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::{commands, said, word};
    use super::*;

    #[test]
    fn cpus_that_were_set_aside_are_noted_and_named() {
        let isolated = |list| ("/sys/devices/system/cpu/isolated", list);
        let own = ("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
        assert_eq!(word(&RULE, &[isolated("\n")]), "fine");
        let (word_, seen) = said(&RULE, &[isolated("2-3\n"), own]);
        assert_eq!(word_, "notice");
        assert!(seen.starts_with("CPUs 2-3 set aside, CPUs 2-3 out of"), "{seen}");
        assert_eq!(commands(&RULE, &[isolated("2-3\n")]), ["--cores 2-3"]);
        assert_eq!(word(&RULE, &[isolated("1\n"), own]), "notice");
        assert_eq!(word(&RULE, &[isolated("2-3\n")]), "hidden");
        assert_eq!(word(&RULE, &[]), "hidden");
    }
}
