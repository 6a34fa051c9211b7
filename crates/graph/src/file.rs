//! Waveform files: TOML in, a [`Waveform`] or the first thing that is wrong out. Format: `docs/reference/waveform.md`.

use std::ops::Range;
use std::sync::Arc;

use takt_base::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{GraphError, Problem};
use crate::limits;
use crate::value::Value;
use crate::waveform::{ComponentSpec, LinkSpec, MissPolicy, Source, Spot, Waveform};

/// Keys of the file.
pub(crate) const FILE_KEYS: [&str; 6] = ["name", "slot", "chain", "link", "message", "component"];
/// Keys of a `[[link]]`, and of a `[[message]]`.
pub(crate) const LINK_KEYS: [&str; 3] = ["from", "to", "delay"];
/// Keys of a `[component.NAME]` that are no parameters.
#[cfg(test)]
pub(crate) const COMPONENT_KEYS: [&str; 4] = ["type", "on_miss", "budget", "isolated"];

impl Waveform {
    /// Reads a file. `file` is its name, for messages.
    ///
    /// # Errors
    /// The first thing in it that is no waveform, with its place.
    ///
    /// ```
    /// let file = "name = 'x'\nslot = '1 parsec'\n";
    /// let error = takt_graph::Waveform::parse("x.toml", file).unwrap_err();
    /// assert_eq!(error.to_string(), "`slot` can't be \"1 parsec\"");
    /// assert_eq!(error.fix(), "a time from 1 us to 1 min, such as \"10 ms\"");
    /// assert_eq!(error.place.unwrap().to_string(), "x.toml:2:8");
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Waveform, GraphError> {
        let kept = text.len() <= limits::FILE_BYTES;
        let source =
            Arc::new(Source { name: file.to_owned(), text: if kept { text.to_owned() } else { String::new() } });
        let complaint = |wrong: Wrong| GraphError::new(*wrong.problem, Some(&source), wrong.spot);
        let mut waveform = if kept { read(text).map_err(complaint)? } else { return Err(complaint(too_long(text))) };
        waveform.source = Some(source);
        Ok(waveform)
    }
}

struct Wrong {
    problem: Box<Problem>,
    spot: Spot,
}

type Table<'a> = DeTable<'a>;
type Entry<'a> = Spanned<DeValue<'a>>;

fn wrong<T>(span: Range<usize>, problem: Problem) -> Result<T, Wrong> {
    Err(Wrong { problem: Box::new(problem), spot: span.into() })
}

fn too_long(text: &str) -> Wrong {
    let problem = Problem::TooMany { what: "bytes", count: text.len() as u64, max: limits::FILE_BYTES as u64 };
    Wrong { problem: Box::new(problem), spot: (0..0).into() }
}

fn read(text: &str) -> Result<Waveform, Wrong> {
    let document = DeTable::parse(text).map_err(|error| Wrong {
        problem: Box::new(Problem::Toml { message: error.message().to_owned() }),
        spot: error.span().unwrap_or(0..0).into(),
    })?;
    let whole = 0..text.len().min(1);
    let table = document.get_ref();
    known_keys("the file", table, &FILE_KEYS)?;
    let name = required("the file", table, "name", whole.clone())?;
    let slot = required("the file", table, "slot", whole.clone())?;
    let mut waveform = Waveform::new(string("name", name)?, std::time::Duration::ZERO);
    waveform.slot_ns = time("slot", slot, "a time from 1 us to 1 min, such as \"10 ms\"")?;
    let components = required("the file", table, "component", whole)?;
    let DeValue::Table(components) = components.get_ref() else {
        return mistyped("component", components, "tables: [component.NAME]");
    };
    for (name, value) in components {
        waveform.components.push(component(name, value)?);
    }
    // In the order written, so that the first error found is the first in the file.
    waveform.components.sort_by_key(|component| component.spot.start);
    if let Some(value) = table.get("chain") {
        chains(value, &mut waveform.links)?;
    }
    for (key, least, links) in [("link", 0, &mut waveform.links), ("message", 1, &mut waveform.messages)] {
        let Some(value) = table.get(key) else { continue };
        for value in array(key, value, &format!("tables: [[{key}]]"))? {
            links.push(link(key, value, least)?);
        }
    }
    Ok(waveform)
}

