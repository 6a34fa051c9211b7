//! `nic-flow-control`: without pause frames, full buffers drop datagrams.

use super::look::*;
use crate::card::CardFact;

pub(super) static RULE: Rule = Rule {
    id: "nic-flow-control",
    topic: Topic::Network,
    title: "No flow control",
    mechanism: "Pause frames let a card, a switch and a radio wait for a moment when a buffer is nearly full. Without \
                them, the buffer overflows and drops datagrams.",
    looks_at: "Receive pause of each card (`ethtool -a`). A problem if it is off.",
    probe,
    known: "Part of a burst is lost if the burst is longer than the smallest buffer on the path. Not measured: it \
            takes a card and a radio.",
    fix: Fix::Consent { plan, affects: "everything behind this card: the link goes down for a moment." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| match CardFact::RxPause.read(host, card)?.now {
        0 => problem("pause frames off", "receive pause on"),
        _ => fine("receive pause on"),
    })
}

fn plan(host: &Host) -> Plan {
    plan_cards(host, |card| becomes(host, Setting::Card { interface: card.to_owned(), fact: CardFact::RxPause }, "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: &str = "/ethtool/eth0/rx_pause";

    #[test]
    fn a_card_without_pause_frames_is_a_problem() {
        assert_eq!(word(&RULE, &[UP, DEVICE, (PAUSE, "1\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, (PAUSE, "0\n")]), "problem");
        assert_eq!(commands(&RULE, &[UP, DEVICE, (PAUSE, "0\n")]), ["sudo ethtool -A eth0 rx on"]);
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
