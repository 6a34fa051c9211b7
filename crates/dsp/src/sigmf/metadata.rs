//! What a recording says of itself.

use std::path::Path;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Fields, parse};
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
    /// Anything beside these three, as it stands.
    pub other: Fields,
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
            other: [("core:recorder", recorder)].into_iter().collect(),
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
        object.field("core:datatype", Some(self.format.sigmf_name()))?;
        object.field("core:version", Some(&self.version))?;
        object.number("core:sample_rate", self.sample_rate_sps)?;
        object.field("core:hw", self.hw.as_ref())?;
        object.field("core:offset", (self.offset != 0).then_some(&self.offset))?;
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

/// Of the specification.
const VERSION: &str = "1.2.0";
