//! Places of the programs' bands, the signal on the air, and the share's orders.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use takt_base::Speed;

use crate::rate::{Mode, RateOptions};
use crate::workload::EmulatedRadios;

/// Rate of the shared front end, samples a second.
pub const FRONT_END_SPS: f64 = 25e6;
/// Frequency of its middle, Hz.
pub(super) const FRONT_END_HZ: f64 = 2.4e9;
/// The part of its band that programs use, Hz: its filters pass 80 % of the rate.
pub(super) const USED_HZ: f64 = 20e6;
/// A program's bands are apart by this many of its rates where there is room.
const SPACING: f64 = 1.25;
/// The tone lies above the middle of the first program's band by this part of its rate.
const TONE_AT: f64 = 0.1;
/// Amplitude of that tone; full scale is 1.
pub const TONE_AMPLITUDE: f64 = 0.9;

/// Orders of a share: a file of `takt share`, and the flags beside it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SharedRadios {
    /// Address of the front end.
    pub front_end: Ipv4Addr,
    /// As `takt share --radios` reads it.
    pub plan: String,
    /// Networks that the radios may send to, as `--allow` has them.
    pub allow: Vec<String>,
    /// CPUs of the streaming thread.
    pub cpus: Vec<usize>,
}

/// The wishes of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) programs: usize,
    pub(super) shared: bool,
    pub(super) mode: Mode,
    pub(super) rate_sps: f64,
    /// Speed of the emulated radios.
    pub(super) speed: Speed,
}

/// Address of a program's radio. The front end stands before them.
#[must_use]
pub fn radio_of(front_end: Ipv4Addr, program: usize) -> Ipv4Addr {
    let beyond = u32::try_from(program).unwrap_or(u32::MAX).saturating_add(1);
    Ipv4Addr::from_bits(front_end.to_bits().saturating_add(beyond))
}

impl Wanted {
    /// Middle of a program's band, Hz from the middle of the front end's.
    fn offset_hz(&self, program: usize) -> f64 {
        let spacing_hz = (self.rate_sps * SPACING).min(USED_HZ / self.programs as f64);
        let offset_hz = (program as f64 - (self.programs as f64 - 1.0) / 2.0) * spacing_hz;
        // Whole hertz: a frequency that the boards make without a rest.
        offset_hz.round()
    }

    fn tone_hz(&self) -> f64 {
        self.rate_sps * TONE_AT
    }

    /// The stream of a program.
    pub(super) fn stream(&self, front_end: Ipv4Addr, program: usize, rate: RateOptions) -> RateOptions {
        let [receives, transmits] = match self.mode {
            Mode::Rx => [true, false],
            Mode::Tx => [false, true],
            Mode::Duplex => [true, true],
        };
        RateOptions {
            addr: IpAddr::V4(radio_of(front_end, program)),
            rx_sps: receives.then_some(self.rate_sps),
            tx_sps: transmits.then_some(self.rate_sps),
            frequency_hz: Some(FRONT_END_HZ + self.offset_hz(program)),
            ..rate
        }
    }

    /// The radios that are emulated, and what they play.
    pub(super) fn radios(&self, front_end: Ipv4Addr) -> EmulatedRadios {
        let tone = |hz: f64| format!("tone:offset={hz},amplitude={TONE_AMPLITUDE}");
        let speed = self.speed.to_string();
        if self.shared {
            let sources = vec![tone(self.offset_hz(0) + self.tone_hz())];
            return EmulatedRadios { addrs: vec![front_end], sources, speed };
        }
        let source = |program| if program == 0 { tone(self.tone_hz()) } else { "silence".to_owned() };
        EmulatedRadios {
            addrs: (0..self.programs).map(|program| radio_of(front_end, program)).collect(),
            sources: (0..self.programs).map(source).collect(),
            speed,
        }
    }

    /// The file of the share.
    pub(super) fn plan(&self, front_end: Ipv4Addr) -> String {
        let mut text = format!("[front_end]\nrate = {FRONT_END_SPS:?}\nfrequency = {FRONT_END_HZ:?}\n");
        let transmits = self.mode != Mode::Rx;
        for program in 0..self.programs {
            // The sum of all that programs send stays below full scale.
            let level_db = -20.0 * (self.programs as f64).log10();
            let _ = write!(
                text,
                "\n[[radio]]\nname = \"program{program}\"\naddr = \"{}\"\nboard = \"sbx\"\nrate = {:?}\ntransmit = {transmits}\n\
                 level_db = {:.1}\n",
                radio_of(front_end, program),
                self.rate_sps,
                level_db - 0.1,
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRONT_END: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 2);

    fn wanted(programs: usize, shared: bool) -> Wanted {
        Wanted { programs, shared, mode: Mode::Duplex, rate_sps: 1e6, speed: Speed::WALL }
    }

    #[test]
    fn bands_lie_side_by_side_within_the_front_ends() {
        for programs in 1..=super::super::MOST_PROGRAMS {
            let wanted = wanted(programs, true);
            let offsets: Vec<f64> = (0..programs).map(|program| wanted.offset_hz(program)).collect();
            assert!(offsets.windows(2).all(|pair| pair[1] - pair[0] >= 1e6), "{offsets:?}");
            assert!(offsets.iter().all(|hz| hz.abs() + 0.5e6 <= USED_HZ / 2.0 + 0.25e6), "{offsets:?}");
        }
    }

    #[test]
    fn the_tone_is_in_the_first_programs_band_alone() {
        let shared = wanted(4, true);
        assert_eq!(shared.radios(FRONT_END).sources, ["tone:offset=-1775000,amplitude=0.9"]);
        assert_eq!(shared.offset_hz(0), -1.875e6);
        let own = wanted(3, false).radios(FRONT_END);
        assert_eq!(own.sources, ["tone:offset=100000,amplitude=0.9", "silence", "silence"]);
        assert_eq!(own.addrs, [3, 4, 5].map(|last| Ipv4Addr::new(192, 168, 10, last)));
    }

    #[test]
    fn a_share_knows_each_programs_radio() {
        let plan = wanted(2, true).plan(FRONT_END);
        assert!(plan.starts_with("[front_end]\nrate = 25000000.0\nfrequency = 2400000000.0\n"), "{plan}");
        assert!(
            plan.contains(
                "addr = \"192.168.10.4\"\nboard = \"sbx\"\nrate = 1000000.0\ntransmit = true\nlevel_db = -6.1"
            )
        );
        assert_eq!(plan.matches("[[radio]]").count(), 2);
    }
}
