//! A receive antenna behind a fading channel, on the elements of a grid.

use num_complex::Complex32;
use takt_base::Tick;
use takt_dsp::Fading;
use takt_lte::{Bandwidth, ResourceGrid, SUBCARRIER_SPACING_HZ, SYMBOLS};

/// Ticks of a subframe, of a clock at 30.72 MHz.
const SUBFRAME: u64 = 30_720;
const CLOCK_HZ: f64 = 30.72e6;
/// From a symbol to the next, near enough for channels that change over milliseconds.
const SYMBOL: u64 = SUBFRAME / SYMBOLS as u64;

/// One antenna.
pub struct Antenna {
    fading: Fading,
    /// By tap, the turn of each subcarrier by the tap's delay.
    turns: Vec<Vec<Complex32>>,
    noise: Vec<Complex32>,
    /// Ticks of noise that were drawn.
    drawn: u64,
    seed: u64,
}

impl Antenna {
    pub fn new(model: &str, bandwidth: Bandwidth, seed: u64) -> Antenna {
        let fading = Fading::new(model.parse().unwrap(), CLOCK_HZ, seed);
        let subcarriers = bandwidth.subcarriers();
        let turns = fading.model().profile.taps().iter().map(|tap| {
            let turn = |k: usize| {
                let hertz = (k as f64 - subcarriers as f64 / 2.0) * SUBCARRIER_SPACING_HZ;
                let turns = (-hertz * tap.delay_ns * 1e-9).fract();
                Complex32::from_polar(1.0, (std::f64::consts::TAU * turns) as f32)
            };
            (0..subcarriers).map(turn).collect()
        });
        let noise = vec![Complex32::default(); SYMBOLS * subcarriers];
        Antenna { turns: turns.collect(), fading, noise, drawn: 0, seed }
    }

    /// Writes what arrives of `sent` in a subframe: elements of mean power 1, and noise.
    pub fn receive(&mut self, subframe: u64, snr_db: f32, sent: &ResourceGrid, received: &mut ResourceGrid) {
        for symbol in 0..SYMBOLS {
            let at = Tick(subframe * SUBFRAME + symbol as u64 * SYMBOL);
            let elements = received.symbol_mut(symbol);
            elements.fill(Complex32::default());
            for (tap, turns) in self.turns.iter().enumerate() {
                let gain = self.fading.gain(tap, at);
                elements.iter_mut().zip(turns).for_each(|(element, turn)| *element += gain * turn);
            }
            elements.iter_mut().zip(sent.symbol(symbol)).for_each(|(element, sent)| *element *= sent);
        }
        let power = 10f32.powf(-snr_db / 10.0);
        self.noise.fill(Complex32::default());
        takt_dsp::noise(self.seed ^ 0x5eed, power, Tick(self.drawn), 1, &mut self.noise);
        self.drawn += self.noise.len() as u64;
        received.elements_mut().iter_mut().zip(&self.noise).for_each(|(element, noise)| *element += noise);
    }
}
