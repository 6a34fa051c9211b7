//! Samples as an antenna has them: cells with their offsets, and noise.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::OnceLock;

use num_complex::{Complex32, Complex64};
use takt_base::Tick;
use takt_lte::{CellId, Direction, Modulator, Numerology, ResourceGrid, Tti, map_synchronisation};

/// Numbers that a seed decides: SplitMix64.
#[derive(Clone)]
pub struct Chance(pub u64);

impl Chance {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From one to another number.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    pub fn qpsk(&mut self) -> Complex32 {
        let word = self.word();
        let part = |bit: u64| if word >> bit & 1 == 1 { FRAC_1_SQRT_2 as f32 } else { -FRAC_1_SQRT_2 as f32 };
        Complex32::new(part(40), part(41))
    }
}

/// The elements of a cell besides its synchronisation signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Random elements everywhere.
    Full,
    /// A reference element in six, in four symbols, the same in each frame.
    Idle,
    /// Random elements everywhere, and no synchronisation signals.
    Foreign,
}

/// A cell as it is received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    pub id: CellId,
    pub load: Load,
    /// Root mean square of the samples of a full grid.
    pub amplitude: f32,
    /// Samples before the first frame that begins in them.
    pub frame_begin: f64,
    pub frequency_hz: f64,
    /// How much faster the receiver's samples pass through the sender's than their rate says.
    pub ppm: f64,
}

impl Received {
    /// Adds it to samples.
    pub fn add_to(&self, numerology: Numerology, chance: &mut Chance, samples: &mut [Complex32]) {
        let sent = self.sent(numerology, chance, samples.len());
        let rate = 1.0 + self.ppm * 1e-6;
        let step = Complex64::from_polar(1.0, 2.0 * PI * self.frequency_hz / numerology.rate_sps());
        let mut turn = Complex64::from(1.0);
        let taps = taps();
        for (at, sample) in samples.iter_mut().enumerate() {
            let place = (at as f64 - self.frame_begin) * rate + (SLACK + numerology.frame_len()) as f64;
            *sample += between(&sent, taps, place) * Complex32::new(turn.re as f32, turn.im as f32);
            turn *= step;
        }
    }

    /// Frames from one before the samples begin, after some slack: a frame may begin where another ends.
    fn sent(&self, numerology: Numerology, chance: &mut Chance, len: usize) -> Vec<Complex32> {
        let bandwidth = takt_lte::Bandwidth::try_from((numerology.subcarriers / 12) as u8).unwrap();
        let mut modulator = Modulator::new(numerology, Direction::Downlink, self.amplitude);
        let mut grid = ResourceGrid::new(bandwidth);
        let mut sent = vec![Complex32::default(); SLACK + (len / numerology.frame_len() + 3) * numerology.frame_len()];
        let references = chance.word();
        for (number, samples) in sent[SLACK..].chunks_exact_mut(numerology.subframe_len()).enumerate() {
            let tti = Tti::new(number as u64);
            match self.load {
                Load::Full | Load::Foreign => grid.elements_mut().fill_with(|| chance.qpsk()),
                Load::Idle => fill_references(&mut grid, &mut Chance(references ^ tti.subframe() as u64)),
            }
            if self.load != Load::Foreign {
                map_synchronisation(self.id, tti, &mut grid);
            }
            modulator.modulate(&grid, samples);
        }
        sent
    }
}

fn fill_references(grid: &mut ResourceGrid, chance: &mut Chance) {
    grid.clear();
    for symbol in [0, 4, 7, 11] {
        let first = if symbol % 7 == 0 { 1 } else { 4 };
        grid.symbol_mut(symbol).iter_mut().skip(first).step_by(6).for_each(|element| *element = chance.qpsk());
    }
}

/// Zeros before a signal, for the taps of its first samples.
const SLACK: usize = 64;

/// Taps on either side of a place between samples, and places from one sample to the next.
const HALF: i64 = 12;
const PLACES: usize = 4096;

type Taps = [f32; 2 * HALF as usize];

/// A signal at a place between its samples: 73 dB above the error of the nearest place that has taps.
fn between(samples: &[Complex32], taps: &[Taps], place: f64) -> Complex32 {
    let place = (place * PLACES as f64).round() as usize;
    let first = place / PLACES + 1 - HALF as usize;
    samples[first..].iter().zip(&taps[place % PLACES]).map(|(sample, tap)| sample * tap).sum()
}

/// A sinc in Hann's window, at each place.
fn taps() -> &'static [Taps] {
    static TAPS: OnceLock<Vec<Taps>> = OnceLock::new();
    TAPS.get_or_init(|| {
        let tap = |place: usize, index: usize| {
            let x = place as f64 / PLACES as f64 - (index as i64 + 1 - HALF) as f64;
            let window = 0.5 + 0.5 * (PI * x / (HALF + 1) as f64).cos();
            if x == 0.0 { 1.0 } else { ((PI * x).sin() / (PI * x) * window) as f32 }
        };
        (0..PLACES).map(|place| std::array::from_fn(|index| tap(place, index))).collect()
    })
}

/// Adds noise that leaves a full grid of amplitude 1 this signal-to-noise ratio on each element.
pub fn add_noise(numerology: Numerology, snr_db: f64, seed: u64, samples: &mut [Complex32]) {
    let oversampling = numerology.fft_len as f64 / numerology.subcarriers as f64;
    let mut noise = vec![Complex32::default(); samples.len()];
    takt_dsp::noise(seed, (oversampling * 10f64.powf(-snr_db / 10.0)) as f32, Tick(0), 1, &mut noise);
    samples.iter_mut().zip(noise).for_each(|(sample, noise)| *sample += noise);
}
