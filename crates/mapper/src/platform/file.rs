//! Platform files: TOML in, a [`Platform`] or the first thing that is wrong, with its place, out.

use std::ops::Range;
use std::sync::Arc;

use takt_base::Mistyped;
use takt_graph::{FilePlace, Source};
use toml::de::{DeTable, DeValue};

use super::check::{Step, limits};
use super::error::{PlatformError, PlatformProblem};
use super::{Platform, PlatformSpec};

impl Platform {
    /// Reads a file. `file` is its name, for messages.
    ///
    /// # Errors
    /// The first thing in it that is no platform, with its place.
    ///
    /// ```
    /// let file = "name = 'x'\n[class.zen5]\n[[node]]\nname = 'pc'\ncores = [{ class = 'zen4', cpus = [0] }]\n";
    /// let error = takt_mapper::Platform::parse("x.toml", file).unwrap_err();
    /// assert_eq!(error.to_string(), "no class is called `zen4`");
    /// assert_eq!(error.fix(), "did you mean `zen5`?");
    /// assert_eq!(error.place.unwrap().to_string(), "x.toml:5:20");
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Platform, PlatformError> {
        let kept = text.len() <= limits::FILE_BYTES;
        let text = if kept { text } else { "" };
        let source = Arc::new(Source { name: file.to_owned(), text: text.to_owned() });
        let at = |problem: PlatformProblem, span: Option<Range<usize>>| PlatformError {
            problem: Box::new(problem),
            place: span.map(|span| FilePlace::new(&source, span)),
        };
        if !kept {
            let problem =
                PlatformProblem::TooMany { what: "bytes", count: limits::FILE_BYTES + 1, max: limits::FILE_BYTES };
            return Err(at(problem, Some(0..0)));
        }
        let spec: PlatformSpec = toml::from_str(text).map_err(|error| {
            let problem = match Mistyped::read(error.message()) {
                Some(slip) => PlatformProblem::Mistyped { slip },
                None => PlatformProblem::Toml { message: error.message().to_owned() },
            };
            at(problem, Some(error.span().unwrap_or(0..0)))
        })?;
        spec.checked().map_err(|wrong| at(wrong.problem, span(text, &wrong.path)))
    }
}

/// Span at which the path ends, or the furthest it leads.
fn span(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let (mut span, mut here): (Range<usize>, Option<&DeValue<'_>>) = (0..0, None);
    for step in path {
        let next = match (step, here) {
            (Step::Key(key), None) => document.get_ref().get(key.as_str()),
            (Step::Key(key), Some(DeValue::Table(table))) => table.get(key.as_str()),
            (Step::Index(index), Some(DeValue::Array(list))) => list.get(*index),
            _ => None,
        };
        let Some(next) = next else { break };
        (span, here) = (next.span(), Some(next.get_ref()));
    }
    Some(span)
}
