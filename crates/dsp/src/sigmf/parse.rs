//! From JSON to [`Metadata`], with a place for whatever is wrong.
//!
//! A file of 64 MiB may be anyone's. So no tree is made of it: each object is taken from the text by itself, what takt knows of it
//! is read, and the rest is kept as text.

use std::path::Path;

use serde_json::value::RawValue;

use super::fields::FieldsText;
use super::raw::{self, Ended};
use super::{Annotation, Capture, Fields, Global, Metadata};
use crate::file::{FileError, SampleFormat};

/// Reads a metadata document. `path` is only named in errors.
pub(super) fn metadata(path: &Path, text: &[u8]) -> Result<Metadata, FileError> {
    let document: &RawValue = serde_json::from_slice(text).map_err(|error| not_json(path, error))?;
    let mut top = Object::new(path, String::new(), document, Object::TOP)?;
    let global = global(top.required("global", "an object")?, path)?;
    let captures = list(path, "captures", top.required("captures", "a list")?, Object::CAPTURE, capture)?;
    let annotations = match top.take("annotations") {
        Some(annotations) => list(path, "annotations", annotations, Object::ANNOTATION, annotation)?,
        None => Vec::new(),
    };
    let metadata = Metadata { global, captures, annotations, other: top.other };
    in_order(path, &metadata)?;
    Ok(metadata)
}

fn not_json(path: &Path, source: serde_json::Error) -> FileError {
    FileError::NotJson { path: path.to_owned(), line: source.line(), column: source.column(), source }
}

fn global(value: &RawValue, path: &Path) -> Result<Global, FileError> {
    let mut object = Object::new(path, "/global".to_owned(), value, Object::GLOBAL)?;
    for (name, only) in [("core:num_channels", "1"), ("core:metadata_only", "false")] {
        object.only(name, only, |found| found == only, "split the recording into one of a single channel")?;
    }
    object.only("core:trailing_bytes", "0 or absent", is_zero, "cut them off the data file")?;
    if let Some(found) = object.known("core:extensions").and_then(required_extension) {
        let fix = "if what it says does not matter here, make it optional";
        return Err(object.wrong("core:extensions", found, "extensions that are optional", fix));
    }
    let fix = "rename the data file to NAME.sigmf-data and take this field away";
    object.only("core:dataset", "absent", |_| false, fix)?;
    let datatype = object.required("core:datatype", DATATYPES)?;
    let format = text_of(datatype).and_then(|name| {
        SampleFormat::ALL
            .into_iter()
            .find(|format| format.sigmf_name() == name || (name == "ci8_le" && *format == SampleFormat::Sc8))
    });
    let Some(format) = format else {
        return Err(object.wrong("core:datatype", datatype, DATATYPES, "convert the samples to ci16_le or cf32_le"));
    };
    let version = object.required("core:version", VERSION)?;
    let known = |version: &String| version.starts_with("1.") || version.starts_with("0.");
    let Some(version) = text_of(version).filter(known) else {
        return Err(object.wrong("core:version", version, VERSION, "convert the recording to SigMF 1.2"));
    };
    Ok(Global {
        format,
        version,
        sample_rate_sps: object.number("core:sample_rate", |rate| rate > 0.0 && rate.is_finite(), RATE)?,
        hw: object.text("core:hw")?,
        offset: object.count("core:offset")?.unwrap_or(0),
        other: object.other,
    })
}

fn is_zero(text: &str) -> bool {
    serde_json::from_str::<u64>(text).is_ok_and(|bytes| bytes == 0)
}

/// An extension without which, its author says, the recording must not be read (SigMF 1.2, `core:extensions`).
fn required_extension(extensions: &RawValue) -> Option<&RawValue> {
    let is_required = |extension: &RawValue| {
        let mut required = false;
        let _ = raw::each_field(extension.get(), |name, value| {
            required = if name == "optional" { value.get() == "false" } else { required };
            Ok::<(), std::convert::Infallible>(())
        });
        required
    };
    match raw::each_item(extensions.get(), |_, extension| if is_required(extension) { Err(extension) } else { Ok(()) })
    {
        Err(Ended::By(extension)) => Some(extension),
        Ok(()) | Err(Ended::Type) => None,
    }
}

fn capture(mut object: Object<'_, '_>) -> Result<Capture, FileError> {
    object.only("core:header_bytes", "0 or absent", is_zero, "strip the headers from the data file")?;
    Ok(Capture {
        sample_start: object.required_count("core:sample_start")?,
        global_index: object.count("core:global_index")?,
        frequency_hz: object.number("core:frequency", f64::is_finite, "a frequency in Hz")?,
        datetime: object.text("core:datetime")?,
        other: object.other,
    })
}

fn annotation(mut object: Object<'_, '_>) -> Result<Annotation, FileError> {
    Ok(Annotation {
        sample_start: object.required_count("core:sample_start")?,
        sample_count: object.count("core:sample_count")?,
        other: object.other,
    })
}

/// Captures begin one after the other, none before the first sample.
fn in_order(path: &Path, metadata: &Metadata) -> Result<(), FileError> {
    let mut earliest = metadata.global.offset;
    for (index, capture) in metadata.captures.iter().enumerate() {
        if capture.sample_start < earliest {
            let place = format!("/captures/{index}/core:sample_start");
            let (found, expected) = (capture.sample_start.to_string(), format!("{earliest} or more"));
            let fix = "sort the captures by core:sample_start";
            return Err(FileError::unexpected(path, place, &found, &expected, fix));
        }
        earliest = capture.sample_start;
    }
    Ok(())
}

