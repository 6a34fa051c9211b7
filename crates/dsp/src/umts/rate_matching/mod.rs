//! Rate matching, TS 25.212 section 4.2.7: bits of a block are punctured or repeated, so that it fits.
//!
//! [`shares`] says how many bits of a radio frame each transport channel gets, [`RateMatching`] which bits change. In the
//! uplink every radio frame of a TTI is matched by itself, after the first interleaver; in the downlink a TTI's block is
//! matched as a whole, before it.
mod flexible;
mod pattern;
mod repetition;
mod separation;
mod shares;

use super::{Coding, Error, MAX_BITS, Tti};
use crate::Binary;
use crate::bits::selection::Selection;
pub use flexible::{Formats, flexible_lengths};
pub use pattern::{Parity, Pattern};
use repetition::Repetition;
use separation::Separation;
pub use shares::{Demand, shares};

/// Changes to the blocks of a transport channel so that they fit, worked out beforehand.
///
/// ```
/// use takt_dsp::umts::{Coding, RateMatching};
/// let matching = RateMatching::downlink(Coding::Turbo, 11_580, 11_580, 9120)?; // the 384 kb/s channel alone in its frame
/// let mut sent = vec![0; matching.matched_len()];
/// matching.apply(&[1u8; 11_580], &mut sent);
/// let mut soft = vec![0; matching.block_len()];
/// matching.invert(&[-20; 9120], &mut soft);
/// assert_eq!(soft.iter().filter(|&&llr| llr == 0).count(), 11_580 - 9120); // nothing is known of what was not sent
/// # Ok::<_, takt_dsp::umts::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateMatching {
    block_len: usize,
    matched_len: usize,
    change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    /// The chosen are kept.
    Puncture(Selection),
    Repeat(Repetition),
}

impl RateMatching {
    /// In the uplink: radio frame `frame` (from 0) of a TTI, `bits` of `coding` that are to become `matched` (section
    /// 4.2.7.1.2). A turbo code's systematic bits are never punctured.
    ///
    /// # Errors
    /// [`Error::Frame`], [`Error::MatchedLength`] or [`Error::TooLong`].
    pub fn uplink(coding: Coding, bits: usize, matched: usize, tti: Tti, frame: usize) -> Result<RateMatching, Error> {
        if frame >= tti.frames() {
            return Err(Error::Frame { frame, frames: tti.frames() });
        }
        check(coding, bits, matched)?;
        let change = matched as i64 - bits as i64;
        let change = match coding {
            _ if change == 0 => Change::Nothing,
            Coding::Turbo if change < 0 => {
                let separation = Separation::uplink(bits, tti, frame);
                let dropped = bits - matched;
                puncture_parity(bits, separation, |parity| {
                    Pattern::uplink_turbo(parity, separation.each, parity.share(dropped), tti, frame)
                })
            }
            _ => one_sequence(bits, change, Pattern::uplink(bits, change, tti, frame)),
        };
        Ok(RateMatching { block_len: bits, matched_len: matched, change })
    }

    /// In the downlink: the `bits` of a TTI, of a transport channel whose longest format has `longest` bits that become
    /// `matched`. How many of a shorter format come out is [`RateMatching::matched_len`]; the rest up to `matched` is filled
    /// with DTX (fixed positions, section 4.2.7.2.1). With flexible positions, or one format, `longest` is `bits`.
    ///
    /// # Errors
    /// [`Error::MatchedLength`], [`Error::TooLong`], or [`Error::NotLongest`] if `longest` is below `bits`.
    pub fn downlink(coding: Coding, bits: usize, longest: usize, matched: usize) -> Result<RateMatching, Error> {
        check(coding, longest, matched)?;
        if bits > longest {
            return Err(Error::NotLongest { bits, longest });
        }
        let change = matched as i64 - longest as i64;
        let change = match coding {
            _ if change == 0 => Change::Nothing,
            Coding::Turbo if change < 0 => puncture_parity(bits, Separation::downlink(bits), |parity| {
                Pattern::downlink_turbo(parity, longest / 3, parity.share(longest - matched))
            }),
            _ => one_sequence(bits, change, Pattern::downlink(longest, change)),
        };
        let matched_len = match &change {
            Change::Nothing => bits,
            Change::Puncture(kept) => kept.chosen(),
            Change::Repeat(copies) => copies.sent(),
        };
        Ok(RateMatching { block_len: bits, matched_len, change })
    }

