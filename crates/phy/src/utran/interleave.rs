//! The two interleavers, TS 25.212 sections 4.2.5 and 4.2.11, with what stands before them: radio frame size equalisation, 4.2.4,
//! and physical channels, 4.2.10.

use super::{each_block, frames, tti};
use crate::items::{bits, bits_mut, llrs, llrs_mut};
use takt_dsp::Binary;
use takt_dsp::umts::{self, Tti};
use takt_runtime::{Bit, Llr, MakeError, Out, component};

/// An interval's bits before the first interleaver and behind it: equalised. 0 are any multiple of F.
struct Equalised {
    tti: Tti,
    bits: usize,
    /// The interval with its last bits, where some are appended.
    filled: Vec<u8>,
}

impl Equalised {
    fn new(ms: u32, bits: u32) -> Result<Equalised, MakeError> {
        let (tti, bits) = (tti(ms)?, bits as usize);
        let equalised = tti.equalised(bits);
        Ok(Equalised { tti, bits, filled: vec![0; if equalised == bits { 0 } else { equalised }] })
    }

    /// The lengths of an interval before and after, in a packet of `items`.
    fn lengths(&self, items: usize) -> (usize, usize) {
        let frames = self.tti.frames();
        let whole = (items / frames * frames).max(frames);
        if self.bits == 0 { (whole, whole) } else { (self.bits, self.tti.equalised(self.bits)) }
    }
}

/// Bits before equalisation, for shapes.
fn before(tti: u32, bits: u32) -> u32 {
    if bits == 0 { frames(tti) } else { bits }
}

/// Bits after it, for shapes.
fn after(tti: u32, bits: u32) -> u32 {
    before(tti, bits).next_multiple_of(frames(tti))
}

struct UmtsInterleave1(Equalised);

/// First interleaver: F columns, one for each radio frame of the interval (TS 25.212, 4.2.5). At 10 ms it changes nothing.
#[component(name = "umts-interleave-1")]
impl UmtsInterleave1 {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(alias = "tti_ms", unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
        /// Bits of an interval; zeros are appended up to a multiple of F (TS 25.212, 4.2.4). 0: as many as the packet has.
        #[param(name = "n", alias = "length", unit = "items", range = 0..=1_000_000, default = 0)]
        length: u32,
    ) -> Result<UmtsInterleave1, MakeError> {
        Equalised::new(tti, length).map(UmtsInterleave1)
    }

    fn tick(
        &mut self,
        #[port(multiple_of = before(tti, length))] input: In<Bit>,
        #[port(ratio = after(tti, length) / before(tti, length))] mut output: Out<Bit>,
    ) {
        let (before, after) = self.0.lengths(input.len());
        let Equalised { tti, filled, .. } = &mut self.0;
        each_block(&input, before, &mut output, after, |interval, out| {
            if filled.is_empty() {
                return umts::interleave_1(*tti, bits(interval), bits_mut(out));
            }
            filled[..before].copy_from_slice(bits(interval));
            umts::interleave_1(*tti, filled, bits_mut(out));
        });
    }
}

struct UmtsDeinterleave1(Equalised);

/// Undoes the first interleaver on soft values (TS 25.212, 4.2.5).
#[component(name = "umts-deinterleave-1")]
impl UmtsDeinterleave1 {
    fn new(
        /// Transmission time interval: 10, 20, 40 or 80.
        #[param(alias = "tti_ms", unit = "ms", range = 10..=80, default = 10)]
        tti: u32,
        /// Bits of an interval before they were appended to (TS 25.212, 4.2.4). 0: as many as the packet has.
        #[param(name = "n", alias = "length", unit = "items", range = 0..=1_000_000, default = 0)]
        length: u32,
    ) -> Result<UmtsDeinterleave1, MakeError> {
        Equalised::new(tti, length).map(UmtsDeinterleave1)
    }

