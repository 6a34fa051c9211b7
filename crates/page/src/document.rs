//! [`Report`]: a document as data. Its text is decided before a back end sees it; back ends only lay out.

use serde::Serialize;
use takt_path::topology::Topology;

use crate::Figure;

/// A whole report: the answer first, then why, what to do, what it does not say, and every number behind it.
///
/// Back ends: [`Report::to_html`], [`Report::to_text`], [`Report::to_json`]. Any text may be hostile (host names, error
/// messages): they escape all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The command that was run: "takt check".
    pub title: String,
    pub run: String,
    /// The place and the manner, a few words each: "lab-7", "4 cores", "Linux 6.18".
    pub facts: Vec<String>,
    pub verdict: Verdict,
    /// Its findings, a line each.
    pub findings: Vec<Finding>,
    /// The figures that matter most, for a text that must fit on a screen; the page has them among the rest.
    #[serde(skip)]
    pub brief: Option<Table>,
    /// Changes to make, largest gain first.
    pub fixes: Vec<Fix>,
    /// Points that were not measured, and what the figures do not show; a sentence each.
    pub not_said: Vec<String>,
    pub sections: Vec<Section>,
    /// The rounds, one row each: where every number leads back to.
    pub records: Vec<Table>,
    /// Name and value of facts about the machine.
    pub host: Vec<(String, String)>,
    pub provenance: Provenance,
    /// Path of this report's page, once written; the terminal names it.
    pub page: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportAnswer {
    Yes,
    No,
    /// The measurement does not show it.
    #[default]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    pub answer: ReportAnswer,
    /// In one sentence, without that word: "an N200 at 25 + 25 MS/s does not hold on this host".
    pub headline: String,
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    /// Further sentences, on the page and in a long text only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub answer: ReportAnswer,
    /// The requirement: "N200 25 + 25 MS/s sc16".
    pub subject: String,
    /// The result: "0 lost samples in 3 rounds".
    pub measured: String,
    /// How far from the edge: "headroom 3.8 x [3.5, 4.1]"; may be empty.
    pub margin: String,
    /// Anchor of the row or record it rests on.
    pub record: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    pub what: String,
    /// Its gain, and whether that was measured here.
    pub gain: String,
    /// The command, or how a person does it.
    pub how: String,
    pub is_command: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Anchor, as every `id` here.
    pub id: String,
    pub title: String,
    /// A sentence or two below it; may be empty.
    pub lead: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drawings: Vec<Drawing>,
    pub figures: Vec<Figure>,
    pub tables: Vec<Table>,
}

/// A path as it was built, drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawing {
    pub id: String,
    pub caption: String,
    pub topology: Topology,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    pub id: String,
    pub title: String,
    /// The first column names the row.
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Below the table; may be empty.
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// With the unit, if all cells share one: "CPU, cores".
    pub head: String,
    /// Set to the right.
    pub numeric: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// Heads the rows up to the next heading.
    Group { id: String, title: String },
    /// One cell a column; `id` if something leads here.
    Cells { id: Option<String>, cells: Vec<Cell> },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    pub text: String,
    /// Anchor of the record behind it.
    pub record: Option<String>,
    /// Colour of the cell, if it is an answer. The text says the same.
    pub answer: Option<ReportAnswer>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// When the first round began, RFC 3339, UTC.
    pub started: String,
    pub version: String,
    pub commands: Vec<String>,
    /// Facts that a reader needs to find the raw data: store, run, schema.
    pub notes: Vec<String>,
}

impl ReportAnswer {
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

impl Section {
    /// `None` where there is nothing to show: no figure, and no row in any table.
    pub fn shown(id: &str, title: &str, lead: &str, figures: Vec<Figure>, tables: Vec<Table>) -> Option<Self> {
        let empty = figures.is_empty() && tables.iter().all(|table| table.rows.is_empty());
        let section =
            Self { id: id.into(), title: title.into(), lead: lead.into(), drawings: Vec::new(), figures, tables };
        (!empty).then_some(section)
    }
}

impl Table {
    /// A table without a note.
    pub fn new(id: impl Into<String>, title: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Self {
        Self { id: id.into(), title: title.into(), columns, rows, note: String::new() }
    }

    /// The same with a note below it.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

impl Row {
    /// A row that nothing leads to.
    pub fn plain(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self::Cells { id: None, cells: cells.into_iter().collect() }
    }
}

impl Column {
    /// The name of the row, then numbers, then texts.
    pub fn row(first: &str, numbers: &[&str], texts: &[&str]) -> Vec<Self> {
        let numbers = numbers.iter().map(|head| Self::number(*head));
        let texts = texts.iter().map(|head| Self::text(*head));
        std::iter::once(Self::text(first)).chain(numbers).chain(texts).collect()
    }

    pub fn text(head: impl Into<String>) -> Self {
        Self { head: head.into(), numeric: false }
    }

    pub fn number(head: impl Into<String>) -> Self {
        Self { head: head.into(), numeric: true }
    }
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number that leads to its record.
    pub fn linked(text: impl Into<String>, record: impl Into<String>) -> Self {
        Self { text: text.into(), record: Some(record.into()), ..Self::default() }
    }

    /// A text coloured as an answer.
    pub fn answered(text: impl Into<String>, answer: ReportAnswer) -> Self {
        Self { answer: Some(answer), ..Self::text(text) }
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

    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|s| &s.figures)
    }
}
