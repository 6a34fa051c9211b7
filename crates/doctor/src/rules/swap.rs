//! `swap`: memory that has to come back from a disk first.

use takt_host::call;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "swap",
    topic: Topic::Memory,
    title: "Swap in use",
    mechanism: "A page in swap comes back from a disk. The thread that touches it waits for milliseconds.",
    looks_at: "`SwapTotal` and `SwapFree`. A problem if more than 1 % of the memory's size is swapped out. Swap that \
               is hardly used is fine.",
    probe,
    known: "Not measured. A major page fault takes as long as the disk: about 0.1 ms from flash, 10 ms from a rotating \
            disk. takt locks its own memory if it may (see memlock-limit) and is then not affected.",
    fix: Fix::Advice(Instructions::On(advise)),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let path = "/proc/meminfo";
    let text = host.read(path)?;
    let kib =
        |field| status::number(&text, field).ok_or_else(|| malformed(path, "MemTotal, SwapTotal and SwapFree", &text));
    let (memory, total, free) = (kib("MemTotal")?, kib("SwapTotal")?, kib("SwapFree")?);
    if total == 0 {
        return fine("no swap");
    }
    let used = total.saturating_sub(free);
    let observed = format!("{} of {} MiB of swap used ({})", used / 1024, total / 1024, devices(host).join(", "));
    if used > memory / 100 { problem(observed, "none used, or memory locked") } else { fine(observed) }
}

/// Names of swap files and partitions, which tell a disk from compressed memory (`zram`).
fn devices(host: &Host) -> Vec<String> {
    let text = host.read("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        "end the programs that fill the memory, then: sudo swapoff -a && sudo swapon -a   (moves everything to memory)"
            .to_owned(),
        format!("{}   (how to let takt lock its memory)", call::takt("doctor --explain memlock-limit")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_swap_and_idle_swap_are_fine_used_swap_is_a_problem() {
        let of = |total_kib: u64, free_kib: u64| {
            let meminfo = format!("MemTotal: 8000000 kB\nSwapTotal: {total_kib} kB\nSwapFree: {free_kib} kB\n");
            let swaps = ("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
            verdict(&RULE, &[("/proc/meminfo", &meminfo), swaps])
        };
        assert_eq!(of(0, 0).0, "fine");
        assert_eq!(of(2_000_000, 1_990_000).0, "fine");
        let observed = "976 of 1953 MiB of swap used (/dev/sda2)".to_owned();
        assert_eq!(of(2_000_000, 1_000_000), ("problem", observed));
        assert!(probe(&Tree::new().host()).is_err());
        assert!(probe(&Tree::new().with("/proc/meminfo", "MemTotal: 1 kB\n").host()).is_err());
    }
}
