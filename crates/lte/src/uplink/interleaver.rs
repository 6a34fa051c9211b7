//! The channel interleaver, TS 36.212 section 5.2.2.8: twelve columns, one a symbol, a row for each subcarrier; written by rows,
//! read by columns. It moves the bits of a modulation symbol as one group.

use super::config::DATA_SYMBOLS;

/// Columns of an acknowledgement beside the reference signals, in the order in which they are filled (table 5.2.2.8-2: 2, 3, 8,
/// 9, in steps of three).
const ACK_COLUMNS: [usize; 4] = [2, 9, 8, 3];

/// The position, in symbols as sent, of symbol `at` of an acknowledgement. It fills rows from the last one up.
pub(super) fn ack_position(at: usize, rows: usize) -> usize {
    ACK_COLUMNS[at % 4] * rows + rows - 1 - at / 4
}

/// From code word to what is sent. Both have groups of `group` values for each of 12 `rows` symbols: 2, 4 or 6.
pub(super) fn interleave(coded: &[u8], rows: usize, group: usize, sent: &mut [u8]) {
    match group {
        2 => read_by_columns::<2>(coded, rows, sent),
        4 => read_by_columns::<4>(coded, rows, sent),
        _ => read_by_columns::<6>(coded, rows, sent),
    }
}

/// A group is an array, so that a copy is an instruction and not a call.
fn read_by_columns<const GROUP: usize>(coded: &[u8], rows: usize, sent: &mut [u8]) {
    let (lines, _) = coded.as_chunks::<GROUP>().0.as_chunks::<DATA_SYMBOLS>();
    let sent = &mut sent.as_chunks_mut::<GROUP>().0[..DATA_SYMBOLS * rows];
    for (row, line) in lines[..rows].iter().enumerate() {
        line.iter().enumerate().for_each(|(column, group)| sent[column * rows + row] = *group);
    }
}

/// Takes [`interleave`] back.
pub(super) fn deinterleave(sent: &[i8], rows: usize, group: usize, coded: &mut [i8]) {
    match group {
        2 => write_by_columns::<2>(sent, rows, coded),
        4 => write_by_columns::<4>(sent, rows, coded),
        _ => write_by_columns::<6>(sent, rows, coded),
    }
}

fn write_by_columns<const GROUP: usize>(sent: &[i8], rows: usize, coded: &mut [i8]) {
    let sent = &sent.as_chunks::<GROUP>().0[..DATA_SYMBOLS * rows];
    let (lines, _) = coded.as_chunks_mut::<GROUP>().0.as_chunks_mut::<DATA_SYMBOLS>();
    for (row, line) in lines[..rows].iter_mut().enumerate() {
        line.iter_mut().enumerate().for_each(|(column, group)| *group = sent[column * rows + row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_interleaved_comes_back(rows in 1usize..60, group in prop::sample::select(&[2usize, 4, 6][..])) {
            let coded: Vec<u8> = (0..DATA_SYMBOLS * rows * group).map(|at| (at * at % 251) as u8).collect();
            let mut sent = vec![0; coded.len()];
            interleave(&coded, rows, group, &mut sent);
            prop_assert_eq!(&sent[..group], &coded[..group]);
            if rows > 1 {
                prop_assert_eq!(&sent[group..2 * group], &coded[DATA_SYMBOLS * group..][..group]);
            }
            let received: Vec<i8> = sent.iter().map(|&value| value as i8).collect();
            let mut back = vec![0; coded.len()];
            deinterleave(&received, rows, group, &mut back);
            prop_assert!(back.iter().zip(&coded).all(|(&back, &coded)| back as u8 == coded));
        }

        #[test]
        fn an_acknowledgement_lies_beside_the_references(rows in 12usize..60) {
            let mut positions: Vec<usize> = (0..4 * rows).map(|at| ack_position(at, rows)).collect();
            prop_assert_eq!(&positions[..5], &[3 * rows - 1, 10 * rows - 1, 9 * rows - 1, 4 * rows - 1, 3 * rows - 2]);
            positions.sort_unstable();
            let all: Vec<usize> = [2, 3, 8, 9].iter().flat_map(|column| column * rows..(column + 1) * rows).collect();
            prop_assert_eq!(positions, all);
        }
    }
}
