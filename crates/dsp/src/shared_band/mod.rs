//! One wide band, many narrow ones: channels cut out of a received band, and samples of channels placed into a sent one.
//!
//! Every band is a grid of ticks of one clock. A channel has its own step, its own centre, and its own first tick, which need
//! not lie on the grid of the wide band. Channels may overlap. All time is absolute:
//!
//! - The sample of tick t in a channel is the filtered wide band at tick t. The filter has no delay.
//! - The phase of a channel is that of an oscillator that has run since tick 0.
//! - A value depends on its tick alone. The same wide samples, fed in other pieces, give the same bits.
//!
//! The filter passes 80 % of the channel's rate within 0.1 dB. Beyond the channel's band it is at least 80 dB down, aliases
//! included. It reaches [`HALF_SPAN`](crate::HALF_SPAN) samples of the channel to either side.
//!
//! ```text
//!   wide ──▶ FFT ─┬─▶ bins × response × delay ──▶ short inverse FFT ──▶ turn back ──▶ channel 1      BandSplitter
//!                 ├─▶ bins × response × delay ──▶ short inverse FFT ──▶ turn back ──▶ channel 2
//!                 └── a channel that does not fit: turn ──▶ polyphase filter ──▶ channel 3
//!
//!   channel 1 ──▶ turn ──▶ short FFT ──▶ bins × response × delay ─┬─▶ inverse FFT ──▶ + ──▶ wide     BandCombiner
//!   channel 2 ──▶ turn ──▶ short FFT ──▶ bins × response × delay ─┘                   ▲
//!   channel 3 ──▶ polyphase filter ──▶ turn ──────────────────────────────────────────┘
//! ```
//!
//! A [`BandPlan`] chooses the length of the transform, and for each channel the cheaper of the two ways, with its reason.
//! Nothing allocates except [`BandPlan::new`], the two `new` and the two `open`.

mod combiner;
mod error;
mod filter;
mod plan;
mod pulse;
mod queue;
mod splitter;
mod tuned;

pub use combiner::BandCombiner;
pub use error::SharedBandError;
pub use plan::{BandMethod, BandPlan, MethodChoice, MethodReason};
pub use splitter::BandSplitter;

use takt_base::Tick;

use crate::Rotation;

/// The longest step of a wide band, in ticks.
pub const MAX_WIDE_STEP: u32 = 512;

/// The longest step of a channel, in ticks: 10 kS/s of a clock of 100 MHz.
pub const MAX_NARROW_STEP: u32 = 10_000;

/// Samples that a channel of a combiner holds ahead of time at most.
pub const MAX_AHEAD: usize = 1 << 20;

/// Channels that one splitter or combiner has at most.
pub const MAX_CHANNELS: usize = 1024;

/// The band that a front end carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideBand {
    /// A tick of its grid; which of them does not matter.
    pub first: Tick,
    /// Ticks from sample to sample, 1 to [`MAX_WIDE_STEP`].
    pub step: u32,
}

/// A channel of a wide band: sample n belongs to tick `first + n * step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowBand {
    /// Frequency in the wide band of the channel's 0 Hz.
    pub centre: Rotation,
    /// The tick of the first sample, on the wide grid or off it.
    pub first: Tick,
    /// Ticks from sample to sample: from the step of the wide band to [`MAX_NARROW_STEP`].
    pub step: u32,
}

impl WideBand {
    /// Whether a channel's band lies inside this one. The part outside folds, as it does in any mixer.
    #[must_use]
    pub fn contains(&self, centre: Rotation, step: u32) -> bool {
        let centre_turns = (centre.raw() as i64) as f64 / TURN;
        centre_turns.abs() + 0.5 / f64::from(step) <= 0.5 / f64::from(self.step) + 1e-15
    }

    /// Ticks of the grid's first sample behind tick 0.
    fn offset(&self) -> i64 {
        (self.first.0 % u64::from(self.step)) as i64
    }
}

/// Names a channel of the splitter or combiner that opened it. A closed channel's key stays invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelKey {
    slot: u32,
    opened: u32,
}

/// Channels by key. Slots of closed channels are used again.
struct Channels<T> {
    slots: Vec<(u32, Option<T>)>,
}

impl<T> Channels<T> {
    fn new() -> Channels<T> {
        Channels { slots: Vec::new() }
    }

    fn insert(&mut self, channel: T) -> Result<ChannelKey, SharedBandError> {
        let free = self.slots.iter().position(|(_, channel)| channel.is_none());
        let slot = match free {
            Some(slot) => slot,
            None if self.slots.len() < MAX_CHANNELS => {
                self.slots.push((0, None));
                self.slots.len() - 1
            }
            None => return Err(SharedBandError::Full),
        };
        let (opened, place) = &mut self.slots[slot];
        *opened = opened.wrapping_add(1);
        *place = Some(channel);
        Ok(ChannelKey { slot: slot as u32, opened: *opened })
    }

    fn remove(&mut self, key: ChannelKey) -> Option<T> {
        let (opened, place) = self.slots.get_mut(key.slot as usize)?;
        if *opened == key.opened { place.take() } else { None }
    }

    fn get(&self, key: ChannelKey) -> Result<&T, SharedBandError> {
        let found = self.slots.get(key.slot as usize).filter(|(opened, _)| *opened == key.opened);
        found.and_then(|(_, channel)| channel.as_ref()).ok_or(SharedBandError::NoChannel)
    }

    fn get_mut(&mut self, key: ChannelKey) -> Result<&mut T, SharedBandError> {
        let found = self.slots.get_mut(key.slot as usize).filter(|(opened, _)| *opened == key.opened);
        found.and_then(|(_, channel)| channel.as_mut()).ok_or(SharedBandError::NoChannel)
    }

    fn each(&mut self) -> impl Iterator<Item = (ChannelKey, &mut T)> {
        self.slots.iter_mut().enumerate().filter_map(|(slot, (opened, channel))| {
            Some((ChannelKey { slot: slot as u32, opened: *opened }, channel.as_mut()?))
        })
    }
}

/// A tick as a signed number, so that a filter may reach back beyond tick 0.
fn signed(tick: Tick) -> Result<i64, SharedBandError> {
    if tick.0 <= LAST_TICK { Ok(tick.0 as i64) } else { Err(SharedBandError::Tick { tick: tick.0 }) }
}

/// The tick of a signed number. Phases count modulo 2^64, so one before tick 0 is right too.
fn unsigned(tick: i64) -> Tick {
    Tick(tick as u64)
}

/// 1461 years of a clock of 100 MHz.
const LAST_TICK: u64 = 1 << 62;

/// 2^64.
const TURN: f64 = 18_446_744_073_709_551_616.0;
