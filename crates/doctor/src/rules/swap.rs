//! `swap`: memory that has to be fetched from a disk first.

use takt_host::Host;
use takt_host::ReadError;
use takt_host::call;
use takt_host::proc::status;

use super::super::rule::{Effect, Finding, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "swap",
    topic: Topic::Memory,
    title: "Swap in use",
    mechanism: "A page that was moved to swap comes back from a disk, milliseconds in which the thread that touched it \
                stands still.",
    looks_at: "`SwapTotal` and `SwapFree`. Stands if more than 1 % of the memory's size is swapped out; swap that is there \
               and hardly used is fine.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "Not measured here. A major page fault takes as long as the disk: some 0.1 ms from flash, 10 ms from a \
                rotating disk. takt locks its own memory where it may (see memlock-limit) and is spared then.",
        here: None,
    },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

fn probe(host: &Host) -> Result<Finding, ReadError> {
    let meminfo = host.read("/proc/meminfo")?;
    let kib = |field| {
        status::number(&meminfo, field).ok_or_else(|| ReadError::Malformed {
            path: "/proc/meminfo".to_owned(),
            expected: "MemTotal, SwapTotal and SwapFree",
            got: meminfo.chars().take(40).collect(),
        })
    };
    let (memory, total, free) = (kib("MemTotal")?, kib("SwapTotal")?, kib("SwapFree")?);
    if total == 0 {
        return Ok(Finding::Fine { seen: "no swap".to_owned() });
    }
    let used = total.saturating_sub(free);
    let devices: Vec<String> = devices(host);
    let seen = format!("{} of {} MiB of swap used ({})", used / 1024, total / 1024, devices.join(", "));
    Ok(if used > memory / 100 {
        Finding::Stands { seen, wanted: "none used, or memory locked".to_owned() }
    } else {
        Finding::Fine { seen }
    })
}

/// Names of swap files and partitions, which tell a disk from compressed memory (`zram`).
fn devices(host: &Host) -> Vec<String> {
    let text = host.read("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        "end what fills the memory, then: sudo swapoff -a && sudo swapon -a   (brings everything back into memory)"
            .to_owned(),
        format!("{}   (how takt may lock its memory)", call::takt("doctor --explain memlock-limit")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::testing::Tree;

    fn tree(total_kib: u64, free_kib: u64) -> Tree {
        let meminfo = format!("MemTotal: 8000000 kB\nSwapTotal: {total_kib} kB\nSwapFree: {free_kib} kB\n");
        Tree::new()
            .with("/proc/meminfo", &meminfo)
            .with("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n")
    }

    #[test]
    fn no_swap_and_idle_swap_are_fine_used_swap_stands() {
        assert!(matches!(probe(&tree(0, 0).host()).unwrap(), Finding::Fine { .. }));
        assert!(matches!(probe(&tree(2_000_000, 1_990_000).host()).unwrap(), Finding::Fine { .. }));
        let Finding::Stands { seen, .. } = probe(&tree(2_000_000, 1_000_000).host()).unwrap() else { panic!("stands") };
        assert_eq!(seen, "976 of 1953 MiB of swap used (/dev/sda2)");
    }

    #[test]
    fn a_host_that_does_not_say_is_an_error() {
        assert!(probe(&Tree::new().host()).is_err());
        assert!(probe(&Tree::new().with("/proc/meminfo", "MemTotal: 1 kB\n").host()).is_err());
    }
}
