//! `/proc/net/softnet_stat`: what the kernel's receive path did on each CPU, in hexadecimal columns.

/// Sums over all CPUs since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Softnet {
    /// Frames taken from drivers and from the backlog.
    pub processed: u64,
    /// Frames dropped because a backlog (`net.core.netdev_max_backlog`) was full.
    pub dropped: u64,
    /// Times the receive softirq had work left when its budget or time was used up.
    pub squeezed: u64,
}

/// Sums the first three columns; each is a 32-bit counter of one CPU.
pub fn parse(text: &str) -> Option<Softnet> {
    let mut sum = Softnet::default();
    for line in text.lines() {
        let mut columns = line.split_whitespace().map(|word| u32::from_str_radix(word, 16).ok());
        sum.processed += u64::from(columns.next()??);
        sum.dropped += u64::from(columns.next()??);
        sum.squeezed += u64::from(columns.next()??);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_hexadecimal_and_summed_over_cpus() {
        let text = "00000010 00000001 00000002 00000000\n000038f9 00000000 0000000f 00000000\n";
        assert_eq!(parse(text), Some(Softnet { processed: 0x3909, dropped: 1, squeezed: 17 }));
        assert_eq!(parse("00000010 00000001\n"), None);
    }
}
