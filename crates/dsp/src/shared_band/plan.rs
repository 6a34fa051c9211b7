//! Which length of transform suits a set of channels, and which way suits one channel.
//!
//! A block of the shared transform must hold a whole number of samples of each channel, and so must the step from block to
//! block. Then a channel has the same delay in every block, and its table of weights stays. The parts of a block that its
//! neighbours would wrap into are thrown away: as long as the filter of the slowest channel.
//!
//! Costs are in instructions a wide sample, with AVX2, from counts by cachegrind (`peers/share/README.md`). Only their ratios decide.

use std::fmt;

use takt_base::Ticks;

use super::filter::REACH;
use super::{MAX_NARROW_STEP, MAX_WIDE_STEP, SharedBandError, WideBand};

/// How a channel is cut out of the wide band, or placed into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandMethod {
    /// Bins of the transform that all channels share, and one short transform.
    FastConvolution,
    /// A mixer and a polyphase filter of its own.
    Direct,
}

/// Why a channel takes its way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MethodReason {
    /// It costs less, in instructions a wide sample: this way, and the other.
    Cheaper {
        /// Cost that this way adds.
        this: f64,
        /// Cost that the other way adds.
        other: f64,
    },
    /// The plan has no shared transform: no length is short enough, or none is worth its cost.
    NoTransform,
    /// The blocks of the shared transform hold no whole number of the channel's samples.
    StepDoesNotDivide,
    /// The filter is longer than the part of a block that is thrown away.
    FilterTooLong,
}

/// A way, and its reason. `Display` says it in words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodChoice {
    /// The way.
    pub method: BandMethod,
    /// Its reason.
    pub reason: MethodReason,
}

impl fmt::Display for MethodChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.method {
            BandMethod::FastConvolution => "fast convolution",
            BandMethod::Direct => "direct",
        };
        match self.reason {
            MethodReason::Cheaper { this, other } => {
                write!(f, "{name}: {this:.1} instructions a wide sample, the other way {other:.1}")
            }
            MethodReason::NoTransform => write!(f, "{name}: no shared transform is short and cheap enough"),
            MethodReason::StepDoesNotDivide => {
                write!(f, "{name}: a block of the shared transform is no whole number of the channel's samples")
            }
            MethodReason::FilterTooLong => write!(f, "{name}: the channel's filter is longer than a block allows"),
        }
    }
}

/// The shared transform of a wide band, or none.
///
/// A splitter or combiner keeps its plan: channels that come and go change no bit of the others. Two plans differ in rounding, by
/// less than -90 dB of full scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandPlan {
    pub(super) wide: WideBand,
    /// Samples of the transform; 0 without one.
    pub(super) len: usize,
    /// New samples in a block.
    pub(super) hop: usize,
    /// The slowest channel that the blocks leave room for, in ticks.
    pub(super) longest: u32,
}

impl BandPlan {
    /// A plan for channels of these steps, in ticks, each as often as there are channels. Other channels can be opened too.
    ///
    /// `longest_block` bounds the new samples of a block, and so the time that a sample waits for its block. With long
    /// blocks the transform costs less.
    ///
    /// # Errors
    /// If a step is out of range.
    pub fn new(wide: WideBand, steps: &[u32], longest_block: Ticks) -> Result<BandPlan, SharedBandError> {
        if !(1..=MAX_WIDE_STEP).contains(&wide.step) {
            return Err(SharedBandError::WideStep { step: wide.step });
        }
        steps.iter().try_for_each(|step| check_step(wide, *step))?;
        let room = usize::try_from(longest_block.0 / u64::from(wide.step)).unwrap_or(usize::MAX);
        let mut sorted = steps.to_vec();
        sorted.sort_unstable();
        let direct = BandPlan { wide, len: 0, hop: room.clamp(1, DIRECT_BLOCK), longest: 0 };
        let mut best = (direct.cost(&sorted), direct);
        let mut kinds: Vec<u32> = sorted.iter().copied().filter(|step| is_smooth(*step as usize)).collect();
        kinds.dedup();
        // The slow channels need the long blocks: try without the slowest, without the two slowest, ...
        for count in 1..=kinds.len() {
            for plan in candidates(wide, &kinds[..count], room) {
                let cost = plan.cost(&sorted);
                if cost < best.0 {
                    best = (cost, plan);
                }
            }
        }
        Ok(best.1)
    }

    /// The wide band.
    #[must_use]
    pub fn wide(&self) -> WideBand {
        self.wide
    }

    /// Samples of the shared transform, or `None` where every channel goes the direct way.
    #[must_use]
    pub fn transform_len(&self) -> Option<usize> {
        (self.len > 0).then_some(self.len)
    }

    /// Wide samples of a block. Blocks begin at whole multiples of it, counted from the grid's first tick.
    #[must_use]
    pub fn block_len(&self) -> usize {
        self.hop
    }