fn component(name: &Spanned<std::borrow::Cow<'_, str>>, value: &Entry<'_>) -> Result<ComponentSpec, Wrong> {
    let of = format!("component `{}`", name.get_ref());
    let DeValue::Table(table) = value.get_ref() else {
        return mistyped(name.get_ref(), value, "a table with `type` and parameters");
    };
    let kind = required(&of, table, "type", name.span())?;
    let mut spec = ComponentSpec::new(name.get_ref(), string("type", kind)?);
    spec.spot = name.span().into();
    spec.kind_spot = kind.span().into();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "type" => {}
            "on_miss" => spec.on_miss = policy(value)?,
            "isolated" => spec.isolated = boolean("isolated", value)?,
            "budget" => spec.budget_ns = Some(time("budget", value, "a time such as \"20 us\"")?),
            param => {
                spec.params.set(param, parameter(param, value)?);
                spec.param_spots.push((param.to_owned(), (key.span().start..value.span().end).into()));
            }
        }
    }
    Ok(spec)
}

fn policy(value: &Entry<'_>) -> Result<MissPolicy, Wrong> {
    let text = string("on_miss", value)?;
    let found = MissPolicy::ALL.into_iter().find(|policy| policy.name() == text);
    found.map_or_else(|| mistyped("on_miss", value, "skip, repeat, degrade or stop"), Ok)
}

fn parameter(key: &str, value: &Entry<'_>) -> Result<Value, Wrong> {
    match value.get_ref() {
        DeValue::Boolean(yes) => Ok(Value::Bool(*yes)),
        DeValue::String(text) => Ok(Value::Text(text.clone().into_owned())),
        DeValue::Integer(_) => integer(key, value).map(Value::Int),
        DeValue::Float(_) => float(key, value).map(Value::Float),
        DeValue::Array(list) if list.len() > limits::LIST => {
            let max = limits::LIST as u64;
            wrong(value.span(), Problem::TooMany { what: "numbers in a list", count: list.len() as u64, max })
        }
        DeValue::Array(list) => {
            let numbers: Result<Vec<f64>, Wrong> = list.iter().map(|entry| number(key, entry)).collect();
            numbers.map(Value::Floats)
        }
        _ => mistyped(key, value, "a number, a text, true or false, or a list of numbers"),
    }
}

fn chains(value: &Entry<'_>, links: &mut Vec<LinkSpec>) -> Result<(), Wrong> {
    let expected = "a list of component names, or a list of such lists";
    let list = array("chain", value, expected)?;
    if list.iter().all(|entry| matches!(entry.get_ref(), DeValue::String(_))) {
        return chain(list.iter(), links);
    }
    for inner in list {
        chain(array("chain", inner, expected)?.iter(), links)?;
    }
    Ok(())
}

fn chain<'a, 'b: 'a>(list: impl Iterator<Item = &'a Entry<'b>>, links: &mut Vec<LinkSpec>) -> Result<(), Wrong> {
    let mut before: Option<(&str, Range<usize>)> = None;
    for entry in list {
        let next = (string("chain", entry)?, entry.span());
        if let Some((from, span)) = before.replace(next.clone()) {
            let mut link = LinkSpec::new(from, next.0, 0);
            (link.from_spot, link.to_spot) = (span.into(), next.1.into());
            links.push(link);
        }
    }
    Ok(())
}

/// A link, or a path of messages, of `least` slots of delay at least and unless said otherwise.
fn link(of: &str, value: &Entry<'_>, least: u32) -> Result<LinkSpec, Wrong> {
    let DeValue::Table(table) = value.get_ref() else {
        return mistyped(of, value, "a table with `from` and `to`");
    };
    let what = format!("a {of}");
    known_keys(&what, table, &LINK_KEYS)?;
    let from = required(&what, table, "from", value.span())?;
    let to = required(&what, table, "to", value.span())?;
    let mut link = LinkSpec::new(string("from", from)?, string("to", to)?, least);
    (link.from_spot, link.to_spot) = (from.span().into(), to.span().into());
    if let Some(entry) = table.get("delay") {
        let slots = integer("delay", entry)?;
        let good = u32::try_from(slots).ok().filter(|slots| (least..=limits::DELAY_SLOTS).contains(slots));
        let expected = format!("a whole number of slots from {least} to {}", limits::DELAY_SLOTS);
        link.delay = good.map_or_else(|| mistyped("delay", entry, &expected), Ok)?;
    }
    Ok(link)
}

fn known_keys(of: &str, table: &Table<'_>, known: &[&'static str]) -> Result<(), Wrong> {
    let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref())) else {
        return Ok(());
    };
    let nearest = nearest(key.get_ref(), known.iter().copied()).map(str::to_owned);
    let known = known.iter().map(|&key| key.to_owned()).collect();
    wrong(key.span(), Problem::Key { of: of.to_owned(), key: key.get_ref().clone().into_owned(), nearest, known })
}

