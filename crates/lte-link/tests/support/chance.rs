//! Chance from a seed: the same scenario each time.

pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, below: u64) -> u64 {
        (self.next() >> 16) % below.max(1)
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// 0 in a third of the cases, else up to `most`, small ones more often.
    pub fn rate(&mut self, most: f64) -> f64 {
        let share = self.below(1000) as f64 / 1000.0;
        if self.below(3) == 0 { 0.0 } else { most * share * share * share }
    }
}
