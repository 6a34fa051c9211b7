//! Sum of all radios' transmissions, block by block: those in the shared transform, and those with a filter of their own.

use std::sync::Arc;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::HALF_SPAN;
use takt_dsp::shared_band::BandPlan;
use takt_emulator::loopback::LoopbackSource;
use takt_emulator::source::Source;

use crate::front_end::{CoreSettings, WideBurst};
use crate::report::SumReport;
use crate::sending::Sender;
use crate::transmitting::Claim;

/// The slowest rate of an N200, in ticks a sample.
const SLOWEST_STEP: u32 = 512;

/// Transmission of one radio.
pub(crate) struct Insert {
    /// Places its samples into the wide band.
    pub(crate) source: LoopbackSource,
    /// Factor of its amplitude.
    pub(crate) level: f32,
}

/// Sum of all radios' transmissions.
pub(crate) struct Sum {
    /// Source and level of each radio, by its number.
    inserts: Box<[Option<Insert>]>,
    claims: Arc<[Claim]>,
    /// `None`: each radio has a filter of its own.
    sender: Option<Sender>,
    step: u32,
    /// The next block's first tick.
    next: Tick,
    /// How far the filters reach.
    span: Ticks,
    latency: Ticks,
    in_burst: bool,
    one: Box<[Complex32]>,
    all: Box<[Complex32]>,
    pub(crate) report: SumReport,
}

impl Sum {
    pub(crate) fn new(claims: Arc<[Claim]>, step: u32, settings: &CoreSettings, plan: Option<&BandPlan>) -> Sum {
        let sender = plan.and_then(|plan| Sender::new(plan, settings.born));
        let samples = sender.as_ref().map_or(settings.block.max(1), Sender::block_len);
        let block = || vec![Complex32::default(); samples].into();
        Sum {
            inserts: claims.iter().map(|_| None).collect(),
            claims,
            step,
            next: sender.as_ref().map_or(settings.born, Sender::next_tick),
            sender,
            span: Ticks(u64::from(HALF_SPAN * SLOWEST_STEP)),
            latency: settings.latency,
            in_burst: false,
            one: block(),
            all: block(),
            report: SumReport::default(),
        }
    }

    /// Hands over every block that is whole by now.
    pub(crate) fn run(&mut self, now: Tick, emit: &mut dyn FnMut(WideBurst<'_>)) {
        let length = Ticks(self.all.len() as u64 * u64::from(self.step));
        while self.next + length + self.span <= now {
            let (first, end) = (self.next, self.next + length);
            self.next = end;
            if self.add(first, end) {
                self.in_burst = true;
                self.report.samples += self.all.len() as u64;
                self.report.clipped_samples += clip(&mut self.all);
                emit(WideBurst::Samples { at: first + self.latency, samples: &self.all });
            } else if self.in_burst {
                self.in_burst = false;
                emit(WideBurst::End);
            }
        }
    }

    /// Has a radio's transmission in the sum, or takes it out.
    pub(crate) fn put(&mut self, radio: usize, insert: Option<Insert>) -> Option<Insert> {
        self.sender.iter_mut().for_each(|sender| sender.close(radio));
        self.inserts.get_mut(radio).and_then(|place| std::mem::replace(place, insert))
    }

    /// Sums what is sent between two ticks; whether there is anything.
    fn add(&mut self, first: Tick, end: Tick) -> bool {
        let any = self.add_shared(first, end);
        for (number, insert) in self.inserts.iter_mut().enumerate() {
            let (Some(Insert { source, level }), Some(claim)) = (insert, self.claims.get(number)) else { continue };
            let is_shared = self.sender.as_ref().is_some_and(|sender| !sender.is_direct(number));
            if !is_shared && sends(claim, [first, end], self.span) {
                source.fill(first, self.step, &mut self.one);
                self.all.iter_mut().zip(&self.one).for_each(|(all, one)| *all += *one * *level);
            }
            claim.taken(Tick(end.0.saturating_sub(self.span.0)));
        }
        any
    }

    /// Begins the block with all that goes through the shared transform; whether anybody sends at all.
    fn add_shared(&mut self, first: Tick, end: Tick) -> bool {
        let mut any = false;
        for (number, insert) in self.inserts.iter_mut().enumerate() {
            let (Some(insert), Some(claim)) = (insert, self.claims.get(number)) else { continue };
            let sends = sends(claim, [first, end], self.span);
            any |= sends;
            match &mut self.sender {
                Some(sender) if sends => sender.place(number, insert, first, end),
                Some(sender) => sender.rest(number),
                None => {}
            }
        }
        match &mut self.sender {
            Some(sender) if any => sender.take(&mut self.all),
            Some(sender) => sender.skip_to(end),
            None if any => self.all.fill(Complex32::default()),
            None => {}
        }
        any
    }

    pub(crate) fn moved(&mut self, from: Tick, centre_hz: f64) {
        self.inserts.iter_mut().flatten().for_each(|insert| insert.source.tuned(from, centre_hz));
    }
}

/// Whether a radio has samples that a filter reaches from the block between these ticks.
fn sends(claim: &Claim, [first, end]: [Tick; 2], span: Ticks) -> bool {
    claim.meets(Tick(first.0.saturating_sub(span.0)), end + span)
}

/// Brings what is beyond full scale back to it; how many samples were.
fn clip(samples: &mut [Complex32]) -> u64 {
    let mut clipped = 0;
    for x in samples.iter_mut().filter(|x| x.re.abs() > 1.0 || x.im.abs() > 1.0) {
        *x = Complex32::new(x.re.clamp(-1.0, 1.0), x.im.clamp(-1.0, 1.0));
        clipped += 1;
    }
    clipped
}
