//! Checks that every packet must pass.

/// Bytes of hexadecimal digits; blanks count for nothing.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "an odd number of digits");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Output of the writer in a buffer prefilled with 0xa5, so that a forgotten byte shows; and it writes no more.
pub fn written(write: impl Fn(&mut [u8]) -> Result<usize, takt_wire::WireError>) -> Vec<u8> {
    let mut buffer = vec![0xa5; 9000];
    let bytes = write(&mut buffer).expect("a frame and its like have room enough");
    assert!(buffer[bytes..].iter().all(|&byte| byte == 0xa5), "wrote beyond its length");
    let mut exact = vec![0x5a; bytes];
    assert_eq!(write(&mut exact), Ok(bytes));
    assert_eq!(exact, buffer[..bytes], "a byte was left as it stood");
    for room in 0..bytes.min(100) {
        let refused = write(&mut buffer[..room]);
        assert!(matches!(refused, Err(takt_wire::WireError::Short { .. })), "{refused:?} with {room} of {bytes} bytes");
    }
    exact
}

/// These bytes mean this value, this value is these bytes, no prefix means it, and what follows does not matter.
macro_rules! same {
    ($packet:ident, $bytes:expr, $value:expr) => {{
        let (bytes, value): (Vec<u8>, _) = ($bytes, $value);
        assert_eq!($packet::parse(&bytes), Ok(value));
        assert_eq!($crate::common::written(|out| value.write(out)), bytes);
        for end in 0..bytes.len() {
            let prefix = $packet::parse(&bytes[..end]);
            assert!(matches!(prefix, Err(takt_wire::WireError::Short { .. })), "{prefix:?} from {end} bytes");
        }
        let longer = [bytes.as_slice(), &[0xa5; 7]].concat();
        assert_eq!($packet::parse(&longer), Ok(value));
    }};
}

/// A written packet is read back, with the same checks.
macro_rules! round_trip {
    ($packet:ident, $value:expr) => {{
        let value = $value;
        $crate::common::same!($packet, $crate::common::written(|out| value.write(out)), value);
    }};
}

pub(crate) use {round_trip, same};
