//! Rounding a float to a small integer in a way that every vector unit can do.
//!
//! `round_ties_even() as i16` means the same, but the compiler takes it one float at a time: saturation and NaN come in
//! branches, and below SSE 4.1 each rounding is a call. Measured on a processor with AVX-512, 363 samples: 6.5 times
//! slower than this.

/// Adding 3 * 2^22 to a float below 2^22 leaves no room for its fraction: the addition itself rounds, to the nearest and
/// to even between, as IEEE 754 rounds. The low 22 bits are then the integer, in two's complement.
const NO_ROOM: f32 = 12_582_912.0;

/// `value` rounded to the nearest integer (ties to even) and saturated at two whole numbers below 2^15 in magnitude (or
/// -2^15 itself); 0 if it is not a number. Only the low 16 bits of the result are the integer: the caller cuts the rest.
#[inline(always)]
pub(super) fn round(value: f32, least: f32, most: f32) -> u32 {
    let number = if value.is_nan() { 0.0 } else { value };
    // Not `clamp`: each of these is one instruction in every vector unit.
    let above = if number > least { number } else { least };
    let within = if above < most { above } else { most };
    (within + NO_ROOM).to_bits()
}
