//! Reads the vector files. A file that does not read as expected fails the test.

use num_complex::Complex32;
use serde_json::Value;

/// The document `name`.json.
pub fn open(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The entries of a list, of which there is at least one.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value[key].as_array().unwrap_or_else(|| panic!("no list {key}"));
    assert!(!list.is_empty(), "{key} is empty");
    list
}

pub fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key}")) as usize
}

pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key}"))
}

pub fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits")).collect()
}

/// Bits, one a byte, out of packed ones.
pub fn bits(hex: &str, count: usize) -> Vec<u8> {
    let packed = bytes(hex);
    assert_eq!(packed.len(), count.div_ceil(8), "a hex string for {count} bits");
    (0..count).map(|i| packed[i / 8] >> (7 - i % 8) & 1).collect()
}

/// Pairs of little-endian floats.
pub fn complex(hex: &str) -> Vec<Complex32> {
    let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    bytes(hex).chunks(8).map(|pair| Complex32::new(float(&pair[..4]), float(&pair[4..]))).collect()
}
