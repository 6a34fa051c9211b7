//! `nic-coalescing`: the card delays its interrupts.

use super::look::*;
use crate::card::CardFact;

pub(super) static RULE: Rule = Rule {
    id: "nic-coalescing",
    topic: Topic::Network,
    title: "Delayed interrupts of the card",
    mechanism: "To save interrupts, a card or the kernel's receive code holds datagrams back for a while. Each answer \
                to a radio is late by that time.",
    looks_at: "`rx-usecs` and `adaptive-rx` of each card (`ethtool -c`), and the interface's `gro_flush_timeout`. A \
               problem above 100 µs. A notice if the driver chooses the delay (`adaptive-rx on`), since `rx-usecs` is \
               then valid only for a moment.",
    probe,
    known: "At most that time for each datagram that arrives alone. Not measured on this host.",
    fix: Fix::Consent { plan, affects: "CPU time: more interrupts." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const MOST_US: i64 = 100;
const WANTED_US: &str = "20";

fn flush_timeout_ns(host: &Host, card: &str) -> Result<i64, ReadError> {
    host.read_number(&format!("{NET}/{card}/gro_flush_timeout"))
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let kernel_us = flush_timeout_ns(host, card)? / 1000;
        let limit = format!("at most {MOST_US} µs");
        if kernel_us > MOST_US {
            return problem(format!("gro_flush_timeout {kernel_us} µs"), limit);
        }
        // A driver without the request tells no delay; a virtual interface has none.
        let card_us = i64::from(CardFact::RxUsecs.read(host, card)?.now);
        let adaptive = CardFact::AdaptiveRx.read(host, card)?.now != 0;
        let chosen = if adaptive { " now, chosen by the driver (adaptive-rx on)" } else { "" };
        let observed = format!("rx-usecs {card_us}{chosen}, gro_flush_timeout {kernel_us} µs");
        if card_us > MOST_US {
            problem(observed, limit)
        } else if adaptive {
            notice(observed, "under load, the driver decides how late answers are; a fixed delay is known")
        } else {
            fine(observed)
        }
    })
}

fn plan(host: &Host) -> Plan {
    let mut changes = plan_cards(host, |card| {
        let setting = |fact| Setting::Card { interface: card.to_owned(), fact };
        let reads =
            |fact: CardFact, more_than| fact.read(host, card).is_ok_and(|value| i64::from(value.now) > more_than);
        let adaptive = reads(CardFact::AdaptiveRx, 0);
        let mut changes = Vec::new();
        if adaptive {
            // First: while it chooses, a driver refuses a delay, or makes another of it.
            changes.extend(becomes(host, setting(CardFact::AdaptiveRx), "0")?);
        }
        if adaptive || reads(CardFact::RxUsecs, MOST_US) {
            changes.extend(becomes(host, setting(CardFact::RxUsecs), WANTED_US)?);
        }
        Ok(changes)
    })?;
    for card in cards(host).iter().filter(|card| flush_timeout_ns(host, card).is_ok_and(|ns| ns / 1000 > MOST_US)) {
        changes.extend(becomes(host, Setting::Sysfs(format!("class/net/{card}/gro_flush_timeout")), "0")?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLUSH: (&str, &str) = ("/sys/class/net/eth0/gro_flush_timeout", "0\n");
    const USECS: &str = "/ethtool/eth0/rx_usecs";
    const ADAPTIVE: &str = "/ethtool/eth0/adaptive_rx";
    const FIXED: (&str, &str) = (ADAPTIVE, "0\n");

    #[test]
    fn a_card_and_a_kernel_that_wait_long_are_a_problem() {
        assert_eq!(word(&RULE, &[UP, DEVICE, FLUSH, FIXED, (USECS, "20\n")]), "fine");
        let card = [UP, DEVICE, FLUSH, FIXED, (USECS, "250\n")];
        assert_eq!(verdict(&RULE, &card), ("problem", "eth0: rx-usecs 250, gro_flush_timeout 0 µs".to_owned()));
        assert_eq!(commands(&RULE, &card), ["sudo ethtool -C eth0 rx-usecs 20"]);
        let kernel = [UP, DEVICE, (FLUSH.0, "200000\n"), FIXED, (USECS, "20\n")];
        assert_eq!(word(&RULE, &kernel), "problem");
        assert_eq!(commands(&RULE, &kernel), ["echo 0 | sudo tee /sys/class/net/eth0/gro_flush_timeout"]);
        assert_eq!(word(&RULE, &[UP, DEVICE, FLUSH]), "hidden");
        assert_eq!(word(&RULE, &[UP, DEVICE, FLUSH, (USECS, "20\n")]), "hidden");
    }

    #[test]
    fn a_driver_that_chooses_the_delay_is_noted_and_told_one() {
        let adaptive = [UP, DEVICE, FLUSH, (USECS, "8\n"), (ADAPTIVE, "1\n")];
        let observed = "eth0: rx-usecs 8 now, chosen by the driver (adaptive-rx on), gro_flush_timeout 0 µs";
        assert_eq!(verdict(&RULE, &adaptive), ("notice", observed.to_owned()));
        let fixed = ["sudo ethtool -C eth0 adaptive-rx off", "sudo ethtool -C eth0 rx-usecs 20"];
        assert_eq!(commands(&RULE, &adaptive), fixed);
        let late = [UP, DEVICE, FLUSH, (USECS, "256\n"), (ADAPTIVE, "1\n")];
        assert_eq!(word(&RULE, &late), "problem");
        assert_eq!(commands(&RULE, &late), fixed);
    }
}
