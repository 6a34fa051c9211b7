//! `irqbalance`: a program that moves interrupts while a radio streams.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "irqbalance",
    topic: Topic::Interrupts,
    title: "Interrupts are moved about",
    mechanism: "irqbalance moves interrupts by load every ten seconds: sooner or later onto the CPU where a radio's thread \
                runs, and it takes back what was placed by hand.",
    looks_at: "Whether a process of that name runs. Never stands, since most machines are served well by it; noted.",
    probe,
    known: "Not measured here: the developers' machines run none.",
    fix: Fix::Advice(Ways::Always(&[
        "IRQBALANCE_BANNED_CPULIST=CPUS in /etc/default/irqbalance, then: sudo systemctl restart irqbalance",
        "sudo systemctl stop irqbalance   (start undoes it)",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let all = processes(host);
    if all.is_empty() {
        return hidden("no process is visible");
    }
    match all.iter().find(|(_, name)| name == "irqbalance") {
        Some((pid, _)) => notice(format!("running, process {pid}"), "keep it off the CPUs of a radio's threads"),
        None => fine("not running"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_noted() {
        assert_eq!(word(&RULE, &[("/proc/1/comm", "init\n")]), "fine");
        let found = verdict(&RULE, &[("/proc/1/comm", "init\n"), ("/proc/512/comm", "irqbalance\n")]);
        assert_eq!(found, ("notice", "running, process 512".to_owned()));
    }
}
