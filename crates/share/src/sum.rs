//! Sum of all radios' transmissions, block by block.

use std::sync::Arc;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::HALF_SPAN;
use takt_emulator::loopback::LoopbackSource;
use takt_emulator::source::Source;

use crate::front_end::{CoreSettings, WideBurst};
use crate::report::SumReport;
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
    pub(crate) fn new(claims: Arc<[Claim]>, step: u32, settings: &CoreSettings) -> Sum {
        let block = || vec![Complex32::default(); settings.block.max(1)].into();
        Sum {
            inserts: claims.iter().map(|_| None).collect(),
            claims,
            step,
            next: settings.born,
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
        self.inserts.get_mut(radio).and_then(|place| std::mem::replace(place, insert))
    }

    /// Sums what is sent between two ticks; whether there is anything.
    fn add(&mut self, first: Tick, end: Tick) -> bool {
        let mut any = false;
        let radios = self.inserts.iter_mut().zip(&*self.claims);
        for (Insert { source, level }, claim) in radios.filter_map(|(insert, claim)| Some((insert.as_mut()?, claim))) {
            let reached = Tick(first.0.saturating_sub(self.span.0));
            if claim.meets(reached, end + self.span) {
                if !any {
                    self.all.fill(Complex32::default());
                    any = true;
                }
                source.fill(first, self.step, &mut self.one);
                self.all.iter_mut().zip(&self.one).for_each(|(all, one)| *all += *one * *level);
            }
            claim.taken(Tick(end.0.saturating_sub(self.span.0)));
        }
        any
    }

    pub(crate) fn moved(&mut self, from: Tick, centre_hz: f64) {
        self.inserts.iter_mut().flatten().for_each(|insert| insert.source.tuned(from, centre_hz));
    }
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
