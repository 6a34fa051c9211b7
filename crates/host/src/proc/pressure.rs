//! `/proc/pressure/*`: time in which tasks waited for a resource (PSI).

use std::time::Duration;

/// Total stall time since boot: at least one task waited, and all tasks waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    pub some: Duration,
    pub full: Duration,
}

/// Reads the totals, which the kernel gives in microseconds. `full` is absent for the CPU on older kernels: zero then.
pub fn parse(text: &str) -> Option<Stall> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(kind))?;
        let micros = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
        micros.parse().ok().map(Duration::from_micros)
    };
    Some(Stall { some: total("some")?, full: total("full").unwrap_or_default() })
}

/// The share of the last ten seconds in which at least one task waited, per cent.
pub fn recent_percent(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let share: f64 = line.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()?;
    (0.0..=100.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_averages_ignored() {
        let text =
            "some avg10=1.41 avg60=0.34 avg300=0.20 total=6784058\nfull avg10=1.20 avg60=0.29 avg300=0.17 total=7\n";
        let stall = parse(text).unwrap();
        assert_eq!((stall.some.as_micros(), stall.full.as_micros()), (6_784_058, 7));
        assert_eq!(parse("some avg10=0.00\n"), None);
    }
}
