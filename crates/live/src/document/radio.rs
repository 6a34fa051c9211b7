//! Radios and links over the air.

use serde::{Deserialize, Serialize};

/// One direction of a radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radio {
    /// The radio, for people: its model and address.
    pub name: String,
    /// Direction, seen from the host.
    pub direction: Direction,
    /// The rate that was set, samples a second, each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_sps: Option<f64>,
    /// Carrier, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq_hz: Option<f64>,
    /// Channels of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
    /// Samples that came, or were handed to the kernel; all channels together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Samples found to be missing, all channels together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_samples: Option<u64>,
    /// Faults, by UHD's letters.
    #[serde(default)]
    pub letters: Letters,
}

/// Direction of a stream, seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the radio.
    Rx,
    /// To the radio.
    Tx,
}

impl Direction {
    /// As in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Direction::Rx => "rx",
            Direction::Tx => "tx",
        }
    }
}

/// Counts by UHD's letters; a letter that can't happen in a direction, or that nobody counts, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letters {
    /// Overflows: the radio could not send.
    #[serde(rename = "O", default, skip_serializing_if = "Option::is_none")]
    pub overflows: Option<u64>,
    /// Underflows: the radio ran dry.
    #[serde(rename = "U", default, skip_serializing_if = "Option::is_none")]
    pub underflows: Option<u64>,
    /// Commands or samples that came too late.
    #[serde(rename = "L", default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Datagrams lost on the way to the radio.
    #[serde(rename = "S", default, skip_serializing_if = "Option::is_none")]
    pub sent_lost: Option<u64>,
    /// Datagrams lost on the way from the radio.
    #[serde(rename = "D", default, skip_serializing_if = "Option::is_none")]
    pub received_lost: Option<u64>,
}

impl Letters {
    /// Letter and count, in the order `O U L S D`.
    #[must_use]
    pub fn list(&self) -> [(char, Option<u64>); 5] {
        [
            ('O', self.overflows),
            ('U', self.underflows),
            ('L', self.late),
            ('S', self.sent_lost),
            ('D', self.received_lost),
        ]
    }
}

/// A link over the air, as one end counts it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Which one, for people: the end and the direction.
    pub name: String,
    /// State, in the words of the link's own reports: `searching`, `connected`, `lost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Why it was lost last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_reason: Option<String>,
    /// Signal-to-noise ratio, dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snr_db: Option<f64>,
    /// Modulation and coding scheme of the last transport block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcs: Option<u32>,
    /// Share of transport blocks with errors, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bler: Option<f64>,
    /// Payload, bits a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<f64>,
}
