//! `nic-mtu`: an MTU smaller than a radio's frames.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-mtu",
    topic: Topic::Network,
    title: "MTU smaller than a radio's frames",
    mechanism: "A radio sends datagrams of 1472 bytes in frames of 1500 bytes. With a smaller MTU they are fragmented \
                or dropped. Shorter frames also mean more of them for the same samples.",
    looks_at: "The MTU of each card. A problem below 1500. Radios at 10 Gb/s (X310) send frames of 8000 bytes: on a \
               card of that speed, an MTU below 9000 is a notice.",
    probe,
    known: "The cost is per datagram: 3.3 µs each in this kernel's own path, whether it has 16 or 1472 bytes. \
            8000-byte frames carry the same samples in a fifth of the datagrams. Not measured on this host.",
    fix: Fix::Consent { plan, affects: "everything behind this card, if the network does not carry such frames." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const WANTED_BYTES: i64 = 1500;
/// The MTU that UHD's manual recommends for a card of 10 Gb/s.
const JUMBO_BYTES: i64 = 9000;
const JUMBO_MBPS: i64 = 10_000;

/// The wanted MTU: by the card's speed, if it reports one. If not even ordinary frames pass, these come first.
fn wanted(host: &Host, card: &str, bytes: i64) -> i64 {
    let fast = || host.read_number(&format!("{NET}/{card}/speed")).is_ok_and(|mbps| mbps >= JUMBO_MBPS);
    if bytes >= WANTED_BYTES && fast() { JUMBO_BYTES } else { WANTED_BYTES }
}

fn mtu(host: &Host, card: &str) -> Result<i64, ReadError> {
    host.read_number(&format!("{NET}/{card}/mtu"))
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let bytes = mtu(host, card)?;
        let observed = format!("{bytes} B");
        if bytes < WANTED_BYTES {
            problem(observed, format!("{WANTED_BYTES} B"))
        } else if bytes < wanted(host, card, bytes) {
            notice(observed, format!("a radio at 10 Gb/s needs {JUMBO_BYTES} B, on every switch on the path too"))
        } else {
            fine(observed)
        }
    })
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for card in cards(host) {
        let Ok(bytes) = mtu(host, &card) else { continue };
        let wanted = wanted(host, &card, bytes);
        if bytes < wanted {
            changes.extend(becomes(host, Setting::Sysfs(format!("class/net/{card}/mtu")), &wanted.to_string())?);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: &str = "/sys/class/net/eth0/mtu";

    #[test]
    fn short_frames_are_a_problem() {
        assert_eq!(word(&RULE, &[UP, DEVICE, (MTU, "1500\n")]), "fine");
        let short = [UP, DEVICE, (MTU, "1400\n")];
        assert_eq!(verdict(&RULE, &short), ("problem", "eth0: 1400 B".to_owned()));
        assert_eq!(commands(&RULE, &short), ["echo 1500 | sudo tee /sys/class/net/eth0/mtu"]);
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }

    #[test]
    fn a_card_of_ten_gigabits_is_advised_longer_frames() {
        let of = |bytes, mbps| [UP, DEVICE, (MTU, bytes), ("/sys/class/net/eth0/speed", mbps)];
        assert_eq!(word(&RULE, &of("1500\n", "1000\n")), "fine");
        assert_eq!(word(&RULE, &of("9000\n", "10000\n")), "fine");
        assert_eq!(word(&RULE, &of("1500\n", "10000\n")), "notice");
        assert_eq!(commands(&RULE, &of("1500\n", "10000\n")), ["echo 9000 | sudo tee /sys/class/net/eth0/mtu"]);
    }

    #[test]
    fn an_interface_that_was_named_is_looked_at_though_nothing_is_behind_it() {
        let (_tree, host) = host_of(&[("/sys/class/net/veth0/mtu", "9000\n"), UP, DEVICE, (MTU, "1400\n")]);
        let of = |name| format!("{:?}", probe(&host.clone().for_interface(name)).unwrap());
        assert!(of("veth0").starts_with("Fine") && of("eth7").contains("there is no interface eth7"));
    }
}
