//! `socket-buffer-default`: programs that do not ask get little.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "socket-buffer-default",
    topic: Topic::Sockets,
    title: "Small default of socket buffers",
    mechanism: "A program that asks for no receive buffer of its own gets the default, and a short pause of its reader then \
                costs samples.",
    looks_at: "`net.core.rmem_default`. Never stands: takt, UHD and GNU Radio's UDP blocks ask. Below 4 MiB it is noted for \
               those that do not.",
    probe,
    known: "The usual 212 992 bytes hold 92 datagrams of 1472 bytes: 1.3 ms of 25 MS/s sc16. Not measured here; \
            `--prove` does.",
    fix: Fix::Consent { plan, who_may_pay: "the machine's memory: every socket may then hold so much." },
    proof: Proof::By(Measure::LossOfDefault),
    ..Rule::COMMON
};

const NAME: &str = "net.core.rmem_default";
const WANTED_BYTES: i64 = 4 << 20;

fn probe(host: &Host) -> Look {
    let bytes = sysctl(host, NAME)?;
    let observed = format!("{NAME} {bytes} B");
    if bytes >= WANTED_BYTES {
        fine(observed)
    } else {
        notice(observed, "programs that set SO_RCVBUF, as takt does, are spared")
    }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, NAME, &WANTED_BYTES.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/proc/sys/net/core/rmem_default";

    #[test]
    fn a_small_default_is_noted_and_raised() {
        assert_eq!(word(&RULE, &[(FILE, "4194304\n")]), "fine");
        assert_eq!(word(&RULE, &[(FILE, "212992\n")]), "notice");
        assert_eq!(commands(&RULE, &[(FILE, "212992\n")]), ["sudo sysctl -w net.core.rmem_default=4194304"]);
    }
}
