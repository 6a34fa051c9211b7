//! The receive offset: a register, or an integrator that follows the board's constant.
//!
//! The gateware adds 2^-20 of its output to an integrator each tick of the converter, and subtracts the integrator (Ettus'
//! `rx_dcoffset.v`). For a board's constant d, it then has
//!
//! ```text
//!   v(t) = d + (v(0) - d) (1 - 2^-20)^t
//! ```
//!
//! after t ticks: 10.5 ms time constant on an N200, 5.2 ms on an X310 at 200 MHz. That closed form is what holds here. So it knows only
//! the constant of a board, which changes with oscillator and gain, and not the signal: what a source has within some hertz of
//! the oscillator stays, where hardware would notch it.

use takt_base::Tick;

use super::gateware::signed;

/// In the register: keep the integrator.
const FIXED: u32 = 1 << 31;
/// In the register: load the integrator with bits 29:0.
const SET: u32 = 1 << 30;
/// Full scale in bits 29:0.
const ONE: f64 = 536_870_912.0; // 2^29
/// A difference falls to 1/e in so many ticks.
const TIME_CONSTANT: f64 = 1_048_576.0; // 2^20
/// A difference that no word length shows.
const NOTHING: f64 = 1e-9;

/// Offset of I or of Q. Full scale is 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TrackedOffset {
    fixed: bool,
    since: Tick,
    /// The integrator at `since`.
    value: f64,
    /// The board's constant, which it follows.
    constant: f64,
}

impl TrackedOffset {
    /// The register.
    pub(crate) fn write(&mut self, now: Tick, data: u32) {
        self.settle(now);
        self.fixed = data & FIXED != 0;
        if data & SET != 0 {
            self.value = f64::from(signed(data, 30)) / ONE;
        }
    }

    /// The board has another constant.
    pub(crate) fn follow(&mut self, now: Tick, constant: f64) {
        if constant.to_bits() != self.constant.to_bits() {
            self.settle(now);
            self.constant = constant;
        }
    }

    fn settle(&mut self, now: Tick) {
        (self.value, self.since) = (self.at(now), now);
    }

    fn moves(&self) -> bool {
        !self.fixed && (self.value - self.constant).abs() > NOTHING
    }

    /// Offset subtracted from the sample of this tick.
    pub(super) fn at(&self, tick: Tick) -> f64 {
        if self.fixed {
            return self.value;
        }
        if !self.moves() {
            return self.constant;
        }
        let ticks = (tick.0.saturating_sub(self.since.0)) as f64;
        self.constant + (self.value - self.constant) * (ticks * decay_a_tick()).exp()
    }

    /// Whether anything is or will be subtracted.
    pub(super) fn is_on(&self) -> bool {
        self.value != 0.0 || !self.fixed && self.constant != 0.0
    }
}

fn decay_a_tick() -> f64 {
    (-1.0 / TIME_CONSTANT).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_offset_is_the_register_and_needs_the_bit_that_loads_it() {
        let mut offset = TrackedOffset::default();
        offset.write(Tick(5), FIXED | 1 << 27);
        assert!(!offset.is_on(), "not loaded");
        offset.write(Tick(6), FIXED | SET | 1 << 27);
        assert_eq!((offset.at(Tick(6)), offset.at(Tick(u64::MAX))), (0.25, 0.25));
        offset.write(Tick(7), FIXED | SET | ((1 << 30) - (1 << 28)));
        assert_eq!(offset.at(Tick(7)), -0.5);
        offset.follow(Tick(8), 0.125);
        assert_eq!(offset.at(Tick(1 << 30)), -0.5);
    }

    #[test]
    fn it_follows_a_constant_as_the_integrator_does() {
        let mut offset = TrackedOffset::default();
        offset.follow(Tick(1000), 0.02);
        let mut integrator = 0.0f64;
        for tick in 0..3_000_000u64 {
            if tick % 100_000 == 0 {
                assert!((offset.at(Tick(1000 + tick)) - integrator).abs() < 1e-9, "tick {tick}");
            }
            integrator += (0.02 - integrator) / TIME_CONSTANT;
        }
        let held = offset.at(Tick(3_001_000));
        offset.write(Tick(3_001_000), FIXED);
        assert!(held < 0.02 && offset.at(Tick(1 << 40)) == held, "fixed without a value: it stays where it is");
        offset.write(Tick(1 << 41), 0);
        assert_eq!((offset.at(Tick(1 << 41)), offset.at(Tick(1 << 50))), (held, 0.02));
    }

    #[test]
    fn without_a_constant_nothing_is_subtracted() {
        let mut offset = TrackedOffset::default();
        offset.follow(Tick(9), 0.0);
        offset.write(Tick(10), 0);
        assert!(!offset.is_on());
        assert_eq!(offset.at(Tick(1 << 40)), 0.0);
    }
}
