//! Calibration kernels: small pieces of work of one kind each. Pure functions; who calls them holds the clock.
//!
//! Each is written so that a compiler leaves it the kind of work it stands for: independent chains of unlike operations
//! where scalar work is meant (four alike would be merged into one vector), plain loops over arrays where vectors are.

use std::hint::black_box;

use super::work::Work;

/// Operations one iteration of a kernel stands for.
#[must_use]
pub fn operations(work: Work) -> u64 {
    match work {
        Work::Integer => 24,
        Work::Float => 16,
        Work::IntegerVector => 3 * WIDE as u64,
        Work::FloatVector => 2 * WIDE as u64,
        Work::Table => 16,
        Work::Memory => COPY as u64,
        Work::Branch => 16,
    }
}

/// Multiply-accumulates in one iteration of [`Kernels::mac`].
pub const MACS: u64 = WIDE as u64;

const WIDE: usize = 512;
const TABLE: usize = 2048;
/// Bytes; longer than the last-level cache's share of a core, as a rule.
const STREAM: usize = 32 << 20;
const COPY: usize = 64 << 10;

/// The kernels and what they work on.
#[derive(Clone, Debug)]
pub struct Kernels {
    table: Vec<u16>,
    bytes: [Vec<u8>; 3],
    floats: [Vec<f32>; 2],
    stream: Vec<u8>,
    at: usize,
}

impl Default for Kernels {
    fn default() -> Self {
        Kernels::new()
    }
}

impl Kernels {
    /// Their data, 32 MiB, all of it touched.
    #[must_use]
    pub fn new() -> Kernels {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut bytes = || (0..WIDE).map(|_| random() as u8).collect::<Vec<u8>>();
        let bytes = [bytes(), bytes(), bytes()];
        let floats = [0.5_f32, 0.25].map(|scale| (0..WIDE).map(|i| scale + i as f32 * 1e-3).collect());
        // One cycle through all entries, so that a walk does not end in a short one.
        let mut table: Vec<u16> = (0..TABLE as u16).collect();
        for i in (1..TABLE).rev() {
            table.swap(i, random() as usize % i);
        }
        Kernels { table, bytes, floats, stream: (0..STREAM).map(|i| (i >> 6) as u8).collect(), at: 0 }
    }

    /// Does a piece of work so many times; what comes out depends on all of it.
    pub fn run(&mut self, work: Work, iterations: u64) -> u64 {
        match work {
            Work::Integer => integer(iterations),
            Work::Float => float(iterations),
            Work::IntegerVector => self.integer_vector(iterations),
            Work::FloatVector => self.float_vector(iterations),
            Work::Table => self.look_up(iterations),
            Work::Memory => self.copy(iterations),
            Work::Branch => branch(iterations),
        }
    }

    /// The paper's figure: a sum of products of floats, one after another.
    pub fn mac(&mut self, iterations: u64) -> u64 {
        let [x, y] = &self.floats;
        let mut sum = 0.0_f32;
        for _ in 0..iterations {
            let (x, y) = (black_box(x.as_slice()), black_box(y.as_slice()));
            sum = x.iter().zip(y).fold(sum * 0.5, |sum, (x, y)| sum + x * y);
        }
        u64::from(sum.to_bits())
    }

