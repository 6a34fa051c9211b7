//! Decoding of a transport block of a shared channel from soft values: the reverse of TS 36.212 section 5.3.2.

use takt_dsp::crc::Crc;
use takt_dsp::lte::{Modulation, RateMatching, Segmentation, crc_check};
use takt_dsp::turbo::Decoder;

use super::plans::{PARITY, Plans, most};
use super::soft_buffer::SoftBuffer;
use crate::Bandwidth;

/// Decodes the transport blocks of a bandwidth, combining the transmissions of a HARQ process.
///
/// Each code block is decoded until its own CRC holds, or the CRC of the transport block where there is but one. Code blocks
/// that are right already are left alone in a retransmission. The first that stays wrong is the last to be decoded.
pub struct SharedChannelDecoder {
    iterations: usize,
    plans: Plans<(Decoder, RateMatching)>,
    /// A code block's soft values as the turbo decoder takes them.
    soft: Box<[i8]>,
    /// The transport block with its parity.
    bits: Box<[u8]>,
}

impl SharedChannelDecoder {
    /// A good number of iterations: 8 need 0.3 to 0.6 dB less than 4, and 16 but 0.1 to 0.2 dB less than 8.
    pub const ITERATIONS: usize = 8;

    /// Builds the plans of all transport block sizes of a bandwidth. The turbo decoder makes `iterations` at most for each
    /// transmission of a code block.
    #[must_use]
    pub fn new(bandwidth: Bandwidth, iterations: usize) -> SharedChannelDecoder {
        let plan = |length| Some((Decoder::lte(length).ok()?, RateMatching::new(length, 0, None).ok()?));
        SharedChannelDecoder {
            iterations,
            plans: Plans::new(bandwidth, |length| plan(length).expect("a code block has a legal length")),
            soft: vec![0; most(bandwidth, |cut| 3 * (cut.longer().0 + 4))].into(),
            bits: vec![0; most(bandwidth, Segmentation::bits)].into(),
        }
    }

    /// Adds the soft values of a transmission to `process`, positive for 0, and answers the transport block of `block_bits` if its
    /// CRC holds now or held before. Soft values of all transmissions have the same scale. The lowest two bits of
    /// `redundancy_version` count.
    ///
    /// With `new_data`, or with another size, `process` forgets what it had. A size that the bandwidth does not have changes
    /// nothing, and nothing is found.
    ///
    /// # Panics
    /// If the soft values are not a multiple of the bits of a symbol, or `process` was made for a smaller bandwidth.
    pub fn decode<'p>(
        &mut self,
        process: &'p mut SoftBuffer,
        llrs: &[i8],
        redundancy_version: u8,
        modulation: Modulation,
        block_bits: usize,
        new_data: bool,
    ) -> Option<&'p [u8]> {
        let (all, symbol) = (llrs.len(), modulation.bits());
        assert!(all.is_multiple_of(symbol), "{all} soft values of symbols of {symbol} bits");
        let cut = self.plans.cut(block_bits)?;
        process.begin(&cut, new_data);
        if !process.is_right() {
            self.combine(process, &cut, llrs, redundancy_version, symbol);
            if (0..cut.blocks()).all(|r| process.is_block_right(r)) {
                self.join(process, &cut);
            }
        }
        process.block()
    }

    /// Adds what came of each code block that is not right, and decodes it. The first that stays wrong ends this: no other can
    /// save the transport block, and a subframe that is lost must not cost more than one that is not.
    fn combine(&mut self, process: &mut SoftBuffer, cut: &Segmentation, llrs: &[i8], rv: u8, symbol: usize) {
        let crc = if cut.blocks() == 1 { Crc::Crc24A } else { Crc::Crc24B };
        let (mut rest, mut decided_at, mut sums_at, mut hope) = (llrs, 0, 0, true);
        for r in 0..cut.blocks() {
            let (these, more) = rest.split_at(cut.matched_len(llrs.len(), symbol, r));
            let length = cut.block_len(r);
            let (decoder, matching) = self.plans.of(length);
            let right = process.is_block_right(r);
            let sums = &mut process.sums[sums_at..][..matching.buffer_len()];
            let decided = &mut process.blocks[decided_at..][..length];
            (rest, sums_at, decided_at) = (more, sums_at + sums.len(), decided_at + length);
            if right {
                continue;
            }
            matching.combine(these, usize::from(rv & 3), sums);
            hope &= says_enough(sums, length);
            if hope {
                let soft = &mut self.soft[..matching.coded_len()];
                matching.read(sums, soft);
                hope = decoder.decode_until(soft, self.iterations, decided, |bits| crc_check(crc, bits)).is_some();
            }
            if hope {
                process.block_is_right(r);
            }
        }
    }

    /// Puts the code blocks together.
    fn join(&mut self, process: &mut SoftBuffer, cut: &Segmentation) {
        let bits = &mut self.bits[..cut.bits()];
        cut.join(&process.blocks[..cut.blocks_len()], bits);
        if crc_check(Crc::Crc24A, bits) {
            process.accept(&bits[..bits.len() - PARITY]);
        } else {
            process.doubt();
        }
    }
}

/// Whether as many soft values say something as a code block has bits. With fewer nobody can decode it, but zeros would be
/// decided on, and the CRC of zeros holds: silence would pass for a transport block of zeros.
fn says_enough(sums: &[i8], bits: usize) -> bool {
    // A byte counts as many as 255, and 16 bytes are counted at once.
    let told = |sums: &[i8]| usize::from(sums.iter().map(|&sum| u8::from(sum != 0)).sum::<u8>());
    sums.chunks(255).map(told).sum::<usize>() >= bits
}
