//! Rate matching of turbo codes, TS 36.212 section 5.1.4.1: any number of bits out of a circular buffer, from one of four
//! starting points.

use super::sub_blocks::SubBlocks;
use super::{Error, qpp_parameters};

/// Rate matching, and its inverse with combining, for code blocks of one length.
///
/// The circular buffer is kept without its NULLs (the padding of the sub-block interleaver and the fillers), so that bits are
/// read from it, and soft values added to it, in one or a few runs.
///
/// ```
/// use takt_dsp::lte::RateMatching;
/// let mut matching = RateMatching::new(6144, 0, None)?;
/// let mut sent = [0; 9000];
/// matching.apply(&[1; 3 * 6148], 0, &mut sent);
/// let mut buffer = vec![0; matching.buffer_len()]; // of a HARQ process: transmissions add up in it
/// matching.combine(&[-10; 9000], 0, &mut buffer);
/// matching.combine(&[-10; 9000], 2, &mut buffer);
/// let mut soft = vec![0; 3 * 6148];
/// matching.read(&buffer, &mut soft); // d0, d1, d2 for the decoder
/// # assert!(soft.iter().all(|&llr| llr <= 0));
/// # Ok::<_, takt_dsp::lte::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RateMatching {
    stream: usize,
    fillers: usize,
    sub_blocks: SubBlocks,
    /// How many of the first N_cb places of w are not NULL, and how many of them lie before k0 of each redundancy version.
    bits: usize,
    starts: [usize; 4],
    /// All of w that is not NULL.
    buffer: Box<[u8]>,
}

impl RateMatching {
    /// For blocks of `block_bits`, K, of which the first `fillers` are fillers. `soft_buffer`, N_cb, limits the circular buffer;
    /// `None` is no limit, K_w.
    ///
    /// # Errors
    /// [`Error::TurboLength`], [`Error::Fillers`] or [`Error::SoftBuffer`].
    pub fn new(block_bits: usize, fillers: usize, soft_buffer: Option<usize>) -> Result<RateMatching, Error> {
        qpp_parameters(block_bits).ok_or(Error::TurboLength { bits: block_bits })?;
        if fillers >= block_bits {
            return Err(Error::Fillers { fillers, bits: block_bits });
        }
        let stream = block_bits + 4;
        let sub_blocks = SubBlocks::new(stream, fillers);
        let (least, most) = (sub_blocks.places() / 3, sub_blocks.places());
        let limit = soft_buffer.unwrap_or(most);
        if !(least..=most).contains(&limit) {
            return Err(Error::SoftBuffer { bits: limit, least, most });
        }
        let bits = sub_blocks.bits_before(limit);
        let starts = std::array::from_fn(|rv| {
            let k0 = sub_blocks.rows() * (2 * limit.div_ceil(8 * sub_blocks.rows()) * rv + 2) % limit;
            sub_blocks.bits_before(k0) % bits
        });
        let buffer = vec![0; sub_blocks.bits_before(most)].into();
        Ok(RateMatching { stream, fillers, sub_blocks, bits, starts, buffer })
    }

    /// 3 (K + 4), the bits of the coded block d0, d1, d2.
    pub fn coded_len(&self) -> usize {
        3 * self.stream
    }

    /// How long the buffer is that transmissions of a block are combined in.
    pub fn buffer_len(&self) -> usize {
        self.bits
    }

    /// Fills `matched` (E bits) from the coded block d0, d1, d2 for redundancy version `rv`. At a NULL, `coded` may
    /// have anything.
    ///
    /// # Panics
    /// If `coded` is not 3 (K + 4) long, or `rv` not 0 to 3.
    pub fn apply(&mut self, coded: &[u8], rv: usize, matched: &mut [u8]) {
        assert_eq!(coded.len(), self.coded_len(), "a coded block");
        let start = self.starts[rv];
        let to_end = start..self.bits.min(start + matched.len());
        let from_begin = 0..start.min(matched.len() - to_end.len());
        self.sub_blocks.collect(coded, &[to_end, from_begin], &mut self.buffer);
        let (mut rest, mut at) = (matched, start);
        while !rest.is_empty() {
            let run = &self.buffer[at..self.bits];
            let (these, more) = rest.split_at_mut(run.len().min(rest.len()));
            these.copy_from_slice(&run[..these.len()]);
            (rest, at) = (more, 0);
        }
    }

    /// Adds the soft values of a transmission to `buffer`, which the caller cleared before the first, saturating.
    ///
    /// # Panics
    /// If `buffer` is not [`RateMatching::buffer_len`] long, or `rv` not 0 to 3.
    pub fn combine(&self, matched: &[i8], rv: usize, buffer: &mut [i8]) {
        assert_eq!(buffer.len(), self.buffer_len(), "the buffer of a block");
        let (mut rest, mut at) = (matched, self.starts[rv]);
        while !rest.is_empty() {
            let places = &mut buffer[at..];
            let (these, more) = rest.split_at(places.len().min(rest.len()));
            places.iter_mut().zip(these).for_each(|(sum, llr)| *sum = sum.saturating_add(*llr));
            (rest, at) = (more, 0);
        }
    }

