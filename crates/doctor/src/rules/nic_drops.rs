//! `nic-drops`: datagrams that the card itself lost.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-drops",
    topic: Topic::Network,
    title: "Datagrams lost in the card",
    mechanism: "The card drops datagrams when it has no free descriptor or when they arrive damaged. No program ever \
                sees them.",
    looks_at: "`rx_missed_errors`, `rx_fifo_errors` and `rx_crc_errors` of each card since boot. A problem above one \
               per million packets.",
    probe,
    known: "Each lost datagram is a gap in a stream of samples. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "for missed and fifo errors, see nic-ring, irq-spread and load",
        "for crc errors, try another cable and another port",
    ])),
    ..Rule::COMMON
};

const KINDS: [&str; 3] = ["rx_missed_errors", "rx_fifo_errors", "rx_crc_errors"];

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let packets = statistic(host, card, "rx_packets")?;
        let mut lost = Vec::new();
        for kind in KINDS {
            lost.push((kind, statistic(host, card, kind)?));
        }
        let all: u64 = lost.iter().map(|&(_, count)| count).fold(0, u64::saturating_add);
        if packets == 0 && all == 0 {
            return hidden("nothing has been received yet");
        }
        let kinds: Vec<String> =
            lost.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{kind} {count}")).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        let observed = format!("{kinds} of {packets} packets");
        if u128::from(all) * 1_000_000 > u128::from(packets) {
            problem(observed, "less than one in a million")
        } else {
            fine(observed)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(packets: &str, missed: &str) -> (&'static str, String) {
        let file = |name: &str| format!("/sys/class/net/eth0/statistics/{name}");
        let names = ["rx_packets", "rx_missed_errors", "rx_fifo_errors", "rx_crc_errors"].map(file);
        let mut files: Vec<(&str, &str)> =
            names.iter().map(String::as_str).zip([packets, missed, "0\n", "0\n"]).collect();
        files.push(("/sys/class/net/eth0/operstate", "up\n"));
        files.push(("/sys/class/net/eth0/device/uevent", "DRIVER=igb\n"));
        verdict(&RULE, &files)
    }

    #[test]
    fn more_than_one_in_a_million_is_a_problem() {
        assert_eq!(of("5000000\n", "5\n").0, "fine");
        assert_eq!(of("5000000\n", "6\n"), ("problem", "eth0: rx_missed_errors 6 of 5000000 packets".to_owned()));
        assert_eq!(of("0\n", "0\n").0, "hidden");
        assert_eq!(of("x\n", "0\n").0, "hidden");
    }
}
