//! The turbo coder, TS 25.212 section 4.2.3.2.

use super::{Error, turbo_interleaver};
use crate::bits;
use crate::turbo::pccc;

/// The turbo coder for blocks of one length: rate 1/3, two 8-state encoders, both terminated.
///
/// ```
/// use takt_dsp::umts::TurboEncoder;
/// let mut encoder = TurboEncoder::new(3856)?;
/// let mut coded = vec![0; encoder.coded_len()];
/// encoder.encode(&[0; 3856], &mut coded);
/// assert_eq!(coded, [0; 11_580]);
/// # Ok::<_, takt_dsp::umts::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TurboEncoder {
    encoder: pccc::Encoder,
    /// x, z, z' in turn.
    multiplexed: Box<[u64]>,
}

impl TurboEncoder {
    /// For blocks of `block_bits`, K.
    ///
    /// # Errors
    /// [`Error::TurboLength`] if K is not 40 to 5114.
    pub fn new(block_bits: usize) -> Result<TurboEncoder, Error> {
        if !super::TURBO_LENGTHS.contains(&block_bits) {
            return Err(Error::TurboLength { bits: block_bits });
        }
        let mut interleaver = vec![0; block_bits];
        turbo_interleaver(&mut interleaver)?;
        let multiplexed = vec![0; 3 * block_bits.div_ceil(64)].into();
        Ok(TurboEncoder { encoder: pccc::Encoder::new(interleaver), multiplexed })
    }

    /// K.
    pub fn block_len(&self) -> usize {
        self.encoder.block_len()
    }

    /// 3 K + 12.
    pub fn coded_len(&self) -> usize {
        3 * self.block_len() + 12
    }

    /// Encodes a block of K bits to `coded`: x1 z1 z'1 .. xK zK z'K, then the tail x z three times of the first encoder and
    /// three times of the second (sections 4.2.3.2.1 and 4.2.3.2.2).
    ///
    /// # Panics
    /// If the block or `coded` is not of that length.
    pub fn encode(&mut self, block: &[u8], coded: &mut [u8]) {
        assert_eq!(coded.len(), self.coded_len(), "room for 3 K + 12 coded bits");
        let tails = self.encoder.encode(block);
        let [x, z, z2] = &self.encoder.streams;
        for (((out, x), z), z2) in self.multiplexed.as_chunks_mut().0.iter_mut().zip(x).zip(z).zip(z2) {
            *out = in_turn(*x, *z, *z2);
        }
        let (body, tail) = coded.split_at_mut(3 * block.len());
        bits::unpack(&self.multiplexed[..body.len().div_ceil(64)], body);
        tail.copy_from_slice(tails.as_flattened());
    }
}

/// 192 bits: the lowest of x, z and z', then the next of each, ..
fn in_turn(x: u64, z: u64, z2: u64) -> [u64; 3] {
    let (x, z, z2) = (x.to_le_bytes(), z.to_le_bytes(), z2.to_le_bytes());
    let part = |i: usize| {
        let [x, z, z2] = [x[i], z[i], z2[i]].map(|byte| EVERY_THIRD[usize::from(byte)]);
        u64::from(x | z << 1 | z2 << 2)
    };
    [
        part(0) | part(1) << 24 | part(2) << 48,
        part(2) >> 16 | part(3) << 8 | part(4) << 32 | part(5) << 56,
        part(5) >> 8 | part(6) << 16 | part(7) << 40,
    ]
}

/// Bit i of a byte at place 3 i.
static EVERY_THIRD: [u32; 256] = {
    let (mut table, mut i) = ([0; 256], 0);
    while i < 2048 {
        table[i / 8] |= (((i / 8) >> (i % 8) & 1) as u32) << (3 * (i % 8));
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turbo::rsc::tests::by_the_figure;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn coded_blocks_are_those_of_the_figure(bits in proptest::collection::vec(0u8..2, 40..=600)) {
            let mut encoder = TurboEncoder::new(bits.len()).unwrap();
            let mut pi = vec![0; bits.len()];
            turbo_interleaver(&mut pi).unwrap();
            let interleaved: Vec<u8> = pi.iter().map(|&bit| bits[usize::from(bit)]).collect();
            let ((z, tail), (z2, tail2)) = (by_the_figure(&bits), by_the_figure(&interleaved));
            let body = (0..bits.len()).flat_map(|k| [bits[k], z[k], z2[k]]);
            let expected: Vec<u8> = body.chain(tail).chain(tail2).collect();
            for _ in 0..2 { // a second block finds nothing of the first
                let mut coded = vec![7; encoder.coded_len()];
                encoder.encode(&bits, &mut coded);
                prop_assert_eq!(&coded, &expected);
            }
        }
    }
}
