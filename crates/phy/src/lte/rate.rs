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
}

/// What the standard calls by these names.
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
        Ok(Plan { matching, lengths, coded: coded_bits(of.transport, of.length), rv: of.rv as usize })
    }

    fn matched_len(&self) -> usize {
        self.lengths.iter().sum()
    }
}

/// E of each code block (section 5.1.4.1.2).
fn lengths(of: &Parameters) -> Result<Vec<usize>, MakeError> {
    let (matched, symbol_bits) = (of.matched as usize, of.symbol_bits as usize);
    if of.transport == 0 {
        return Ok(vec![matched]);
    }
    if !matched.is_multiple_of(symbol_bits) {
        let what = format!("{matched} bits are no whole number of symbols of N_L Q_m = {symbol_bits} bits");
        return Err(MakeError { what, fix: format!("G = {}", matched.next_multiple_of(symbol_bits)) });
    }
    let cut = cut(of.transport)?;
    Ok((0..cut.blocks()).map(|r| cut.matched_len(matched, symbol_bits, r)).collect())
}

struct LteRateMatch(Plan);

/// Fills the bits that the channel has from a circular buffer of the coded bits, read from redundancy version rv's start, code
/// block by code block (TS 36.212, 5.1.4.1).
#[component]
impl LteRateMatch {
    fn new(
        /// Bits of a code block, K: one of the 188 lengths.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=6144, default = LENGTH)]
        length: u32,
        /// Bits that are sent: E of a code block, G of a transport block.
        #[param(name = "E", alias = "G", alias = "matched", unit = "items", range = 1..=1_000_000, default = 6900)]
        matched: u32,
        /// Redundancy version.
        #[param(alias = "rv_idx", range = 0..=3, default = 0)]
        rv: u32,
        /// Bits of a transport block whose code blocks make a packet, A; 0: one code block of K bits.
        #[param(name = "A", alias = "tbs", unit = "items", range = 0..=1_000_000, default = 0)]
        transport: u32,
        /// Filler bits at the head of the code block, F; those of a transport block follow from A.
        #[param(name = "F", alias = "fillers", unit = "items", range = 0..=6143, default = 0)]
        fillers: u32,
        /// Soft buffer of a code block; at most, and 0 means, the whole circular buffer.
        #[param(name = "N_cb", unit = "items", range = 0..=18_528, default = 0)]
        soft_buffer: u32,
        /// Bits of a symbol, over all layers it is sent on (N_L Q_m); matters where a transport block has several code blocks.
        #[param(name = "Q_m", alias = "Qm", range = 1..=32, default = 2)]
        symbol_bits: u32,
    ) -> Result<LteRateMatch, MakeError> {
        Plan::new(&Parameters { transport, length, fillers, matched, rv, soft_buffer, symbol_bits }).map(LteRateMatch)
    }

    fn tick(
        &mut self,
        #[port(exactly = coded_bits(transport, length))] input: In<Bit>,
        #[port(fixed = matched)] mut output: Out<Bit>,
    ) {
        let plan = &mut self.0;
        if input.len() != plan.coded || input.missing() {
            return output.truncate(0);
        }
        let (mut rest, mut out) = (bits(&input), bits_mut(&mut output));
        for (r, &length) in plan.lengths.iter().enumerate() {
            let matching = plan.matching.of(r);
            let (coded, more) = rest.split_at(matching.coded_len());
            let (matched, later) = out.split_at_mut(length);
            matching.apply(coded, plan.rv, matched);
            (rest, out) = (more, later);
        }
    }
}

struct LteRateDematch {
    plan: Plan,
    buffer: Vec<i8>,
}

/// Undoes rate matching on soft values, code block by code block: 0 for what was not sent, the sum of what was sent more than
/// once, certainly 0 for fillers (TS 36.212, 5.1.4.1).
#[component]
impl LteRateDematch {
    fn new(
        /// Bits of a code block, K: one of the 188 lengths.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=6144, default = LENGTH)]
        length: u32,
        /// Bits that are sent: E of a code block, G of a transport block.
        #[param(name = "E", alias = "G", alias = "matched", unit = "items", range = 1..=1_000_000, default = 6900)]
        matched: u32,
        /// Redundancy version.
        #[param(alias = "rv_idx", range = 0..=3, default = 0)]
        rv: u32,
        /// Bits of a transport block whose code blocks make a packet, A; 0: one code block of K bits.
        #[param(name = "A", alias = "tbs", unit = "items", range = 0..=1_000_000, default = 0)]
        transport: u32,
        /// Filler bits at the head of the code block, F; those of a transport block follow from A.
        #[param(name = "F", alias = "fillers", unit = "items", range = 0..=6143, default = 0)]
        fillers: u32,
        /// Soft buffer of a code block; at most, and 0 means, the whole circular buffer.
        #[param(name = "N_cb", unit = "items", range = 0..=18_528, default = 0)]
        soft_buffer: u32,
        /// Bits of a symbol, over all layers it is sent on (N_L Q_m); matters where a transport block has several code blocks.
        #[param(name = "Q_m", alias = "Qm", range = 1..=32, default = 2)]
        symbol_bits: u32,
    ) -> Result<LteRateDematch, MakeError> {
        let plan = Plan::new(&Parameters { transport, length, fillers, matched, rv, soft_buffer, symbol_bits })?;
        let longest = plan.matching.made().iter().map(RateMatching::buffer_len).max().unwrap_or(0);
        Ok(LteRateDematch { plan, buffer: vec![0; longest] })
    }

    fn tick(
        &mut self,
        #[port(exactly = matched)] input: In<Llr>,
        #[port(fixed = coded_bits(transport, length))] mut output: Out<Llr>,
    ) {
        let plan = &mut self.plan;
        if input.len() != plan.matched_len() || input.missing() {
            return output.truncate(0);
        }
        let (mut rest, mut out) = (llrs(&input), llrs_mut(&mut output));
        for (r, &length) in plan.lengths.iter().enumerate() {
            let matching = plan.matching.of(r);
            let (matched, more) = rest.split_at(length);
            let (coded, later) = out.split_at_mut(matching.coded_len());
            let buffer = &mut self.buffer[..matching.buffer_len()];
            buffer.fill(0);
            matching.combine(matched, plan.rv, buffer);
            matching.read(buffer, coded);
            (rest, out) = (more, later);
        }
    }
}
