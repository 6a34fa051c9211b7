//! What a recording says of itself.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::parse;
use crate::file::{FileError, SampleFormat};

/// The whole of a metadata file.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// What holds for all samples.
    pub global: Global,
    /// Runs of samples without a gap, in order; each goes on to the next.
    pub captures: Vec<Capture>,
    /// Remarks on stretches of samples, in order.
    pub annotations: Vec<Annotation>,
    /// Anything beside these three.
    pub other: Map<String, Value>,
}

/// What holds for all samples: the `global` object.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// `core:datatype`.
    pub format: SampleFormat,
    /// `core:version`: of the specification, "1.2.0".
    pub version: String,
    /// `core:sample_rate`, samples a second.
    pub sample_rate_sps: Option<f64>,
    /// `core:hw`: what made the samples.
    pub hw: Option<String>,
    /// `core:offset`: the index of the first sample, where a recording goes on from another file.
    pub offset: u64,
    /// All other fields, as they stand.
    pub other: Map<String, Value>,
}

/// Samples without a gap: an object of `captures`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    /// `core:sample_start`: the index of its first sample, `core:offset` included. A [`Writer`](super::Writer) sets it.
    pub sample_start: u64,
    /// `core:global_index`: the index of that sample in the stream it was cut from, gaps counted.
    pub global_index: Option<u64>,
    /// `core:frequency`: the radio frequency of 0 Hz, in Hz.
    pub frequency_hz: Option<f64>,
    /// `core:datetime`: the time of the first sample, as text; [`utc_ns`](takt_base::utc_ns) understands it.
    pub datetime: Option<String>,
    /// All other fields, as they stand.
    pub other: Map<String, Value>,
}

/// A remark: an object of `annotations`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// `core:sample_start`.
    pub sample_start: u64,
    /// `core:sample_count`; without it the remark holds up to the next one.
    pub sample_count: Option<u64>,
    /// All other fields, as they stand: `core:label`, `core:freq_lower_edge`.
    pub other: Map<String, Value>,
}

impl Global {
    /// A recording in this format, by this program, of which nothing else is known.
    #[must_use]
    pub fn new(format: SampleFormat) -> Global {
        let recorder = concat!("takt ", env!("CARGO_PKG_VERSION"));
        Global {
            format,
            version: VERSION.to_owned(),
            sample_rate_sps: None,
            hw: None,
            offset: 0,
            other: Map::from_iter([("core:recorder".to_owned(), json!(recorder))]),
        }
    }
}

impl Metadata {
    /// Reads a document; `path` is only named in errors.
    ///
    /// # Errors
    /// It is not JSON, not as SigMF has it, or of a kind we do not read (several channels, other sample types).
    pub fn parse(path: &Path, text: &[u8]) -> Result<Metadata, FileError> {
        parse::metadata(path, text)
    }

    /// The document as SigMF has it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut document = self.other.clone();
        document.insert("global".to_owned(), self.global.to_json());
        document.insert("captures".to_owned(), self.captures.iter().map(Capture::to_json).collect());
        document.insert("annotations".to_owned(), self.annotations.iter().map(Annotation::to_json).collect());
        Value::Object(document)
    }
}

impl Global {
    fn to_json(&self) -> Value {
        let fields = [
            ("core:datatype", Some(json!(self.format.sigmf_name()))),
            ("core:version", Some(json!(self.version))),
            ("core:sample_rate", self.sample_rate_sps.and_then(number)),
            ("core:hw", self.hw.as_deref().map(Value::from)),
            ("core:offset", (self.offset != 0).then(|| json!(self.offset))),
        ];
        object(&self.other, fields)
    }
}

impl Capture {
    fn to_json(&self) -> Value {
        let fields = [
            ("core:sample_start", Some(json!(self.sample_start))),
            ("core:global_index", self.global_index.map(Value::from)),
            ("core:frequency", self.frequency_hz.and_then(number)),
            ("core:datetime", self.datetime.as_deref().map(Value::from)),
        ];
        object(&self.other, fields)
    }
}

impl Annotation {
    fn to_json(&self) -> Value {
        let count = self.sample_count.map(Value::from);
        object(&self.other, [("core:sample_start", Some(json!(self.sample_start))), ("core:sample_count", count)])
    }
}

/// The fields we know over those we do not.
fn object<const N: usize>(other: &Map<String, Value>, fields: [(&str, Option<Value>); N]) -> Value {
    let mut all = other.clone();
    for (name, value) in fields {
        match value {
            Some(value) => all.insert(name.to_owned(), value),
            None => all.remove(name),
        };
    }
    Value::Object(all)
}

/// A whole number as one: 25000000, not 25000000.0. None of what JSON has no number for.
fn number(value: f64) -> Option<Value> {
    let whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    value.is_finite().then(|| if whole { json!(value as i64) } else { json!(value) })
}

/// Of the specification.
const VERSION: &str = "1.2.0";
