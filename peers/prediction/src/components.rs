//! All components, by name. Their inputs are the same on every machine.

use takt_mapper::cost::probes;

use crate::{coding, samples, waveform};

/// One call of a component.
pub type Call = Box<dyn FnMut()>;
/// A component's name, and how to open it.
pub type Entry = (&'static str, fn() -> Call);

/// Those to be predicted.
fn components() -> impl Iterator<Item = Entry> {
    coding::ALL.iter().chain(samples::ALL).chain(waveform::ALL).copied()
}

/// Names of all components. Behind them stand the calibration probes, `probe:NAME`, and the frames of the registry's
/// components, `frame:NAME`: the same ports with nothing done.
pub fn names() -> impl Iterator<Item = String> {
    let frames = waveform::ALL.iter().map(|(name, _)| format!("frame:{name}"));
    let probes = probes::ALL.iter().map(|(name, _)| format!("probe:{name}"));
    components().map(|(name, _)| name.to_owned()).chain(probes).chain(frames)
}

/// Components whose code is alike, by what they do: the family of each.
pub fn families() -> impl Iterator<Item = (&'static str, &'static str)> {
    let family = |name| {
        let of = FAMILIES.iter().find(|(_, words)| words.iter().any(|word| str::contains(name, word)));
        of.map_or(name, |(family, _)| family)
    };
    components().map(move |(name, _)| (name, family(name)))
}

/// The first of which a word is in the name.
const FAMILIES: &[(&str, &[&str])] = &[
    ("crc", &["crc", "join"]),
    ("turbo-encode", &["turbo-encode"]),
    ("turbo-decode", &["turbo-decode"]),
    ("interleave-1", &["interleave-1"]),
    ("interleave-2", &["interleave-2"]),
    ("umts-matching", &["puncture", "repeat"]),
    ("lte-matching", &["rate-match", "rate-dematch"]),
    ("copies", &["multiplex", "copy", "delay"]),
    ("scramble", &["scramble"]),
    ("demodulate", &["lte-demodulate"]),
    ("modulate", &["lte-modulate"]),
    ("bpsk", &["bpsk"]),
    ("tone", &["estimate", "spectrum"]),
    ("rotate", &["tone", "mix"]),
    ("noise", &["noise", "awgn"]),
    ("resample", &["resample"]),
    ("formats", &["sc16", "sc8"]),
    ("sequence", &["bit-source", "bit-sink"]),
    ("counter", &["counter"]),
];

/// Opens one by its name; `slot:FILE:COMPONENT` is one of a waveform.
pub fn open(name: &str) -> Option<Call> {
    if let Some(probe) = name.strip_prefix("probe:") {
        return probes::ALL.iter().find(|(known, _)| *known == probe).map(|(_, open)| open());
    }
    if let Some(place) = name.strip_prefix("slot:") {
        return waveform::of_waveform(place, false);
    }
    if let Some(place) = name.strip_prefix("frame:slot:") {
        return waveform::of_waveform(place, true);
    }
    if let Some(framed) = name.strip_prefix("frame:") {
        return waveform::frame(framed);
    }
    components().find(|(known, _)| *known == name).map(|(_, open)| open())
}

/// Bits that look random and are the same everywhere.
pub fn bits(count: usize) -> Vec<u8> {
    random().map(|word| (word >> 63) as u8).take(count).collect()
}

/// Soft values of these bits, positive for 0, with noise.
pub fn llrs(bits: &[u8]) -> Vec<i8> {
    let noisy = |(bit, word): (&u8, u64)| 24 - 48 * *bit as i8 + ((word >> 58) as i8 - 32) / 2;
    bits.iter().zip(random().skip(77)).map(noisy).collect()
}

/// Words without end.
pub fn random() -> impl Iterator<Item = u64> {
    let mut state = 7_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = state ^ (state >> 29);
        word.wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}
