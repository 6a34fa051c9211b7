//! `/proc/stat`: where the time of each CPU went.

use super::classes::CpuClasses;
use super::tick_ns;
use crate::{Host, ReadError};

/// Times since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// All CPUs together, as the kernel sums them.
    pub total: CpuClasses,
    pub cpus: Vec<(usize, CpuClasses)>,
}

/// Reads `/proc/stat` of `host`.
///
/// # Errors
/// The file is not there, or says something takt does not understand.
pub fn read(host: &Host) -> Result<Stat, ReadError> {
    let path = "/proc/stat";
    let text = host.read(path)?;
    parse(&text, tick_ns()).ok_or_else(|| ReadError::malformed(path, "lines of `cpu` with eight numbers", &text))
}

/// Reads the `cpu` lines. Guest time is contained in user time (and in nice) and not counted again.
pub fn parse(text: &str, tick_ns: u64) -> Option<Stat> {
    let mut total = None;
    let mut cpus = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else { continue };
        let (label, numbers) = rest.split_once(' ')?;
        let classes = classes(numbers, tick_ns)?;
        if label.is_empty() {
            total = Some(classes);
        } else {
            cpus.push((label.parse().ok()?, classes));
        }
    }
    Some(Stat { total: total?, cpus })
}

/// `user nice system idle iowait irq softirq steal`; kernels before 2.6.11 end earlier and are not supported.
fn classes(numbers: &str, tick_ns: u64) -> Option<CpuClasses> {
    let mut words = numbers.split_whitespace();
    let mut next = || words.next()?.parse::<u64>().ok()?.checked_mul(tick_ns);
    Some(CpuClasses {
        user_ns: next()?,
        nice_ns: next()?,
        system_ns: next()?,
        idle_ns: next()?,
        iowait_ns: next()?,
        irq_ns: next()?,
        softirq_ns: next()?,
        steal_ns: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_apart_and_numbered_cpus_kept() {
        let text = "cpu  10 1 20 300 4 5 6 7 0 0\ncpu0 10 1 20 300 4 5 6 7 0 0\ncpu12 0 0 0 1 0 0 0 0 0 0\nintr 1\n";
        let stat = parse(text, 10).unwrap();
        assert_eq!(stat.total.user_ns, 100);
        assert_eq!(stat.total.steal_ns, 70);
        assert_eq!(stat.total.busy_ns(), 10 * (10 + 1 + 20 + 5 + 6));
        assert_eq!(stat.cpus.iter().map(|&(cpu, _)| cpu).collect::<Vec<_>>(), [0, 12]);
        assert_eq!(parse("cpu  1 2 3\n", 10), None);
    }
}
