//! `same-network`: two interfaces with addresses in the radio's network.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "same-network",
    topic: Topic::Network,
    title: "Two interfaces in one network",
    mechanism: "If two interfaces have addresses in the same network, the kernel sends through one of them, no matter \
                which one leads to the radio. Whether the radio is found, and streams, then depends on the order in \
                which the interfaces came up.",
    looks_at: "Networks reached without a gateway (`/proc/net/route`). A problem if two interfaces reach one with the \
               same metric; a notice if the metrics differ, since they then decide.",
    probe,
    known: "Everything: nothing arrives from the radio. Radios ship with the address 192.168.10.2. Not measured on \
            this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "give the radio's interface its own network, or remove the address from the other: ip addr del ADDRESS dev \
         INTERFACE",
    ])),
    ..Rule::COMMON
};

/// A route without a gateway.
struct Near {
    network: (u32, u32),
    metric: u32,
    interface: String,
}

/// The kernel's table: columns 1 to 3 are network, gateway and flags, 6 and 7 are metric and mask. Addresses are in network
/// byte order: on a little-endian machine, the lowest byte of the number is the first of the address.
fn near(host: &Host) -> Result<Vec<Near>, ReadError> {
    let path = "/proc/net/route";
    let text = host.read(path)?;
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let hex = |at: usize| u32::from_str_radix(words.get(at)?, 16).ok();
        let (network, gateway, mask) = (hex(1)?, hex(2)?, hex(7)?);
        let metric = words.get(6)?.parse().ok()?;
        Some((gateway, Near { network: (network, mask), metric, interface: (*words.first()?).to_owned() }))
    };
    let rows =
        text.lines().skip(1).map(|line| row(line).ok_or_else(|| malformed(path, "rows of a routing table", line)));
    let rows = rows.collect::<Result<Vec<_>, ReadError>>()?;
    // Without a mask it is the default route.
    Ok(rows.into_iter().filter(|(gateway, near)| *gateway == 0 && near.network.1 != 0).map(|(_, near)| near).collect())
}

/// `192.168.10.0/24`.
fn written((network, mask): (u32, u32)) -> String {
    format!("{}/{}", std::net::Ipv4Addr::from(network.to_le_bytes()), mask.count_ones())
}

fn probe(host: &Host) -> Look {
    let near = near(host)?;
    if near.is_empty() {
        return hidden("no interface has its own network");
    }
    let mut noted = None;
    for (at, one) in near.iter().enumerate() {
        let same = |other: &&Near| other.network == one.network && other.interface != one.interface;
        for other in near[at + 1..].iter().filter(same) {
            let observed = format!("{} on {} and {}", written(one.network), one.interface, other.interface);
            if one.metric == other.metric {
                return problem(observed, "one interface per network");
            }
            let first = if one.metric < other.metric { one } else { other };
            let note = format!("everything goes through {}; correct if the radio is behind it", first.interface);
            noted = noted.or(Some((observed, note)));
        }
    }
    match noted {
        Some((observed, note)) => notice(observed, note),
        None => fine("each network has one interface"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

    fn of(rows: &[(&str, &str, &str, u32, &str)]) -> (&'static str, String) {
        let row = |&(name, network, gateway, metric, mask): &(&str, &str, &str, u32, &str)| {
            format!("{name}\t{network}\t{gateway}\t0001\t0\t0\t{metric}\t{mask}\t0\t0\t0\n")
        };
        let table = rows.iter().map(row).fold(HEAD.to_owned(), |table, row| table + &row);
        verdict(&RULE, &[("/proc/net/route", &table)])
    }

    #[test]
    fn a_network_behind_two_interfaces_is_a_problem() {
        let eth0 = ("eth0", "000AA8C0", "00000000", 0, "00FFFFFF");
        let default = ("eth0", "00000000", "010AA8C0", 0, "00000000");
        let other = ("eth1", "000BA8C0", "00000000", 0, "00FFFFFF");
        assert_eq!(of(&[default, eth0, other]).0, "fine");
        let same = ("eth1", "000AA8C0", "00000000", 0, "00FFFFFF");
        assert_eq!(of(&[default, eth0, same]), ("problem", "192.168.10.0/24 on eth0 and eth1".to_owned()));
        let later = ("wlan0", "000AA8C0", "00000000", 600, "00FFFFFF");
        assert_eq!(of(&[eth0, later]).0, "notice");
        assert_eq!(of(&[eth0, eth0]).0, "fine");
    }

    #[test]
    fn a_table_that_is_empty_missing_or_odd_is_not_fine() {
        assert_eq!(of(&[]).0, "hidden");
        assert_eq!(of(&[("eth0", "x", "y", 0, "z")]).0, "hidden");
    }
}