fn list<'p, 't, T>(
    path: &'p Path,
    name: &str,
    value: &'t RawValue,
    known: Known,
    item: impl Fn(Object<'p, 't>) -> Result<T, FileError>,
) -> Result<Vec<T>, FileError> {
    // Room for all at once: a list that grows holds up to three times as much.
    let mut made = Vec::with_capacity(raw::items(value.get()));
    let walked = raw::each_item(value.get(), |index, value| {
        made.push(item(Object::new(path, format!("/{name}/{index}"), value, known)?)?);
        Ok(())
    });
    match walked {
        Ok(()) => Ok(made),
        Err(Ended::By(error)) => Err(error),
        Err(Ended::Type) => Err(wrong(path, format!("/{name}"), value, "a list", RESTORE)),
    }
}

/// Names of fields that takt takes out of an object, and of those that it looks at and keeps.
type Known = (&'static [&'static str], &'static [&'static str]);

/// A JSON object on its way to being understood: the fields that takt knows, and the others as they stand.
struct Object<'p, 't> {
    path: &'p Path,
    place: String,
    known: Vec<(&'static str, &'t RawValue)>,
    other: Fields,
}

impl<'p, 't> Object<'p, 't> {
    const TOP: Known = (&["global", "captures", "annotations"], &[]);
    const GLOBAL: Known = (
        &["core:dataset", "core:datatype", "core:version", "core:sample_rate", "core:hw", "core:offset"],
        &["core:num_channels", "core:metadata_only", "core:trailing_bytes", "core:extensions"],
    );
    const CAPTURE: Known =
        (&["core:sample_start", "core:global_index", "core:frequency", "core:datetime"], &["core:header_bytes"]);
    const ANNOTATION: Known = (&["core:sample_start", "core:sample_count"], &[]);

    fn new(
        path: &'p Path,
        place: String,
        value: &'t RawValue,
        (taken, looked_at): Known,
    ) -> Result<Object<'p, 't>, FileError> {
        let (mut known, mut other) = (Vec::new(), FieldsText::default());
        let walked = raw::each_field(value.get(), |name, value| {
            let is_taken = taken.iter().find(|known| **known == name);
            if let Some(name) = is_taken.or_else(|| looked_at.iter().find(|known| **known == name)) {
                // Of a name that stands there twice the last counts.
                known.retain(|(known, _)| known != name);
                known.push((*name, value));
            }
            if is_taken.is_none() {
                other.push(&name, value.get());
            }
            Ok::<(), std::convert::Infallible>(())
        });
        if walked.is_err() {
            let place = if place.is_empty() { "/".to_owned() } else { place };
            return Err(wrong(path, place, value, "an object", RESTORE));
        }
        Ok(Object { path, place, known, other: other.done() })
    }

    fn wrong(&self, name: &str, found: &RawValue, expected: &str, fix: &str) -> FileError {
        wrong(self.path, format!("{}/{name}", self.place), found, expected, fix)
    }

    fn known(&self, name: &str) -> Option<&'t RawValue> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn take(&mut self, name: &str) -> Option<&'t RawValue> {
        let at = self.known.iter().position(|(known, _)| *known == name)?;
        Some(self.known.remove(at).1)
    }

    /// Refuses a field that is there and is not the only thing that takt reads.
    fn only(&self, name: &str, expected: &str, legal: impl Fn(&str) -> bool, fix: &str) -> Result<(), FileError> {
        match self.known(name).filter(|found| !legal(found.get())) {
            Some(found) => Err(self.wrong(name, found, expected, fix)),
            None => Ok(()),
        }
    }

    fn required(&mut self, name: &str, expected: &str) -> Result<&'t RawValue, FileError> {
        let place = format!("{}/{name}", self.place);
        self.take(name).ok_or_else(|| FileError::unexpected(self.path, place, "missing", expected, RESTORE))
    }

    fn required_count(&mut self, name: &str) -> Result<u64, FileError> {
        let value = self.required(name, COUNT)?;
        serde_json::from_str(value.get()).map_err(|_| self.wrong(name, value, COUNT, CORRECT))
    }

    /// A field that need not be there, but must be as expected if it is.
    fn optional<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&RawValue) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(name, value, expected, CORRECT))
    }

    fn count(&mut self, name: &str) -> Result<Option<u64>, FileError> {
        self.optional(name, COUNT, |value| serde_json::from_str(value.get()).ok())
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, FileError> {
        self.optional(name, "text", text_of)
    }

    fn number(&mut self, name: &str, legal: impl Fn(f64) -> bool, expected: &str) -> Result<Option<f64>, FileError> {
        let read = |value: &RawValue| serde_json::from_str(value.get()).ok().filter(|number| legal(*number));
        self.optional(name, expected, read)
    }
}

fn text_of(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

fn wrong(path: &Path, place: String, found: &RawValue, expected: &str, fix: &str) -> FileError {
    // Enough to recognise it by: a hostile file may hold megabytes here.
    let text = match found.get().char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &found.get()[..cut]),
        None => found.get().to_owned(),
    };
    FileError::unexpected(path, place, &text, expected, fix)
}

const DATATYPES: &str = "ci16_le, ci8 or cf32_le";
const VERSION: &str = "a version such as 1.2.0";
const RATE: &str = "a number of samples a second above 0";
const COUNT: &str = "a whole number from 0";
const RESTORE: &str =
    "use a recording that follows the SigMF specification; this file may be cut off or of another kind";
const CORRECT: &str = "correct the field";
