//! `huge-pages`: memory set aside for drivers that bypass the kernel.

use super::look::{Look, Plan, fine, malformed, notice, sysctl_becomes};
use crate::doctor::rule::{Effect, Fix, KernelRange, Proof, Rule, Topic};
use crate::host::Host;
use crate::proc::status;

pub(super) static RULE: Rule = Rule {
    id: "huge-pages",
    topic: Topic::Memory,
    title: "No huge pages set aside",
    mechanism: "A driver that bypasses the kernel (DPDK) keeps its packets in huge pages and does not start without; takt's \
                own engines need none.",
    looks_at: "`HugePages_Free`. Never stands; none free is noted for UHD with DPDK.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect { known: "The driver starts or it does not; nothing else.", here: None },
    fix: Fix::Consent { plan, who_may_pay: "128 MiB of memory that nobody else can use." },
    proof: Proof::Not("takt's own engines use none"),
};

/// 64 pages of 2 MiB: what a DPDK program with one card needs at least.
const WANTED: &str = "64";

fn probe(host: &Host) -> Look {
    let path = "/proc/meminfo";
    let text = host.read(path)?;
    let pages =
        |name| status::number(&text, name).ok_or_else(|| malformed(path, "HugePages_Free and Hugepagesize", &text));
    let (free, kib) = (pages("HugePages_Free")?, pages("Hugepagesize")?);
    let seen = format!("{free} free, of {kib} KiB each");
    if free == 0 { notice(seen, "only drivers that bypass the kernel need them") } else { fine(seen) }
}

fn plan(host: &Host) -> Plan {
    sysctl_becomes(host, "vm.nr_hugepages", WANTED)
}

#[cfg(test)]
mod tests {
    use super::super::look::testing::{commands, word};
    use super::*;

    #[test]
    fn none_free_is_noted() {
        let of = |free: u64| format!("HugePages_Total: 9\nHugePages_Free: {free}\nHugepagesize: 2048 kB\n");
        assert_eq!(word(&RULE, &[("/proc/meminfo", &of(0))]), "notice");
        assert_eq!(word(&RULE, &[("/proc/meminfo", &of(8))]), "fine");
        assert_eq!(word(&RULE, &[("/proc/meminfo", "MemTotal: 1 kB\n")]), "hidden");
        let pages = ("/proc/sys/vm/nr_hugepages", "0\n");
        assert_eq!(commands(&RULE, &[pages]), ["sudo sysctl -w vm.nr_hugepages=64"]);
    }
}
