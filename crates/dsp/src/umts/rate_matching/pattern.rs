//! Which bits are repeated or punctured, TS 25.212 section 4.2.7.5, and the parameters that say so, sections 4.2.7.1.2 and
//! 4.2.7.2.

use super::Tti;

/// e_ini, e_plus and e_minus of one sequence of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// e_ini.
    pub initial: i64,
    /// e_plus.
    pub plus: i64,
    /// e_minus.
    pub minus: i64,
}

impl Pattern {
    /// For each bit of a sequence to be punctured, whether it is kept.
    pub(super) fn kept(self) -> impl Iterator<Item = bool> {
        let mut error = self.initial;
        std::iter::repeat_with(move || {
            error -= self.minus;
            let kept = error > 0;
            error += if kept { 0 } else { self.plus };
            kept
        })
    }

    /// For each bit of a sequence to be repeated, how often it is sent.
    pub(super) fn copies(self) -> impl Iterator<Item = usize> {
        let mut error = self.initial;
        std::iter::repeat_with(move || {
            error -= self.minus;
            let more = if error > 0 { 0 } else { (-error) / self.plus + 1 };
            error += more * self.plus;
            1 + more as usize
        })
    }

    /// One sequence in the uplink: convolutional code, or turbo code with repetition. `bits` a radio frame (not 0) are to
    /// become `change` more, in radio frame `frame` of the TTI (section 4.2.7.1.2.1).
    pub fn uplink(bits: usize, change: i64, tti: Tti, frame: usize) -> Pattern {
        let (n, f) = (bits as i64, tti.frames() as i64);
        let rest = change.rem_euclid(n);
        // The mean distance of changed bits, negative where it is shorter to count those unchanged.
        let q = if rest != 0 && 2 * rest <= n { ceil(n, rest) } else { -(n / (n - rest)) };
        // q' as a fraction of F: an even q is spoilt, so that the frames' shifts differ.
        let distance = q * f + if q % 2 == 0 { gcd(q.abs(), f) } else { 0 };
        let mut shifts = [0; 8];
        for x in 0..f {
            let at = (x * distance).div_euclid(f).abs();
            shifts[(at % f) as usize] = at / f;
        }
        let shift = shifts[usize::from(tti.columns()[frame])];
        Pattern { initial: (2 * shift * change.abs() + 1) % (2 * n), plus: 2 * n, minus: 2 * change.abs() }
    }

    /// One sequence in the downlink, for a transport format whose longest has `longest` bits a TTI, which become `change`
    /// more (section 4.2.7.2.1.3). With flexible positions each format is its own longest (section 4.2.7.2.2.2).
    pub fn downlink(longest: usize, change: i64) -> Pattern {
        Pattern { initial: 1, plus: 2 * longest as i64, minus: 2 * change.abs() }
    }

    /// A parity sequence of `bits` bits in the uplink of which `punctured` are dropped (section 4.2.7.1.2.2).
    pub fn uplink_turbo(parity: Parity, bits: usize, punctured: usize, tti: Tti, frame: usize) -> Pattern {
        let (x, d, f) = (bits as i64, punctured as i64, tti.frames() as i64);
        let (a, b) = parity.a_and_b();
        if punctured == 0 {
            return Pattern { initial: x, plus: a * x, minus: 0 };
        }
        let q = x / d;
        let mut shifts = [0; 8];
        if q <= 2 {
            for r in 0..f {
                shifts[((3 * r + b - 1) % f) as usize] = r % 2;
            }
        } else {
            let distance = q * f - if q % 2 == 0 { gcd(q, f) } else { 0 };
            for step in 0..f {
                let at = ceil(step * distance, f);
                shifts[((3 * (at % f) + b - 1) % f) as usize] = at / f;
            }
        }
        let shift = shifts[usize::from(tti.columns()[frame])];
        let initial = (a * shift * d + x) % (a * x);
        Pattern { initial: if initial == 0 { a * x } else { initial }, plus: a * x, minus: a * d }
    }

    /// A parity sequence in the downlink whose longest has `longest` bits, of which `punctured` are dropped (section
    /// 4.2.7.2.1.4).
    pub fn downlink_turbo(parity: Parity, longest: usize, punctured: usize) -> Pattern {
        let (x, (a, _)) = (longest as i64, parity.a_and_b());
        Pattern { initial: x, plus: a * x, minus: a * punctured as i64 }
    }
}

/// The parity sequences of the turbo code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Parity of the first encoder, b = 2.
    First,
    /// Parity of the second, b = 3.
    Second,
}

impl Parity {
    /// How many bits of this sequence are punctured if `punctured` are of both: floor and ceiling of half the change, which
    /// is negative, so that the first loses the odd one.
    pub(super) fn share(self, punctured: usize) -> usize {
        match self {
            Parity::First => punctured.div_ceil(2),
            Parity::Second => punctured / 2,
        }
    }

    fn a_and_b(self) -> (i64, i64) {
        match self {
            Parity::First => (2, 2),
            Parity::Second => (1, 3),
        }
    }
}

/// Quotient of positive numbers, rounded up.
fn ceil(dividend: i64, divisor: i64) -> i64 {
    (dividend + divisor - 1) / divisor
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
