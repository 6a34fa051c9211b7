//! The coding of UTRA FDD's transport channels, TS 25.212, a component a step: shells over `takt_dsp::umts`.
//!
//! A packet is what a channel has in one transmission time interval; with the 10 ms of the 384 kb/s channel, that is a slot. A
//! packet of another length than a component was made for, so also a missing one, gives an empty packet. In the order of the
//! downlink:
//!
//! ```text
//!  umts-crc-attach ▶ umts-turbo-encode ▶ umts-rate-match ▶ umts-interleave-1 ▶ umts-segment ▶ umts-mux ▶ umts-interleave-2
//!                                                                                                              ▼ bits, channel
//!  umts-crc-check ◀ umts-turbo-decode ◀ umts-rate-dematch ◀ umts-deinterleave-1 ◀ umts-unsegment ◀ umts-demux ◀ umts-deinterleave-2
//! ```

mod convolutional;
mod crc;
mod interleave;
mod multiplex;
mod rate;
mod soft;
mod turbo;

use takt_dsp::umts;
use takt_runtime::{Bit, Llr, MakeError};

fn bits(bits: &[Bit]) -> &[u8] {
    bytemuck::cast_slice(bits)
}

fn bits_mut(bits: &mut [Bit]) -> &mut [u8] {
    bytemuck::cast_slice_mut(bits)
}

fn llrs(llrs: &[Llr]) -> &[i8] {
    bytemuck::cast_slice(llrs)
}

fn llrs_mut(llrs: &mut [Llr]) -> &mut [i8] {
    bytemuck::cast_slice_mut(llrs)
}

/// The standard has no such shape.
fn refused(error: &umts::Error) -> MakeError {
    MakeError { what: error.to_string(), fix: "lengths that TS 25.212 has".into() }
}

/// A transmission time interval by its length.
fn tti(ms: u32) -> Result<umts::Tti, MakeError> {
    let fix = "10, 20, 40 or 80".into();
    let found = umts::Tti::ALL.into_iter().find(|tti| 10 * tti.frames() == ms as usize);
    found.ok_or_else(|| MakeError { what: format!("a transmission time interval of {ms} ms"), fix })
}
