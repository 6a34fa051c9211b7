//! From JSON to [`Metadata`], with a place for whatever is wrong.
//!
//! A file of 64 MiB may be anyone's. So no tree is made of it: each object is taken from the text by itself, what takt knows of it
//! is read, and the rest is kept as text.

use std::path::Path;

use serde_json::value::RawValue;

use super::fields::FieldsText;
use super::raw::{self, Ended};
use super::samples::MAX_CHANNELS;
use super::{Annotation, Capture, Fields, Global, Metadata};
use crate::file::{Datatype, FileError};

/// Reads a metadata document. `path` is only named in errors.
pub(super) fn metadata(path: &Path, text: &[u8]) -> Result<Metadata, FileError> {
    let document: &RawValue = serde_json::from_slice(text).map_err(|error| not_json(path, error))?;
    let mut top = Object::new(path, String::new(), document, Object::TOP)?;
    let global = global(top.required("global", "an object")?, path)?;
    let mut captures = list(path, "captures", top.required("captures", "a list")?, Object::CAPTURE, capture)?;
    if captures.is_empty() {
        // As the specification takes an empty list (1.2, captures).
        captures.push(Capture { sample_start: global.offset, ..Capture::default() });
    }
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
    if let Some(found) = object.known("core:extensions").and_then(required_extension) {
        let fix = "make it optional in the file, if it does not matter here";
        return Err(object.wrong("core:extensions", found, "extensions that are optional", fix));
    }
    let found = object.required("core:datatype", DATATYPES)?;
    let Some(datatype) = text_of(found).and_then(|name| name.parse::<Datatype>().ok()) else {
        return Err(object.wrong("core:datatype", found, DATATYPES, NAME_IT));
    };
    let version = object.required("core:version", VERSION)?;
    let known = |version: &String| version.starts_with("1.") || version.starts_with("0.");
    let Some(version) = text_of(version).filter(known) else {
        return Err(object.wrong("core:version", version, VERSION, "convert the recording to SigMF 1.2"));
    };
    let channels = |value: &RawValue| count_of(value).filter(|channels| (1..=MAX_CHANNELS).contains(channels));
    let dataset = |value: &RawValue| text_of(value).filter(|name| is_file_name(name));
    let sha512 = |value: &RawValue| text_of(value).filter(|hash| is_sha512(hash));
    Ok(Global {
        datatype,
        version,
        sample_rate_sps: object.number("core:sample_rate", |rate| rate > 0.0 && rate.is_finite(), RATE)?,
        hw: object.text("core:hw")?,
        offset: object.count("core:offset")?.unwrap_or(0),
        channels: object.optional("core:num_channels", "1 to 1024 channels", CORRECT, channels)?.unwrap_or(1),
        dataset: object.optional("core:dataset", "the name of a file in the same folder", BESIDE, dataset)?,
        metadata_only: object.optional("core:metadata_only", "true or false", CORRECT, flag_of)?.unwrap_or(false),
        trailing_bytes: object.count("core:trailing_bytes")?.unwrap_or(0),
        sha512: object.optional("core:sha512", "128 hexadecimal digits", UNHASH, sha512)?,
        other: object.other,
    })
}

/// A name that leads into no other folder.
fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

fn is_sha512(text: &str) -> bool {
    text.len() == 128 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
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
    Ok(Capture {
        sample_start: object.required_count("core:sample_start")?,
        global_index: object.count("core:global_index")?,
        frequency_hz: object.number("core:frequency", f64::is_finite, "a frequency in Hz")?,
        datetime: object.text("core:datetime")?,
        header_bytes: object.count("core:header_bytes")?.unwrap_or(0),
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
        &[
            "core:datatype",
            "core:version",
            "core:sample_rate",
            "core:hw",
            "core:offset",
            "core:num_channels",
            "core:dataset",
            "core:metadata_only",
            "core:trailing_bytes",
            "core:sha512",
        ],
        &["core:extensions"],
    );
    const CAPTURE: Known =
        (&["core:sample_start", "core:global_index", "core:frequency", "core:datetime", "core:header_bytes"], &[]);
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
                // If a name stands there twice the last counts.
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
        fix: &str,
        read: impl Fn(&RawValue) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(name, value, expected, fix))
    }

    fn count(&mut self, name: &str) -> Result<Option<u64>, FileError> {
        self.optional(name, COUNT, CORRECT, count_of)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, FileError> {
        self.optional(name, "text", CORRECT, text_of)
    }

    fn number(&mut self, name: &str, legal: impl Fn(f64) -> bool, expected: &str) -> Result<Option<f64>, FileError> {
        let read = |value: &RawValue| serde_json::from_str(value.get()).ok().filter(|number| legal(*number));
        self.optional(name, expected, CORRECT, read)
    }
}

fn count_of(value: &RawValue) -> Option<u64> {
    serde_json::from_str(value.get()).ok()
}

fn flag_of(value: &RawValue) -> Option<bool> {
    serde_json::from_str(value.get()).ok()
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

const DATATYPES: &str = "a datatype of SigMF, such as ci16_le, cf32_be or ru8";
const NAME_IT: &str = "name one: c (complex) or r (real), the type of its numbers, and the order of their bytes";
const VERSION: &str = "a version such as 1.2.0";
const RATE: &str = "a number of samples a second above 0";
const COUNT: &str = "a whole number from 0";
const RESTORE: &str =
    "use a recording that follows the SigMF specification; this file may be cut off or of another kind";
const CORRECT: &str = "correct the field";
const BESIDE: &str = "put the data file beside the metadata, and name it without its folder";
const UNHASH: &str = "correct the field, or take it away";
