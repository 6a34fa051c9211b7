//! Actions of a manager, and when, as spans of OpenTelemetry. A file has lines, each an `ExportTraceServiceRequest` in
//! OTLP's JSON encoding (OpenTelemetry Protocol File Exporter; opentelemetry-proto 1.x). A collector reads it with its
//! `otlpjsonfile` receiver.
//!
//! A span is written when it ends, so a manager that dies leaves all that it had done. The run's own span comes last.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::ClusterError;
use crate::seal::number;

/// Destination of spans. A span that can't be written is left out, and [`Trace::problem`] says why.
pub struct Trace(Option<Mutex<Open>>);

struct Open {
    file: File,
    trace: u128,
    /// Spans that have begun and not ended, the innermost last.
    within: Vec<u64>,
    problem: Option<std::io::Error>,
}

/// Facts of a span: OpenTelemetry's attributes.
pub(crate) type Facts<'a> = &'a [(&'static str, &'a str)];

impl Trace {
    /// No spans.
    #[must_use]
    pub fn off() -> Trace {
        Trace(None)
    }

    /// Into a file, which takes the place of an earlier one.
    ///
    /// # Errors
    /// It can't be made; the kernel gives no random numbers.
    pub fn create(path: &Path) -> std::io::Result<Trace> {
        let file = File::create(path)?;
        let random = || drawn().map(u128::from).map_err(std::io::Error::other);
        let trace = (random()? << 64) | random()?;
        Ok(Trace(Some(Mutex::new(Open { file, trace, within: Vec::new(), problem: None }))))
    }

    /// Why not all spans were written, if so.
    #[must_use]
    pub fn problem(&self) -> Option<std::io::Error> {
        self.0.as_ref().and_then(|open| lock(open).problem.take())
    }

    /// Does something and writes a span of it, in which those lie that it writes itself; of an error it says why.
    pub(crate) fn span<T>(
        &self,
        name: &str,
        facts: Facts<'_>,
        what: impl FnOnce() -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        let Some(open) = &self.0 else { return what() };
        let id = drawn()?;
        written(open, id, name, facts, || {
            lock(open).within.push(id);
            let done = what();
            lock(open).within.pop();
            done
        })
    }

    /// The same, of what writes no spans itself: several threads may at once.
    pub(crate) fn leaf<T>(
        &self,
        name: &str,
        facts: Facts<'_>,
        what: impl FnOnce() -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        let Some(open) = &self.0 else { return what() };
        written(open, drawn()?, name, facts, what)
    }
}

/// Does something, and writes a span of it once it is done.
fn written<T>(
    open: &Mutex<Open>,
    id: u64,
    name: &str,
    facts: Facts<'_>,
    what: impl FnOnce() -> Result<T, ClusterError>,
) -> Result<T, ClusterError> {
    let began = unix_ns();
    let done = what();
    lock(open).write(id, name, [began, unix_ns()], facts, done.as_ref().err());
    done
}

/// A thread that panicked left it whole: a line is written at once.
fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    fn write(&mut self, id: u64, name: &str, unix_ns: [u64; 2], facts: Facts<'_>, error: Option<&ClusterError>) {
        let parent = self.within.last().map(|parent| format!("{parent:016x}")).unwrap_or_default();
        let [began, ended] = unix_ns.map(|ns| ns.to_string());
        let status = error.map_or_else(|| json!({}), |error| json!({ "code": ERROR, "message": error.to_string() }));
        let span = json!({
            "traceId": format!("{:032x}", self.trace),
            "spanId": format!("{id:016x}"),
            "parentSpanId": parent,
            "name": name,
            "kind": INTERNAL,
            "startTimeUnixNano": began,
            "endTimeUnixNano": ended,
            "attributes": attributes(facts),
            "status": status,
        });
        let line = request(&span).to_string() + "\n";
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.problem.get_or_insert(error);
        }
    }
}

/// `SPAN_KIND_INTERNAL` and `STATUS_CODE_ERROR` of opentelemetry-proto.
const INTERNAL: u32 = 1;
const ERROR: u32 = 2;

fn request(span: &Value) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = attributes(&[("service.name", "takt"), ("service.version", version)]);
    let scope = json!({ "name": env!("CARGO_PKG_NAME"), "version": version });
    let spans = json!([{ "scope": scope, "spans": [span] }]);
    json!({ "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": spans }] })
}

fn attributes(facts: Facts<'_>) -> Value {
    facts.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
}

/// An identity that no other span has; all zeros would be none.
fn drawn() -> Result<u64, ClusterError> {
    Ok(number().map_err(|source| ClusterError::Certificate { source })?.max(1))
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_lies_in_the_one_around_it_and_an_error_is_its_status() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.jsonl");
        let trace = Trace::create(&path).unwrap();
        let lost = || ClusterError::Silent { node: "b".to_owned() };
        let done: Result<(), ClusterError> =
            trace.span("run", &[("takt.run", "x")], || trace.leaf("open", &[("takt.node", "b")], || Err(lost())));
        assert!(done.is_err() && trace.problem().is_none());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [inner, outer] = &lines[..] else { panic!("{text}") };
        let span = |line: &Value| line["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone();
        let (inner, outer) = (span(inner), span(outer));
        assert_eq!((&inner["name"], &outer["name"]), (&"open".into(), &"run".into()));
        assert_eq!((&inner["traceId"], &inner["parentSpanId"]), (&outer["traceId"], &outer["spanId"]));
        assert_eq!(outer["parentSpanId"], "");
        assert_eq!(inner["status"], json!({ "code": 2, "message": lost().to_string() }));
        assert_eq!(outer["attributes"][0], json!({ "key": "takt.run", "value": { "stringValue": "x" } }));
        let ns = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(ns(&outer, "startTimeUnixNano") <= ns(&inner, "startTimeUnixNano"));
        assert!(ns(&inner, "endTimeUnixNano") <= ns(&outer, "endTimeUnixNano"));
        let off = Trace::off();
        assert!(off.span("run", &[], || Ok(())).is_ok() && off.problem().is_none());
    }

    #[test]
    fn what_can_t_be_written_is_known_at_the_end_and_ends_nothing() {
        let trace = Trace::create(Path::new("/dev/full")).unwrap();
        assert_eq!(trace.span("run", &[], || Ok(7)).unwrap(), 7);
        assert_eq!(trace.problem().map(|error| error.kind()), Some(std::io::ErrorKind::StorageFull));
        assert!(Trace::create(Path::new("/nowhere/trace.jsonl")).is_err());
    }
}
