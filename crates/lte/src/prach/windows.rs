//! Which delays of a root's correlation belong to which preamble: TS 36.211 section 5.7.2.
//!
//! Preamble v of a root begins C_v = v N_CS points earlier in the sequence, so that its correlation peaks C_v points
//! earlier, and a delay moves the peak later. The circle of 839 points is so divided into windows. A window begins and ends a point,
//! 0.95 us, early: TS 36.133 section 7.1.2 lets a terminal be early by 24 T_s, 0.8 us. No delay above the prefix is looked for.

use super::preambles::Root;
use super::{PREFIX_TS, SEQUENCE_LEN, SYMBOL_TS, SYMBOLS_OF_SEQUENCE};

/// Points of the circle on which correlations are computed: 2.4 for each of the sequence, 12 T_s apart.
pub(super) const CIRCLE: usize = 2048;
/// T_s between two points of the circle.
pub(super) const TS_OF_POINT: f32 = (SYMBOLS_OF_SEQUENCE * SYMBOL_TS / CIRCLE) as f32;
/// Points of the circle for each of the sequence.
pub(super) const POINTS_OF_CHIP: f32 = CIRCLE as f32 / SEQUENCE_LEN as f32;
/// Points of the sequence by which a window begins early.
const EARLY: usize = 1;
/// The longest window, points of the sequence: from EARLY before 0 to the prefix.
const LONGEST: usize = EARLY + PREFIX_TS * SEQUENCE_LEN / (SYMBOLS_OF_SEQUENCE * SYMBOL_TS);

/// A run of a root's circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// The first point, below [`CIRCLE`].
    pub(super) begin: usize,
    /// Points; it may wrap.
    pub(super) len: usize,
    /// Delay 0, in points of the circle.
    pub(super) origin: f32,
    /// The preamble that has these delays; none between the preambles.
    pub(super) preamble: Option<u8>,
}

/// The windows of a root: they divide the circle.
pub(super) fn windows(root: &Root, shift: usize) -> Vec<Window> {
    let len = if shift == 0 { LONGEST } else { shift.min(LONGEST) };
    // In the order of the circle, from a window's early begin: the last preamble has the lowest, preamble 0 wraps.
    let mut edges: Vec<(usize, Option<u8>)> = Vec::new();
    for v in (0..usize::from(root.preambles)).rev() {
        let begin = 2 * SEQUENCE_LEN - v * shift - EARLY;
        edges.push((begin, Some(root.first + v as u8)));
        let next = if v == 0 { edges[0].0 + SEQUENCE_LEN } else { begin + shift };
        if begin + len < next {
            edges.push((begin + len, None));
        }
    }
    let end = edges[0].0 + SEQUENCE_LEN;
    let ends = edges.iter().skip(1).map(|edge| edge.0).chain([end]).collect::<Vec<_>>();
    let grid = |chips: usize| (chips * CIRCLE).div_ceil(SEQUENCE_LEN);
    let window = |(&(begin, preamble), end): (&(usize, Option<u8>), usize)| Window {
        begin: grid(begin) % CIRCLE,
        len: grid(end) - grid(begin),
        origin: ((begin + EARLY) % SEQUENCE_LEN) as f32 * POINTS_OF_CHIP,
        preamble,
    };
    edges.iter().zip(ends).map(window).collect()
}

#[cfg(test)]
mod tests {
    use super::super::PrachConfig;
    use super::super::preambles::Preambles;
    use super::*;

    #[test]
    fn windows_divide_the_circle_among_the_preambles() {
        for zero_correlation_zone in 0..16 {
            let config =
                PrachConfig { root_sequence: 0, zero_correlation_zone, frequency_offset_blocks: 0, config_index: 0 };
            let preambles = Preambles::new(&config);
            let mut seen = Vec::new();
            for root in &preambles.roots {
                let windows = windows(root, preambles.shift);
                let mut owners = vec![0; CIRCLE];
                for window in &windows {
                    (0..window.len).for_each(|at| owners[(window.begin + at) % CIRCLE] += 1);
                    let chips = window.len as f32 / POINTS_OF_CHIP;
                    assert!(window.preamble.is_none() || chips < 110.0, "{window:?}");
                }
                assert!(owners.iter().all(|&count| count == 1), "zone {zero_correlation_zone}");
                seen.extend(windows.iter().filter_map(|window| window.preamble));
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..64), "zone {zero_correlation_zone}");
        }
    }
}
