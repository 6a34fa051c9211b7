//! The coding of UTRA FDD's transport channels, TS 25.212, a component a step: shells over `takt_dsp::umts`.
//!
//! A packet holds any whole number of blocks, each of them treated by itself; most often that is what a channel has in one
//! transmission time interval. None give none. A slot is an interval, or a radio frame of 10 ms: then channels with
//! longer intervals have a packet every second, fourth or eighth slot, and `umts-segment` deals it to the frames. In the order
//! of the downlink, in the uplink `umts-rate-match` stands behind `umts-segment`:
//!
//! ```text
//!  umts-crc-attach ▶ umts-turbo-encode ▶ umts-rate-match ▶ umts-interleave-1 ▶ umts-segment ▶ umts-mux ▶ umts-interleave-2
//!                                                                                                              ▼ bits, channel
//!  umts-crc-check ◀ umts-turbo-decode ◀ umts-rate-dematch ◀ umts-deinterleave-1 ◀ umts-unsegment ◀ umts-demux ◀ umts-deinterleave-2
//! ```

mod code_blocks;
mod convolutional;
mod crc;
mod interleave;
mod multiplex;
mod rate;
mod segment;
mod turbo;

use takt_dsp::umts;
use takt_runtime::{MakeError, Out};

/// The standard has no such shape.
fn refused(error: &umts::Error) -> MakeError {
    MakeError { what: error.to_string(), fix: "use lengths that TS 25.212 defines".into() }
}

/// A transmission time interval by its length.
fn tti(ms: u32) -> Result<umts::Tti, MakeError> {
    umts::Tti::from_ms(ms).ok_or_else(|| MakeError {
        what: format!("no transmission time interval has {ms} ms"),
        fix: "give 10, 20, 40 or 80".into(),
    })
}

/// F, for shapes: what is no interval is refused when the component is made.
fn frames(tti: u32) -> u32 {
    umts::Tti::from_ms(tti).map_or(1, |tti| tti.frames() as u32)
}

/// Makes a block of `made` items of each `taken` items of a packet; nothing of a packet that is not whole blocks.
fn each_block<I, O>(
    input: &[I],
    taken: usize,
    output: &mut Out<'_, O>,
    made: usize,
    mut make: impl FnMut(&[I], &mut [O]),
) {
    if !input.len().is_multiple_of(taken) {
        return output.truncate(0);
    }
    let blocks = input.chunks_exact(taken);
    output.truncate(blocks.len() * made);
    blocks.zip(output.chunks_exact_mut(made)).for_each(|(block, out)| make(block, out));
}
