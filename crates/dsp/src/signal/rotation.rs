//! A frequency as a fixed-point number of turns a tick, so that a phase is a function of the tick and nothing else.

use std::ops::{Add, Neg, Sub};

use takt_base::{Tick, TickRate};

/// How far a phasor turns in one tick, in units of 2^-64 turns: the phase at tick n is `n` times this, modulo one turn,
/// exactly. After a day at 100 MHz the rounding of the frequency amounts to a quarter of a millionth of a turn.
///
/// ```
/// use takt_base::{Tick, TickRate};
/// use takt_dsp::Rotation;
/// let clock = TickRate::from_hz(100_000_000).unwrap();
/// let quarter = Rotation::from_hz(25e6, clock);
/// assert_eq!(quarter.phase_at(Tick(4_000_000_001)), 1 << 62); // a quarter turn, however late
/// assert_eq!(quarter, Rotation::from_word(0x4000_0000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation(u64);

impl Rotation {
    /// A frequency in Hz, of either sign, modulo the clock. Not finite: no rotation.
    #[must_use]
    pub fn from_hz(hz: f64, clock: TickRate) -> Rotation {
        // Whole turns go first, where that is exact.
        Rotation::from_turns(hz % f64::from(clock.hz()) / f64::from(clock.hz()))
    }

    /// A number of turns a tick, modulo one. Not finite: no rotation.
    #[must_use]
    pub fn from_turns(turns: f64) -> Rotation {
        // -0.5 to 0.5: near zero a double has bits to spare below 2^-64.
        Rotation(((turns - turns.round()) * TURN) as i128 as u64)
    }

    /// The frequency word of an N200: signed, 2^32 is one turn a tick.
    #[must_use]
    pub const fn from_word(word: u32) -> Rotation {
        Rotation((word as u64) << 32)
    }

    /// The frequency in Hz, from minus half the clock to just below half the clock.
    #[must_use]
    pub fn hz(self, clock: TickRate) -> f64 {
        (self.0 as i64) as f64 / TURN * f64::from(clock.hz())
    }

    /// The phase at `tick`, 2^64 a turn.
    #[must_use]
    pub const fn phase_at(self, tick: Tick) -> u64 {
        self.0.wrapping_mul(tick.0)
    }

    /// The rotation in `ticks` ticks: the step from one sample to the next.
    #[must_use]
    pub const fn times(self, ticks: u32) -> Rotation {
        Rotation(self.0.wrapping_mul(ticks as u64))
    }

    /// 2^64 a turn.
    #[must_use]
    pub const fn raw(self) -> u64 {
        self.0
    }
}

impl Add for Rotation {
    type Output = Rotation;
    fn add(self, other: Rotation) -> Rotation {
        Rotation(self.0.wrapping_add(other.0))
    }
}

impl Sub for Rotation {
    type Output = Rotation;
    fn sub(self, other: Rotation) -> Rotation {
        Rotation(self.0.wrapping_sub(other.0))
    }
}

impl Neg for Rotation {
    type Output = Rotation;
    fn neg(self) -> Rotation {
        Rotation(self.0.wrapping_neg())
    }
}

/// 2^64.
const TURN: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    const N200: TickRate = TickRate::from_hz(100_000_000).unwrap();

    #[test]
    fn a_frequency_survives_the_way_through_fixed_point() {
        for hz in [0.0, 1.0, -1.0, 100e3, -7.123_456_789e6, 49_999_999.0, -50e6] {
            assert!((Rotation::from_hz(hz, N200).hz(N200) - hz).abs() < 1e-7, "{hz}");
        }
        assert_eq!(Rotation::from_hz(f64::NAN, N200), Rotation::default());
    }

    #[test]
    fn a_frequency_beyond_half_the_clock_folds() {
        assert_eq!(Rotation::from_hz(110e6, N200), Rotation::from_hz(10e6, N200));
        assert!((Rotation::from_hz(60e6, N200).hz(N200) + 40e6).abs() < 1e-7);
    }

    #[test]
    fn rotations_add_as_frequencies_do() {
        let sum = Rotation::from_hz(3e6, N200) + Rotation::from_hz(-4e6, N200);
        assert!((sum.hz(N200) + 1e6).abs() < 1e-6);
        assert_eq!(-sum, Rotation::default() - sum);
    }
}
