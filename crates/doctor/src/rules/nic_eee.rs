//! `nic-eee`: a cable that sleeps between two datagrams.

use super::look::*;
use crate::card::CardFact;

pub(super) static RULE: Rule = Rule {
    id: "nic-eee",
    topic: Topic::Network,
    title: "Energy-Efficient Ethernet",
    mechanism: "Between two datagrams card and switch put the cable to sleep, and the next one waits until it is awake; some \
                cards lose the link over it.",
    looks_at: "Whether the driver has it switched on (`ethtool --show-eee`). Never stands, for both ends have to agree to it; \
               on is noted.",
    probe,
    known: "16.5 µs a wake-up at 1 Gb/s and some 5 to 8 µs at 10 Gb/s, by the standard (IEEE 802.3az). Not measured here: \
            it takes a card.",
    fix: Fix::Consent { plan, who_may_pay: "everybody behind this card: the link goes down for a moment; and power." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| match CardFact::Eee.read(host, card)?.now {
        0 => fine("EEE off"),
        _ => notice("EEE on", "of account where answers have less than a millisecond, or a link comes and goes"),
    })
}

fn plan(host: &Host) -> Plan {
    plan_cards(host, |card| becomes(host, Setting::Card { interface: card.to_owned(), fact: CardFact::Eee }, "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cable_that_may_sleep_is_noted() {
        let fact = "/ethtool/eth0/eee";
        let on = [UP, DEVICE, (fact, "1\n")];
        assert_eq!(verdict(&RULE, &on), ("notice", "eth0: EEE on".to_owned()));
        assert_eq!(commands(&RULE, &on), ["sudo ethtool --set-eee eth0 eee off"]);
        assert_eq!(word(&RULE, &[UP, DEVICE, (fact, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
