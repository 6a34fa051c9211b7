//! `nic-speed`: the link is slower than the radio.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-speed",
    topic: Topic::Network,
    title: "Slow link",
    mechanism: "25 MS/s of sc16 need 0.83 Gb/s on the wire. A link that negotiated 100 Mb/s carries an eighth of that; \
                a half-duplex link carries only one direction at a time.",
    looks_at: "`speed` and `duplex` of each card. A problem below 1000 Mb/s or at half duplex.",
    probe,
    known: "At 100 Mb/s, an N200 gets 2 to 3 MS/s through. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "use another cable (all four pairs) or a gigabit port of the switch; then: ip link set INTERFACE down, up",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let speed = host.read_number(&format!("{NET}/{card}/speed"))?;
        if speed <= 0 {
            return hidden("its driver reports no speed");
        }
        let duplex = text(host, &format!("{NET}/{card}/duplex"))?;
        let observed = format!("{speed} Mb/s, {duplex} duplex");
        if speed < 1000 || duplex == "half" { problem(observed, "1000 Mb/s, full duplex") } else { fine(observed) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_or_half_link_is_a_problem_and_one_that_does_not_say_is_hidden() {
        let of = |speed: &str, duplex: &str| {
            verdict(
                &RULE,
                &[
                    ("/sys/class/net/eth0/operstate", "up\n"),
                    ("/sys/class/net/eth0/device/uevent", "DRIVER=igb\n"),
                    ("/sys/class/net/eth0/speed", speed),
                    ("/sys/class/net/eth0/duplex", duplex),
                ],
            )
        };
        assert_eq!(of("1000\n", "full\n").0, "fine");
        assert_eq!(of("100\n", "full\n"), ("problem", "eth0: 100 Mb/s, full duplex".to_owned()));
        assert_eq!(of("1000\n", "half\n").0, "problem");
        assert_eq!(of("-1\n", "unknown\n").0, "hidden");
    }
}
