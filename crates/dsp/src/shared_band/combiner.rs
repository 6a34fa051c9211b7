//! Transmit: samples of channels into a wide band.

use std::sync::Arc;

use num_complex::Complex32;
use takt_base::{Tick, Ticks};
use takt_fft::{Fft, FftDirection};

use super::filter::REACH;
use super::plan::{BandMethod, BandPlan, MethodChoice, check_step};
use super::pulse::DirectSender;
use super::queue::{Run, SendQueue};
use super::tuned::TunedBins;
use super::{ChannelKey, Channels, MAX_AHEAD, SharedBandError, signed, unsigned};
use crate::{Rotation, mix};

/// Places samples of channels into a wide band, block by block.
///
/// [`place`](BandCombiner::place) samples in order of time, then [`take`](BandCombiner::take) a block. A sample's pulse reaches
/// [`HALF_SPAN`](crate::HALF_SPAN) samples of its channel to either side. So a sample must be placed before the block is taken
/// that its pulse begins in. A sample that was not placed counts as zero.
pub struct BandCombiner {
    plan: BandPlan,
    transform: Option<Arc<dyn Fft<f32>>>,
    scratch: Box<[Complex32]>,
    spectrum: Box<[Complex32]>,
    /// The first wide sample of the next block.
    next: i64,
    channels: Channels<CombineChannel>,
}

struct CombineChannel {
    step: u32,
    queue: SendQueue,
    way: Way,
}

enum Way {
    Fast(Box<TunedBins>),
    Direct(Box<DirectSender>),
}

impl BandCombiner {
    /// Begins with the block that has the wide sample at or after `from`.
    ///
    /// # Errors
    /// If the tick is out of range.
    pub fn new(plan: &BandPlan, from: Tick) -> Result<BandCombiner, SharedBandError> {
        let transform = plan.transform_len().map(takt_fft::inverse);
        let scratch = transform.as_ref().map_or(0, |transform| transform.get_inplace_scratch_len());
        let zeros = |len| vec![Complex32::default(); len].into_boxed_slice();
        let mut combiner = BandCombiner {
            plan: plan.clone(),
            transform,
            scratch: zeros(scratch),
            spectrum: zeros(plan.len),
            next: 0,
            channels: Channels::new(),
        };
        combiner.skip_to(from)?;
        Ok(combiner)
    }

    /// Adds a channel with this step, in ticks. It has room for the samples that a block needs, and for `ahead` of further ones,
    /// at most [`MAX_AHEAD`]. Allocates.
    ///
    /// # Errors
    /// If the step is out of range, or no further channel fits.
    pub fn open(&mut self, step: u32, ahead: Ticks) -> Result<ChannelKey, SharedBandError> {
        check_step(self.plan.wide, step)?;
        let plan = &self.plan;
        let way = match plan.choose(step).method {
            BandMethod::FastConvolution => Way::Fast(Box::new(TunedBins::new(plan, step, FftDirection::Forward))),
            BandMethod::Direct => Way::Direct(Box::new(DirectSender::new(plan.wide.step, step, plan.hop))),
        };
        let block = (plan.hop * plan.wide.step as usize / step as usize) + 2 * REACH as usize + 2;
        let ahead = (ahead.0 / u64::from(step)).min(MAX_AHEAD as u64) as usize;
        let queue = SendQueue::new(step, block + ahead);
        self.channels.insert(CombineChannel { step, queue, way })
    }

    /// Removes a channel and what it has not sent; a key that names none is no error.
    pub fn close(&mut self, key: ChannelKey) {
        self.channels.remove(key);
    }

    /// The way that a channel goes, and why.
    ///
    /// # Errors
    /// If the key names no channel.
    pub fn choice(&self, key: ChannelKey) -> Result<MethodChoice, SharedBandError> {
        Ok(self.plan.choose(self.channels.get(key)?.step))
    }

    /// Wide samples of a block.
    #[must_use]
    pub fn block_len(&self) -> usize {
        self.plan.hop
    }

