//! Receive: channels out of a wide band.

use std::sync::Arc;

use num_complex::Complex32;
use takt_base::Tick;
use takt_fft::{Fft, FftDirection};

use super::filter::REACH;
use super::plan::{BandMethod, BandPlan, MethodChoice, check_step};
use super::pulse::DirectReceiver;
use super::tuned::TunedBins;
use super::{ChannelKey, Channels, NarrowBand, SharedBandError, signed, unsigned};
use crate::{Rotation, mix};

/// Cuts channels out of a wide band.
///
/// ```
/// use takt_base::{Complex32, Tick, TickRate, Ticks};
/// use takt_dsp::shared_band::{BandPlan, BandSplitter, NarrowBand, WideBand};
/// use takt_dsp::{Rotation, tone};
/// let clock = TickRate::from_hz(100_000_000).unwrap();
/// let plan = BandPlan::new(WideBand { first: Tick(0), step: 4 }, &[100], Ticks(100_000)).unwrap(); // 1 of 25 MS/s
/// let mut splitter = BandSplitter::new(&plan);
/// let centre = Rotation::from_hz(3e6, clock);
/// splitter.open(NarrowBand { centre, first: Tick(10_001), step: 100 }).unwrap();
///
/// let mut wide = vec![Complex32::default(); 50_000];
/// tone(Rotation::from_hz(3.2e6, clock), 0.5, Tick(0), 4, &mut wide);
/// let mut worst = 0f32;
/// splitter.feed(Tick(0), &wide, |_, first, samples| {
///     let mut ideal = vec![Complex32::default(); samples.len()];
///     tone(Rotation::from_hz(0.2e6, clock), 0.5, first, 100, &mut ideal);
///     for (n, (x, ideal)) in samples.iter().zip(&ideal).enumerate() {
///         let tick = first.0 + 100 * n as u64;
///         assert_eq!(tick % 100, 1);
///         if tick > 10_000 { worst = worst.max((x - ideal).norm()) }
///     }
/// }).unwrap();
/// assert!(worst < 1e-4);
/// ```
pub struct BandSplitter {
    plan: BandPlan,
    transform: Option<Arc<dyn Fft<f32>>>,
    scratch: Box<[Complex32]>,
    /// The samples of the block so far, behind those of its overlap.
    window: Box<[Complex32]>,
    spectrum: Box<[Complex32]>,
    filled: usize,
    /// The next wide sample, and the first of the stream.
    next: Option<i64>,
    since: i64,
    channels: Channels<SplitChannel>,
}

struct SplitChannel {
    band: NarrowBand,
    first: i64,
    way: Way,
}

enum Way {
    Fast(FastReceiver),
    Direct(Box<DirectReceiver>, bool),
}

struct FastReceiver {
    bins: TunedBins,
    /// Ticks from the block's first sample to the first of the channel in it.
    delay: i64,
    /// Samples of the transform before the first that is put out, and how many are.
    skipped: usize,
    count: usize,
}

impl BandSplitter {
    /// With the memory of the shared transform.
    #[must_use]
    pub fn new(plan: &BandPlan) -> BandSplitter {
        let transform = plan.transform_len().map(takt_fft::forward);
        let scratch = transform.as_ref().map_or(0, |transform| transform.get_immutable_scratch_len());
        let zeros = |len| vec![Complex32::default(); len].into_boxed_slice();
        BandSplitter {
            transform,
            scratch: zeros(scratch),
            window: zeros(plan.overlap() + plan.hop),
            spectrum: zeros(plan.len),
            filled: 0,
            next: None,
            since: 0,
            channels: Channels::new(),
            plan: plan.clone(),
        }
    }

    /// Adds a channel. Its first sample is that of tick `band.first`, or the first after it that is still to come. Allocates.
    ///
    /// A channel that goes the direct way and is opened while samples flow counts those before as zeros.
    ///
    /// # Errors
    /// If step or tick are out of range, or no further channel fits.
    pub fn open(&mut self, band: NarrowBand) -> Result<ChannelKey, SharedBandError> {
        check_step(self.plan.wide, band.step)?;
        let first = signed(band.first)?;
        let way = match self.plan.choose(band.step).method {
            BandMethod::FastConvolution => Way::Fast(FastReceiver::new(&self.plan, band.centre, first, band.step)),
            BandMethod::Direct => {
                let wide = self.plan.wide;
                let receiver = DirectReceiver::new(wide.step, wide.offset(), band.centre, first, band.step);
                Way::Direct(Box::new(receiver), false)
            }
        };
        self.channels.insert(SplitChannel { band, first, way })
    }

