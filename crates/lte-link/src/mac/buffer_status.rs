//! The short report of waiting data: TS 36.321 section 6.1.3.1, table 6.1.3.1-1.

/// The most bytes that an index 0 to 62 stands for; 63 is more than the last.
const LEVELS: [u32; 63] = [
    0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200, 234, 274, 321, 376, 440,
    515, 603, 706, 826, 967, 1132, 1326, 1552, 1817, 2127, 2490, 2915, 3413, 3995, 4677, 5476, 6411, 7505, 8787, 10287,
    12043, 14099, 16507, 19325, 22624, 26487, 31009, 36304, 42502, 49759, 58255, 68201, 79846, 93479, 109_439, 128_125,
    150_000,
];

/// The report of this many bytes, all in one group of logical channels.
pub(crate) fn report_of(bytes: usize) -> u8 {
    LEVELS.partition_point(|&level| (level as usize) < bytes) as u8
}

/// The most bytes that a report stands for.
pub(crate) fn bytes_of(report: u8) -> u32 {
    LEVELS.get(usize::from(report & 0x3f)).copied().unwrap_or(200_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_never_less_than_what_waits() {
        for bytes in 0..160_000usize {
            let said = bytes_of(report_of(bytes)) as usize;
            assert!(
                said >= bytes && said <= bytes * 5 / 4 + 40_000 * usize::from(bytes > 150_000) + 10,
                "{bytes} {said}"
            );
        }
        assert_eq!([0, 1, 10, 11, 150_000, 150_001].map(report_of), [0, 1, 1, 2, 62, 63]);
    }
}
