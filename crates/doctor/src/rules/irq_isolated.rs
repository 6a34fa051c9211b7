//! `irq-isolated`: interrupts that come to CPUs set aside.

use takt_host::irq::{Irq, irqs};
use takt_host::isolation::isolation;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "irq-isolated",
    topic: Topic::Interrupts,
    title: "Interrupts on isolated CPUs",
    mechanism: "Isolation keeps threads away and not interrupts: one that is served by a CPU set aside for a radio stops the \
                radio's thread there for as long as it takes.",
    looks_at: "Where each interrupt goes that has come (`/proc/irq/N`), against the isolated CPUs. Stands if one goes there \
               that may as well go elsewhere; one that may go nowhere else was put there, and is noted.",
    probe,
    known: "Some µs an interrupt, more for a card's. Not measured here.",
    fix: Fix::Consent { plan, who_may_pay: "the other CPUs, which take these interrupts then." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

/// Interrupts that go to these CPUs, those that need not be there apart from those that are to.
fn there(host: &Host, isolated: &[usize]) -> Option<(Vec<Irq>, Vec<Irq>)> {
    let goes = |irq: &Irq| if irq.effective.is_empty() { irq.allowed.clone() } else { irq.effective.clone() };
    let on = |irq: &Irq| goes(irq).iter().any(|cpu| isolated.contains(cpu));
    let all = irqs(host)?.into_iter().filter(|irq| irq.counts.iter().any(|&count| count > 0) && on(irq));
    Some(all.partition(|irq| irq.allowed.iter().any(|cpu| !isolated.contains(cpu))))
}

/// `24 (eth0-rx-0), 25 (eth0-rx-1)` and, of many, how many more.
fn listed(irqs: &[Irq]) -> String {
    let mut list: Vec<String> = irqs.iter().take(4).map(|irq| format!("{} ({})", irq.number, irq.name)).collect();
    list.extend((irqs.len() > 4).then(|| format!("{} more", irqs.len() - 4)));
    list.join(", ")
}

fn probe(host: &Host) -> Look {
    let Some(isolated) = isolation(host).isolated else { return hidden("this kernel does not say what is isolated") };
    if isolated.is_empty() {
        return fine("no CPU is isolated");
    }
    let Some((astray, placed)) = there(host, &isolated) else { return hidden("/proc/interrupts is not there to read") };
    if !astray.is_empty() {
        stands(format!("on {}: {}", named(&isolated), listed(&astray)), "interrupts on other CPUs")
    } else if placed.is_empty() {
        fine(format!("none on {}", named(&isolated)))
    } else {
        notice(format!("put on {}: {}", named(&isolated), listed(&placed)), "right if that CPU is to serve the card")
    }
}

fn plan(host: &Host) -> Plan {
    let isolated = isolation(host).isolated.unwrap_or_default();
    let others = cpu_list::format(&general(host).unwrap_or_default());
    let mut changes = Vec::new();
    for irq in there(host, &isolated).map(|(astray, _)| astray).unwrap_or_default() {
        changes.extend(becomes(host, Setting::Interrupt(irq.number), &others)?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISOLATED: (&str, &str) = ("/sys/devices/system/cpu/isolated", "2-3\n");
    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-3\n");
    const COUNTS: (&str, &str) = (
        "/proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 41: 0 0 7 0 PCI-MSIX 0-edge eth0-rx-0\n 42: 0 0 0 0 PCI-MSIX 0-edge eth0-rx-1\n",
    );

    fn of(allowed: &'static str, effective: &'static str) -> [(&'static str, &'static str); 6] {
        let idle = ("/proc/irq/42/smp_affinity_list", "0-3\n");
        let (may, does) = ("/proc/irq/41/smp_affinity_list", "/proc/irq/41/effective_affinity_list");
        [ISOLATED, ONLINE, COUNTS, (may, allowed), (does, effective), idle]
    }

    #[test]
    fn an_interrupt_astray_stands_and_one_that_was_put_there_is_noted() {
        let astray = of("0-3\n", "2\n");
        assert_eq!(verdict(&RULE, &astray), ("stands", "on CPUs 2-3: 41 (eth0-rx-0)".to_owned()));
        assert_eq!(commands(&RULE, &astray), ["echo 0-1 | sudo tee /proc/irq/41/smp_affinity_list"]);
        let placed = of("2\n", "2\n");
        assert_eq!(word(&RULE, &placed), "notice");
        assert_eq!(commands(&RULE, &placed), Vec::<String>::new());
        assert_eq!(word(&RULE, &of("0-3\n", "1\n")), "fine");
    }

    #[test]
    fn without_isolated_cpus_there_is_nothing_to_keep_clear() {
        assert_eq!(word(&RULE, &[(ISOLATED.0, "\n")]), "fine");
        assert_eq!(word(&RULE, &[ISOLATED, ONLINE]), "hidden");
    }
}
