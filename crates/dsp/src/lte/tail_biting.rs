//! The tail-biting convolutional code and its rate matching, TS 36.212 sections 5.1.3.1 and 5.1.4.2.
//!
//! The encoder begins in the state in which it ends, so that there is no tail. Its three streams go through the sub-block
//! interleaver and, one after the other, into a circular buffer, which is read from its beginning.

use super::sub_blocks::COLUMNS;

/// G0, G1 and G2 of constraint length 7, the newest bit highest.
pub(super) const GENERATORS: [u32; 3] = [0o133, 0o171, 0o165];
/// Bits of the encoder's state.
pub(super) const MEMORY: usize = 6;

/// Encodes a block of K bits to three streams of K, one after the other (TS 36.212 section 5.1.3.1).
///
/// # Panics
/// If the block has fewer than 6 bits, or `coded` not 3 K.
///
/// ```
/// let mut coded = [0; 3 * 8];
/// takt_dsp::lte::tail_biting_encode(&[1, 0, 0, 0, 0, 0, 0, 0], &mut coded);
/// assert_eq!(coded[..8], [1, 0, 1, 1, 0, 1, 1, 0]); // the impulse shows 133 (octal)
/// ```
pub fn tail_biting_encode(block: &[u8], coded: &mut [u8]) {
    assert!(block.len() >= MEMORY, "a block of {} bits: {MEMORY} at least fill the state", block.len());
    assert_eq!(coded.len(), 3 * block.len(), "room for three streams");
    let shift = |registers: u32, bit: u8| registers >> 1 | u32::from(bit & 1) << MEMORY;
    let mut registers = block[block.len() - MEMORY..].iter().fold(0, |registers, &bit| shift(registers, bit));
    for (k, &bit) in block.iter().enumerate() {
        registers = shift(registers, bit);
        for (stream, generator) in GENERATORS.iter().enumerate() {
            coded[stream * block.len() + k] = ((registers & generator).count_ones() & 1) as u8;
        }
    }
}

/// Which item of `items` the sub-block interleaver of convolutional codes puts in each place, without its NULLs (TS 36.212
/// table 5.1.4-2). The control channel permutes its quadruplets of symbols in the same order (TS 36.211 section 6.8.5).
pub fn convolutional_order(items: usize) -> impl Iterator<Item = usize> {
    let rows = items.div_ceil(32);
    let nulls = 32 * rows - items;
    // The columns of turbo codes, half a turn on.
    let columns = (0..32).map(|n| usize::from(COLUMNS[(n + 16) % 32]));
    columns.flat_map(move |column| (0..rows).filter_map(move |row| (32 * row + column).checked_sub(nulls)))
}

/// Rate matching of the tail-biting code, and its inverse with combining, for blocks of one length.
///
/// ```
/// use takt_dsp::lte::{TailBitingDecoder, TailBitingMatching, tail_biting_encode};
/// let (block, mut coded, mut sent) = ([1, 0, 1, 1, 0, 1, 0, 0], [0; 24], [0; 72]);
/// let matching = TailBitingMatching::new(block.len());
/// tail_biting_encode(&block, &mut coded);
/// matching.apply(&coded, &mut sent);
/// let (mut sums, mut soft, mut received) = ([0; 24], [0; 24], [0; 8]);
/// matching.combine(&sent.map(|bit| if bit == 0 { 20 } else { -20 }), &mut sums);
/// matching.read(&sums, &mut soft);
/// TailBitingDecoder::new(8).decode(&soft, &mut received);
/// assert_eq!(received, block);
/// ```
#[derive(Clone, Debug)]
pub struct TailBitingMatching {
    /// Which coded bit is in each place of the circular buffer.
    order: Box<[u16]>,
}

impl TailBitingMatching {
    /// For blocks of `block_bits`, K.
    ///
    /// # Panics
    /// Above 21 845 bits.
    pub fn new(block_bits: usize) -> TailBitingMatching {
        let place = |place: usize| u16::try_from(place).expect("a short block");
        let streams = (0..3).flat_map(|stream| convolutional_order(block_bits).map(move |k| stream * block_bits + k));
        TailBitingMatching { order: streams.map(place).collect() }
    }

    /// 3 K, the bits of the coded block.
    pub fn coded_len(&self) -> usize {
        self.order.len()
    }

