//! The secondary synchronisation signal: TS 36.211 section 6.11.2.

use super::LEN;
use crate::CellId;

/// Elements of an m-sequence of five stages.
const PERIOD: usize = 31;

/// The recurrences of s, c and z in section 6.11.2.1: which of x(i) to x(i + 4) add up to x(i + 5).
const S: [i8; PERIOD] = m_sequence([1, 0, 1, 0, 0]);
const C: [i8; PERIOD] = m_sequence([1, 0, 0, 1, 0]);
const Z: [i8; PERIOD] = m_sequence([1, 1, 1, 0, 1]);

/// The 62 elements, 1 or -1, the lowest subcarrier first, in subframe 0 or else in subframe 5.
pub(super) fn secondary(id: CellId, in_subframe_0: bool) -> [i8; LEN] {
    let (m0, m1) = shifts(usize::from(id.group()));
    let (even, odd) = if in_subframe_0 { (m0, m1) } else { (m1, m0) };
    let family = usize::from(id.within_group());
    std::array::from_fn(|at| {
        let n = at / 2;
        if at % 2 == 0 {
            of(&S, n + even) * of(&C, n + family)
        } else {
            of(&S, n + odd) * of(&C, n + family + 3) * of(&Z, n + even % 8)
        }
    })
}

/// m_0 and m_1 of a group, 0 to 167: table 6.11.2.1-1, by its formula.
fn shifts(group: usize) -> (usize, usize) {
    let estimate = group / 30;
    let q = (group + estimate * (estimate + 1) / 2) / 30;
    let m = group + q * (q + 1) / 2;
    let m0 = m % PERIOD;
    (m0, (m0 + m / PERIOD + 1) % PERIOD)
}

fn of(sequence: &[i8; PERIOD], at: usize) -> i8 {
    sequence[at % PERIOD]
}

const fn m_sequence(taps: [u8; 5]) -> [i8; PERIOD] {
    let mut bits = [0u8; PERIOD];
    bits[4] = 1;
    let mut signs = [1i8; PERIOD];
    let mut at = 0;
    while at < PERIOD {
        if at >= 5 {
            let mut stage = 0;
            while stage < 5 {
                bits[at] ^= taps[stage] & bits[at - 5 + stage];
                stage += 1;
            }
        }
        signs[at] = 1 - 2 * bits[at] as i8;
        at += 1;
    }
    signs
}
