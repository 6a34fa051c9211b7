//! Resource indication values: a run of resource blocks as one number, TS 36.213 sections 7.1.6.3 and 8.1.1.

/// The number of a run of `blocks` from `first` on, of `carrier` resource blocks; `None` if they are not within the carrier or
/// there are none.
#[must_use]
pub fn encode_riv(carrier: usize, first: usize, blocks: usize) -> Option<u32> {
    if blocks == 0 || blocks > carrier || first > carrier - blocks {
        return None;
    }
    let value = if blocks - 1 <= carrier / 2 {
        carrier * (blocks - 1) + first
    } else {
        carrier * (carrier - blocks + 1) + (carrier - 1 - first)
    };
    u32::try_from(value).ok()
}

/// The first resource block and how many there are; `None` for a number that stands for nothing.
#[must_use]
pub fn decode_riv(carrier: usize, value: u32) -> Option<(usize, usize)> {
    let (rows, rest) = ((value as usize).checked_div(carrier)?, value as usize % carrier);
    let run =
        if rows + rest < carrier { (rest, rows + 1) } else { (carrier - 1 - rest, carrier.checked_sub(rows)? + 1) };
    // Each number of no run lands outside of the carrier, or on the run of another number.
    (encode_riv(carrier, run.0, run.1) == Some(value)).then_some(run)
}

/// How many bits a grant has for the number: as many as there are runs, rounded up to a power of 2.
#[must_use]
pub fn riv_bits(carrier: usize) -> usize {
    (carrier * (carrier + 1) / 2).next_power_of_two().trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bandwidth;

    #[test]
    fn runs_and_numbers_are_one_to_one_and_all_other_numbers_are_refused() {
        for carrier in Bandwidth::ALL.map(Bandwidth::blocks) {
            let runs = (carrier * (carrier + 1) / 2) as u32;
            let mut seen = vec![false; runs as usize];
            for blocks in 1..=carrier {
                for first in 0..=carrier - blocks {
                    let value = encode_riv(carrier, first, blocks).unwrap();
                    assert_eq!(decode_riv(carrier, value), Some((first, blocks)));
                    assert!(!std::mem::replace(&mut seen[value as usize], true));
                }
            }
            assert!(seen.iter().all(|&seen| seen));
            let invalid = (runs..1 << riv_bits(carrier)).chain([u32::MAX, u32::MAX / 2]);
            assert!(invalid.into_iter().all(|value| decode_riv(carrier, value).is_none()));
            for run in [(0, 0), (0, carrier + 1), (carrier, 1), (1, carrier), (usize::MAX, 2), (2, usize::MAX)] {
                assert_eq!(encode_riv(carrier, run.0, run.1), None);
            }
        }
        assert_eq!(Bandwidth::ALL.map(Bandwidth::blocks).map(riv_bits), [5, 7, 9, 11, 12, 13]);
        assert_eq!((encode_riv(25, 0, 25), decode_riv(0, 1)), (Some(49), None));
    }
}
