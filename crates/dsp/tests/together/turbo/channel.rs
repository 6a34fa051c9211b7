//! Blocks of random bits through encoder and Gaussian noise.

use takt_dsp::{lte, umts};

#[derive(Clone, Copy, Debug)]
pub enum Code {
    Umts(usize),
    Lte(usize),
}

pub enum Encoder {
    Umts(umts::TurboEncoder),
    Lte(lte::TurboEncoder),
}

impl Encoder {
    pub fn new(code: Code) -> Encoder {
        match code {
            Code::Umts(k) => Encoder::Umts(umts::TurboEncoder::new(k).unwrap()),
            Code::Lte(k) => Encoder::Lte(lte::TurboEncoder::new(k).unwrap()),
        }
    }

    pub fn encode(&mut self, block: &[u8]) -> Vec<u8> {
        let mut coded = vec![0; 3 * block.len() + 12];
        match self {
            Encoder::Umts(encoder) => encoder.encode(block, &mut coded),
            Encoder::Lte(encoder) => encoder.encode(block, &mut coded),
        }
        coded
    }
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

    fn symmetric(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Two values of mean 0 and variance 1, by the polar method.
    fn gaussians(&mut self) -> [f32; 2] {
        loop {
            let (a, b) = (self.symmetric(), self.symmetric());
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                return [a * scale, b * scale];
            }
        }
    }

    /// Coded bits as received with BPSK of amplitude 1 at this Eb/N0, times `scale`: sigma^2 = 1 / (2 R Eb/N0) with R = K / (3 K + 12).
    pub fn received(&mut self, coded: &[u8], eb_n0_db: f32, scale: f32) -> Vec<i8> {
        let rate = (coded.len() - 12) as f32 / 3.0 / coded.len() as f32;
        let sigma = (0.5 / rate / 10f32.powf(eb_n0_db / 10.0)).sqrt();
        let mut llrs = Vec::with_capacity(coded.len() + 1);
        for pair in coded.chunks(2) {
            for (bit, noise) in pair.iter().zip(self.gaussians()) {
                let value = (1.0 - 2.0 * f32::from(*bit) + sigma * noise) * scale;
                llrs.push(value.round().clamp(-127.0, 127.0) as i8);
            }
        }
        llrs
    }
}
