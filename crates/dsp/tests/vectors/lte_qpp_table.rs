use crate::file::{list, number, open, text};
use takt_dsp::lte::{TURBO_LENGTHS, qpp, qpp_parameters};

#[test]
fn the_lte_turbo_interleaver_is_that_of_others() {
    let document = open("lte_qpp_table");
    let table = list(&document, "table");
    assert_eq!(table.len(), TURBO_LENGTHS.len());
    for (row, length) in table.iter().zip(TURBO_LENGTHS) {
        assert_eq!(number(row, "K"), usize::from(length));
        let expected = (number(row, "f1") as u16, number(row, "f2") as u16);
        assert_eq!(qpp_parameters(length.into()), Some(expected));
        let mut pi = vec![0; length.into()];
        qpp(&mut pi).unwrap();
        assert_eq!(format!("{:08x}", crc32(&pi)), text(row, "crc32"), "K = {length}");
    }
}

/// zlib's CRC-32 over little-endian numbers, bit by bit.
fn crc32(numbers: &[u16]) -> u32 {
    let step = |crc: u32, byte: u8| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    };
    !numbers.iter().flat_map(|n| n.to_le_bytes()).fold(!0, step)
}
