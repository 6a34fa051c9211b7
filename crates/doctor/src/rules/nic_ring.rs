//! `nic-ring`: the card's own queue.

use super::look::*;
use crate::card::{CardFact, CardValue};

pub(super) static RULE: Rule = Rule {
    id: "nic-ring",
    topic: Topic::Network,
    title: "Short receive ring",
    mechanism: "The card puts datagrams into a ring in memory; while the kernel is held up longer than the ring lasts, the \
                card drops what comes.",
    looks_at: "The driver's receive ring and the most it takes (`ethtool -g`). Stands below the smaller of that and 4096.",
    probe,
    known: "256 descriptors are 3.7 ms of 25 MS/s sc16, 4096 are 59 ms. Not measured here.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "everybody behind this card: most drivers take the link down for a moment.",
    },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const ENOUGH: u32 = 4096;

fn wanted(ring: CardValue) -> u32 {
    ring.most.map_or(ring.now, |most| most.min(ENOUGH)).max(ring.now)
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let ring = CardFact::RxRing.read(host, card)?;
        let most = ring.most.map_or("unknown".to_owned(), |most| most.to_string());
        let observed = format!("{} descriptors, at most {most}", ring.now);
        let wanted = wanted(ring);
        if ring.now < wanted { stands(observed, format!("{wanted}")) } else { fine(observed) }
    })
}

fn plan(host: &Host) -> Plan {
    plan_cards(host, |card| {
        let setting = Setting::Card { interface: card.to_owned(), fact: CardFact::RxRing };
        let ring = CardFact::RxRing.read(host, card);
        ring.map_or_else(|_| Ok(Vec::new()), |ring| becomes(host, setting, &wanted(ring).to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: &str = "/ethtool/eth0/rx_ring";

    #[test]
    fn a_ring_shorter_than_the_driver_takes_stands() {
        assert_eq!(word(&RULE, &[UP, DEVICE, (RING, "4096 8192\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, (RING, "1024 1024\n")]), "fine");
        let short = [UP, DEVICE, (RING, "256 8192\n")];
        assert_eq!(verdict(&RULE, &short), ("stands", "eth0: 256 descriptors, at most 8192".to_owned()));
        assert_eq!(commands(&RULE, &short), ["sudo ethtool -G eth0 rx 4096"]);
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
