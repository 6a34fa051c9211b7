//! Options of a run of a waveform.

use std::time::Duration;

use serde::{Deserialize, Serialize};
pub use takt_graph::Latency;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaveformOptions {
    /// Its name: `bpsk`, `utran`, `utran-ref`, `modem`, `chain`, or a file's.
    pub waveform: String,
    /// The text of the file, where it is one: the record must say what was run.
    pub text: Option<String>,
    /// Components in all, of a `chain`.
    pub components: usize,
    pub packet: Packet,
    pub slot: Duration,
    pub duration: Duration,
    pub warm_up: Duration,
    pub slots: Slots,
    pub workers: usize,
    pub latency: Latency,
    pub clock: Clock,
    pub policy: Policy,
    /// Fold what the sinks receive into `output_hash`.
    pub hash: bool,
    /// Look at the memory of the process while it runs; that takes it some time.
    pub watch_memory: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packet {
    #[default]
    AsWritten,
    Items(u32),
    /// So many items a second: as many a slot as that takes.
    PerSecond(f64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slots {
    /// As many as the duration holds.
    #[default]
    ByDuration,
    Count(u64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The host's clock: a worker that is late misses slots.
    #[default]
    Wall,
    /// Each slot follows the last, as fast as can be.
    Free,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// As the process has it.
    Other,
    Fifo,
    /// Real time where permitted, else normal; the outcome says which.
    #[default]
    Highest,
}

impl Default for WaveformOptions {
    fn default() -> WaveformOptions {
        WaveformOptions {
            waveform: "bpsk".into(),
            text: None,
            components: 2,
            packet: Packet::AsWritten,
            slot: Duration::from_millis(1),
            duration: Duration::from_secs(1),
            warm_up: Duration::from_millis(100),
            slots: Slots::ByDuration,
            workers: 1,
            latency: Latency::Compact,
            clock: Clock::Wall,
            policy: Policy::Highest,
            hash: false,
            watch_memory: false,
        }
    }
}

impl WaveformOptions {
    /// Slots of a run of this length; `None`: until it is stopped.
    pub(crate) fn slots_of(&self, duration: Duration, slot_ns: u64) -> Option<u64> {
        match self.slots {
            Slots::Count(count) => Some(count),
            Slots::ByDuration => self.slots_by_time(duration, slot_ns),
        }
    }

    /// The same, however many slots are to be measured: for the warm-up.
    pub(crate) fn slots_by_time(&self, duration: Duration, slot_ns: u64) -> Option<u64> {
        let by_time = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).div_ceil(slot_ns.max(1)).max(1);
        (self.clock == Clock::Wall).then_some(by_time)
    }

    /// Items a slot, where they are not the waveform's own.
    pub(crate) fn items(&self) -> Option<u32> {
        match self.packet {
            Packet::AsWritten => None,
            Packet::Items(items) => Some(items),
            Packet::PerSecond(per_s) => Some((per_s * self.slot.as_secs_f64()).round().clamp(1.0, 16_777_216.0) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_clock_and_items_the_slot() {
        let options = WaveformOptions { packet: Packet::PerSecond(5e6), ..WaveformOptions::default() };
        assert_eq!(options.items(), Some(5000));
        assert_eq!(options.slots_of(Duration::from_secs(1), 1_000_000), Some(1000));
        let free = WaveformOptions { clock: Clock::Free, ..options.clone() };
        assert_eq!(free.slots_of(Duration::from_secs(1), 1_000_000), None, "as many as there is time for");
        let counted = WaveformOptions { slots: Slots::Count(7), ..free };
        assert_eq!(counted.slots_of(Duration::from_secs(1), 1_000_000), Some(7));
        let beaten = WaveformOptions { clock: Clock::Wall, ..counted };
        let warm_up = Duration::from_millis(20);
        assert_eq!(beaten.slots_by_time(warm_up, 1_000_000), Some(20), "a warm-up is as long as it says");
        assert_eq!(WaveformOptions { packet: Packet::PerSecond(1.0), ..options }.items(), Some(1), "never none");
    }
}
