//! `huge-pages`: memory set aside for drivers that bypass the kernel.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "huge-pages",
    topic: Topic::Memory,
    title: "No huge pages set aside",
    mechanism: "A driver that bypasses the kernel (DPDK) keeps its packets in huge pages. UHD with DPDK does not start without, nor \
                does takt's engine `dpdk` on a card; the other engines have no use for them.",
    looks_at: "`HugePages_Free`. Never stands; none free is noted for DPDK.",
    probe,
    known: "The driver starts or it does not; nothing else.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "128 MiB of memory, or a page if pages are larger, that nobody else can use.",
    },
    proof: Proof::Not("only DPDK on a card takes them"),
    ..Rule::COMMON
};

/// 64 pages of 2 MiB: what a DPDK program with one card needs at least.
const WANTED_KIB: u64 = 128 << 10;

/// Pages that nobody uses, and how large one is, KiB.
fn pages(host: &Host) -> Result<(u64, u64), ReadError> {
    let path = "/proc/meminfo";
    let text = host.read(path)?;
    let number =
        |name| status::number(&text, name).ok_or_else(|| malformed(path, "HugePages_Free and Hugepagesize", &text));
    Ok((number("HugePages_Free")?, number("Hugepagesize")?))
}

fn probe(host: &Host) -> Look {
    let (free, kib) = pages(host)?;
    let observed = format!("{free} free, of {kib} KiB each");
    if free == 0 { notice(observed, "only drivers that bypass the kernel need them") } else { fine(observed) }
}

fn plan(host: &Host) -> Plan {
    let name = "vm.nr_hugepages";
    // On top of those there are: they are in use, and a smaller number would take them away as they come free.
    let there = sysctl(host, name).ok().and_then(|pages| u64::try_from(pages).ok());
    let (Some(there), Ok((_, kib))) = (there, pages(host)) else { return Ok(Vec::new()) };
    sysctl_becomes(host, name, &there.saturating_add(WANTED_KIB.div_ceil(kib.max(1))).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_free_is_noted() {
        let sized =
            |free: u64, kib: u64| format!("HugePages_Total: 9\nHugePages_Free: {free}\nHugepagesize: {kib} kB\n");
        let of = |free| sized(free, 2048);
        assert_eq!(word(&RULE, &[("/proc/meminfo", &of(0))]), "notice");
        assert_eq!(word(&RULE, &[("/proc/meminfo", &of(8))]), "fine");
        assert_eq!(word(&RULE, &[("/proc/meminfo", "MemTotal: 1 kB\n")]), "hidden");
        let becomes = |there: &str, kib| {
            commands(&RULE, &[("/proc/sys/vm/nr_hugepages", there), ("/proc/meminfo", &sized(0, kib))]).join("")
        };
        assert_eq!(becomes("0\n", 2048), "sudo sysctl -w vm.nr_hugepages=64");
        assert_eq!(becomes("512\n", 2048), "sudo sysctl -w vm.nr_hugepages=576");
        assert_eq!(becomes("4\n", 1 << 20), "sudo sysctl -w vm.nr_hugepages=5");
    }
}
