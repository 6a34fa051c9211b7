//! The (20, A) block code of reports on the PUCCH, TS 36.212 section 5.2.3.3.

/// Coded bits.
pub const BLOCK_CODE_BITS: usize = 20;

/// M of table 5.2.3.3-1: in each row the lowest bit is M_(i,0).
const ROWS: [u16; BLOCK_CODE_BITS] = rows([
    "1100000000110",
    "1110000001110",
    "1001001011111",
    "1011000010111",
    "1111000100111",
    "1100101110111",
    "1010101011111",
    "1001100110111",
    "1101100101111",
    "1011101001111",
    "1010011101111",
    "1110011010111",
    "1001010111111",
    "1101010101111",
    "1000110100101",
    "1100111101101",
    "1110111001011",
    "1001110010011",
    "1101111100000",
    "1000011000000",
]);

const fn rows(text: [&str; BLOCK_CODE_BITS]) -> [u16; BLOCK_CODE_BITS] {
    let (mut rows, mut i) = ([0; BLOCK_CODE_BITS], 0);
    while i < BLOCK_CODE_BITS {
        let mut n = 0;
        while n < text[i].len() {
            rows[i] |= ((text[i].as_bytes()[n] - b'0') as u16) << n;
            n += 1;
        }
        i += 1;
    }
    rows
}

/// Codes 1 to 13 bits.
///
/// # Panics
/// If there are more.
#[must_use]
pub fn block_code(bits: &[u8]) -> [u8; BLOCK_CODE_BITS] {
    assert!(bits.len() <= 13, "{} bits of 13 at most", bits.len());
    let word = bits.iter().rev().fold(0, |word, bit| word << 1 | u16::from(bit & 1));
    ROWS.map(|row| ((row & word).count_ones() & 1) as u8)
}

/// The code word of a CQI of 4 bits, of which the highest is o_0 (section 5.2.3.3).
pub(super) fn report_code(report: u8) -> [u8; BLOCK_CODE_BITS] {
    block_code(&[report >> 3 & 1, report >> 2 & 1, report >> 1 & 1, report & 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_linear_and_far_from_itself() {
        let weight = |report: u8| report_code(report).iter().map(|&bit| u32::from(bit)).sum::<u32>();
        assert_eq!(weight(8), 20); // the first column is all ones
        assert_eq!((1..16).map(weight).min(), Some(8));
        for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
            let sum: Vec<u8> = report_code(a).iter().zip(report_code(b)).map(|(a, b)| a ^ b).collect();
            assert_eq!(sum, report_code(a ^ b));
        }
    }

    #[test]
    fn thirteen_bits_are_thirteen_columns() {
        let mut words: Vec<_> =
            (0..13).map(|n| block_code(&std::array::from_fn::<u8, 13, _>(|i| u8::from(i == n)))).collect();
        assert_eq!(words[12].iter().map(|&bit| usize::from(bit)).sum::<usize>(), 16);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 13);
    }
}
