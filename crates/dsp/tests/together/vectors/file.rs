//! Reading the vector files. A file that does not read as its README says is an error of the test.

use serde_json::Value;

/// The document `name`.json.
pub fn open(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The entries of list `key`, of which there is at least one.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value[key].as_array().unwrap_or_else(|| panic!("no list {key}"));
    assert!(!list.is_empty(), "{key} is empty");
    list
}

pub fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {value}")) as usize
}

pub fn integer(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or_else(|| panic!("no integer {key} in {value}"))
}

pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key} in {value}"))
}

pub fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits")).collect()
}

/// `count` bits, one a byte, out of packed ones.
pub fn bits(hex: &str, count: usize) -> Vec<u8> {
    let packed = bytes(hex);
    assert_eq!(packed.len(), count.div_ceil(8), "a hex string for {count} bits");
    (0..count).map(|i| packed[i / 8] >> (7 - i % 8) & 1).collect()
}

/// A block of the form `{"n": .., "hex": ..}`.
pub fn block(value: &Value) -> Vec<u8> {
    bits(text(value, "hex"), number(value, "n"))
}

/// The bits that `make` writes, all `count` of them.
pub fn made(count: usize, make: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut out = vec![7; count];
    make(&mut out);
    out
}

/// A block and its parity hold, and do not with any one bit wrong.
pub fn every_wrong_bit_shows(mut block: Vec<u8>, holds: impl Fn(&[u8]) -> bool) {
    assert!(holds(&block));
    for i in 0..block.len() {
        block[i] ^= 1;
        assert!(!holds(&block), "a wrong bit {i} goes unseen");
        block[i] ^= 1;
    }
}