    /// Bits of a block before matching.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// Bits of a block after it.
    pub fn matched_len(&self) -> usize {
        self.matched_len
    }

    /// Punctures or repeats (section 4.2.7.5). Copies of a bit follow it at once.
    ///
    /// # Panics
    /// If `block` is not [`RateMatching::block_len`] long, or `matched` not [`RateMatching::matched_len`].
    pub fn apply<T: Binary>(&self, block: &[T], matched: &mut [T]) {
        self.check_lengths(block.len(), matched.len());
        match &self.change {
            Change::Nothing => matched.copy_from_slice(block),
            Change::Puncture(kept) => kept.take(bytemuck::cast_slice(block), bytemuck::cast_slice_mut(matched)),
            Change::Repeat(copies) => copies.apply(block, matched),
        }
    }

    /// The inverse on soft values: 0 where a bit was punctured, the saturated sum where it was repeated.
    ///
    /// # Panics
    /// If `matched` is not [`RateMatching::matched_len`] long, or `block` not [`RateMatching::block_len`].
    pub fn invert(&self, matched: &[i8], block: &mut [i8]) {
        self.check_lengths(block.len(), matched.len());
        match &self.change {
            Change::Nothing => block.copy_from_slice(matched),
            Change::Puncture(kept) => kept.put(bytemuck::cast_slice(matched), bytemuck::cast_slice_mut(block)),
            Change::Repeat(copies) => copies.invert(matched, block),
        }
    }

    fn check_lengths(&self, block: usize, matched: usize) {
        assert_eq!((block, matched), (self.block_len, self.matched_len), "bits before and after rate matching");
    }
}

fn check(coding: Coding, bits: usize, matched: usize) -> Result<(), Error> {
    if bits.max(matched) > MAX_BITS {
        return Err(Error::TooLong { bits: bits.max(matched), most: MAX_BITS });
    }
    let least = if coding == Coding::Turbo { bits - 2 * (bits / 3) } else { bits.min(1) };
    if matched < least || (bits == 0 && matched != 0) {
        return Err(Error::MatchedLength { bits, matched, least });
    }
    Ok(())
}

/// All bits as one sequence.
fn one_sequence(bits: usize, change: i64, pattern: Pattern) -> Change {
    if change < 0 {
        let kept: Vec<u8> = pattern.kept().take(bits).map(u8::from).collect();
        Change::Puncture(Selection::new(&kept))
    } else {
        Change::Repeat(Repetition::new(pattern.copies().take(bits)))
    }
}

