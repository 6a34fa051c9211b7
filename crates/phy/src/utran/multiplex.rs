//! Radio frames and the multiplexing of transport channels, TS 25.212 sections 4.2.6, 4.2.8 and 4.2.9.

use super::{bits, bits_mut, llrs, llrs_mut, tti};
use takt_dsp::umts;
use takt_runtime::{Bit, Llr, MakeError, component};

struct UmtsSegment;

/// Cuts an interval's bits into its radio frames, which follow each other in the packet (TS 25.212, 4.2.6).
#[component]
impl UmtsSegment {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
    ) -> Result<UmtsSegment, MakeError> {
        self::tti(tti).map(|_| UmtsSegment)
    }

    fn tick(&mut self, #[port(multiple_of = tti / 10)] input: In<Bit>, mut output: Out<Bit>) {
        output.copy_from_slice(&input);
    }
}

struct UmtsUnsegment;

/// Joins the radio frames of an interval, soft values (TS 25.212, 4.2.6).
#[component]
impl UmtsUnsegment {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
    ) -> Result<UmtsUnsegment, MakeError> {
        self::tti(tti).map(|_| UmtsUnsegment)
    }

    fn tick(&mut self, #[port(multiple_of = tti / 10)] input: In<Llr>, mut output: Out<Llr>) {
        output.copy_from_slice(&input);
    }
}

struct UmtsMux {
    length: usize,
}

/// Puts a transport channel's radio frame into that of the physical channel, and marks for DTX behind it (TS 25.212, 4.2.8 and
/// 4.2.9).
#[component]
impl UmtsMux {
    fn new(
        /// Bits of the transport channel in a radio frame.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        length: u32,
        /// Bits of a radio frame.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        frame: u32,
    ) -> Result<UmtsMux, MakeError> {
        fits(length, frame).map(|length| UmtsMux { length })
    }

    fn tick(&mut self, #[port(exactly = length)] input: In<Bit>, #[port(fixed = frame)] mut output: Out<Bit>) {
        if input.len() != self.length || input.missing() {
            return output.truncate(0);
        }
        umts::multiplex([bits(&input)], bits_mut(&mut output));
    }
}

struct UmtsDemux {
    frame: usize,
}

/// Takes a transport channel's radio frame out of that of the physical channel, soft values (TS 25.212, 4.2.8).
#[component]
impl UmtsDemux {
    fn new(
        /// Bits of the transport channel in a radio frame.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        length: u32,
        /// Bits of a radio frame.
        #[param(unit = "items", range = 1..=1_000_000, default = 9120)]
        frame: u32,
    ) -> Result<UmtsDemux, MakeError> {
        fits(length, frame).map(|_| UmtsDemux { frame: frame as usize })
    }

    fn tick(&mut self, #[port(exactly = frame)] input: In<Llr>, #[port(fixed = length)] mut output: Out<Llr>) {
        if input.len() != self.frame || input.missing() {
            return output.truncate(0);
        }
        umts::demultiplex(llrs(&input), [llrs_mut(&mut output)]);
    }
}

fn fits(length: u32, frame: u32) -> Result<usize, MakeError> {
    let what = format!("{length} bits of a transport channel in a radio frame of {frame}");
    if length <= frame {
        Ok(length as usize)
    } else {
        Err(MakeError { what, fix: format!("length = {frame}, or less") })
    }
}
