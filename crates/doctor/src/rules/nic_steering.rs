//! `nic-steering`: one CPU that receives for all.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-steering",
    topic: Topic::Network,
    title: "One CPU receives for all",
    mechanism: "A card with one queue is served by one CPU, protocol work and all; receive steering (RPS) passes that work on \
                to others.",
    looks_at: "Receive queues of each card and their `rps_cpus`. Never stands: one radio's stream stays on one CPU by its \
               ports. One queue without steering is noted.",
    probe,
    known: "With the protocol work on a third CPU a path of 1472-byte datagrams went from 289 to 455 thousand a second, \
            +55 % (veth, Linux 6.18, 4 virtual CPUs). Not measured here.",
    fix: Fix::Consent { plan, who_may_pay: "the other CPUs, which receive then." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

fn queues(host: &Host, card: &str) -> Vec<String> {
    host.list(&format!("{NET}/{card}/queues")).into_iter().filter(|name| name.starts_with("rx-")).collect()
}

/// Whether no CPU is in the mask, which reads like `00000000,00000000`.
fn empty(mask: &str) -> bool {
    mask.chars().all(|c| matches!(c, '0' | ','))
}

fn probe(host: &Host) -> Look {
    let cpus = online(host)?.len();
    each_card(host, |card| {
        let queues = queues(host, card);
        let first = queues.first().map_or("rx-0", String::as_str);
        let mask = text(host, &format!("{NET}/{card}/queues/{first}/rps_cpus"))?;
        if queues.len() > 1 || cpus == 1 {
            fine(format!("{} receive queues", queues.len()))
        } else if empty(&mask) {
            notice("1 receive queue, not steered", "of use where several streams come through this card")
        } else {
            fine(format!("1 receive queue, steered to {mask}"))
        }
    })
}

fn plan(host: &Host) -> Plan {
    // The kernel takes isolated CPUs out of what is written.
    let cpus = general(host).unwrap_or_default();
    // The kernel writes the mask back with as many digits as it has CPUs, which is where the longest one is found.
    let mask = cpus.iter().filter(|&&cpu| cpu < 32).fold(0_u32, |mask, &cpu| mask | 1 << cpu);
    let mut changes = Vec::new();
    for card in cards(host).iter().filter(|card| queues(host, card).len() == 1) {
        let setting = Setting::Sysfs(format!("class/net/{card}/queues/rx-0/rps_cpus"));
        let digits = setting.get(host)?.len();
        // Beyond 32 possible CPUs the mask has several words; such machines have cards of many queues.
        if digits <= 8 {
            changes.extend(becomes(host, setting, &format!("{mask:0digits$x}"))?);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-3\n");
    const MASK: &str = "/sys/class/net/eth0/queues/rx-0/rps_cpus";

    #[test]
    fn one_queue_that_is_not_steered_is_noted() {
        let one = [UP, DEVICE, ONLINE, (MASK, "0\n")];
        assert_eq!(word(&RULE, &one), "notice");
        assert_eq!(commands(&RULE, &one), ["echo f | sudo tee /sys/class/net/eth0/queues/rx-0/rps_cpus"]);
        let isolated = ("/sys/devices/system/cpu/isolated", "2-3\n");
        assert!(commands(&RULE, &[UP, DEVICE, ONLINE, isolated, (MASK, "0\n")])[0].starts_with("echo 3 "));
        assert_eq!(commands(&RULE, &[UP, DEVICE, ONLINE, (MASK, "00\n")])[0].split(' ').nth(1), Some("0f"));
        assert_eq!(word(&RULE, &[UP, DEVICE, ONLINE, (MASK, "f\n")]), "fine");
        let two = [UP, DEVICE, ONLINE, (MASK, "0\n"), ("/sys/class/net/eth0/queues/rx-1/rps_cpus", "0\n")];
        assert_eq!(word(&RULE, &two), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, ONLINE]), "hidden");
    }
}