    /// The way of a channel with this step, and why.
    #[must_use]
    pub fn choose(&self, step: u32) -> MethodChoice {
        let direct = |reason| MethodChoice { method: BandMethod::Direct, reason };
        if self.len == 0 {
            return direct(MethodReason::NoTransform);
        }
        if step > self.longest {
            return direct(MethodReason::FilterTooLong);
        }
        if !self.divides(step) {
            return direct(MethodReason::StepDoesNotDivide);
        }
        let (fast, direct_cost) = (self.channel_cost(step), DIRECT);
        if fast <= direct_cost {
            let reason = MethodReason::Cheaper { this: fast, other: direct_cost };
            return MethodChoice { method: BandMethod::FastConvolution, reason };
        }
        direct(MethodReason::Cheaper { this: direct_cost, other: fast })
    }

    /// The estimated cost of receiving channels of these steps, in instructions a wide sample.
    #[must_use]
    pub fn cost(&self, steps: &[u32]) -> f64 {
        let shared = if self.len == 0 { 0.0 } else { transform_cost(self.len) / self.hop as f64 };
        shared
            + steps
                .iter()
                .map(|step| match self.choose(*step).method {
                    BandMethod::FastConvolution => self.channel_cost(*step),
                    BandMethod::Direct => DIRECT,
                })
                .sum::<f64>()
    }

    /// Ticks by which wide samples must run ahead of a channel's sample before the splitter puts it out, at most.
    #[must_use]
    pub fn receive_latency(&self, step: u32) -> Ticks {
        let wide = u64::from(self.wide.step);
        let reach = REACH as u64 * u64::from(step) + wide;
        match self.choose(step).method {
            BandMethod::FastConvolution => Ticks(reach + self.hop as u64 * wide),
            BandMethod::Direct => Ticks(reach),
        }
    }

    /// Samples of a block that belong to the one before it.
    pub(super) fn overlap(&self) -> usize {
        self.len.saturating_sub(self.hop)
    }

    /// Samples of the overlap that lie before the block's own when sending.
    pub(super) fn lead(&self) -> usize {
        self.overlap().saturating_sub(reach_len(self.wide.step, self.longest))
    }

    /// Samples of the channel in a transform.
    pub(super) fn narrow_len(&self, step: u32) -> usize {
        self.len * self.wide.step as usize / step as usize
    }

    fn divides(&self, step: u32) -> bool {
        let (wide, step) = (self.wide.step as usize, step as usize);
        (self.len * wide).is_multiple_of(step) && (self.hop * wide).is_multiple_of(step)
    }

    fn channel_cost(&self, step: u32) -> f64 {
        let narrow = self.narrow_len(step);
        (transform_cost(narrow) + CHANNEL + BIN * narrow as f64) / self.hop as f64
    }
}

pub(super) fn check_step(wide: WideBand, step: u32) -> Result<(), SharedBandError> {
    if (wide.step..=MAX_NARROW_STEP).contains(&step) {
        return Ok(());
    }
    Err(SharedBandError::NarrowStep { step, least: wide.step })
}

/// Wide samples that the filter of a channel reaches to one side, and one for a tick between two samples.
fn reach_len(wide_step: u32, step: u32) -> usize {
    (REACH as usize * step as usize).div_ceil(wide_step as usize) + 1
}

/// Transforms whose blocks hold whole numbers of samples of all these steps.
fn candidates(wide: WideBand, steps: &[u32], room: usize) -> impl Iterator<Item = BandPlan> {
    let ticks = steps.iter().fold(wide.step as usize, |all, step| lcm(all, *step as usize));
    let granule = ticks / wide.step as usize;
    let longest = steps.iter().copied().max().unwrap_or(wide.step);
    let overlap = (2 * reach_len(wide.step, longest)).next_multiple_of(granule);
    (1..=LONGEST_TRANSFORM / granule).map(move |count| count * granule).filter_map(move |len| {
        let hop = len.checked_sub(overlap)?;
        let fits = is_smooth(len) && hop > 0 && hop <= room;
        fits.then_some(BandPlan { wide, len, hop, longest })
    })
}

/// Whether the number has no prime factor above 5: transforms of such lengths are fast.
fn is_smooth(number: usize) -> bool {
    let mut rest = number;
    for factor in [2, 3, 5] {
        while rest > 1 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1
}

/// The least common multiple; stops growing where no transform could be so long.
fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b).min(usize::MAX / 2)
}

fn transform_cost(len: usize) -> f64 {
    let len = len.max(2) as f64;
    TRANSFORM * len * len.log2()
}

/// The longest shared transform: 2 MiB of samples.
const LONGEST_TRANSFORM: usize = 1 << 18;

/// Wide samples of a block where nothing is shared.
const DIRECT_BLOCK: usize = 1024;

/// A value of a transform, for each doubling of its length: 1.4 (of 2^11 * 5^3) to 3.1 (of 5^6).
const TRANSFORM: f64 = 2.2;

/// A channel's block, before its values.
const CHANNEL: f64 = 1535.0;

/// A bin of a channel's block: weighed, put out, turned back.
const BIN: f64 = 16.4;

/// A wide sample through a mixer and a polyphase filter: 69 (100 ticks from 4) to 94 (25 ticks from 4).
const DIRECT: f64 = 72.0;