/// Each parity sequence by itself, systematic bits untouched.
fn puncture_parity(bits: usize, separation: Separation, pattern: impl Fn(Parity) -> Pattern) -> Change {
    let (mut first, mut second) = (pattern(Parity::First).kept(), pattern(Parity::Second).kept());
    let kept: Vec<u8> = (0..bits)
        .map(|at| match separation.kind(at) {
            None => true,
            Some(Parity::First) => first.next().expect("patterns have no end"),
            Some(Parity::Second) => second.next().expect("patterns have no end"),
        })
        .map(u8::from)
        .collect();
    Change::Puncture(Selection::new(&kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umts::{ConvolutionalRate, interleave_1, radio_frames};
    use proptest::prelude::*;

    /// Section 4.2.7.5 as it stands there, on the numbers of bits: where each bit sent comes from.
    fn by_the_clause(bits: usize, change: i64, pattern: Pattern) -> Vec<usize> {
        let (mut sent, mut e, mut m) = (Vec::new(), pattern.initial, 1);
        while m <= bits {
            e -= pattern.minus;
            if change < 0 {
                if e <= 0 {
                    e += pattern.plus;
                } else {
                    sent.push(m - 1);
                }
            } else {
                sent.push(m - 1);
                while e <= 0 {
                    sent.push(m - 1);
                    e += pattern.plus;
                }
            }
            m += 1;
        }
        sent
    }

    /// Origin of each bit that is sent, at most 2^16 bits.
    fn sources(matching: &RateMatching) -> Vec<usize> {
        let (mut sent, mut all) = (vec![0u8; matching.matched_len()], vec![0; matching.matched_len()]);
        for byte in 0..2 {
            let numbers: Vec<u8> = (0..matching.block_len()).map(|i| (i >> (8 * byte)) as u8).collect();
            matching.apply(&numbers, &mut sent);
            all.iter_mut().zip(&sent).for_each(|(source, &part)| *source |= usize::from(part) << (8 * byte));
        }
        all
    }

    fn check_inverse(matching: &RateMatching) -> Result<(), TestCaseError> {
        let sources = sources(matching);
        let llrs: Vec<i8> = (0..sources.len()).map(|i| (i * 37 % 256) as u8 as i8).collect();
        let mut sums = vec![0; matching.block_len()];
        sources.iter().zip(&llrs).for_each(|(&source, &llr)| sums[source] += i32::from(llr));
        let expected: Vec<i8> = sums.iter().map(|sum| (*sum).clamp(-128, 127) as i8).collect();
        let mut found = vec![99; matching.block_len()];
        matching.invert(&llrs, &mut found);
        prop_assert_eq!(found, expected);
        Ok(())
    }

    const CONVOLUTIONAL: Coding = Coding::Convolutional(ConvolutionalRate::Third);

    proptest! {
        #[test]
        fn one_sequence_is_matched_to_any_length_as_the_clause_says(
            bits in 1usize..3000, ratio in 0.0f64..3.5, tti in prop::sample::select(&Tti::ALL[..]), frame in 0usize..8,
        ) {
            let (matched, frame) = (((bits as f64 * ratio) as usize).max(1), frame % tti.frames());
            let change = matched as i64 - bits as i64;
            let uplink = RateMatching::uplink(CONVOLUTIONAL, bits, matched, tti, frame).unwrap();
            prop_assert_eq!(uplink.matched_len(), matched);
            prop_assert_eq!(sources(&uplink), by_the_clause(bits, change, Pattern::uplink(bits, change, tti, frame)));
            check_inverse(&uplink)?;
            let downlink = RateMatching::downlink(CONVOLUTIONAL, bits, bits, matched).unwrap();
            prop_assert_eq!(downlink.matched_len(), matched);
            prop_assert_eq!(sources(&downlink), by_the_clause(bits, change, Pattern::downlink(bits, change)));
            check_inverse(&downlink)?;
        }

        #[test]
        fn turbo_codes_keep_their_systematic_bits_and_lose_as_many_of_each_parity(
            block in 40usize..3000, part in 0.0f64..1.0, tti in prop::sample::select(&Tti::ALL[..]),
        ) {
            let coded = Coding::Turbo.coded_len(block);
            let kinds: Vec<u8> = (0..tti.equalised(coded)).map(|i| (i % 3) as u8).collect();
            let mut interleaved = vec![0; kinds.len()];
            interleave_1(tti, &kinds, &mut interleaved);
            for (frame, kinds) in radio_frames(tti, &interleaved).enumerate() {
                let least = kinds.len() - 2 * (kinds.len() / 3);
                let matched = least + ((kinds.len() - least) as f64 * part) as usize;
                let matching = RateMatching::uplink(Coding::Turbo, kinds.len(), matched, tti, frame).unwrap();
                prop_assert_eq!(matching.matched_len(), matched);
                let mut sent = vec![9; matched];
                matching.apply(kinds, &mut sent);
                let lost = |kind| {
                    let count = |bits: &[u8]| bits.iter().filter(|&&bit| bit == kind).count();
                    count(kinds) - count(&sent)
                };
                prop_assert_eq!((lost(0), lost(1), lost(2)), (0, (kinds.len() - matched).div_ceil(2), (kinds.len() - matched) / 2));
                check_inverse(&matching)?;
            }
            let matched = coded - (2.0 * (coded / 3) as f64 * part) as usize;
            let downlink = RateMatching::downlink(Coding::Turbo, coded, coded, matched).unwrap();
            prop_assert_eq!(downlink.matched_len(), matched);
            check_inverse(&downlink)?;
        }

        #[test]
        fn shorter_formats_are_matched_at_the_rate_of_the_longest(
            longest in 500usize..5000, part in 0.1f64..1.0, ratio in 0.5f64..2.0, turbo in any::<bool>(),
        ) {
            let coding = if turbo { Coding::Turbo } else { CONVOLUTIONAL };
            let (longest, bits) = (3 * longest, 3 * (longest as f64 * part) as usize);
            let matched = (longest as f64 * ratio) as usize;
            let matching = RateMatching::downlink(coding, bits, longest, matched).unwrap();
            let expected = bits as f64 * matched as f64 / longest as f64;
            prop_assert!((matching.matched_len() as f64 - expected).abs() <= 2.0, "{} for {expected}", matching.matched_len());
            prop_assert!(matching.matched_len() <= matched);
            check_inverse(&matching)?;
        }

        #[test]
        fn all_bits_of_a_frame_are_given_away(
            demands in prop::collection::vec((1u16..=256, 0usize..20_000, prop::sample::select(&Tti::ALL[..])), 1..9),
            frame_bits in 0usize..20_000,
        ) {
            let demands: Vec<Demand> =
                demands.iter().map(|&(attribute, bits, tti)| Demand { attribute, bits: tti.equalised(bits), tti }).collect();
            let mut given = vec![0; demands.len()];
            shares(&demands, frame_bits, &mut given).unwrap();
            let all: f64 = demands.iter().map(|d| f64::from(d.attribute) * (d.bits / d.tti.frames()) as f64).sum();
            prop_assert_eq!(given.iter().sum::<usize>(), if all > 0.0 { frame_bits } else { 0 });
            for (given, d) in given.iter().zip(&demands).filter(|_| all > 0.0) {
                let fair = frame_bits as f64 * f64::from(d.attribute) * (d.bits / d.tti.frames()) as f64 / all;
                prop_assert!((*given as f64 - fair).abs() < 1.001);
            }
        }

        #[test]
        fn no_shape_panics(bits in 0usize..4000, other in 0usize..9000, frame in 0usize..9, turbo in any::<bool>()) {
            let coding = if turbo { Coding::Turbo } else { CONVOLUTIONAL };
            let shapes = Tti::ALL.map(|tti| RateMatching::uplink(coding, bits, other, tti, frame));
            for matching in shapes.into_iter().chain([RateMatching::downlink(coding, bits, other, bits / 2)]).flatten() {
                check_inverse(&matching)?;
            }
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let uplink = |bits, matched| RateMatching::uplink(Coding::Turbo, bits, matched, Tti::Ms10, 0).map(drop);
        assert_eq!(uplink(300, 99), Err(Error::MatchedLength { bits: 300, matched: 99, least: 100 }));
        assert_eq!(uplink(300, 100), Ok(()));
        assert_eq!(uplink(0, 1), Err(Error::MatchedLength { bits: 0, matched: 1, least: 0 }));
        assert_eq!(uplink(0, 0), Ok(()));
        assert_eq!(uplink(300, 1 << 21), Err(Error::TooLong { bits: 1 << 21, most: 1 << 20 }));
        let late = RateMatching::uplink(CONVOLUTIONAL, 90, 75, Tti::Ms40, 4);
        assert_eq!(late, Err(Error::Frame { frame: 4, frames: 4 }));
        let shorter = RateMatching::downlink(CONVOLUTIONAL, 90, 80, 75);
        assert_eq!(shorter, Err(Error::NotLongest { bits: 90, longest: 80 }));
    }
}
