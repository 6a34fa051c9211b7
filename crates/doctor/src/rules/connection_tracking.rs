//! `connection-tracking`: a firewall that looks up every datagram.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "connection-tracking",
    topic: Topic::Network,
    title: "Connection tracking",
    mechanism: "A firewall with connection tracking looks up every datagram. When its table is full, it drops new \
                connections, including a radio's streams.",
    looks_at: "`nf_conntrack_count` and `nf_conntrack_max`. A problem above 90 % of the table. A notice if the table \
               has entries.",
    probe,
    known: "A router that also translated addresses carried 193 to 201 thousand datagrams per second; a bridge carried \
            200 to 226 thousand (veth, Linux 6.18). Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "nft add rule inet raw prerouting ip saddr RADIO notrack   (needs a table `raw` with priority -300; add the \
         same rule to output, with ip daddr)",
    ])),
    ..Rule::COMMON
};

const FOLDER: &str = "/proc/sys/net/netfilter";

fn probe(host: &Host) -> Look {
    let names = host.list("/proc/sys/net");
    if names.is_empty() {
        return hidden("this kernel shows no network settings");
    }
    if host.list(FOLDER).iter().all(|name| !name.starts_with("nf_conntrack_")) {
        return fine("not in this kernel");
    }
    let (count, most) = (
        host.read_number(&format!("{FOLDER}/nf_conntrack_count"))?,
        host.read_number(&format!("{FOLDER}/nf_conntrack_max"))?,
    );
    if most <= 0 {
        return Err(malformed(FOLDER, "a table size above 0", &most.to_string()));
    }
    let observed = format!("{count} of {most} entries");
    if i128::from(count) * 10 > i128::from(most) * 9 {
        problem(observed, "room in the table")
    } else if count > 0 {
        notice(observed, "the firewall looks up a radio's datagrams, which need no tracking")
    } else {
        fine(observed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_is_a_problem_and_a_used_one_is_noted() {
        let most = ("/proc/sys/net/netfilter/nf_conntrack_max", "1000\n");
        let count = "/proc/sys/net/netfilter/nf_conntrack_count";
        assert_eq!(word(&RULE, &[most, (count, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[most, (count, "4\n")]), "notice");
        assert_eq!(verdict(&RULE, &[most, (count, "901\n")]), ("problem", "901 of 1000 entries".to_owned()));
        assert_eq!(word(&RULE, &[most]), "hidden");
        assert_eq!(word(&RULE, &[("/proc/sys/net/core/rmem_max", "1\n")]), "fine");
    }
}
