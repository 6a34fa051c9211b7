//! Rate matching, TS 36.212 section 5.1.4.1, and its inverse on soft values.

use super::blocks::{Block, ByBlock, LENGTH, blocks, coded_bits, cut};
use crate::items::{bits, bits_mut, llrs, llrs_mut};
use takt_dsp::lte::RateMatching;
use takt_runtime::{Bit, Llr, MakeError, component};

/// The rate matching of all code blocks of a packet, and how many bits each gets.
struct Plan {
    matching: ByBlock<RateMatching>,
    lengths: Vec<usize>,
    coded: usize,
    rv: usize,
    /// Room for the circular buffer of a code block.
    buffer: Vec<i8>,
}

/// Parameters, by the standard's names.
struct Parameters {
    transport: u32,
    length: u32,
    fillers: u32,
    matched: u32,
    rv: u32,
    soft_buffer: u32,
    symbol_bits: u32,
}

impl Plan {
    fn new(of: &Parameters) -> Result<Plan, MakeError> {
        let blocks = blocks(of.transport, of.length, of.fillers)?;
        let limit = |block: Block| {
            // N_cb is never more than K_w, the whole buffer of the block.
            let whole = 3 * (block.bits + 4).next_multiple_of(32);
            (of.soft_buffer != 0).then_some(whole.min(of.soft_buffer as usize))
        };
        let new = |block: Block| RateMatching::new(block.bits, block.fillers, limit(block));
        let matching = ByBlock::new(blocks.into_iter(), new)?;
        let lengths = lengths(of)?;
        let buffer = vec![0; matching.made().iter().map(RateMatching::buffer_len).max().unwrap_or(0)];
        Ok(Plan { matching, lengths, coded: coded_bits(of.transport, of.length), rv: of.rv as usize, buffer })
    }

    fn coded_len(&self) -> usize {
        self.coded
    }

    fn matched_len(&self) -> usize {
        self.lengths.iter().sum()
    }

    fn apply(&mut self, coded: &[u8], matched: &mut [u8]) {
        let Plan { matching, lengths, rv, .. } = self;
        let lengths = |r: usize, matching: &RateMatching| (matching.coded_len(), lengths[r]);
        matching.each(coded, matched, lengths, |matching, coded, matched| matching.apply(coded, *rv, matched));
    }

    fn invert(&mut self, matched: &[i8], coded: &mut [i8]) {
        let Plan { matching, lengths, rv, buffer, .. } = self;
        let lengths = |r: usize, matching: &RateMatching| (lengths[r], matching.coded_len());
        matching.each(matched, coded, lengths, |matching, matched, coded| {
            let buffer = &mut buffer[..matching.buffer_len()];
            buffer.fill(0);
            matching.combine(matched, *rv, buffer);
            matching.read(buffer, coded);
        });
    }
}

/// E of each code block (section 5.1.4.1.2).
fn lengths(of: &Parameters) -> Result<Vec<usize>, MakeError> {
    let (matched, symbol_bits) = (of.matched as usize, of.symbol_bits as usize);
    if of.transport == 0 {
        return Ok(vec![matched]);
    }
    if !matched.is_multiple_of(symbol_bits) {
        let what = format!("{matched} bits are not a whole number of symbols of N_L Q_m = {symbol_bits} bits");
        return Err(MakeError { what, fix: format!("set G = {}", matched.next_multiple_of(symbol_bits)) });
    }
    let cut = cut(of.transport)?;
    Ok((0..cut.blocks()).map(|r| cut.matched_len(matched, symbol_bits, r)).collect())
}

/// A component that matches rates or undoes it; both have the same parameters. `$taken` gives the length of a good packet.
macro_rules! rate_matching {
    ($(#[$summary:meta])* $Name:ident($length:ident, $matched:ident, $transport:ident): $Item:ident,
     $in:expr => $out:expr, $taken:ident, $change:expr) => {
        struct $Name(Plan);

        $(#[$summary])*
        #[component]
        impl $Name {
            fn new(
                /// Bits of a code block, K: one of the 188 lengths.
                #[param(name = "K", alias = "length", unit = "items", range = 40..=6144, default = LENGTH)]
                $length: u32,
                /// Bits that are sent: E of a code block, G of a transport block.
                #[param(name = "E", alias = "G", alias = "matched", unit = "items", range = 1..=1_000_000, default = 6900)]
                $matched: u32,
                /// Redundancy version.
                #[param(alias = "rv_idx", range = 0..=3, default = 0)]
                rv: u32,
                /// Bits of a transport block whose code blocks make a packet, A; 0: one code block of K bits.
                #[param(name = "A", alias = "tbs", unit = "items", range = 0..=1_000_000, default = 0)]
                $transport: u32,
                /// Filler bits at the head of the code block, F; those of a transport block follow from A.
                #[param(name = "F", alias = "fillers", unit = "items", range = 0..=6143, default = 0)]
                fillers: u32,
                /// Soft buffer of a code block; at most, and 0 means, the whole circular buffer.
                #[param(name = "N_cb", unit = "items", range = 0..=18_528, default = 0)]
                soft_buffer: u32,
                /// Bits of a symbol, over all layers it is sent on (N_L Q_m); matters where a transport block has several code blocks.
                #[param(name = "Q_m", alias = "Qm", range = 1..=32, default = 2)]
                symbol_bits: u32,
            ) -> Result<$Name, MakeError> {
                let (length, matched, transport) = ($length, $matched, $transport);
                Plan::new(&Parameters { transport, length, fillers, matched, rv, soft_buffer, symbol_bits }).map($Name)
            }

            fn tick(
                &mut self,
                #[port(exactly = $in)] input: In<$Item>,
                #[port(fixed = $out)] mut output: Out<$Item>,
            ) {
                if input.len() != self.0.$taken() {
                    return output.truncate(0);
                }
                ($change)(&mut self.0, &input, &mut output);
            }
        }
    };
}

rate_matching!(
    /// Fills the bits that the channel has from a circular buffer of the coded bits, read from redundancy version rv's start, code
    /// block by code block (TS 36.212, 5.1.4.1).
    LteRateMatch(length, matched, transport): Bit, coded_bits(transport, length) => matched, coded_len,
    |plan: &mut Plan, coded: &[Bit], matched: &mut [Bit]| plan.apply(bits(coded), bits_mut(matched))
);

rate_matching!(
    /// Undoes rate matching on soft values, code block by code block: 0 for what was not sent, the sum of what was sent more than
    /// once, certainly 0 for fillers (TS 36.212, 5.1.4.1).
    LteRateDematch(length, matched, transport): Llr, matched => coded_bits(transport, length), matched_len,
    |plan: &mut Plan, matched: &[Llr], coded: &mut [Llr]| plan.invert(llrs(matched), llrs_mut(coded))
);
