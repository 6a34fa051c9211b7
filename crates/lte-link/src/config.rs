//! Configurations of both ends.

use serde::{Deserialize, Serialize};
use takt_lte::Bandwidth;

use crate::{AdaptationConfig, BearerMode, ConfigError, Identity, Policy, RlcConfig, SystemInformation};

/// Terminals at most: their resources of PUCCH share a period of ten subframes.
pub const TERMINALS: u8 = 5;

/// Settings of a base station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StationConfig {
    /// Bandwidth of the cell.
    pub bandwidth: Bandwidth,
    /// The broadcast. Its instance is drawn from [`Self::seed`].
    pub information: SystemInformation,
    /// Mode of each terminal's bearer.
    pub mode: BearerMode,
    /// The order in which terminals are served.
    pub policy: Policy,
    /// Terminals that have a place: 1 to 5.
    pub terminals: u8,
    /// Control channel elements that a subframe has for grants and assignments: 6 to 84.
    pub control_elements: u8,
    /// Bearers.
    pub rlc: RlcConfig,
    /// Modulation and coding.
    pub adaptation: AdaptationConfig,
    /// Subframes without any uplink block after which a terminal counts as lost: 100 to 10,000.
    pub silence: u16,
    /// Subframes without any uplink block after which a terminal is asked for one: 10 to half of [`Self::silence`].
    pub keep_alive: u16,
    /// Packets that wait at most to be taken upwards.
    pub delivered_packets: u32,
    /// Seed of all random numbers. It must differ from start to start: a terminal recognises a restart by them.
    pub seed: u64,
}

impl StationConfig {
    /// The usual settings.
    #[must_use]
    pub fn new(bandwidth: Bandwidth, seed: u64) -> StationConfig {
        // With three symbols of control, four of the narrowest band, as TS 36.211 section 6.8.1 counts.
        let control_elements = match bandwidth {
            Bandwidth::Prb6 => 6,
            Bandwidth::Prb15 => 12,
            Bandwidth::Prb25 => 20,
            Bandwidth::Prb50 => 41,
            Bandwidth::Prb75 => 62,
            Bandwidth::Prb100 => 84,
        };
        StationConfig {
            bandwidth,
            information: SystemInformation::for_bandwidth(bandwidth),
            mode: BearerMode::Acknowledged,
            policy: Policy::RoundRobin,
            terminals: 4,
            control_elements,
            rlc: RlcConfig::default(),
            adaptation: AdaptationConfig::default(),
            silence: 1000,
            keep_alive: 100,
            delivered_packets: 4096,
            seed,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.information.check(self.bandwidth).map_err(|error| ConfigError {
            key: "information",
            value: error.to_string(),
            expected: "fields as its documentation says",
        })?;
        check_rlc(&self.rlc)?;
        let ranges = [
            ("terminals", u32::from(self.terminals), 1..=u32::from(TERMINALS), "1 to 5"),
            ("control_elements", self.control_elements.into(), 6..=84, "6 to 84"),
            ("silence", self.silence.into(), 100..=10_000, "100 to 10000 subframes"),
            (
                "keep_alive",
                self.keep_alive.into(),
                10..=u32::from(self.silence / 2),
                "10 subframes to half of `silence`",
            ),
            ("delivered_packets", self.delivered_packets, 1..=1_000_000, "1 to 1000000"),
            ("adaptation.most_downlink_mcs", self.adaptation.most_downlink_mcs.into(), 0..=28, "0 to 28"),
            ("adaptation.most_uplink_mcs", self.adaptation.most_uplink_mcs.into(), 0..=28, "0 to 28"),
        ];
        check_ranges(ranges)?;
        let steps = [self.adaptation.up_db, self.adaptation.down_db, self.adaptation.most_margin_db];
        match steps.into_iter().find(|step| !(0.0..=30.0).contains(step)) {
            Some(wrong) => Err(ConfigError {
                key: "adaptation",
                value: wrong.to_string(),
                expected: "steps and bound from 0 to 30 dB",
            }),
            None => Ok(()),
        }
    }
}

/// Settings of a terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TerminalConfig {
    /// Bandwidth of the cell, as its broadcast says.
    pub bandwidth: Bandwidth,
    /// The identity that it sends.
    pub identity: Identity,
    /// Its bearer.
    pub rlc: RlcConfig,
    /// Subframes in a row without synchronism after which the link counts as lost: 10 to 10,000.
    pub out_of_sync: u16,
    /// Subframes without any grant or assignment after which the link counts as lost: 100 to 10,000.
    pub silence: u16,
    /// Packets that wait at most to be taken upwards.
    pub delivered_packets: u32,
    /// Seed of all random numbers. It must differ from start to start: the base station recognises a restart by them.
    pub seed: u64,
}

impl TerminalConfig {
    /// The usual settings.
    #[must_use]
    pub fn new(bandwidth: Bandwidth, identity: Identity, seed: u64) -> TerminalConfig {
        let rlc = RlcConfig::default();
        TerminalConfig { bandwidth, identity, rlc, out_of_sync: 100, silence: 1000, delivered_packets: 4096, seed }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_rlc(&self.rlc)?;
        check_ranges([
            ("out_of_sync", self.out_of_sync.into(), 10..=10_000, "10 to 10000 subframes"),
            ("silence", self.silence.into(), 100..=10_000, "100 to 10000 subframes"),
            ("delivered_packets", self.delivered_packets, 1..=1_000_000, "1 to 1000000"),
        ])
    }
}

type Range = (&'static str, u32, std::ops::RangeInclusive<u32>, &'static str);

fn check_rlc(rlc: &RlcConfig) -> Result<(), ConfigError> {
    check_ranges([
        ("rlc.reordering", rlc.reordering.into(), 1..=1000, "1 to 1000 subframes"),
        ("rlc.status_prohibit", rlc.status_prohibit.into(), 0..=500, "0 to 500 subframes"),
        ("rlc.poll_retransmit", rlc.poll_retransmit.into(), 5..=1000, "5 to 1000 subframes"),
        ("rlc.poll_pdus", rlc.poll_pdus, 1..=1024, "1 to 1024"),
        ("rlc.poll_bytes", rlc.poll_bytes, 1..=10_000_000, "1 to 10000000"),
        ("rlc.most_repeats", rlc.most_repeats.into(), 1..=100, "1 to 100"),
        ("rlc.queue_packets", rlc.queue_packets, 1..=100_000, "1 to 100000"),
    ])
}

fn check_ranges(ranges: impl IntoIterator<Item = Range>) -> Result<(), ConfigError> {
    match ranges.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
        Some((key, value, _, expected)) => Err(ConfigError { key, value: value.to_string(), expected }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_out_of_range_is_named() {
        let right = StationConfig::new(Bandwidth::Prb25, 1);
        assert_eq!(right.check(), Ok(()));
        let wrong = StationConfig { terminals: 6, ..right.clone() }.check().unwrap_err();
        assert_eq!(wrong.to_string(), "terminals = 6; expected: 1 to 5");
        let mut wrong = right.clone();
        wrong.information.prach.frequency_offset_blocks = 20;
        assert!(wrong.check().unwrap_err().to_string().contains("prach.frequency_offset_blocks"));
        let mut wrong = right;
        wrong.adaptation.up_db = f32::NAN;
        assert!(wrong.check().is_err());
    }
}
