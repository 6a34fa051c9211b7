use crate::file::{bits, list, number, open, text};
use takt_dsp::crc::Crc;
use takt_dsp::umts::{crc_attach, crc_check};

#[test]
fn umts_parity_is_attached_as_others_do() {
    for vector in list(&open("umts_crc"), "vectors") {
        let crc = match number(vector, "L") {
            8 => Crc::Crc8,
            12 => Crc::Crc12,
            16 => Crc::Crc16,
            24 => Crc::Crc24B,
            other => panic!("a CRC of {other} bits"),
        };
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let parity = bits(text(vector, "attached_parity_hex"), number(vector, "attached_parity_bits"));
        let mut out = vec![7; block.len() + crc.bits()];
        crc_attach(crc, &block, &mut out);
        assert_eq!(out, [block, parity].concat(), "{crc:?} of {} bits", number(vector, "A"));
        assert!(crc_check(crc, &out));
        for i in 0..out.len() {
            out[i] ^= 1;
            assert!(!crc_check(crc, &out), "a wrong bit {i} goes unseen");
            out[i] ^= 1;
        }
    }
}

#[test]
fn an_empty_block_has_zeros_for_parity_and_less_than_the_parity_is_no_block() {
    let mut out = [7; 16];
    crc_attach(Crc::Crc16, &[], &mut out);
    assert_eq!(out, [0; 16]);
    assert!(crc_check(Crc::Crc16, &out));
    assert!(!crc_check(Crc::Crc16, &out[1..]));
}