    /// Fills `matched` from the coded block: any number of bits, from the beginning of the circular buffer, again and again.
    ///
    /// # Panics
    /// If `coded` is not 3 K long.
    pub fn apply(&self, coded: &[u8], matched: &mut [u8]) {
        assert_eq!(coded.len(), self.coded_len(), "a coded block");
        matched.iter_mut().zip(self.order.iter().cycle()).for_each(|(out, &place)| *out = coded[usize::from(place)]);
    }

    /// Adds the soft values of a transmission to those of the coded block in `sums`, which the caller cleared before the first.
    ///
    /// # Panics
    /// If `sums` is not 3 K long.
    pub fn combine(&self, matched: &[i8], sums: &mut [i16]) {
        assert_eq!(sums.len(), self.coded_len(), "a coded block");
        for (&llr, &place) in matched.iter().zip(self.order.iter().cycle()) {
            let sum = &mut sums[usize::from(place)];
            *sum = sum.saturating_add(llr.into());
        }
    }

    /// The sums as soft values for the decoder: as they are, or scaled so that the largest becomes 127.
    ///
    /// # Panics
    /// If `sums` or `coded` is not 3 K long.
    pub fn read(&self, sums: &[i16], coded: &mut [i8]) {
        assert_eq!((sums.len(), coded.len()), (self.coded_len(), self.coded_len()), "a coded block");
        let largest = sums.iter().map(|sum| sum.unsigned_abs()).max().unwrap_or(0).max(127);
        let scaled = |sum: i16| (i32::from(sum) * 127 / i32::from(largest)) as i8;
        coded.iter_mut().zip(sums).for_each(|(llr, &sum)| *llr = scaled(sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The matrix of section 5.1.4.2.1, written row by row behind its NULLs and read column by column.
    fn by_the_clause(items: usize) -> Vec<usize> {
        const P: [usize; 32] = [
            1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31, 0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6,
            22, 14, 30,
        ];
        let rows = items.div_ceil(32);
        let written: Vec<Option<usize>> = (0..32 * rows).map(|y| y.checked_sub(32 * rows - items)).collect();
        P.iter().flat_map(|column| written.iter().skip(*column).step_by(32)).filter_map(|item| *item).collect()
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_clause(items in 0usize..2000) {
            prop_assert_eq!(convolutional_order(items).collect::<Vec<_>>(), by_the_clause(items));
        }

        #[test]
        fn encoding_is_a_circular_convolution(block in prop::collection::vec(0u8..2, 6..200)) {
            let length = block.len();
            let mut coded = vec![0; 3 * length];
            tail_biting_encode(&block, &mut coded);
            for (stream, taps) in [[1, 0, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 0, 1], [1, 1, 1, 0, 1, 0, 1]].iter().enumerate() {
                for k in 0..length {
                    let sum = (0..7).map(|age| taps[age] & block[(k + 7 * length - age) % length]).sum::<u8>();
                    prop_assert_eq!(coded[stream * length + k], sum & 1);
                }
            }
        }

        #[test]
        fn sums_are_those_of_the_copies(block in 6usize..100, sent in 0usize..2000, seed in any::<u64>()) {
            let matching = TailBitingMatching::new(block);
            let order: Vec<usize> = (0..3).flat_map(|d| by_the_clause(block).into_iter().map(move |k| d * block + k)).collect();
            let mark = |n: usize| (seed.rotate_left(n as u32) as u8).wrapping_add(n as u8);
            let coded: Vec<u8> = (0..3 * block).map(mark).collect();
            let mut matched = vec![0; sent];
            matching.apply(&coded, &mut matched);
            let llrs: Vec<i8> = (0..sent).map(|n| mark(n) as i8).collect();
            let (mut sums, mut expected) = (vec![0i16; 3 * block], vec![0i16; 3 * block]);
            matching.combine(&llrs, &mut sums);
            for (n, &bit) in matched.iter().enumerate() {
                prop_assert_eq!(bit, coded[order[n % order.len()]]);
                expected[order[n % order.len()]] += i16::from(llrs[n]);
            }
            prop_assert_eq!(&sums, &expected);
            let mut soft = vec![0; 3 * block];
            matching.read(&sums, &mut soft);
            prop_assert!(soft.iter().zip(&sums).all(|(&llr, &sum)| i32::from(llr).signum() * i32::from(sum).signum() >= 0));
        }
    }
}
