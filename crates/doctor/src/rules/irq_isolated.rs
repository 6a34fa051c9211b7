//! `irq-isolated`: interrupts on isolated CPUs.

use takt_host::irq::{Irq, irqs, is_movable};
use takt_host::isolation::isolation;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "irq-isolated",
    topic: Topic::Interrupts,
    title: "Interrupts on isolated CPUs",
    mechanism: "Isolation keeps threads away, but not interrupts. An interrupt on a CPU that is isolated for a radio \
                stops the radio's thread while the kernel serves it.",
    looks_at: "The CPUs that serve each interrupt that has occurred (`/proc/irq/N`), and the isolated CPUs. A problem \
               if an interrupt goes to an isolated CPU and may go elsewhere. A notice if it may go nowhere else, since \
               somebody put it there, or if the kernel lets nobody move it.",
    probe,
    known: "Some µs per interrupt, more for a card's. Not measured on this host.",
    fix: Fix::Consent { plan, affects: "the other CPUs, which then take these interrupts." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

/// Interrupts that go to isolated CPUs.
struct There {
    /// They may go elsewhere.
    astray: Vec<Irq>,
    /// They may go nowhere else.
    placed: Vec<Irq>,
    /// Nobody may move them, not even root.
    immovable: Vec<Irq>,
}

fn there(host: &Host, isolated: &[usize]) -> Option<There> {
    let goes = |irq: &Irq| if irq.effective.is_empty() { irq.allowed.clone() } else { irq.effective.clone() };
    let on = |irq: &Irq| goes(irq).iter().any(|cpu| isolated.contains(cpu));
    let all = irqs(host)?.into_iter().filter(|irq| irq.counts.iter().any(|&count| count > 0) && on(irq));
    let (movable, immovable): (Vec<Irq>, Vec<Irq>) = all.partition(|irq| is_movable(host, irq.number));
    let elsewhere = |irq: &Irq| irq.allowed.iter().any(|cpu| !isolated.contains(cpu));
    let (astray, placed) = movable.into_iter().partition(elsewhere);
    Some(There { astray, placed, immovable })
}

/// `24 (eth0-rx-0), 25 (eth0-rx-1)` and, of many, how many more.
fn listed(irqs: &[Irq]) -> String {
    let mut list: Vec<String> = irqs.iter().take(4).map(|irq| format!("{} ({})", irq.number, irq.name)).collect();
    list.extend((irqs.len() > 4).then(|| format!("{} more", irqs.len() - 4)));
    list.join(", ")
}

fn probe(host: &Host) -> Look {
    let Some(isolated) = isolation(host).isolated else {
        return hidden("this kernel does not say which CPUs are isolated");
    };
    if isolated.is_empty() {
        return fine("no CPU is isolated");
    }
    let Some(found) = there(host, &isolated) else { return hidden("/proc/interrupts can't be read") };
    let cpus = named(&isolated);
    let row = |what: &str, irqs: &[Irq]| (!irqs.is_empty()).then(|| format!("{what} {cpus}: {}", listed(irqs)));
    let kinds = [("on", &found.astray), ("put on", &found.placed), ("immovable on", &found.immovable)];
    let rows: Vec<String> = kinds.into_iter().filter_map(|(what, irqs)| row(what, irqs)).collect();
    let observed = rows.join("; ");
    if !found.astray.is_empty() {
        problem(observed, "interrupts on other CPUs")
    } else if !found.placed.is_empty() {
        notice(observed, "correct if that CPU is meant to serve the card")
    } else if !found.immovable.is_empty() {
        notice(observed, "nobody may move these; boot with isolcpus=managed_irq,CPUS to keep disks' interrupts away")
    } else {
        fine(format!("none on {cpus}"))
    }
}

fn plan(host: &Host) -> Plan {
    let isolated = isolation(host).isolated.unwrap_or_default();
    let others = cpu_list::format(&general(host).unwrap_or_default());
    let mut changes = Vec::new();
    for irq in there(host, &isolated).map(|found| found.astray).unwrap_or_default() {
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
    fn an_interrupt_astray_is_a_problem_and_one_that_was_put_there_is_noted() {
        let astray = of("0-3\n", "2\n");
        assert_eq!(verdict(&RULE, &astray), ("problem", "on CPUs 2-3: 41 (eth0-rx-0)".to_owned()));
        assert_eq!(commands(&RULE, &astray), ["echo 0-1 | sudo tee /proc/irq/41/smp_affinity_list"]);
        let placed = of("2\n", "2\n");
        assert_eq!(word(&RULE, &placed), "notice");
        assert_eq!(commands(&RULE, &placed), Vec::<String>::new());
        assert_eq!(word(&RULE, &of("0-3\n", "1\n")), "fine");
    }

    #[test]
    fn one_that_nobody_may_move_is_noted_and_left() {
        let (_tree, host) = host_of(&of("0-3\n", "2\n"));
        immovable(&host, 41);
        assert_eq!(found(&RULE, &host), ("notice", "immovable on CPUs 2-3: 41 (eth0-rx-0)".to_owned()));
        assert_eq!(plan(&host).unwrap(), []);
        // Beside it another one, astray.
        let counts = format!("{} 43: 0 0 5 0 PCI-MSIX 0-edge nvme0q3\n", COUNTS.1);
        let mut files = of("0-3\n", "2\n").to_vec();
        files.extend([(COUNTS.0, counts.as_str()), ("/proc/irq/43/smp_affinity_list", "2\n")]);
        let (_tree, host) = host_of(&files);
        immovable(&host, 43);
        let both = "on CPUs 2-3: 41 (eth0-rx-0); immovable on CPUs 2-3: 43 (nvme0q3)";
        assert_eq!(found(&RULE, &host), ("problem", both.to_owned()));
        let changes = plan(&host).unwrap();
        assert_eq!(changes.iter().map(|change| change.setting.clone()).collect::<Vec<_>>(), [Setting::Interrupt(41)]);
    }

    #[test]
    fn without_isolated_cpus_there_is_nothing_to_keep_clear() {
        assert_eq!(word(&RULE, &[(ISOLATED.0, "\n")]), "fine");
        assert_eq!(word(&RULE, &[ISOLATED, ONLINE]), "hidden");
    }
}
