//! `nic-ring`: the card's receive ring.

use super::look::*;
use crate::card::{CardFact, CardValue};

pub(super) static RULE: Rule = Rule {
    id: "nic-ring",
    topic: Topic::Network,
    title: "Short receive ring",
    mechanism: "The card puts datagrams into a ring in memory. If the kernel is delayed for longer than the ring \
                lasts, the card drops datagrams.",
    looks_at: "The size of the driver's receive ring and its maximum (`ethtool -g`). A problem below 4096, or below \
               the maximum if that is smaller.",
    probe,
    known: "At 25 MS/s sc16, 256 descriptors last 3.7 ms and 4096 last 59 ms. Not measured on this host.",
    fix: Fix::Consent { plan, affects: "everything behind this card: most drivers take the link down for a moment." },
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
        if ring.now < wanted { problem(observed, format!("{wanted}")) } else { fine(observed) }
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
    fn a_ring_shorter_than_the_driver_takes_is_a_problem() {
        assert_eq!(word(&RULE, &[UP, DEVICE, (RING, "4096 8192\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, (RING, "1024 1024\n")]), "fine");
        let short = [UP, DEVICE, (RING, "256 8192\n")];
        assert_eq!(verdict(&RULE, &short), ("problem", "eth0: 256 descriptors, at most 8192".to_owned()));
        assert_eq!(commands(&RULE, &short), ["sudo ethtool -G eth0 rx 4096"]);
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
