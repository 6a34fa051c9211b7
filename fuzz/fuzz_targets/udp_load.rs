#![no_main]
//! What a load generator and its server say to each other.

use takt_lab::workload::udp::protocol::{data::Data, message::Message};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut frame = [0; 2048];
    if let Some(message) = Message::parse(bytes) {
        let written = message.write(&mut frame);
        assert!(written > 0 && written <= bytes.len());
        assert_eq!(Message::parse(&frame[..written]), Some(message));
    }
    if let Some(data) = Data::parse(bytes) {
        assert!(data.write(&mut frame));
        assert_eq!(Data::parse(&frame), Some(data));
    }
});