fn required<'a, 'b>(
    of: &str,
    table: &'a Table<'b>,
    key: &'static str,
    span: Range<usize>,
) -> Result<&'a Entry<'b>, Wrong> {
    table.get(key).map_or_else(|| wrong(span, Problem::NoKey { of: of.to_owned(), key }), Ok)
}

fn array<'a, 'b>(key: &str, value: &'a Entry<'b>, expected: &str) -> Result<&'a [Entry<'b>], Wrong> {
    if let DeValue::Array(list) = value.get_ref() { Ok(list) } else { mistyped(key, value, expected) }
}

fn string<'a>(key: &str, value: &'a Entry<'_>) -> Result<&'a str, Wrong> {
    if let DeValue::String(text) = value.get_ref() { Ok(text) } else { mistyped(key, value, "a text in quotes") }
}

fn boolean(key: &str, value: &Entry<'_>) -> Result<bool, Wrong> {
    if let DeValue::Boolean(yes) = value.get_ref() { Ok(*yes) } else { mistyped(key, value, "true or false") }
}

fn integer(key: &str, value: &Entry<'_>) -> Result<i64, Wrong> {
    let read = match value.get_ref() {
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok(),
        _ => None,
    };
    read.map_or_else(|| mistyped(key, value, "a whole number"), Ok)
}

fn float(key: &str, value: &Entry<'_>) -> Result<f64, Wrong> {
    let read = match value.get_ref() {
        DeValue::Float(digits) => digits.as_str().parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    };
    read.map_or_else(|| mistyped(key, value, "a finite number"), Ok)
}

fn number(key: &str, value: &Entry<'_>) -> Result<f64, Wrong> {
    match value.get_ref() {
        DeValue::Integer(_) => integer(key, value).map(|n| n as f64),
        _ => float(key, value),
    }
}

/// Nanoseconds of a text such as "10 ms". A bare number has no unit and is refused.
fn time(key: &str, value: &Entry<'_>, expected: &str) -> Result<u64, Wrong> {
    let text = match value.get_ref() {
        DeValue::String(text) if text.trim_end().ends_with(char::is_alphabetic) => text,
        _ => return mistyped(key, value, expected),
    };
    let span = takt_base::parse_duration(text).ok().and_then(|span| u64::try_from(span.as_nanos()).ok());
    span.map_or_else(|| mistyped(key, value, expected), Ok)
}

fn mistyped<T>(key: &str, value: &Entry<'_>, expected: &str) -> Result<T, Wrong> {
    let got = match value.get_ref() {
        DeValue::String(text) => Value::Text(limits::shortened(text)).to_string(),
        DeValue::Integer(digits) => digits.to_string(),
        DeValue::Float(digits) => digits.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    wrong(value.span(), Problem::Value { key: key.to_owned(), got, expected: expected.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const SCHEMA: &str = include_str!("../../../docs/reference/waveform.schema.json");
    const PAGE: &str = include_str!("../../../docs/reference/waveform.md");

    fn keys(schema: &Value) -> Vec<&str> {
        let mut keys: Vec<&str> =
            schema["properties"].as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        keys
    }

    fn sorted<const N: usize>(mut keys: [&str; N]) -> Vec<&str> {
        keys.sort_unstable();
        keys.to_vec()
    }

    #[test]
    fn the_published_schema_has_the_keys_and_limits_of_the_parser() {
        let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
        let (link, component) = (&schema["$defs"]["link"], &schema["$defs"]["component"]);
        let message = &schema["$defs"]["message"];
        assert_eq!(keys(message), sorted(LINK_KEYS));
        assert_eq!(message["properties"]["delay"]["minimum"], 1);
        assert_eq!(keys(&schema), sorted(FILE_KEYS));
        assert_eq!(keys(link), sorted(LINK_KEYS));
        assert_eq!(keys(component), sorted(COMPONENT_KEYS));
        assert_eq!((&schema["additionalProperties"], &link["additionalProperties"]), (&false.into(), &false.into()));
        assert_eq!(link["properties"]["delay"]["maximum"], limits::DELAY_SLOTS);
        assert_eq!(schema["properties"]["component"]["maxProperties"], limits::COMPONENTS);
        let policies: Vec<Value> = MissPolicy::ALL.iter().map(|policy| policy.name().into()).collect();
        assert_eq!(component["properties"]["on_miss"]["enum"], Value::Array(policies));
    }

    #[test]
    fn every_file_of_the_reference_page_is_read() {
        let files: Vec<&str> = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(files.len() >= 2);
        for file in files {
            Waveform::parse("waveform.md", file).unwrap_or_else(|error| panic!("{error} in\n{file}"));
        }
    }
}