    /// Removes a channel; a key that names none is no error.
    pub fn close(&mut self, key: ChannelKey) {
        self.channels.remove(key);
    }

    /// Gives a channel another centre and another first tick, from its next output on. Does not allocate.
    ///
    /// For a change at an exact tick, open a second channel and take its samples from that tick on.
    ///
    /// # Errors
    /// If the step is another one, the tick is out of range, or the key names no channel.
    pub fn retune(&mut self, key: ChannelKey, band: NarrowBand) -> Result<(), SharedBandError> {
        let first = signed(band.first)?;
        let plan = &self.plan;
        let channel = self.channels.get_mut(key)?;
        if channel.band.step != band.step {
            return Err(SharedBandError::OtherStep { has: channel.band.step, asked: band.step });
        }
        (channel.band, channel.first) = (band, first);
        match &mut channel.way {
            Way::Fast(receiver) => receiver.tune(plan, band.centre, first, band.step),
            Way::Direct(receiver, _) => receiver.retune(band.centre, first),
        }
        Ok(())
    }

    /// The way that a channel goes, and why.
    ///
    /// # Errors
    /// If the key names no channel.
    pub fn choice(&self, key: ChannelKey) -> Result<MethodChoice, SharedBandError> {
        Ok(self.plan.choose(self.channels.get(key)?.band.step))
    }

    /// Takes wide samples, the first of which belongs to tick `first`, and hands out the samples of channels that are complete:
    /// key, tick of the first, samples. Neither allocates nor locks.
    ///
    /// Samples that are left out between two calls count as zeros. After a long gap, and after a step back, the stream begins
    /// anew. No output belongs to a tick before the stream's first sample.
    ///
    /// # Errors
    /// If the tick is out of range or lies between two samples of the wide band; nothing was taken then.
    pub fn feed(
        &mut self,
        first: Tick,
        wide: &[Complex32],
        mut out: impl FnMut(ChannelKey, Tick, &[Complex32]),
    ) -> Result<(), SharedBandError> {
        let band = self.plan.wide;
        let ticks = signed(first)? - band.offset();
        let step = i64::from(band.step);
        if ticks.rem_euclid(step) != 0 {
            return Err(SharedBandError::OffGrid { tick: first.0, step: band.step, first: band.offset() as u64 });
        }
        let index = ticks.div_euclid(step);
        self.catch_up(index, &mut out);
        let mut rest = wide;
        while !rest.is_empty() {
            let room = self.plan.hop - self.filled;
            let (part, later) = rest.split_at(room.min(rest.len()));
            self.take(part.len(), Some(part), &mut out);
            rest = later;
        }
        Ok(())
    }

    /// Fills a gap with zeros, or begins anew at a wide sample.
    fn catch_up(&mut self, index: i64, out: &mut impl FnMut(ChannelKey, Tick, &[Complex32])) {
        let Some(next) = self.next else { return self.begin(index) };
        // Once all that was heard has left the filters, zeros tell nothing more.
        let silent_from = next + (self.window.len() + self.plan.hop + self.longest_reach()) as i64;
        if index < next {
            return self.begin(index);
        }
        while let Some(next) = self.next
            && next < index
        {
            if next >= silent_from && index - next > self.plan.hop as i64 {
                return self.begin(index);
            }
            let room = (self.plan.hop - self.filled) as i64;
            self.take(room.min(index - next) as usize, None, out);
        }
    }

    /// Twice the wide samples that the longest filter of a channel reaches.
    fn longest_reach(&mut self) -> usize {
        let step = self.channels.each().map(|(_, channel)| channel.band.step).max().unwrap_or(0);
        2 * REACH as usize * step as usize / self.plan.wide.step as usize
    }

