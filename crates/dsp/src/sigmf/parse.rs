//! From JSON to [`Metadata`], with a place for whatever is wrong.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Annotation, Capture, Global, Metadata};
use crate::file::{FileError, SampleFormat};

/// Reads a metadata document. `path` is only named in errors.
pub(super) fn metadata(path: &Path, text: &[u8]) -> Result<Metadata, FileError> {
    let document = serde_json::from_slice(text).map_err(|source| FileError::NotJson {
        path: path.to_owned(),
        line: source.line(),
        column: source.column(),
        source,
    })?;
    let mut top = Object::new(path, String::new(), document)?;
    let global = global(top.required("global", "an object")?, path)?;
    let captures = list(path, "captures", top.required("captures", "a list")?, capture)?;
    let annotations =
        list(path, "annotations", top.fields.remove("annotations").unwrap_or(Value::Array(vec![])), annotation)?;
    let metadata = Metadata { global, captures, annotations, other: top.fields };
    in_order(path, &metadata)?;
    Ok(metadata)
}

fn global(value: Value, path: &Path) -> Result<Global, FileError> {
    let mut object = Object::new(path, "/global".to_owned(), value)?;
    for (name, only) in [("core:num_channels", Value::from(1)), ("core:metadata_only", Value::from(false))] {
        if let Some(found) = object.fields.get(name).filter(|found| **found != only) {
            let fix = "split the recording into one of a single channel";
            return Err(object.wrong(name, found, &only.to_string(), fix));
        }
    }
    if let Some(found) = object.fields.get("core:trailing_bytes").filter(|found| found.as_u64() != Some(0)) {
        let fix = "cut them off the data file";
        return Err(object.wrong("core:trailing_bytes", found, "0 or absent", fix));
    }
    if let Some(found) = required_extension(&object.fields) {
        let fix = "if what it says does not matter here, make it optional";
        return Err(object.wrong("core:extensions", &found, "extensions that are optional", fix));
    }
    if let Some(found) = object.fields.get("core:dataset") {
        let fix = "rename the data file to NAME.sigmf-data and take this field away";
        return Err(object.wrong("core:dataset", found, "absent", fix));
    }
    let datatype = object.required("core:datatype", DATATYPES)?;
    let format = datatype.as_str().and_then(|name| {
        SampleFormat::ALL
            .into_iter()
            .find(|format| format.sigmf_name() == name || (name == "ci8_le" && *format == SampleFormat::Sc8))
    });
    let Some(format) = format else {
        return Err(object.wrong("core:datatype", &datatype, DATATYPES, "convert the samples to ci16_le or cf32_le"));
    };
    let version = object.required("core:version", VERSION)?;
    let known = |version: &&str| version.starts_with("1.") || version.starts_with("0.");
    let Some(version) = version.as_str().filter(known) else {
        return Err(object.wrong("core:version", &version, VERSION, "convert the recording to SigMF 1.2"));
    };
    Ok(Global {
        format,
        version: version.to_owned(),
        sample_rate_sps: object.number("core:sample_rate", |rate| rate > 0.0, RATE)?,
        hw: object.text("core:hw")?,
        offset: object.count("core:offset")?.unwrap_or(0),
        other: object.fields,
    })
}

/// An extension without which, its author says, the recording must not be read (SigMF 1.2, `core:extensions`).
fn required_extension(global: &Map<String, Value>) -> Option<Value> {
    let extensions = global.get("core:extensions")?.as_array()?;
    extensions.iter().find(|extension| extension.get("optional") == Some(&Value::Bool(false))).cloned()
}

fn capture(mut object: Object<'_>) -> Result<Capture, FileError> {
    if let Some(found) = object.fields.get("core:header_bytes").filter(|found| found.as_u64() != Some(0)) {
        return Err(object.wrong("core:header_bytes", found, "0 or absent", "strip the headers from the data file"));
    }
    Ok(Capture {
        sample_start: object.required_count("core:sample_start")?,
        global_index: object.count("core:global_index")?,
        frequency_hz: object.number("core:frequency", f64::is_finite, "a frequency in Hz")?,
        datetime: object.text("core:datetime")?,
        other: object.fields,
    })
}

fn annotation(mut object: Object<'_>) -> Result<Annotation, FileError> {
    Ok(Annotation {
        sample_start: object.required_count("core:sample_start")?,
        sample_count: object.count("core:sample_count")?,
        other: object.fields,
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

fn list<'a, T>(
    path: &'a Path,
    name: &str,
    value: Value,
    item: impl Fn(Object<'a>) -> Result<T, FileError>,
) -> Result<Vec<T>, FileError> {
    let Value::Array(items) = value else {
        return Err(wrong(path, format!("/{name}"), &value, "a list", RESTORE));
    };
    let items = items.into_iter().enumerate();
    items.map(|(index, value)| item(Object::new(path, format!("/{name}/{index}"), value)?)).collect()
}

/// A JSON object on its way to being understood: what is taken out is known, what stays in `fields` is kept.
struct Object<'a> {
    path: &'a Path,
    place: String,
    fields: Map<String, Value>,
}

impl<'a> Object<'a> {
    fn new(path: &'a Path, place: String, value: Value) -> Result<Object<'a>, FileError> {
        match value {
            Value::Object(fields) => Ok(Object { path, place, fields }),
            other => {
                Err(wrong(path, if place.is_empty() { "/".to_owned() } else { place }, &other, "an object", RESTORE))
            }
        }
    }

    fn wrong(&self, name: &str, found: &Value, expected: &str, fix: &str) -> FileError {
        wrong(self.path, format!("{}/{name}", self.place), found, expected, fix)
    }

    fn required(&mut self, name: &str, expected: &str) -> Result<Value, FileError> {
        let place = format!("{}/{name}", self.place);
        let missing = || FileError::unexpected(self.path, place, "missing", expected, RESTORE);
        self.fields.remove(name).ok_or_else(missing)
    }

    fn required_count(&mut self, name: &str) -> Result<u64, FileError> {
        let value = self.required(name, COUNT)?;
        value.as_u64().ok_or_else(|| self.wrong(name, &value, COUNT, CORRECT))
    }

    /// A field that need not be there, but must be as expected if it is.
    fn optional<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.fields.remove(name) else { return Ok(None) };
        read(&value).map(Some).ok_or_else(|| self.wrong(name, &value, expected, CORRECT))
    }

    fn count(&mut self, name: &str) -> Result<Option<u64>, FileError> {
        self.optional(name, COUNT, Value::as_u64)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, FileError> {
        self.optional(name, "text", |value| value.as_str().map(str::to_owned))
    }

    fn number(&mut self, name: &str, legal: impl Fn(f64) -> bool, expected: &str) -> Result<Option<f64>, FileError> {
        self.optional(name, expected, |value| value.as_f64().filter(|number| legal(*number)))
    }
}

fn wrong(path: &Path, place: String, found: &Value, expected: &str, fix: &str) -> FileError {
    // Enough to recognise it by: a hostile file may hold megabytes here.
    let mut text = found.to_string();
    if let Some((cut, _)) = text.char_indices().nth(60) {
        text.truncate(cut);
        text.push_str("...");
    }
    FileError::unexpected(path, place, &text, expected, fix)
}

const DATATYPES: &str = "ci16_le, ci8 or cf32_le";
const VERSION: &str = "a version such as 1.2.0";
const RATE: &str = "a number of samples a second above 0";
const COUNT: &str = "a whole number from 0";
const RESTORE: &str =
    "use a recording that follows the SigMF specification; this file may be cut off or of another kind";
const CORRECT: &str = "correct the field";
