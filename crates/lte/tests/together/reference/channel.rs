//! Channels: the profiles of TS 36.101 annex B.2, with fading, seen by each element of a grid.

use std::f64::consts::TAU;

use num_complex::{Complex32, Complex64};
use takt_lte::{Bandwidth, ResourceGrid, SYMBOLS};

use super::signal::Random;

/// Excess delays in nanoseconds and powers in dB.
pub type Profile = &'static [(f64, f64)];

pub const EPA: Profile =
    &[(0.0, 0.0), (30.0, -1.0), (70.0, -2.0), (90.0, -3.0), (110.0, -8.0), (190.0, -17.2), (410.0, -20.8)];
pub const EVA: Profile = &[
    (0.0, 0.0),
    (30.0, -1.5),
    (150.0, -1.4),
    (310.0, -3.6),
    (370.0, -0.6),
    (710.0, -9.1),
    (1090.0, -7.0),
    (1730.0, -12.0),
    (2510.0, -16.9),
];

/// A channel of average power 1.
pub struct Channel {
    paths: Vec<Path>,
    /// Added to all delays.
    pub late_s: f64,
    /// Added to all Doppler shifts.
    pub offset_hz: f64,
}

struct Path {
    delay_s: f64,
    /// Its waves: complex amplitude and Doppler shift.
    waves: Vec<(Complex64, f64)>,
}

impl Channel {
    /// With Rayleigh fading: each path is a sum of waves from all sides.
    pub fn fading(profile: Profile, doppler_hz: f64, random: &mut Random) -> Channel {
        const WAVES: usize = 16;
        let power = |db: f64| 10f64.powf(db / 10.0);
        let all: f64 = profile.iter().map(|path| power(path.1)).sum();
        let path = |&(delay_ns, db): &(f64, f64)| {
            let wave = |_| {
                let shift = doppler_hz * (TAU * f64::from(random.unit())).cos();
                let noise = random.noise((power(db) / all) as f32 / WAVES as f32);
                (Complex64::new(noise.re.into(), noise.im.into()), shift)
            };
            Path { delay_s: delay_ns * 1e-9, waves: (0..WAVES).map(wave).collect() }
        };
        Channel { paths: profile.iter().map(path).collect(), late_s: 0.0, offset_hz: 0.0 }
    }

    /// A channel of such paths: delay in nanoseconds, amplitude, Doppler shift in hertz.
    pub fn of(paths: &[(f64, Complex64, f64)]) -> Channel {
        let path =
            |&(delay_ns, amplitude, shift): &_| Path { delay_s: delay_ns * 1e-9, waves: vec![(amplitude, shift)] };
        Channel { paths: paths.iter().map(path).collect(), late_s: 0.0, offset_hz: 0.0 }
    }

    /// The gain of each element of the subframe that begins at this time.
    pub fn gains(&self, bandwidth: Bandwidth, begin_s: f64) -> ResourceGrid {
        let mut gains = ResourceGrid::new(bandwidth);
        let half = bandwidth.subcarriers() as i32 / 2;
        for symbol in 0..SYMBOLS {
            let time = begin_s + 0.5e-3 * (symbol / 7) as f64 + 2192.0 / 30.72e6 * (symbol % 7) as f64;
            for path in &self.paths {
                let turn = |shift: f64| Complex64::from_polar(1.0, TAU * (shift + self.offset_hz) * time);
                let gain: Complex64 = path.waves.iter().map(|(amplitude, shift)| amplitude * turn(*shift)).sum();
                let step = Complex64::from_polar(1.0, -TAU * 15e3 * (path.delay_s + self.late_s));
                let mut value = gain * step.powi(-half);
                for (at, out) in gains.symbol_mut(symbol).iter_mut().enumerate() {
                    if at as i32 == half {
                        value *= step;
                    }
                    *out += Complex32::new(value.re as f32, value.im as f32);
                    value *= step;
                }
            }
        }
        gains
    }
}

/// The received grid: the one sent through these gains, and noise.
pub fn received(sent: &ResourceGrid, gains: &ResourceGrid, noise: f32, random: &mut Random) -> ResourceGrid {
    let mut grid = sent.clone();
    grid.elements_mut().iter_mut().zip(gains.elements()).for_each(|(element, gain)| {
        *element = *element * gain + random.noise(noise);
    });
    grid
}
