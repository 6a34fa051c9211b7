//! The shape of a stream's datagrams, and what their numbers tell.

/// The shape of a stream's datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) frame_bytes: usize,
    pub(super) sample_bytes: usize,
    pub(super) ticks_per_sample: u64,
    pub(super) samples_per_datagram: u64,
    /// Numbers of datagrams count up to this: 15 in VITA-49, 65 535 in CHDR.
    pub(super) last_number: u16,
}

impl Shape {
    pub(super) fn datagram_ticks(&self) -> u64 {
        self.samples_per_datagram * self.ticks_per_sample
    }

    /// How many datagrams fill a gap of this length; `None` if no whole number of them does.
    pub(super) fn whole_datagrams(&self, gap_ticks: u64) -> Option<u64> {
        let datagram = self.datagram_ticks();
        gap_ticks.is_multiple_of(datagram).then(|| gap_ticks / datagram)
    }

    /// How many of `count` samples `bytes` bytes hold. Only a datagram that was cut short pays for the division.
    pub(super) fn samples_there(&self, count: u64, bytes: usize) -> u64 {
        let need = count.saturating_mul(self.sample_bytes as u64);
        if need <= bytes as u64 { count } else { (bytes / self.sample_bytes) as u64 }
    }

    /// Datagrams from number `from` to number `to`, as far as numbers tell.
    pub(super) fn counted(&self, from: u16, to: u16) -> u64 {
        u64::from(to.wrapping_sub(from) & self.last_number)
    }

    /// Whether the numbers agree that so many are missing.
    pub(super) fn agrees(&self, missing: u64, counted: u64) -> bool {
        missing & u64::from(self.last_number) == counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_has_no_more_samples_than_bytes_for_them() {
        let shape =
            Shape { frame_bytes: 34, sample_bytes: 4, ticks_per_sample: 4, samples_per_datagram: 8, last_number: 15 };
        for (count, bytes, there) in [(8, 32, 8), (8, 40, 8), (8, 31, 7), (8, 3, 0), (0, 32, 0), (u64::MAX, 32, 8)] {
            assert_eq!(shape.samples_there(count, bytes), there, "{count} in {bytes} bytes");
        }
    }
}
