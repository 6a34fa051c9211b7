//! Settings of a hop.

use serde::{Deserialize, Serialize};

/// A device between two cables. Everything off: frames pass at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HopSpec {
    /// Rate of the cable on either side, bits a second, preamble and gap counted; `None`: no limit.
    pub rate_bps: Option<u64>,
    /// Bytes on the wire that may wait for a cable.
    pub buffer_bytes: u64,
    /// Processor that reads each frame; `None`: takes no time.
    pub processor: Option<Processor>,
    pub impairments: Impairments,
    /// Seed of all chance here.
    pub seed: u64,
}

/// A processor that both directions share, and that takes frames one after another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    pub per_frame_ns: u64,
    pub per_byte_ps: u64,
    /// Frames that may wait for it.
    pub ring_frames: usize,
    /// Its speed wanders: each second all costs are multiplied by a new number between 1 - spread and 1 + spread.
    pub spread: f64,
}

/// Effects of a network on frames that no device meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Impairments {
    pub delay_ns: u64,
    /// Delays differ by up to this, either way, evenly; frames stay in order, so a frame close behind a late one is late
    /// as well. No more than the delay counts.
    pub jitter_ns: u64,
    /// Share of frames lost, 0 to 1, each independent of the others.
    pub loss: f64,
    pub duplicate: f64,
    pub reorder: f64,
    /// For how long; what arrives meanwhile overtakes.
    pub hold_ns: u64,
}

impl Default for HopSpec {
    fn default() -> HopSpec {
        let impairments = Impairments::default();
        HopSpec { rate_bps: None, buffer_bytes: 256 * 1024, processor: None, impairments, seed: 1 }
    }
}

impl HopSpec {
    /// The TP-Link WR741ND of the study `routers`: ports of 100 Mb/s, and one processor that routes.
    ///
    /// Cost fitted to the logs that go with the paper: medians of the rounds at 100 Mb/s, datagrams a second that passed.
    ///
    /// | payload, bytes | 128 | 256 | 512 | 1024 | 1280 |
    /// | --- | --- | --- | --- | --- | --- |
    /// | the device | 20 712 | 19 477 | 14 913 | 8 796 | 8 161 |
    /// | the model | 21 310 | 18 060 | 13 840 | 9 430 | 8 130 |
    ///
    /// A straight line through the reciprocals, 38.5 µs + 66 ns a byte of payload (a frame has 42 more), comes within
    /// 8 %; rounds spread by ten either way. The ring of 128 frames is what OpenWrt's driver for that processor takes;
    /// the paper does not say.
    #[must_use]
    pub fn wr741nd(seed: u64) -> HopSpec {
        let processor = Processor { per_frame_ns: 35_700, per_byte_ps: 66_000, ring_frames: 128, spread: 0.1 };
        let (rate_bps, processor) = (Some(100_000_000), Some(processor));
        HopSpec { rate_bps, buffer_bytes: 128 * 1538, processor, seed, ..HopSpec::default() }
    }

    /// Whether a frame passes untouched and at once.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.rate_bps.is_none() && self.processor.is_none() && self.impairments == Impairments::default()
    }
}
