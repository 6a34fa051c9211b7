//! `network-permission`: what paths beside plain sockets need.

use takt_base::words::list;
use takt_host::call;
use takt_host::capability::{self, CapabilitySet};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "network-permission",
    topic: Topic::Permissions,
    title: "Fast paths not permitted",
    mechanism: "Packet rings, AF_XDP and namespaces pass by the socket layer, which carries less than they do; the kernel \
                lets only some programs have them.",
    looks_at: "CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF of this process, or CAP_SYS_ADMIN in place of the last. Never stands: the \
               engines that are plain sockets, `mmsg` among them, need none.",
    probe,
    known: "Engine `xdp` carried 1.1 times what `mmsg` did and 1.3 times what `socket` did of datagrams of 1472 bytes, 1.2 \
            and 1.5 times of 64 bytes (veth, Linux 6.18, 2 virtual CPUs). Not measured here.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let path = "/proc/self/status";
    let text = host.read(path)?;
    let own = capability::of(host).ok_or_else(|| malformed(path, "a line CapEff", &text))?;
    // Before Linux 5.8, which has no CAP_BPF, the other is what loads a program.
    let admin = own.contains(CapabilitySet::SYS_ADMIN);
    let loads = if admin { CapabilitySet::SYS_ADMIN } else { CapabilitySet::BPF };
    let wanted = [CapabilitySet::NET_RAW, CapabilitySet::NET_ADMIN, loads];
    let named = |some: &[CapabilitySet]| list(&some.iter().copied().flat_map(capability::names).collect::<Vec<_>>());
    let missing: Vec<CapabilitySet> = wanted.into_iter().filter(|&one| !own.contains(one)).collect();
    if missing.is_empty() {
        fine(named(&wanted))
    } else {
        notice(
            format!("without {}", named(&missing)),
            "AF_XDP programs and `takt check` over a virtual cable need them; takt's sockets do not",
        )
    }
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        format!("{}   (namespaces need CAP_SYS_ADMIN as well)", call::sudo_takt("check")),
        "for a program with AF_XDP: sudo setcap cap_net_raw,cap_net_admin,cap_bpf+ep PROGRAM   (cap_bpf: Linux 5.8 on)"
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_capability_is_named() {
        let of = |mask: &str| format!("Name:\tx\nCapEff:\t{mask}\n");
        let file = "/proc/self/status";
        for (mask, want, said) in [
            ("0000008000003000", "fine", "CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF"),
            ("0000000000203000", "fine", "CAP_NET_RAW, CAP_NET_ADMIN and CAP_SYS_ADMIN"),
            ("0000000000003000", "notice", "without CAP_BPF"), // a container with the first two: engine xdp is refused
            ("0000008000002000", "notice", "without CAP_NET_ADMIN"),
            ("0000000000000000", "notice", "without CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF"),
        ] {
            let (word_, observed) = verdict(&RULE, &[(file, &of(mask))]);
            assert_eq!((word_, observed.as_str()), (want, said), "{mask}");
        }
        assert_eq!(word(&RULE, &[(file, "Name:\tx\n")]), "hidden");
    }
}
