//! The frequency word of a DSP: how far its CORDIC turns per tick.
//!
//! Both directions multiply the baseband by exp(+j 2 pi word n / 2^32) at tick n.

use super::MASTER_CLOCK_HZ;

const TURN: f64 = 4_294_967_296.0; // 2^32: one whole turn per tick

/// The word nearest to `hz`. A frequency outside ±50 MHz is folded into it, as sampling does; a value that is not a
/// number gives 0.
///
/// ```
/// use takt_wire::n200::frequency;
/// assert_eq!(frequency::word_of(25e6), 0x4000_0000);
/// assert_eq!(frequency::hz_of(frequency::word_of(-1e6)).round(), -1e6);
/// ```
#[must_use]
pub fn word_of(hz: f64) -> i32 {
    let turns = hz / f64::from(MASTER_CLOCK_HZ);
    let folded = turns - turns.round(); // in -0.5..=0.5
    (folded * TURN).round_ties_even() as i64 as i32 // +0.5 wraps to -0.5: the same rotation
}

/// The frequency a word stands for, in Hz, within ±50 MHz.
#[must_use]
pub fn hz_of(word: i32) -> f64 {
    f64::from(word) / TURN * f64::from(MASTER_CLOCK_HZ)
}
