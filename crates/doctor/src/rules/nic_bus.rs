//! `nic-bus`: the card's bus is slower than its link.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-bus",
    topic: Topic::Network,
    title: "Bus slower than the link",
    mechanism: "Some cards receive more than their bus can carry, and drop the rest. Examples are a gigabit adapter on \
                a USB 2 port and a 10 Gb/s card in a slot with one lane.",
    looks_at: "`speed` of each card, and the speed of its USB port or the lanes and rate of its PCI Express link. A \
               problem if the bus carries less than the link.",
    probe,
    known: "USB 2 carries 480 Mb/s, half of what 25 MS/s sc16 needs. One PCI Express lane carries 2 Gb/s in the first \
            generation, and 4, 7.9 and 15.8 Gb/s in the next three. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "use a USB 3 port and cable, or a slot with more lanes; compare LnkSta and LnkCap in the output of lspci -vv",
    ])),
    ..Rule::COMMON
};

/// The capacity of a card's bus, Mb/s, and its name; `None` if the bus does not report it.
fn bus(host: &Host, card: &str) -> Option<(f64, String)> {
    let at = |file: &str| host.read_opt(&format!("{NET}/{card}/device/{file}"));
    if let (Some(rate), Some(lanes)) = (at("current_link_speed"), at("current_link_width")) {
        let (per_lane, lanes) = (rate.split(' ').next()?.parse::<f64>().ok()?, lanes.parse::<f64>().ok()?);
        // Up to 5 GT/s ten bits carry eight, from 8 GT/s on 130 carry 128.
        let share = if per_lane < 8.0 { 0.8 } else { 128.0 / 130.0 };
        let carries = per_lane * lanes * share * 1000.0;
        return (carries > 0.0).then(|| (carries, format!("PCI Express, {lanes} x {rate}")));
    }
    // An interface of a USB device; the device is the folder above it, and its speed is in Mb/s.
    at("bInterfaceNumber")?;
    let mbps = at("../speed")?.parse::<f64>().ok().filter(|&mbps| mbps > 0.0)?;
    Some((mbps, format!("USB at {mbps} Mb/s")))
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let speed = host.read_number(&format!("{NET}/{card}/speed"))?;
        if speed <= 0 {
            return hidden("its driver reports no speed");
        }
        let Some((carries, name)) = bus(host, card) else { return hidden("its bus reports no speed") };
        let observed = format!("{speed} Mb/s behind {name}");
        if carries < speed as f64 { problem(observed, format!("a bus of {speed} Mb/s")) } else { fine(observed) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(rate: &str, lanes: &str, mbps: &str) -> (&'static str, String) {
        let at = "/sys/class/net/eth0/device";
        let (rate_at, lanes_at) = (format!("{at}/current_link_speed"), format!("{at}/current_link_width"));
        let speed = ("/sys/class/net/eth0/speed", mbps);
        verdict(&RULE, &[UP, DEVICE, speed, (&rate_at, rate), (&lanes_at, lanes)])
    }

    #[test]
    fn a_slot_that_carries_less_than_the_cable_is_a_problem() {
        let (word_, observed) = slot("5.0 GT/s PCIe\n", "1\n", "10000\n");
        assert_eq!((word_, observed.as_str()), ("problem", "eth0: 10000 Mb/s behind PCI Express, 1 x 5.0 GT/s PCIe"));
        assert_eq!(slot("5.0 GT/s PCIe\n", "4\n", "10000\n").0, "fine");
        assert_eq!(slot("2.5 GT/s PCIe\n", "1\n", "1000\n").0, "fine");
        assert_eq!(slot("Unknown\n", "1\n", "1000\n").0, "hidden");
    }

    #[test]
    fn an_adapter_at_usb_2_is_a_problem() {
        let of = |port| {
            let tree =
                Tree::new().with("/sys/class/net/eth0/operstate", "up\n").with("/sys/class/net/eth0/speed", "1000\n");
            tree.put("/sys/devices/usb1/1-1/speed", port);
            tree.put("/sys/devices/usb1/1-1/1-1:1.0/bInterfaceNumber", "00\n");
            let device = tree.root().join("sys/class/net/eth0/device");
            std::os::unix::fs::symlink("../../../devices/usb1/1-1/1-1:1.0", device).unwrap();
            format!("{:?}", probe(&tree.host()).unwrap())
        };
        assert!(
            of("480\n").contains("Problem") && of("480\n").contains("1000 Mb/s behind USB at 480 Mb/s"),
            "{}",
            of("480\n")
        );
        assert!(of("5000\n").contains("Fine"), "{}", of("5000\n"));
    }

    #[test]
    fn a_bus_or_a_card_that_reports_no_speed_is_not_fine() {
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/sys/class/net/eth0/speed", "1000\n")]), "hidden");
        assert_eq!(word(&RULE, &[UP, DEVICE, ("/sys/class/net/eth0/speed", "-1\n")]), "hidden");
        assert_eq!(word(&RULE, &[UP, DEVICE]), "hidden");
    }
}
