//! Transmission by blocks: a short transform for each radio, and one long one into the wide band for all.
//!
//! Samples reach the shared [`BandCombiner`] once they can't change any more, each exactly once. A radio whose samples do not suit it (rate,
//! place in the band, more bursts than it holds) has a filter of its own, from the block in which that shows until it pauses. Both ways
//! give the same signal, so a block may hold some radios of each.
//!
//! ```text
//!  radio 1 ── samples that are final ──> channel ─┐
//!  radio 2 ── samples that are final ──> channel ─┴─> one inverse transform ──> block
//!  radio 3 ── a filter of its own ─────────────────────────────────────────────> + block
//! ```

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::{BandCombiner, BandMethod, BandPlan, ChannelKey};
use takt_dsp::{HALF_SPAN, Rotation};
use takt_emulator::loopback::SentPiece;
use takt_emulator::n200::CLOCK;

use crate::file::MOST_RADIOS;
use crate::sum::Insert;

/// Samples that are handed over at a time.
const PIECE: usize = 1024;

/// The shared transform of what all radios send.
pub(crate) struct Sender {
    plan: BandPlan,
    combiner: BandCombiner,
    /// By a radio's number.
    lanes: Box<[Lane]>,
    piece: Box<[Complex32]>,
}

/// A radio, as the shared transform knows it.
#[derive(Default)]
struct Lane {
    /// A filter of its own sends for it, until it pauses.
    direct: bool,
    /// One for the burst that begins, one for the end of that before it at another rate.
    open: [Option<Open>; 2],
}

struct Open {
    step: u32,
    key: ChannelKey,
    /// The last pulse ends before.
    ends: Tick,
}

impl Sender {
    /// `None`: each radio has a filter of its own, which costs less.
    pub(crate) fn new(plan: &BandPlan, from: Tick) -> Option<Sender> {
        plan.transform_len()?;
        Some(Sender {
            plan: plan.clone(),
            combiner: BandCombiner::new(plan, from).ok()?,
            lanes: (0..MOST_RADIOS).map(|_| Lane::default()).collect(),
            piece: vec![Complex32::default(); PIECE].into(),
        })
    }

    /// Wide samples of a block.
    pub(crate) fn block_len(&self) -> usize {
        self.combiner.block_len()
    }

    /// The first tick of the next block.
    pub(crate) fn next_tick(&self) -> Tick {
        self.combiner.next_tick()
    }

    /// Places what the block from `first` to just before `end` needs of a radio's samples. Opens a channel for another rate; that alone
    /// allocates.
    pub(crate) fn place(&mut self, radio: usize, insert: &mut Insert, first: Tick, end: Tick) {
        let Sender { plan, combiner, lanes, piece } = self;
        let Some(lane) = lanes.get_mut(radio).filter(|lane| !lane.direct) else { return };
        // A pulse reaches so far to both sides: the block before has had all earlier samples.
        let window = |step: u32| [first, end].map(|tick| tick + reach(step));
        let level = insert.level;
        let placed = insert.source.sent(first, &window, piece, &mut |piece: SentPiece<'_>| {
            let Some(key) = lane.channel(&piece, first, (&*plan, &mut *combiner)) else { return false };
            let SentPiece { first, offset_hz, samples, .. } = piece;
            samples.iter_mut().for_each(|sample| *sample *= level);
            combiner.place(key, Rotation::from_hz(offset_hz, CLOCK), first, samples) == Ok(samples.len())
        });
        if !placed {
            lane.direct = true;
            for open in lane.open.iter_mut().filter_map(Option::take) {
                combiner.close(open.key);
            }
        }
    }

    /// Whether a filter of its own sends for a radio.
    pub(crate) fn is_direct(&self, radio: usize) -> bool {
        self.lanes.get(radio).is_none_or(|lane| lane.direct)
    }

    /// A radio pauses: no sample of it is as near to this block as any filter reaches.
    pub(crate) fn rest(&mut self, radio: usize) {
        self.lanes.get_mut(radio).into_iter().for_each(|lane| lane.direct = false);
    }

    /// A radio is gone, with all that has not left.
    pub(crate) fn close(&mut self, radio: usize) {
        let lane = self.lanes.get_mut(radio).map(std::mem::take).unwrap_or_default();
        lane.open.into_iter().flatten().for_each(|open| self.combiner.close(open.key));
    }

    /// Writes the next block.
    pub(crate) fn take(&mut self, out: &mut [Complex32]) {
        if self.combiner.take(out).is_err() {
            out.fill(Complex32::default());
        }
    }

    /// Leaves out the block before this tick, in which nobody sends.
    pub(crate) fn skip_to(&mut self, tick: Tick) {
        // Within 1461 years it is in range.
        let _ = self.combiner.skip_to(tick);
    }
}

impl Lane {
    /// The channel of a piece; `None`: the shared transform can't send it, or its place is taken by what has not left yet.
    fn channel(
        &mut self,
        piece: &SentPiece<'_>,
        now: Tick,
        (plan, combiner): (&BandPlan, &mut BandCombiner),
    ) -> Option<ChannelKey> {
        let (step, wide) = (piece.step, plan.wide().step);
        let half_hz = |step: u32| f64::from(CLOCK.hz()) / f64::from(step) / 2.0;
        // A channel outside the wide band would fold into it.
        if step <= wide || piece.offset_hz.abs() + half_hz(step) > half_hz(wide) {
            return None;
        }
        let ends = piece.first + Ticks(piece.samples.len() as u64 * u64::from(step)) + reach(step);
        if let Some(open) = self.open.iter_mut().flatten().find(|open| open.step == step) {
            open.ends = ends;
            return Some(open.key);
        }
        if plan.choose(step).method != BandMethod::FastConvolution {
            return None;
        }
        let place = self.open.iter_mut().find(|open| open.as_ref().is_none_or(|open| open.ends <= now))?;
        if let Some(old) = place.take() {
            combiner.close(old.key);
        }
        let key = combiner.open(step, Ticks(0)).ok()?;
        *place = Some(Open { step, key, ends });
        Some(key)
    }
}

/// How far the pulse of a sample reaches to each side.
fn reach(step: u32) -> Ticks {
    Ticks(u64::from(HALF_SPAN) * u64::from(step))
}
