//! [`Report`]: a document as data. What it says is decided before a back end sees it; back ends only lay out.

use serde::Serialize;
use takt_testbed::net::Topology;

use crate::Figure;

/// A whole report: the answer first, then why, what to do, what it does not say, and every number behind it.
///
/// Back ends: [`Report::to_html`], [`Report::to_text`], [`Report::to_json`]. Any text may be hostile (host names, error
/// messages): they escape all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// What was run: "takt check".
    pub title: String,
    /// Name of the run in the store.
    pub run: String,
    /// Where and how, a few words each: "lab-7", "4 cores", "Linux 6.18".
    pub facts: Vec<String>,
    /// The answer.
    pub verdict: Verdict,
    /// What it rests on, a line each.
    pub findings: Vec<Finding>,
    /// The figures that matter most, for a text that must fit on a screen; the page has them among the rest.
    #[serde(skip)]
    pub brief: Option<Table>,
    /// What to change, largest gain first.
    pub fixes: Vec<Fix>,
    /// What was not measured, and what the figures do not show; a sentence each.
    pub not_said: Vec<String>,
    /// Figures and tables.
    pub sections: Vec<Section>,
    /// The rounds, one row each: where every number leads back to.
    pub records: Vec<Table>,
    /// The machine: name and value.
    pub host: Vec<(String, String)>,
    /// What made it.
    pub provenance: Provenance,
    /// Where the page of this report lies, once written; the terminal names it.
    pub page: Option<String>,
}

/// Yes, no, or not to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It holds.
    Yes,
    /// It fails.
    No,
    /// What was measured does not tell.
    #[default]
    Unknown,
}

/// The answer in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// In one word.
    pub answer: Answer,
    /// In one sentence, without that word: "an N200 at 25 + 25 MS/s does not hold on this host".
    pub headline: String,
    /// Why, in some more.
    pub says: Vec<String>,
    /// What else there is to say: on the page, and in a long text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// One line under the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Holds, fails, or not to be told.
    pub answer: Answer,
    /// What was asked: "N200 25 + 25 MS/s sc16".
    pub subject: String,
    /// What was seen: "0 lost samples in 3 rounds".
    pub measured: String,
    /// How far from the edge: "headroom 3.8 x [3.5, 4.1]"; may be empty.
    pub margin: String,
    /// Anchor of the row or record it rests on.
    pub record: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// What to change, one sentence.
    pub what: String,
    /// What it gives, and whether that was measured here.
    pub gain: String,
    /// The command, or how a person does it.
    pub how: String,
    /// Whether `how` is a command to paste.
    pub is_command: bool,
}

/// Figures and tables that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Anchor.
    pub id: String,
    /// Heading.
    pub title: String,
    /// A sentence or two below it; may be empty.
    pub lead: String,
    /// One below the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drawings: Vec<Drawing>,
    /// Side by side where there is room.
    pub figures: Vec<Figure>,
    /// Below them.
    pub tables: Vec<Table>,
}

/// A path as it was built, drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    /// Anchor.
    pub id: String,
    /// What it is.
    pub caption: String,
    /// From the host to the radio.
    pub topology: Topology,
}

/// Rows under headed columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Anchor.
    pub id: String,
    /// Caption.
    pub title: String,
    /// Heads; the first column names the row.
    pub columns: Vec<Column>,
    /// In order.
    pub rows: Vec<Row>,
    /// Below the table; may be empty.
    pub note: String,
}

/// Head of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// With the unit, if all cells share one: "CPU, cores".
    pub head: String,
    /// Set to the right.
    pub numeric: bool,
}

/// A row, or a heading between rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// Heads the rows up to the next heading.
    Group {
        /// Anchor.
        id: String,
        /// Text.
        title: String,
    },
    /// One cell a column.
    Cells {
        /// Anchor, if something leads here.
        id: Option<String>,
        /// In the columns' order.
        cells: Vec<Cell>,
    },
}

/// Content of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// As it is read.
    pub text: String,
    /// Anchor of the record behind it.
    pub record: Option<String>,
    /// Where the cell is an answer: its colour. The text says the same.
    pub answer: Option<Answer>,
}

/// What made a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// When the first round began, RFC 3339, UTC.
    pub started: String,
    /// Program and version.
    pub version: String,
    /// Commands that make it again.
    pub commands: Vec<String>,
    /// What a reader needs to find the raw data: store, run, schema.
    pub notes: Vec<String>,
}

impl Answer {
    /// As a finding begins: `holds`, `fails`, `unknown`.
    pub fn finding_word(self) -> &'static str {
        match self {
            Self::Yes => "holds",
            Self::No => "fails",
            Self::Unknown => "unknown",
        }
    }

    /// As a verdict begins: `Yes`, `No`, `Not known`.
    pub fn verdict_word(self) -> &'static str {
        match self {
            Self::Yes => "Yes",
            Self::No => "No",
            Self::Unknown => "Not known",
        }
    }
}

impl Column {
    /// A column of text, set to the left.
    pub fn text(head: impl Into<String>) -> Self {
        Self { head: head.into(), numeric: false }
    }

    /// A column of numbers, set to the right.
    pub fn number(head: impl Into<String>) -> Self {
        Self { head: head.into(), numeric: true }
    }
}

impl Cell {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number that leads to its record.
    pub fn linked(text: impl Into<String>, record: impl Into<String>) -> Self {
        Self { text: text.into(), record: Some(record.into()), ..Self::default() }
    }

    /// An answer, in its word.
    pub fn answer(answer: Answer) -> Self {
        Self { text: answer.finding_word().to_owned(), answer: Some(answer), ..Self::default() }
    }
}

impl Report {
    /// The report as one JSON document: the same facts under stable keys, figures with all their points.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'static str,
            #[serde(flatten)]
            report: &'a Report,
        }
        let document = Document { schema: "takt.report/1", report: self };
        // numbers that are not finite become null; keys are strings: nothing here can be refused
        serde_json::to_string_pretty(&document).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"))
    }

    /// Every figure, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|s| &s.figures)
    }
}
