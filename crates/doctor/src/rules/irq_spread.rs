//! `irq-spread`: all of a card's interrupts on one CPU.

use takt_host::irq::is_movable;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "irq-spread",
    topic: Topic::Interrupts,
    title: "All of a card's interrupts on one CPU",
    mechanism: "A card with several queues whose interrupts all go to one CPU receives no faster than with one queue. \
                They also interrupt everything else on that CPU.",
    looks_at: "`effective_affinity_list` of each interrupt of the card that has occurred at least once. A problem if \
               there are several and all go to the same CPU; a notice if the kernel lets nobody move them. takt moves \
               none to an isolated CPU.",
    probe,
    known: "The protocol work of 1472-byte datagrams moved from the sender's CPU to another. The path's rate rose \
            from 289 to 455 thousand per second (veth, Linux 6.18, 4 virtual CPUs). Not measured on this host.",
    fix: Fix::Consent { plan, affects: "programs on the CPUs that then take the interrupts." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

/// The card's interrupts that have come, with the CPUs each goes to.
fn interrupts(host: &Host, card: &str) -> Result<Vec<(u32, Vec<usize>)>, ReadError> {
    let all = host.read("/proc/interrupts")?;
    let came = |number: u32| {
        let row = all.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{number}:")));
        row.is_some_and(|row| row.split_whitespace().map_while(|word| word.parse::<u64>().ok()).any(|count| count > 0))
    };
    // A paravirtual card's interrupts belong to the bus device above it.
    let folders = ["device/msi_irqs", "device/../msi_irqs"].map(|folder| host.list(&format!("{NET}/{card}/{folder}")));
    let numbers = folders.into_iter().find(|list| !list.is_empty()).unwrap_or_default();
    let mut numbers: Vec<u32> = numbers.iter().filter_map(|name| name.parse().ok()).filter(|&one| came(one)).collect();
    numbers.sort_unstable();
    let goes_to = |number: u32| {
        let at = |file| cpus(host, &format!("/proc/irq/{number}/{file}"));
        Ok((number, at("effective_affinity_list").or_else(|_| at("smp_affinity_list"))?))
    };
    numbers.into_iter().map(goes_to).collect()
}

fn crowded(interrupts: &[(u32, Vec<usize>)]) -> bool {
    interrupts.first().is_some_and(|(_, first)| first.len() == 1 && interrupts.iter().all(|(_, cpus)| cpus == first))
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let interrupts = interrupts(host, card)?;
        let Some((_, first)) = interrupts.first() else { return hidden("it shows no interrupts of its own") };
        let observed = format!("{} on {}", interrupts.len(), named(first));
        let same = crowded(&interrupts);
        let movable = interrupts.iter().any(|(number, _)| is_movable(host, *number));
        if interrupts.len() > 1 && same && general(host)?.len() > 1 {
            if movable {
                problem(observed, "several CPUs")
            } else {
                notice(observed, "the kernel lets nobody move them")
            }
        } else if same {
            fine(observed)
        } else {
            fine(format!("{} on several CPUs", interrupts.len()))
        }
    })
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    let cpus = general(host).unwrap_or_default();
    for card in cards(host) {
        let interrupts = interrupts(host, &card).unwrap_or_default();
        let interrupts = if crowded(&interrupts) { interrupts } else { Vec::new() };
        let taken = interrupts.first().and_then(|(_, cpus)| cpus.first().copied());
        let all = interrupts.len();
        let movable: Vec<u32> =
            interrupts.into_iter().map(|(number, _)| number).filter(|&number| is_movable(host, number)).collect();
        // Those that nobody may move keep the CPU where all are.
        let free = |cpu: &&usize| movable.len() == all || taken != Some(**cpu);
        for (&number, cpu) in movable.iter().zip(cpus.iter().filter(free).cycle()) {
            let setting = Setting::Interrupt(number);
            let was = setting.get(host)?;
            changes.push(Change { setting, was, becomes: cpu.to_string() });
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-1\n");
    const COUNTS: (&str, &str) = (
        "/proc/interrupts",
        "      CPU0 CPU1\n  41:   7   0  PCI-MSIX eth0-rx-0\n  42:   9   0  PCI-MSIX eth0-rx-1\n  43: 0 0 x\n",
    );
    const QUEUES: [(&str, &str); 3] = [
        ("/sys/class/net/eth0/device/msi_irqs/41", "msix\n"),
        ("/sys/class/net/eth0/device/msi_irqs/42", "msix\n"),
        ("/sys/class/net/eth0/device/msi_irqs/43", "msix\n"),
    ];

    fn of(second: &str) -> (&'static str, String) {
        let mut files = vec![UP, ONLINE, COUNTS, ("/proc/irq/41/effective_affinity_list", "0\n")];
        files.extend(QUEUES);
        files.push(("/proc/irq/42/effective_affinity_list", second));
        verdict(&RULE, &files)
    }

    #[test]
    fn two_queues_on_one_cpu_are_a_problem() {
        assert_eq!(of("0\n"), ("problem", "eth0: 2 on CPU 0".to_owned()));
        assert_eq!(of("1\n"), ("fine", "eth0: 2 on several CPUs".to_owned()));
        assert_eq!(word(&RULE, &[UP, ONLINE, COUNTS]), "hidden");
        assert_eq!(word(&RULE, &[UP, QUEUES[0]]), "hidden");
    }

    #[test]
    fn those_that_nobody_may_move_stay_and_the_others_leave_their_cpu() {
        let mut files = vec![UP, ONLINE, COUNTS];
        files.extend(QUEUES);
        files.extend([("/proc/irq/41/smp_affinity_list", "0\n"), ("/proc/irq/42/smp_affinity_list", "0\n")]);
        let (_tree, host) = host_of(&files);
        immovable(&host, 42);
        assert_eq!(found(&RULE, &host).0, "problem");
        let changes = plan(&host).unwrap();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!((&changes[0].setting, changes[0].becomes.as_str()), (&Setting::Interrupt(41), "1"));
        immovable(&host, 41);
        assert_eq!(found(&RULE, &host), ("notice", "eth0: 2 on CPU 0".to_owned()));
        assert_eq!(plan(&host).unwrap(), []);
    }

    #[test]
    fn each_interrupt_gets_a_cpu_in_turn() {
        let mut files = vec![UP, ONLINE, COUNTS];
        files.extend(QUEUES);
        let serve = |list| [("/proc/irq/41/smp_affinity_list", list), ("/proc/irq/42/smp_affinity_list", list)];
        let to = |number, cpu| format!("echo {cpu} | sudo tee /proc/irq/{number}/smp_affinity_list");
        let spread = [files.as_slice(), serve("0-1\n").as_slice()].concat();
        assert_eq!(commands(&RULE, &spread), Vec::<String>::new(), "they are on several CPUs");
        files.extend(serve("0\n"));
        assert_eq!(commands(&RULE, &files), [to(41, 0), to(42, 1)]);
        files.extend([("/sys/devices/system/cpu/isolated", "1\n"), ("/sys/devices/system/cpu/online", "0-2\n")]);
        assert_eq!(commands(&RULE, &files), [to(41, 0), to(42, 2)], "none to a CPU that is isolated");
    }
}
