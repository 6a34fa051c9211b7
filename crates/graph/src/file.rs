//! Waveform files: TOML in, a [`Waveform`] or the first thing that is wrong out. Format: `docs/reference/waveform.md`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use takt_toml::{Entry, Fields, Source, boolean, document, finite, integer, list, mistyped, number, string};
use toml::Spanned;
use toml::de::DeValue;

use crate::error::{GraphError, Problem};
use crate::limits;
use crate::value::Value;
use crate::waveform::{ComponentSpec, LinkSpec, MissPolicy, Waveform};

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
    /// assert_eq!(error.fix(), "give a time from 1 us to 1 min, such as \"10 ms\"");
    /// assert_eq!(error.place.unwrap().to_string(), "x.toml:2:8");
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Waveform, GraphError> {
        let source = Arc::new(Source::new(file, text, limits::FILE_BYTES));
        let complaint = |wrong: Wrong| GraphError::new(*wrong.problem, Some(&source), wrong.span.into());
        let mut waveform = read(text).map_err(complaint)?;
        waveform.source = Some(source);
        Ok(waveform)
    }
}

type Wrong = takt_toml::Wrong<Problem>;

fn read(text: &str) -> Result<Waveform, Wrong> {
    Source::short_enough(text, limits::FILE_BYTES)?;
    let table = document(text)?;
    let file = Fields::file(&table, text);
    file.know(&FILE_KEYS)?;
    let (name, slot) = (file.required("name")?, file.required("slot")?);
    let mut waveform = Waveform::new(string("name", name)?, std::time::Duration::ZERO);
    waveform.slot_ns = time("slot", slot, "a time from 1 us to 1 min, such as \"10 ms\"")?;
    let components = file.required("component")?;
    let DeValue::Table(components) = components.get_ref() else {
        return mistyped("component", components, "tables: [component.NAME]");
    };
    for (name, value) in components {
        waveform.components.push(component(name, value)?);
    }
    // In the order written, so that the first error found is the first in the file.
    waveform.components.sort_by_key(|component| component.spot.start);
    if let Some(value) = file.table.get("chain") {
        chains(value, &mut waveform.links)?;
    }
    for (key, least, links) in [("link", 0, &mut waveform.links), ("message", 1, &mut waveform.messages)] {
        let Some(value) = file.table.get(key) else { continue };
        for value in list(key, value, &format!("tables: [[{key}]]"))? {
            links.push(link(key, value, least)?);
        }
    }
    Ok(waveform)
}

fn component(name: &Spanned<Cow<'_, str>>, value: &Entry<'_>) -> Result<ComponentSpec, Wrong> {
    let DeValue::Table(table) = value.get_ref() else {
        return mistyped(name.get_ref(), value, "a table with `type` and parameters");
    };
    let fields = Fields { of: format!("component `{}`", name.get_ref()), table, span: name.span() };
    let kind = fields.required("type")?;
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
        DeValue::Float(_) => finite(key, value).map(Value::Float),
        DeValue::Array(list) if list.len() > limits::LIST => {
            let max = limits::LIST as u64;
            let problem = takt_toml::Problem::TooMany { what: "numbers in a list", count: list.len() as u64, max };
            Err(Wrong::new(value.span(), problem))
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
    let names = list("chain", value, expected)?;
    if names.iter().all(|entry| matches!(entry.get_ref(), DeValue::String(_))) {
        return chain(names.iter(), links);
    }
    for inner in names {
        chain(list("chain", inner, expected)?.iter(), links)?;
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

/// A link, or a path of messages, of `least` slots of delay at least and unless stated otherwise.
fn link(of: &str, value: &Entry<'_>, least: u32) -> Result<LinkSpec, Wrong> {
    let DeValue::Table(table) = value.get_ref() else {
        return mistyped(of, value, "a table with `from` and `to`");
    };
    let fields = Fields { of: format!("a {of}"), table, span: value.span() };
    fields.know(&LINK_KEYS)?;
    let (from, to) = (fields.required("from")?, fields.required("to")?);
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

/// Nanoseconds of a text such as "10 ms". A bare number has no unit and is refused.
fn time(key: &str, value: &Entry<'_>, expected: &str) -> Result<u64, Wrong> {
    let text = match value.get_ref() {
        DeValue::String(text) if text.trim_end().ends_with(char::is_alphabetic) => text,
        _ => return mistyped(key, value, expected),
    };
    let span = takt_base::parse_duration(text).ok().and_then(|span| u64::try_from(span.as_nanos()).ok());
    span.map_or_else(|| mistyped(key, value, expected), Ok)
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
