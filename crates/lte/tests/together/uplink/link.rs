//! Terminals, the air between, and the base station's demodulator.

use num_complex::Complex32;
use takt_base::Tick;
use takt_lte::{
    Bandwidth, Cell, CellId, Demodulator, Direction, Modulator, Numerology, ResourceGrid, Sampling, UplinkConfig,
};

pub const AMPLITUDE: f32 = 0.1;

/// Settings of a cell.
pub fn config(id: u16, bandwidth: Bandwidth) -> UplinkConfig {
    UplinkConfig::new(Cell { id: CellId::new(id).unwrap(), bandwidth, phich: Default::default() })
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn bits(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.next() >> 40 & 1) as u8).collect()
    }

    /// 0 to 1.
    pub fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn phase(&mut self) -> Complex32 {
        Complex32::from_polar(1.0, std::f32::consts::TAU * self.share())
    }
}

/// Adds noise to a grid whose signals have power 1.
pub fn add_noise(grid: &mut ResourceGrid, snr_db: f32, seed: u64) {
    let mut noise = vec![Complex32::default(); grid.elements().len()];
    takt_dsp::noise(seed, 10f32.powf(-snr_db / 10.0), Tick(0), 1, &mut noise);
    grid.elements_mut().iter_mut().zip(noise).for_each(|(element, noise)| *element += noise);
}

/// The effect of the air on a subframe.
#[derive(Clone, Copy, Debug)]
pub struct Air {
    pub snr_db: f32,
    /// Samples by which it comes late.
    pub late: i32,
    pub offset_hz: f32,
    /// A second path, so many samples later and of a quarter of the power.
    pub echo: Option<usize>,
}

impl Air {
    pub fn noise(snr_db: f32) -> Air {
        Air { snr_db, late: 0, offset_hz: 0.0, echo: None }
    }
}

/// Through samples.
pub struct Link {
    pub numerology: Numerology,
    modulator: Modulator,
    demodulator: Demodulator,
}

impl Link {
    pub fn new(bandwidth: Bandwidth) -> Link {
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        Link {
            numerology,
            modulator: Modulator::new(numerology, Direction::Uplink, AMPLITUDE),
            demodulator: Demodulator::new(numerology, Direction::Uplink, numerology.prefix / 2),
        }
    }

    pub fn pass(&mut self, sent: &ResourceGrid, air: &Air, seed: u64, received: &mut ResourceGrid) {
        let len = self.numerology.subframe_len();
        let mut samples = vec![Complex32::default(); len];
        self.modulator.modulate(sent, &mut samples);
        let at = |samples: &[Complex32], n: i64| {
            if (0..len as i64).contains(&n) { samples[n as usize] } else { Complex32::default() }
        };
        let (begin, echo) = (Random(seed).phase(), Random(seed + 1).phase() * 0.5);
        let step = std::f64::consts::TAU * f64::from(air.offset_hz) / self.numerology.rate_sps();
        let mut noise = vec![Complex32::default(); len];
        let of_element = AMPLITUDE * AMPLITUDE * 10f32.powf(-air.snr_db / 10.0);
        let power = of_element * self.numerology.fft_len as f32 / self.numerology.subcarriers as f32;
        takt_dsp::noise(seed, power, Tick(0), 1, &mut noise);
        let through: Vec<_> = (0..len as i64)
            .zip(noise)
            .map(|(n, noise)| {
                let n_sent = n - i64::from(air.late);
                let second = air.echo.map_or(Complex32::default(), |later| at(&samples, n_sent - later as i64) * echo);
                let angle = (step * n as f64) as f32;
                (at(&samples, n_sent) + second) * begin * Complex32::from_polar(1.0, angle) + noise
            })
            .collect();
        self.demodulator.demodulate(&through, received);
    }
}
