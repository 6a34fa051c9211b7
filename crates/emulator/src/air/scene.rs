//! Parts of an air: radios, and links from transmitters to receivers.

use std::net::Ipv4Addr;
use std::time::Duration;

use takt_base::TickRate;
use takt_dsp::FadingModel;

pub use crate::front_end::ImbalanceSpec as Imbalance;
use crate::options::EmulatorOptions;
use crate::timebase::{self, Timebase};
use crate::{n200, x310};

/// Radios of one air.
pub const MOST_RADIOS: usize = 16;
/// Links of one air.
pub const MOST_LINKS: usize = 128;
/// Links to one receiving channel.
pub const MOST_LINKS_TO_ONE: usize = 16;
/// Further paths of one link.
pub const MOST_TAPS: usize = 16;
/// Longest delay of a path, further paths included: 3000 km.
pub const LONGEST_DELAY_NS: f64 = 10e6;
/// The same where it counts samples of the transmitter.
pub const LONGEST_DELAY_SAMPLES: f64 = 100_000.0;
/// Most a clock is off, in millionths.
pub const MOST_CLOCK_OFFSET_PPM: f64 = 100.0;
/// The longest packet of the slowest receiver: 2044 samples of 1020 ticks each, of an X310 at 184.32 MHz.
const LONGEST_PACKET: Duration = Duration::from_micros(11_400);
/// How late the emulator itself may be with a receiver before something is lost.
const EMULATOR_LATE: Duration = Duration::from_millis(10);
/// How long samples wait before they leave, so that what is sent meanwhile is in: shortest, usual, longest.
pub const LATENCY_US: [u32; 3] = [200, 2000, 50_000];

/// Everything that a file of an air says.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Seed of all noise and fading.
    pub seed: u64,
    /// How long after their last sample packets leave: what was sent for that time must be in by then.
    pub latency: Duration,
    pub radios: Vec<Radio>,
    pub links: Vec<Link>,
}

impl Default for Scene {
    fn default() -> Scene {
        Scene { seed: 1, latency: Duration::from_micros(LATENCY_US[1].into()), radios: Vec::new(), links: Vec::new() }
    }
}

/// Which radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    N200,
    X310,
}

impl ModelName {
    pub const ALL: [ModelName; 2] = [ModelName::N200, ModelName::X310];

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ModelName::N200 => "n200",
            ModelName::X310 => "x310",
        }
    }

    /// Antennas: those of an X310 are its slots A and B.
    #[must_use]
    pub fn channels(self) -> usize {
        match self {
            ModelName::N200 => 1,
            ModelName::X310 => 2,
        }
    }

    /// The ticks that its sources and sinks count when it is switched on.
    pub(super) fn timebase(self) -> Timebase {
        Timebase::of(match self {
            ModelName::N200 => n200::CLOCK,
            ModelName::X310 => x310::MASTER_CLOCK,
        })
    }

    /// How many of its last samples a transmitter keeps, at its highest rate: until the last receiver has them.
    pub(super) fn kept_samples(self, latency: Duration) -> usize {
        let delay = Duration::from_nanos(LONGEST_DELAY_NS as u64);
        let kept = self.timebase().rate().ticks_in(latency + delay + LONGEST_PACKET + EMULATOR_LATE);
        (kept.0 as usize).next_power_of_two()
    }
}

/// A radio and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    /// By which links know it.
    pub name: String,
    pub model: ModelName,
    pub addr: Ipv4Addr,
    /// As `takt emulate` takes them, for this radio alone.
    pub options: EmulatorOptions,
    /// How fast its oscillator is, in hundredths of a millionth: samples, frequencies and its clock follow it.
    pub clock_offset_hundredths_ppm: i32,
    pub receive: Receive,
    pub transmit: Imbalance,
}

impl Radio {
    /// With nothing wrong, and the usual options.
    #[must_use]
    pub fn new(name: &str, model: ModelName, addr: Ipv4Addr) -> Radio {
        Radio {
            name: name.to_owned(),
            model,
            addr,
            options: EmulatorOptions { addrs: vec![addr], ..EmulatorOptions::default() },
            clock_offset_hundredths_ppm: 0,
            receive: Receive::default(),
            transmit: Imbalance::default(),
        }
    }

    /// Clock that its driver counts, for a model that counts `nominal`.
    #[must_use]
    pub fn driver_clock(&self, nominal: TickRate) -> TickRate {
        timebase::faster(nominal, self.clock_offset_hundredths_ppm)
    }
}

/// Settings of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Receive {
    /// Its own noise, mean power against that of a full-scale tone; `None`: none.
    pub noise_dbfs: Option<f64>,
    pub imbalance: Imbalance,
}

/// A channel of a radio, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub radio: usize,
    pub channel: usize,
}

/// From a transmitter to a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub from: End,
    pub to: End,
    pub gain_db: f64,
    pub delay: Delay,
    /// How much higher everything is received.
    pub frequency_offset_hz: f64,
    pub noise: Option<Noise>,
    /// Further paths beside the direct one.
    pub taps: Vec<Tap>,
    /// Instead of the direct path and `taps`, the fading paths of a channel of 3GPP TS 36.101, annex B.2.
    pub fading: Option<FadingModel>,
}

impl Link {
    /// Without loss, delay, fading or anything else.
    #[must_use]
    pub fn new(from: End, to: End) -> Link {
        Link {
            from,
            to,
            gain_db: 0.0,
            delay: Delay::Ns(0.0),
            frequency_offset_hz: 0.0,
            noise: None,
            taps: Vec::new(),
            fading: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Nanoseconds.
    Ns(f64),
    /// Samples of the transmitter, whatever rate that has.
    Samples(f64),
}

/// Noise that a link adds at its receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Mean power against that of a full-scale tone.
    Dbfs(f64),
    /// By how much a full-scale signal that comes over the link is stronger.
    SnrDb(f64),
}

/// A further path of a link, relative to the direct one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tap {
    pub delay_ns: f64,
    pub gain_db: f64,
    pub phase_deg: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmitter_keeps_what_the_latency_asks_for_and_no_more() {
        let kept = |latency_us: u32| {
            let latency = Duration::from_micros(latency_us.into());
            ModelName::ALL.map(|model| model.kept_samples(latency).ilog2())
        };
        // As docs/reference/air.md says.
        assert_eq!(LATENCY_US.map(kept), [[22, 23], [22, 23], [23, 24]]);
        assert_eq!([10_500, 10_600].map(kept), [[22, 23], [23, 24]]);
    }
}