    /// Soft bits: saturating add, maximum, exclusive or.
    fn integer_vector(&mut self, iterations: u64) -> u64 {
        let [a, b, c] = &mut self.bytes;
        for _ in 0..iterations {
            let (b, c) = (black_box(b.as_slice()), black_box(c.as_slice()));
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = a.saturating_add(*b).max(*c) ^ 0x55;
            }
        }
        u64::from(a[0])
    }

    fn float_vector(&mut self, iterations: u64) -> u64 {
        let [a, b] = &mut self.floats;
        for _ in 0..iterations {
            let b = black_box(b.as_slice());
            for (a, b) in a.iter_mut().zip(b) {
                *a = *a * 0.999 + b * 0.001;
            }
        }
        u64::from(a[0].to_bits())
    }

    /// Two walks through a table at once, each step where the last one leads.
    fn look_up(&mut self, iterations: u64) -> u64 {
        let table = self.table.as_slice();
        let (mut a, mut b) = (self.at % TABLE, (self.at + 7) % TABLE);
        for _ in 0..iterations {
            for _ in 0..8 {
                a = usize::from(table[a % TABLE]);
                b = usize::from(table[b % TABLE]);
            }
        }
        self.at = a;
        (a ^ b) as u64
    }

    /// From one half of a long buffer to the other, piece by piece, round and round.
    fn copy(&mut self, iterations: u64) -> u64 {
        let (from, to) = self.stream.split_at_mut(STREAM / 2);
        for _ in 0..iterations {
            self.at = (self.at / COPY + 1) % (STREAM / 2 / COPY) * COPY;
            let piece = self.at..self.at + COPY;
            to[piece.clone()].copy_from_slice(&from[piece]);
            black_box(&mut *to);
        }
        u64::from(to[self.at])
    }
}

fn integer(iterations: u64) -> u64 {
    let (mut a, mut b, mut c, mut d) = (black_box(1_u64), black_box(2_u64), black_box(3_u32), black_box(4_u64));
    for i in 0..iterations {
        a = (a ^ (a << 13)).wrapping_add(i);
        a ^= a >> 7;
        b = b.wrapping_mul(0x9E37_79B9).wrapping_add(7);
        b = b.rotate_left(11) ^ i;
        c = c.wrapping_add(c << 3) ^ (c >> 5);
        c = c.wrapping_sub(i as u32) | 1;
        d = (d & 0x00ff_00ff_00ff_00ff) + ((d >> 8) & 0x00ff_00ff_00ff_00ff);
        d = d.wrapping_add(b >> 1) ^ (d << 9);
    }
    a ^ b ^ u64::from(c) ^ d
}

fn float(iterations: u64) -> u64 {
    let (mut a, mut b, mut c, mut d) = (black_box(0.1_f32), black_box(0.2_f64), black_box(0.3_f32), black_box(0.4_f64));
    for _ in 0..iterations {
        a = (a * 0.75 + 0.25) * 0.5 + 0.1;
        b = (b + 0.5) * 0.25 - b * 0.125;
        c = 1.0 - (c - 0.3) * (c + 0.2);
        c *= 0.5;
        d = d * d * 0.5 + 0.1;
        // Keeps the chains what they are written as.
        (a, c) = (black_box(a), black_box(c));
    }
    u64::from((a + c).to_bits()) ^ (b + d).to_bits()
}

fn branch(iterations: u64) -> u64 {
    let (mut state, mut sum) = (black_box(0x1234_5678_9abc_def1_u64), 0_u64);
    for _ in 0..iterations {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bits = state >> 40;
        for _ in 0..16 {
            // Work on both sides that can't be done ahead, so that it stays a decision.
            if bits & 1 == 0 {
                sum = black_box(sum).wrapping_add(3);
            } else {
                sum = black_box(sum ^ bits) >> 1;
            }
            bits >>= 1;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_gives_the_same_each_time_and_something_else_for_more() {
        for work in Work::ALL {
            let (mut one, mut two) = (Kernels::new(), Kernels::new());
            assert_eq!(one.run(work, 5), two.run(work, 5), "{work:?}");
        }
        let kernels = Kernels::new();
        let sums: Vec<u64> = (1..20).map(|n| kernels.clone().run(Work::Table, n)).collect();
        assert!(sums.windows(2).all(|pair| pair[0] != pair[1]), "the walk ran into a short cycle");
        assert_ne!(integer(5), integer(6));
        assert_ne!(branch(5), branch(6));
        assert_ne!(float(1), float(2));
    }
}
