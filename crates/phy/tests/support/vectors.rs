//! Test vectors of `crates/dsp/tests/vectors`, and components on them.
#![allow(dead_code, reason = "not every test needs all")]

use std::sync::LazyLock;

use serde_json::Value as Json;
use takt_graph::Params;
use takt_runtime::{Bench, Bit, Llr, Registry, Sample};

pub fn open(name: &str) -> Json {
    let path = format!("{}/../dsp/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))).expect("JSON")
}

/// The vectors of a file that has them in a list.
pub fn list(name: &str) -> Vec<Json> {
    part(&open(name), "vectors")
}

/// The list of this name in a document.
pub fn part(document: &Json, key: &str) -> Vec<Json> {
    document[key].as_array().filter(|list| !list.is_empty()).expect("a list of vectors").clone()
}

pub fn number(vector: &Json, key: &str) -> i64 {
    vector[key].as_i64().unwrap_or_else(|| panic!("no number {key} in {vector}"))
}

pub fn bytes(hex: &Json) -> Vec<u8> {
    let hex = hex.as_str().expect("hex");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits")).collect()
}

/// The first bit is the highest of its byte.
pub fn bits(hex: &Json, count: i64) -> Vec<Bit> {
    let packed = bytes(hex);
    (0..count as usize).map(|i| Bit(packed[i / 8] >> (7 - i % 8) & 1)).collect()
}

/// The fields of a vector as parameters of the same names.
pub fn named(vector: &Json, names: &[&str]) -> Params {
    names.iter().fold(Params::new(), |params, name| params.with(name, number(vector, name)))
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    takt_phy::link();
    Registry::of_program().expect("one name each")
});

pub fn bench(kind: &str, params: &Params) -> Bench {
    Bench::sized(&REGISTRY, kind, params, 1 << 17).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

/// Output of a component for one packet.
pub fn through<I: Sample, O: Sample>(kind: &str, params: &Params, input: &[I]) -> Vec<O> {
    bench(kind, params).feed("in", input).tick().output("out")
}

/// 20 for 0, -20 for 1.
pub fn soft(bits: &[Bit]) -> Vec<Llr> {
    bits.iter().map(|bit| Llr(20 - 40 * bit.0 as i8)).collect()
}

/// Bits for which soft values decide.
pub fn hard(llrs: &[Llr]) -> Vec<Bit> {
    llrs.iter().map(|llr| Bit(u8::from(llr.0 < 0))).collect()
}
