#![no_main]
//! An Ethernet frame of any bytes is a sound UDP datagram or is refused, never a panic; what is read is written so that it
//! is read again as the same.

use takt_packet::frame::{parse, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(carried) = parse(bytes) else { return };
    let mut again = vec![0; bytes.len()];
    let len = write(&mut again, [2; 6], [4; 6], carried.ends, carried.payload).expect("it was no longer than this");
    assert_eq!(parse(&again[..len]), Ok(carried));
});
