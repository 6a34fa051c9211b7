//! A radio's input and output signals, for checks.

use std::sync::{Arc, Mutex};

use takt_base::{Complex32, Tick};
use takt_emulator::n200::Signals;
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_wire::sample::full_scale;

/// Sample n of tick t is t / step, as a 16-bit pattern: gaps and doubles show.
pub struct Ramp;

impl Source for Ramp {
    fn raw(&self) -> bool {
        true
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        for (n, sample) in out.iter_mut().enumerate() {
            let value = (first.0 / u64::from(step) + n as u64) as u16 as i16;
            *sample = Complex32::new(f32::from(value) / full_scale::SC16, 0.0);
        }
    }
}

/// The same value for ever.
pub struct Constant(pub Complex32);

impl Source for Constant {
    fn fill(&mut self, _first: Tick, _step: u32, out: &mut [Complex32]) {
        out.fill(self.0);
    }
}

/// Samples given to a sink.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub first: Tick,
    pub step: u32,
    pub samples: Vec<Complex32>,
    pub edges: BurstEdges,
}

/// Remembers everything.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<Mutex<Vec<Block>>>);

impl Sink for Recorder {
    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        self.0.lock().unwrap().push(Block { first, step, samples: samples.to_vec(), edges });
    }
}

impl Recorder {
    pub fn blocks(&self) -> Vec<Block> {
        self.0.lock().unwrap().clone()
    }
}

/// Ramps to receive, and a record of what is transmitted.
pub fn recorded() -> (Signals, Recorder) {
    let recorder = Recorder::default();
    (Signals { sink: Box::new(recorder.clone()), ..ramps() }, recorder)
}

/// The same value for both receivers.
pub fn constant(re: f32, im: f32) -> Signals {
    let source = || Box::new(Constant(Complex32::new(re, im)));
    Signals { sources: [source(), source()], ..ramps() }
}

pub fn ramps() -> Signals {
    Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) }
}