    fn begin(&mut self, index: i64) {
        let (hop, band) = (self.plan.hop as i64, self.plan.wide);
        self.window.fill(Complex32::default());
        self.filled = index.rem_euclid(hop) as usize;
        self.next = Some(index);
        self.since = band.offset() + index * i64::from(band.step);
        for (_, channel) in self.channels.each() {
            if let Way::Direct(_, begun) = &mut channel.way {
                *begun = false;
            }
        }
    }

    /// Takes samples, or zeros, that fit into the block.
    fn take(&mut self, count: usize, wide: Option<&[Complex32]>, out: &mut impl FnMut(ChannelKey, Tick, &[Complex32])) {
        let from = self.plan.overlap() + self.filled;
        let place = &mut self.window[from..from + count];
        match wide {
            Some(wide) => place.copy_from_slice(wide),
            None => place.fill(Complex32::default()),
        }
        let index = self.next.unwrap_or_default();
        let band = self.plan.wide;
        let tick = band.offset() + index * i64::from(band.step);
        for (key, channel) in self.channels.each() {
            if let Way::Direct(receiver, begun) = &mut channel.way {
                if !*begun {
                    receiver.restart(index, channel.first, tick);
                    *begun = true;
                }
                receiver.feed(index, &self.window[from..from + count], |tick, samples| out(key, tick, samples));
            }
        }
        self.filled += count;
        self.next = Some(index + count as i64);
        if self.filled == self.plan.hop {
            self.transform_block(out);
            self.filled = 0;
        }
    }

    /// The block is full: all its channels that go the fast way.
    fn transform_block(&mut self, out: &mut impl FnMut(ChannelKey, Tick, &[Complex32])) {
        let Some(transform) = &self.transform else { return };
        let (band, len) = (self.plan.wide, self.window.len());
        let block_tick = band.offset() + (self.next.unwrap_or_default() - len as i64) * i64::from(band.step);
        let mut is_transformed = false;
        for (key, channel) in self.channels.each() {
            let Way::Fast(receiver) = &mut channel.way else { continue };
            if !is_transformed {
                transform.process_immutable_with_scratch(&self.window, &mut self.spectrum, &mut self.scratch);
                is_transformed = true;
            }
            let since = channel.first.max(self.since);
            receiver.cut(&self.spectrum, block_tick, &channel.band, since, |tick, samples| out(key, tick, samples));
        }
        self.window.copy_within(self.plan.hop.., 0);
    }
}

impl FastReceiver {
    fn new(plan: &BandPlan, centre: Rotation, first: i64, step: u32) -> FastReceiver {
        let bins = TunedBins::new(plan, step, FftDirection::Inverse);
        let count = plan.hop * plan.wide.step as usize / step as usize;
        let mut receiver = FastReceiver { bins, delay: 0, skipped: 0, count };
        receiver.tune(plan, centre, first, step);
        receiver
    }

    fn tune(&mut self, plan: &BandPlan, centre: Rotation, first: i64, step: u32) {
        let (wide, step) = (i64::from(plan.wide.step), i64::from(step));
        // Blocks and overlaps are whole numbers of the channel's samples, so each block has the same delay.
        self.delay = (first - plan.wide.offset()).rem_euclid(step);
        let earliest = (plan.overlap() as i64 - 1) * wide - REACH * step;
        self.skipped = (earliest - self.delay + step - 1).div_euclid(step) as usize;
        self.bins.tune(centre, self.delay);
    }

    /// Puts out the channel's samples of a block whose first wide sample, of the overlap, belongs to a tick.
    fn cut(
        &mut self,
        spectrum: &[Complex32],
        block_tick: i64,
        band: &NarrowBand,
        since: i64,
        mut put: impl FnMut(Tick, &[Complex32]),
    ) {
        let step = i64::from(band.step);
        let first = block_tick + self.delay + self.skipped as i64 * step;
        let before = ((since - first + step - 1).div_euclid(step)).clamp(0, self.count as i64);
        if before == self.count as i64 {
            return;
        }
        self.bins.cut(spectrum);
        let samples = &mut self.bins.values[self.skipped..][..self.count][before as usize..];
        let tick = unsigned(first + before * step);
        mix(-band.centre, 1.0, tick, band.step, samples);
        put(tick, samples);
    }
}