    /// The tick of the first wide sample that [`take`](BandCombiner::take) gives next.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        unsigned(self.block_tick())
    }

    /// The earliest tick whose sample can still be placed.
    ///
    /// # Errors
    /// If the key names no channel.
    pub fn earliest(&self, key: ChannelKey) -> Result<Tick, SharedBandError> {
        let step = i64::from(self.channels.get(key)?.step);
        Ok(unsigned(self.block_tick() + REACH * step))
    }

    /// Place all samples before this tick, then take the block.
    ///
    /// # Errors
    /// If the key names no channel.
    pub fn needed_until(&self, key: ChannelKey) -> Result<Tick, SharedBandError> {
        let block_ticks = self.plan.hop as i64 * i64::from(self.plan.wide.step);
        Ok(Tick(self.earliest(key)?.0.wrapping_add(block_ticks as u64)))
    }

    /// Queues samples of a channel. The first belongs to tick `first`, wherever that lies; `centre` is where the wide band has
    /// the channel's 0 Hz. Says how many samples there was room for: the others can be placed after the next block.
    /// Does not allocate.
    ///
    /// A channel holds at most 16 runs of samples with gaps, or other centres, between them.
    ///
    /// # Errors
    /// If the samples come too late or before the end of the last ones, the tick is out of range, or the key names no channel.
    pub fn place(
        &mut self,
        key: ChannelKey,
        centre: Rotation,
        first: Tick,
        samples: &[Complex32],
    ) -> Result<usize, SharedBandError> {
        let tick = signed(first)?;
        let block_tick = self.block_tick();
        let channel = self.channels.get_mut(key)?;
        let earliest = block_tick + REACH * i64::from(channel.step);
        if tick < earliest {
            return Err(SharedBandError::Late { tick: first.0, earliest: earliest as u64 });
        }
        if let Some(end) = channel.queue.end()
            && tick < end
        {
            return Err(SharedBandError::Overlaps { tick: first.0, end: end as u64 });
        }
        Ok(channel.queue.push(centre, tick, samples))
    }

    /// Forgets what a channel has queued. The rest of pulses that have begun is cut off.
    ///
    /// # Errors
    /// If the key names no channel.
    pub fn clear(&mut self, key: ChannelKey) -> Result<(), SharedBandError> {
        self.channels.get_mut(key)?.queue.clear();
        Ok(())
    }

    /// Goes on with the block that has the wide sample at or after a tick; forgets all samples before it.
    ///
    /// # Errors
    /// If the tick is out of range.
    pub fn skip_to(&mut self, from: Tick) -> Result<(), SharedBandError> {
        let band = self.plan.wide;
        let (step, hop) = (i64::from(band.step), self.plan.hop as i64);
        let index = (signed(from)? - band.offset() + step - 1).div_euclid(step);
        self.next = index.div_euclid(hop).max(0) * hop;
        self.forget();
        Ok(())
    }

    /// Writes the next block and gives the tick of its first sample. Does not allocate.
    ///
    /// # Errors
    /// If `out` has another length than a block; nothing was taken then.
    pub fn take(&mut self, out: &mut [Complex32]) -> Result<Tick, SharedBandError> {
        if out.len() != self.plan.hop {
            return Err(SharedBandError::BlockLength { block: self.plan.hop, given: out.len() });
        }
        let tick = self.block_tick();
        let step = self.plan.wide.step;
        self.transform_block(tick, out);
        for (_, channel) in self.channels.each() {
            let (queue, reach) = (&channel.queue, REACH * i64::from(channel.step));
            if let Way::Direct(sender) = &mut channel.way {
                let end = tick + out.len() as i64 * i64::from(step);
                for run in queue.runs().filter_map(|run| queue.cut(&run, tick - reach + 1, end + reach)) {
                    sender.place((run.centre, run.first), (tick, step), out, |n| queue.sample(&run, n));
                }
            }
        }
        self.next += self.plan.hop as i64;
        self.forget();
        Ok(unsigned(tick))
    }

    fn block_tick(&self) -> i64 {
        self.plan.wide.offset() + self.next * i64::from(self.plan.wide.step)
    }

    /// The channels that go the fast way.
    fn transform_block(&mut self, tick: i64, out: &mut [Complex32]) {
        let step = i64::from(self.plan.wide.step);
        let start = tick - self.plan.lead() as i64 * step;
        let end = tick + out.len() as i64 * step;
        let mut is_used = false;
        for (_, channel) in self.channels.each() {
            let Way::Fast(bins) = &mut channel.way else { continue };
            let (narrow, queue) = (i64::from(channel.step), &channel.queue);
            // Only samples whose pulses reach the block: those that were placed early change no bit of it.
            let reach = REACH * narrow;
            let here = |run: &Run| queue.cut(run, tick - reach + 1, end + reach);
            // Runs that share centre and grid go together.
            let of = |run: &Run| (run.centre, (run.first - start).rem_euclid(narrow));
            for (k, run) in queue.runs().filter_map(|run| here(&run)).enumerate() {
                let (centre, delay) = of(&run);
                if queue.runs().filter_map(|run| here(&run)).take(k).any(|earlier| of(&earlier) == of(&run)) {
                    continue;
                }
                if !is_used {
                    self.spectrum.fill(Complex32::default());
                    is_used = true;
                }
                bins.values.fill(Complex32::default());
                let together = queue.runs().filter_map(|run| here(&run)).skip(k);
                for run in together.filter(|run| of(run) == (centre, delay)) {
                    let place = (run.first - start).div_euclid(narrow) as usize;
                    let [early, late] = queue.samples(&run);
                    bins.values[place..][..early.len()].copy_from_slice(early);
                    bins.values[place + early.len()..][..late.len()].copy_from_slice(late);
                }
                mix(centre, 1.0, unsigned(start + delay), channel.step, &mut bins.values);
                bins.tune(centre, delay);
                bins.place(&mut self.spectrum);
            }
        }
        match &self.transform {
            Some(transform) if is_used => {
                transform.process_with_scratch(&mut self.spectrum, &mut self.scratch);
                out.copy_from_slice(&self.spectrum[self.plan.lead()..][..out.len()]);
            }
            _ => out.fill(Complex32::default()),
        }
    }

    /// Samples whose pulses have ended.
    fn forget(&mut self) {
        let tick = self.block_tick();
        for (_, channel) in self.channels.each() {
            channel.queue.forget_before(tick - REACH * i64::from(channel.step));
        }
    }
}
