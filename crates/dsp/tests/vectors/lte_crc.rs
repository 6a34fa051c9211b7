use crate::file::{bits, list, number, open, text};
use takt_dsp::crc::Crc;
use takt_dsp::lte::{crc_attach, crc_check};

#[test]
fn lte_parity_is_attached_as_others_do() {
    for vector in list(&open("lte_crc"), "vectors") {
        let crc = match text(vector, "crc") {
            "CRC8" => Crc::Crc8,
            "CRC16" => Crc::Crc16,
            "CRC24A" => Crc::Crc24A,
            "CRC24B" => Crc::Crc24B,
            other => panic!("a CRC named {other}"),
        };
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let remainder = u32::from_str_radix(text(vector, "crc_hex"), 16).unwrap();
        let parity = (0..crc.bits()).rev().map(|i| (remainder >> i & 1) as u8).collect();
        let mut out = vec![7; block.len() + crc.bits()];
        crc_attach(crc, &block, &mut out);
        assert_eq!(out, [block, parity].concat(), "{crc:?}");
        assert!(crc_check(crc, &out));
        for i in 0..out.len() {
            out[i] ^= 1;
            assert!(!crc_check(crc, &out), "a wrong bit {i} goes unseen");
            out[i] ^= 1;
        }
    }
}
