//! `nic-offloads`: joining of segments, which UDP does not gain from.

use takt_host::Host;

use super::look::{Look, each_card, fine, notice};
use crate::card::CardFact;
use crate::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "nic-offloads",
    topic: Topic::Network,
    title: "Joining of segments in the card",
    mechanism: "LRO joins TCP segments, never a radio's UDP; where this machine also forwards, it changes packets on the \
                way. GRO leaves UDP alone unless a socket or a forwarding path asks for it.",
    looks_at: "LRO of each card. Never stands: switching it off for a radio's sake is folklore. On is noted.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect { known: "Nothing for UDP.", here: None },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| match CardFact::Lro.read(host, card)?.now {
        0 => fine("LRO off"),
        _ => notice("LRO on", "of no account for a radio"),
    })
}

fn advise(_: &Host) -> Vec<String> {
    vec!["leave it; where this machine forwards: sudo ethtool -K INTERFACE lro off".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::word;
    use super::*;

    const UP: (&str, &str) = ("/sys/class/net/eth0/operstate", "up\n");
    const DEVICE: (&str, &str) = ("/sys/class/net/eth0/device/uevent", "DRIVER=igb\n");

    #[test]
    fn joining_is_noted() {
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/ethtool/eth0/lro", "0\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/ethtool/eth0/lro", "1\n")]), "notice");
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
        assert_eq!(word(&RULE, &[]), "hidden");
    }
}
