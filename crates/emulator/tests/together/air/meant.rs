//! Signals that ought to be received, by the book.

use std::f64::consts::TAU;

use takt_base::{Complex32, Tick};
use takt_dsp::Rotation;

/// A tone that is sent: so many hertz from where the transmitter is tuned to, at an amplitude.
#[derive(Clone, Copy, Debug)]
pub struct Tone {
    pub hz: f64,
    pub amplitude: f64,
}

/// How it comes to its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub gain_db: f64,
    pub delay_s: f64,
    pub offset_hz: f64,
    /// Tuning of transmitter and receiver.
    pub sent_hz: f64,
    pub received_hz: f64,
}

impl Way {
    pub const PLAIN: Way = Way { gain_db: 0.0, delay_s: 0.0, offset_hz: 0.0, sent_hz: 0.0, received_hz: 0.0 };
}

impl Tone {
    /// Its samples as a transmitter's host makes them: its phase is 0 at tick 0.
    pub fn samples(self, clock_hz: f64, first: u64, step: u32, n: usize) -> Vec<Complex32> {
        let mut samples = vec![Complex32::default(); n];
        takt_dsp::tone(
            Rotation::from_turns(self.hz / clock_hz),
            self.amplitude as f32,
            Tick(first),
            step,
            &mut samples,
        );
        samples
    }

    /// `a exp(-j 2 pi f d) x(t - d) exp(j 2 pi (f - g + o) t)`.
    pub fn received(self, way: Way, at_s: f64) -> [f64; 2] {
        let turns = self.hz * (at_s - way.delay_s) - way.sent_hz * way.delay_s
            + (way.sent_hz - way.received_hz + way.offset_hz) * at_s;
        let amplitude = self.amplitude * 10f64.powf(way.gain_db / 20.0);
        let (sin, cos) = ((turns - turns.floor()) * TAU).sin_cos();
        [amplitude * cos, amplitude * sin]
    }
}

/// The largest distance from what was meant.
pub fn off(received: &[Complex32], meant: impl Fn(usize) -> [f64; 2]) -> f64 {
    let off = received.iter().enumerate().map(|(n, x)| {
        let [re, im] = meant(n);
        (f64::from(x.re) - re).hypot(f64::from(x.im) - im)
    });
    off.fold(0.0, f64::max)
}
