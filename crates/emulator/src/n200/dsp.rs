//! Parts that the receive and the transmit DSPs have in common: registers, and what is around them.

use std::net::SocketAddr;

use takt_wire::n200::rate::{Direction, RateWord, device_gain};
use takt_wire::n200::registers::dsp;
use takt_wire::sample::Format;

use super::front_end::FrontEnd;
use super::options::OverflowPolicy;
use crate::shared::Timekeeper;

/// The rest of the device, as a DSP needs it.
pub(super) struct Surroundings<'a> {
    pub(super) time: &'a Timekeeper,
    pub(super) front_end: &'a FrontEnd,
    pub(super) to: Option<SocketAddr>,
    pub(super) on_overflow: OverflowPolicy,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DspBlock {
    pub(super) frequency: u32,
    scale: u32,
    rate: u32,
}

impl DspBlock {
    pub(super) fn poke(&mut self, offset: u8, data: u32) {
        match offset {
            dsp::FREQUENCY => self.frequency = data,
            dsp::SCALE => self.scale = data,
            dsp::RATE => self.rate = data,
            _ => {}
        }
    }

    /// Ticks from sample to sample; 1 before a host has set a rate.
    pub(super) fn step(&self) -> u32 {
        RateWord(self.rate).factor().max(1)
    }

    pub(super) fn gain(&self, direction: Direction) -> f32 {
        device_gain(direction, RateWord(self.rate).cic(), self.scale) as f32
    }
}

/// Bit 0 of a format register.
pub(super) fn format_of(data: u32) -> Format {
    if data & 1 == 0 { Format::Sc16 } else { Format::Sc8 }
}
