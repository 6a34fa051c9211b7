//! `nic-speed`: a link that is slower than the radio.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-speed",
    topic: Topic::Network,
    title: "Slow link",
    mechanism: "25 MS/s of sc16 are 0.83 Gb/s on the wire; a link that has settled on 100 Mb/s, or on one direction at a time, \
                carries an eighth of that.",
    looks_at: "`speed` and `duplex` of each card. Stands below 1000 Mb/s or at half duplex.",
    probe,
    known: "At 100 Mb/s an N200 gets 2 to 3 MS/s through. Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "another cable (all four pairs), or a port of the switch that does a gigabit; then: ip link set INTERFACE \
         down, up",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let speed = host.read_number(&format!("{NET}/{card}/speed"))?;
        if speed <= 0 {
            return hidden("its driver tells no speed");
        }
        let duplex = text(host, &format!("{NET}/{card}/duplex"))?;
        let observed = format!("{speed} Mb/s, {duplex} duplex");
        if speed < 1000 || duplex == "half" { stands(observed, "1000 Mb/s, full duplex") } else { fine(observed) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_or_half_link_stands_and_one_that_does_not_say_is_hidden() {
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
        assert_eq!(of("100\n", "full\n"), ("stands", "eth0: 100 Mb/s, full duplex".to_owned()));
        assert_eq!(of("1000\n", "half\n").0, "stands");
        assert_eq!(of("-1\n", "unknown\n").0, "hidden");
    }
}