    fn tick(
        &mut self,
        #[port(multiple_of = after(tti, length))] input: In<Llr>,
        #[port(ratio = before(tti, length) / after(tti, length))] mut output: Out<Llr>,
    ) {
        let (before, after) = self.0.lengths(input.len());
        let Equalised { tti, filled, .. } = &mut self.0;
        each_block(&input, after, &mut output, before, |interval, out| {
            if filled.is_empty() {
                return umts::deinterleave_1(*tti, llrs(interval), llrs_mut(out));
            }
            let all: &mut [i8] = bytemuck::cast_slice_mut(filled);
            umts::deinterleave_1(*tti, llrs(interval), all);
            llrs_mut(out).copy_from_slice(&all[..before]);
        });
    }
}

/// The second interleaver's view: radio frames, each cut into those of its physical channels.
struct Physical {
    bits: usize,
    channels: usize,
}

impl Physical {
    fn new(bits: u32, channels: u32) -> Result<Physical, MakeError> {
        if !bits.is_multiple_of(channels) {
            let what = format!("{bits} bits of a radio frame do not divide among {channels} physical channels");
            return Err(MakeError { what, fix: format!("set n = {}", bits.next_multiple_of(channels)) });
        }
        Ok(Physical { bits: bits as usize, channels: channels as usize })
    }

    fn each<T: Copy, B: Binary>(
        &self,
        input: &[T],
        output: &mut Out<'_, T>,
        bytes: impl Fn(&[T]) -> &[B],
        bytes_mut: impl Fn(&mut [T]) -> &mut [B],
        change: impl Fn(&[B], &mut [B]),
    ) {
        let frame = if self.bits == 0 { input.len() } else { self.bits };
        let piece = (frame / self.channels).max(1);
        each_block(input, piece, output, piece, |channel, out| change(bytes(channel), bytes_mut(out)));
    }
}

/// Bits that packets are multiples of, for shapes.
fn unit(bits: u32, channels: u32) -> u32 {
    if bits == 0 { channels } else { bits }
}

struct UmtsInterleave2(Physical);

/// Second interleaver: 30 columns, over the radio frame of each physical channel (TS 25.212, 4.2.11).
#[component(name = "umts-interleave-2")]
impl UmtsInterleave2 {
    fn new(
        /// Bits of a radio frame, of all physical channels. 0: as many as the packet has.
        #[param(name = "n", alias = "length", unit = "items", range = 0..=1_000_000, default = 0)]
        length: u32,
        /// Physical channels among which a radio frame is divided (TS 25.212, 4.2.10).
        #[param(name = "P", alias = "channels", range = 1..=64, default = 1)]
        channels: u32,
    ) -> Result<UmtsInterleave2, MakeError> {
        Physical::new(length, channels).map(UmtsInterleave2)
    }

    fn tick(&mut self, #[port(multiple_of = unit(length, channels))] input: In<Bit>, mut output: Out<Bit>) {
        self.0.each(&input, &mut output, bits, bits_mut, umts::interleave_2);
    }
}

struct UmtsDeinterleave2(Physical);

/// Undoes the second interleaver on soft values (TS 25.212, 4.2.11).
#[component(name = "umts-deinterleave-2")]
impl UmtsDeinterleave2 {
    fn new(
        /// Bits of a radio frame, of all physical channels. 0: as many as the packet has.
        #[param(name = "n", alias = "length", unit = "items", range = 0..=1_000_000, default = 0)]
        length: u32,
        /// Physical channels among which a radio frame is divided (TS 25.212, 4.2.10).
        #[param(name = "P", alias = "channels", range = 1..=64, default = 1)]
        channels: u32,
    ) -> Result<UmtsDeinterleave2, MakeError> {
        Physical::new(length, channels).map(UmtsDeinterleave2)
    }

    fn tick(&mut self, #[port(multiple_of = unit(length, channels))] input: In<Llr>, mut output: Out<Llr>) {
        self.0.each(&input, &mut output, llrs, llrs_mut, umts::deinterleave_2);
    }
}