    /// The soft values of the coded block d0, d1, d2 in `buffer`: 0 for bits that were never sent, and certainly 0, that is 127,
    /// for fillers.
    ///
    /// # Panics
    /// If `buffer` is not [`RateMatching::buffer_len`] long, or `coded` not 3 (K + 4).
    pub fn read(&mut self, buffer: &[i8], coded: &mut [i8]) {
        assert_eq!(coded.len(), self.coded_len(), "a coded block");
        assert_eq!(buffer.len(), self.buffer_len(), "the buffer of a block");
        self.sub_blocks.deal(bytemuck::cast_slice(buffer), bytemuck::cast_slice_mut(coded));
        coded[..self.fillers].fill(127);
        coded[self.stream..][..self.fillers].fill(127);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::TURBO_LENGTHS;
    use proptest::prelude::*;

    /// w by the clauses, an index of the coded block a place, or NULL.
    fn circular_buffer(block: usize, fillers: usize) -> Vec<Option<usize>> {
        const P: [usize; 32] = [
            0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, 1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7,
            23, 15, 31,
        ];
        let stream = block + 4;
        let rows = stream.div_ceil(32);
        let places = 32 * rows;
        let y = |d: usize, k: usize| {
            let bit = k.checked_sub(places - stream)?;
            (d == 2 || bit >= fillers).then_some(d * stream + bit)
        };
        let v01 = |d: usize, k: usize| y(d, P[k / rows] + 32 * (k % rows));
        let v2 = |k: usize| y(2, (P[k / rows] + 32 * (k % rows) + 1) % places);
        let first = (0..places).map(|k| v01(0, k));
        first.chain((0..places).flat_map(|k| [v01(1, k), v2(k)])).collect()
    }

    fn by_the_clause(w: &[Option<usize>], block: usize, limit: usize, rv: usize, matched: usize) -> Vec<usize> {
        let rows = (block + 4).div_ceil(32);
        let k0 = rows * (2 * limit.div_ceil(8 * rows) * rv + 2);
        (0..).filter_map(|j| w[(k0 + j) % limit]).take(matched).collect()
    }

    fn check(block: usize, fillers: usize, limit: Option<usize>, matched: usize) {
        let w = circular_buffer(block, fillers);
        let mut matching = RateMatching::new(block, fillers, limit).unwrap();
        let mut buffer = vec![0; matching.buffer_len()];
        let mut sums = vec![0i8; matching.coded_len()];
        for d in 0..2 {
            sums[d * (block + 4)..][..fillers].fill(127);
        }
        for rv in 0..4 {
            let sources = by_the_clause(&w, block, limit.unwrap_or(w.len()), rv, matched);
            let coded: Vec<u8> = (0..matching.coded_len()).map(|i| (i * 7 + i / 256) as u8).collect();
            let mut found = vec![0; matched];
            matching.apply(&coded, rv, &mut found);
            assert!(
                found.iter().zip(&sources).all(|(&found, &source)| found == coded[source]),
                "{block}, {fillers}, {rv}"
            );
            let llrs: Vec<i8> = (0..matched).map(|i| (i * 11 + rv) as u8 as i8).collect();
            matching.combine(&llrs, rv, &mut buffer);
            sources.iter().zip(&llrs).for_each(|(&source, &llr)| sums[source] = sums[source].saturating_add(llr));
            let mut soft = vec![99; matching.coded_len()];
            matching.read(&buffer, &mut soft);
            assert_eq!(soft, sums, "{block}, {fillers}, {rv}");
        }
    }

    #[test]
    fn every_length_is_matched_as_the_clause_says_and_back() {
        for block in TURBO_LENGTHS.map(usize::from) {
            check(block, 0, None, 2 * block);
            check(block, (block - 1).min(63), None, 4 * block + 17);
        }
    }

    proptest! {
        #[test]
        fn any_shape_is_matched_as_the_clause_says_and_back(
            block in prop::sample::select(&TURBO_LENGTHS[..]), fillers in 0.0f64..1.0, limit in 0.0f64..1.0, matched in 0usize..30_000,
        ) {
            let block = usize::from(block);
            let places = (block + 4).next_multiple_of(32);
            let limit = places + (2.0 * places as f64 * limit) as usize;
            check(block, (block as f64 * fillers) as usize, Some(limit), matched);
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let new = |block, fillers, limit| RateMatching::new(block, fillers, limit).map(drop);
        assert_eq!(new(41, 0, None), Err(Error::TurboLength { bits: 41 }));
        assert_eq!(new(40, 40, None), Err(Error::Fillers { fillers: 40, bits: 40 }));
        assert_eq!(new(40, 0, Some(63)), Err(Error::SoftBuffer { bits: 63, least: 64, most: 192 }));
        assert_eq!(new(40, 0, Some(193)), Err(Error::SoftBuffer { bits: 193, least: 64, most: 192 }));
    }
}
