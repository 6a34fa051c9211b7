//! `nic-offloads`: joining of segments, which UDP does not gain from.

use super::look::*;
use crate::card::CardFact;

pub(super) static RULE: Rule = Rule {
    id: "nic-offloads",
    topic: Topic::Network,
    title: "Joining of segments in the card",
    mechanism: "LRO joins TCP segments, never a radio's UDP; where this machine also forwards, it changes packets on the \
                way. GRO leaves UDP alone unless a socket or a forwarding path asks for it.",
    looks_at: "LRO of each card. Never stands: switching it off for a radio's sake is folklore. On is noted.",
    probe,
    known: "Nothing for UDP.",
    fix: Fix::Advice(Ways::Always(&["leave it; where this machine forwards: sudo ethtool -K INTERFACE lro off"])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| match CardFact::Lro.read(host, card)?.now {
        0 => fine("LRO off"),
        _ => notice("LRO on", "of no account for a radio"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_is_noted() {
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/ethtool/eth0/lro", "0\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/ethtool/eth0/lro", "1\n")]), "notice");
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
