//! Metadata of a recording.

use std::path::Path;

use serde::ser::{Serialize, SerializeMap, Serializer};

use serde_json::{Value, json};

use super::{Fields, parse};
use crate::file::{Datatype, FileError, SampleFormat};

/// The whole of a metadata file.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Facts about all samples.
    pub global: Global,
    /// Runs of samples without a gap, in order; each goes on to the next. There is one at least: an empty list in a file means one
    /// that begins with the first sample.
    pub captures: Vec<Capture>,
    /// Remarks on stretches of samples, in order.
    pub annotations: Vec<Annotation>,
    /// Anything beside these three, as it stands.
    pub other: Fields,
}

/// Facts about all samples: the `global` object.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// `core:datatype`: how a number lies in the data, and whether two of them are a sample.
    pub datatype: Datatype,
    /// `core:version`: of the specification, "1.2.0".
    pub version: String,
    /// `core:sample_rate`, samples a second.
    pub sample_rate_sps: Option<f64>,
    /// `core:hw`: what made the samples.
    pub hw: Option<String>,
    /// `core:offset`: the index of the first sample, where a recording goes on from another file.
    pub offset: u64,
    /// `core:num_channels`: channels, of which the data hold a sample each in turn; 1 to 1024.
    pub channels: u64,
    /// `core:dataset`: the data file beside the metadata, where its name is another one.
    pub dataset: Option<String>,
    /// `core:metadata_only`: the metadata are distributed without their data.
    pub metadata_only: bool,
    /// `core:trailing_bytes`: bytes at the end of the data that are no samples.
    pub trailing_bytes: u64,
    /// `core:sha512`: of the data file, 128 hexadecimal digits.
    pub sha512: Option<String>,
    /// All other fields, as they stand.
    pub other: Fields,
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
    /// `core:header_bytes`: bytes before its first sample that are no samples.
    pub header_bytes: u64,
    /// All other fields, as they stand.
    pub other: Fields,
}

/// A remark: an object of `annotations`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// `core:sample_start`.
    pub sample_start: u64,
    /// `core:sample_count`; without it the remark holds up to the next one.
    pub sample_count: Option<u64>,
    /// All other fields, as they stand: `core:label`, `core:freq_lower_edge`.
    pub other: Fields,
}

impl Global {
    /// A recording in this format, by this program, of which nothing else is known. It declares the fields that takt adds, such as
    /// `takt:tick`.
    #[must_use]
    pub fn new(format: SampleFormat) -> Global {
        let recorder = Value::from(concat!("takt ", env!("CARGO_PKG_VERSION")));
        let extensions = json!([{ "name": "takt", "version": EXTENSION, "optional": true }]);
        Global {
            datatype: format.into(),
            version: VERSION.to_owned(),
            sample_rate_sps: None,
            hw: None,
            offset: 0,
            channels: 1,
            dataset: None,
            metadata_only: false,
            trailing_bytes: 0,
            sha512: None,
            other: [("core:recorder", recorder), ("core:extensions", extensions)].into_iter().collect(),
        }
    }
}

impl Metadata {
    /// Reads a document; `path` is only named in errors.
    ///
    /// # Errors
    /// It is not JSON, not as SigMF has it, or it has more than 1024 channels or an extension that must be known.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Metadata, FileError> {
        parse::metadata(path, text)
    }

    /// The document as SigMF has it. Fields of others are as they were read, white space included.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts and numbers in a map: nothing that JSON cannot say.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::begin(to)?;
        object.field("global", Some(&self.global))?;
        object.field("captures", Some(&self.captures))?;
        object.field("annotations", Some(&self.annotations))?;
        object.end(&self.other)
    }
}

impl Serialize for Global {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::begin(to)?;
        object.field("core:datatype", Some(&self.datatype.to_string()))?;
        object.field("core:version", Some(&self.version))?;
        object.number("core:sample_rate", self.sample_rate_sps)?;
        object.field("core:hw", self.hw.as_ref())?;
        object.field("core:offset", (self.offset != 0).then_some(&self.offset))?;
        object.field("core:num_channels", (self.channels != 1).then_some(&self.channels))?;
        object.field("core:dataset", self.dataset.as_ref())?;
        object.field("core:metadata_only", self.metadata_only.then_some(&true))?;
        object.field("core:trailing_bytes", (self.trailing_bytes != 0).then_some(&self.trailing_bytes))?;
        object.field("core:sha512", self.sha512.as_ref())?;
        object.end(&self.other)
    }
}

impl Serialize for Capture {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::begin(to)?;
        object.field("core:sample_start", Some(&self.sample_start))?;
        object.field("core:global_index", self.global_index.as_ref())?;
        object.number("core:frequency", self.frequency_hz)?;
        object.field("core:datetime", self.datetime.as_ref())?;
        object.field("core:header_bytes", (self.header_bytes != 0).then_some(&self.header_bytes))?;
        object.end(&self.other)
    }
}

impl Serialize for Annotation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::begin(to)?;
        object.field("core:sample_start", Some(&self.sample_start))?;
        object.field("core:sample_count", self.sample_count.as_ref())?;
        object.end(&self.other)
    }
}

/// An object on its way into a document: what we know of it, then what we do not.
struct Object<M> {
    map: M,
    known: Vec<&'static str>,
}

impl<M: SerializeMap> Object<M> {
    fn begin<S: Serializer<SerializeMap = M>>(to: S) -> Result<Object<M>, S::Error> {
        Ok(Object { map: to.serialize_map(None)?, known: Vec::new() })
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: Option<&T>) -> Result<(), M::Error> {
        self.known.push(name);
        value.map_or(Ok(()), |value| self.map.serialize_entry(name, value))
    }

    /// A whole number as one: 25000000, not 25000000.0. None of what JSON has no number for.
    fn number(&mut self, name: &'static str, value: Option<f64>) -> Result<(), M::Error> {
        let value = value.filter(|value| value.is_finite());
        let whole = value.filter(|value| value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0);
        match whole {
            Some(whole) => self.field(name, Some(&(whole as i64))),
            None => self.field(name, value.as_ref()),
        }
    }

    /// The fields of others behind ours, which hold over theirs.
    fn end(mut self, other: &Fields) -> Result<M::Ok, M::Error> {
        let mut written = Ok(());
        other.each(|name, value| {
            if written.is_ok() && !self.known.contains(&name) {
                written = self.map.serialize_entry(name, value);
            }
        });
        written?;
        self.map.end()
    }
}

/// Version of the specification.
const VERSION: &str = "1.2.0";
/// The version of takt's own fields; docs/reference/json.md lists them.
const EXTENSION: &str = "0.1.0";
