//! Where received samples go: the caller's floats, or the caller's integers.

use num_complex::Complex;
use takt_base::Complex32;
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

/// Buffers of a call, one per channel.
pub(super) trait Sink {
    /// Channels given.
    fn channels(&self) -> usize;

    /// Samples that fit each of them.
    fn room(&self) -> usize;

    /// Converts samples as they came into `channel`, from sample `at` on.
    fn put(&mut self, channel: usize, at: usize, wire: &[u8]);
}

/// Full scale 1.0, whatever rate and format.
pub(super) struct Floats<'a, 'b> {
    pub(super) out: &'a mut [&'b mut [Complex32]],
    pub(super) format: Format,
    pub(super) scale: f32,
}

impl Sink for Floats<'_, '_> {
    fn channels(&self) -> usize {
        self.out.len()
    }

    fn room(&self) -> usize {
        self.out.iter().map(|channel| channel.len()).min().unwrap_or(0)
    }

    fn put(&mut self, channel: usize, at: usize, wire: &[u8]) {
        let Some(out) = self.out.get_mut(channel).and_then(|channel| channel.get_mut(at..)) else { return };
        match self.format {
            Format::Sc16 => sc16::unpack_f32(wire, ByteOrder::Big, self.scale, out),
            Format::Sc8 => sc8::unpack_f32(wire, self.scale, out),
        };
    }
}

/// The integers of the wire.
pub(super) struct Integers<'a, 'b> {
    pub(super) out: &'a mut [&'b mut [Complex<i16>]],
    pub(super) format: Format,
}

impl Sink for Integers<'_, '_> {
    fn channels(&self) -> usize {
        self.out.len()
    }

    fn room(&self) -> usize {
        self.out.iter().map(|channel| channel.len()).min().unwrap_or(0)
    }

    fn put(&mut self, channel: usize, at: usize, wire: &[u8]) {
        let Some(out) = self.out.get_mut(channel).and_then(|channel| channel.get_mut(at..)) else { return };
        match self.format {
            Format::Sc16 => sc16::unpack_i16(wire, ByteOrder::Big, out),
            Format::Sc8 => sc8::unpack_i16(wire, out),
        };
    }
}
