//! Prometheus's text exposition format, version 0.0.4: families of samples, one a line.

use std::fmt::Write;

/// Content type of an answer in this format.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Characters of a label's value: more than any name may have that a node lets in.
const MOST_CHARS: usize = 512;

/// Kind of a family's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }
}

/// Labels of a sample, by name.
pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

/// A page in the making.
#[derive(Default)]
pub(super) struct Page(String);

/// Samples of one name; a family without any is not on the page.
pub(super) struct Family<'a> {
    page: &'a mut String,
    name: &'static str,
    /// Head above the first.
    head: Option<(MetricKind, &'static str)>,
}

impl Page {
    /// Begins a family; `help` is one line.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &'static str) -> Family<'_> {
        Family { page: &mut self.0, name, head: Some((kind, help)) }
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, MetricKind::Gauge, help)
    }

    pub(super) fn counter(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, MetricKind::Counter, help)
    }

    pub(super) fn done(self) -> String {
        self.0
    }
}

impl Family<'_> {
    /// A count.
    pub(super) fn count(&mut self, labels: Labels<'_>, count: u64) {
        self.line("", labels, None, count);
    }

    /// Any other figure.
    pub(super) fn figure(&mut self, labels: Labels<'_>, figure: f64) {
        self.line("", labels, None, Figure(figure));
    }

    /// A histogram: how many were no larger than each of `ends`, in ascending order; all; and their sum.
    pub(super) fn histogram(&mut self, labels: Labels<'_>, within: &[(f64, u64)], count: u64, sum: f64) {
        for &(end, so_many) in within {
            self.line("_bucket", labels, Some(end), so_many);
        }
        self.line("_bucket", labels, Some(f64::INFINITY), count);
        self.line("_sum", labels, None, Figure(sum));
        self.line("_count", labels, None, count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, end: Option<f64>, value: impl std::fmt::Display) {
        let name = self.name;
        // Writing to a text does not fail.
        if let Some((kind, help)) = self.head.take() {
            let _ = write!(self.page, "# HELP {name} {help}\n# TYPE {name} {}\n", kind.name());
        }
        let _ = write!(self.page, "{name}{suffix}");
        let end = end.map(|end| Figure(end).to_string());
        let mut before = '{';
        for (label, value) in labels.iter().copied().chain(end.as_deref().map(|end| ("le", end))) {
            let _ = write!(self.page, "{before}{label}=\"");
            value.chars().take(MOST_CHARS).for_each(|c| escape(self.page, c));
            self.page.push('"');
            before = ',';
        }
        if before == ',' {
            self.page.push('}');
        }
        let _ = writeln!(self.page, " {value}");
    }
}

/// A character that commands a terminal or begins a line of its own is never part of a value.
fn escape(page: &mut String, c: char) {
    match c {
        '\\' => page.push_str("\\\\"),
        '"' => page.push_str("\\\""),
        '\n' => page.push_str("\\n"),
        c if c.is_control() => page.push(char::REPLACEMENT_CHARACTER),
        c => page.push(c),
    }
}

/// A number as the format writes it.
struct Figure(f64);

impl std::fmt::Display for Figure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            f64::INFINITY => out.write_str("+Inf"),
            f64::NEG_INFINITY => out.write_str("-Inf"),
            // NaN is written as in Rust.
            figure => write!(out, "{figure}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_the_format_has_it() {
        let mut page = Page::default();
        page.gauge("takt_none", "Nothing has it.");
        let mut up = page.gauge("takt_up_seconds", "How long.");
        up.figure(&[], 0.5);
        up.figure(&[("node", "a")], f64::NEG_INFINITY);
        let mut times = page.family("takt_times_seconds", MetricKind::Histogram, "Times.");
        times.histogram(&[("node", "a")], &[(0.000_001, 1), (1.0, 3)], 4, 2.5);
        let text = "# HELP takt_up_seconds How long.\n# TYPE takt_up_seconds gauge\ntakt_up_seconds 0.5\n\
                    takt_up_seconds{node=\"a\"} -Inf\n\
                    # HELP takt_times_seconds Times.\n# TYPE takt_times_seconds histogram\n\
                    takt_times_seconds_bucket{node=\"a\",le=\"0.000001\"} 1\n\
                    takt_times_seconds_bucket{node=\"a\",le=\"1\"} 3\n\
                    takt_times_seconds_bucket{node=\"a\",le=\"+Inf\"} 4\n\
                    takt_times_seconds_sum{node=\"a\"} 2.5\ntakt_times_seconds_count{node=\"a\"} 4\n";
        assert_eq!(page.done(), text);
    }

    #[test]
    fn a_hostile_name_is_one_value_of_bounded_length() {
        let mut page = Page::default();
        let name = format!("a\"}} 7\nup{{x=\"\\\u{1b}[2J\r{}", "é".repeat(10_000));
        page.counter("takt_x_total", "X.").count(&[("node", &name)], 1);
        let text = page.done();
        let line = text.lines().nth(2).expect("a sample");
        assert!(
            line.starts_with("takt_x_total{node=\"a\\\"} 7\\nup{x=\\\"\\\\\u{fffd}[2J\u{fffd}é")
                && line.ends_with("é\"} 1"),
            "{line}"
        );
        assert_eq!((text.lines().count(), line.matches('é').count() + 18), (3, MOST_CHARS));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
}
