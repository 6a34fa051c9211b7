//! Screen of a command: the answer in the first line, its subject, a table, and at most three sentences. The rest comes
//! where it is requested.

use super::table;
use super::table::answer_tone;
use super::wrap::{clean, hanging, pad, width};
use super::{Depth, TextStyle};
use crate::{ReportAnswer, Table};

/// The result of a command for a terminal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// `None` where nothing was asked that yes or no would answer.
    pub answer: Option<ReportAnswer>,
    /// A sentence without that word: "nothing was lost in 2 s."
    pub headline: String,
    /// Its subject, a few words each.
    pub facts: Vec<String>,
    pub tables: Vec<Table>,
    /// Facts that the reader must know, the weightiest first; three are shown.
    pub summary: Vec<String>,
    /// Lines behind their labels, below that.
    pub lines: Vec<(&'static str, String)>,
    pub explained: Vec<(&'static str, String)>,
    /// Tables of the rest.
    pub detail: Vec<Table>,
}

/// Sentences below the table; the others are for who asks.
const SENTENCES: usize = 3;

impl Screen {
    pub fn to_text(&self, style: &TextStyle) -> String {
        let columns = style.columns();
        let word = self.answer.map(|answer| format!("{}: ", answer.verdict_word())).unwrap_or_default();
        let mut out = hanging("", &format!("{word}{}", clean(&self.headline)), columns);
        if let Some(answer) = self.answer {
            let word = answer.verdict_word();
            out.replace_range(..word.len(), &style.paint(answer_tone(answer), word));
        }
        if !self.facts.is_empty() {
            let facts: Vec<String> = self.facts.iter().map(|fact| super::report::unbroken(&clean(fact))).collect();
            out.push_str(&hanging("", &facts.join(" · "), columns));
        }
        let full = style.depth == Depth::Full;
        for table in self.tables.iter().chain(self.detail.iter().filter(|_| full)).filter(|t| !t.rows.is_empty()) {
            if !table.title.is_empty() {
                out.push_str(&hanging("", &clean(&table.title), columns));
            }
            out.push_str(&table::render(table, style));
        }
        let (shown, more) =
            self.summary.split_at(if full { self.summary.len() } else { SENTENCES.min(self.summary.len()) });
        for sentence in shown {
            out.push_str(&hanging("", &clean(sentence), columns));
        }
        labelled(&mut out, &self.lines, columns);
        if full {
            labelled(&mut out, &self.explained, columns);
        } else if !(more.is_empty() && self.explained.is_empty() && self.detail.is_empty()) {
            out.push_str("More: --explain\n");
        }
        style.finish(&out)
    }
}

fn labelled(out: &mut String, lines: &[(&str, String)], columns: usize) {
    let widest = lines.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
    for (label, text) in lines {
        out.push_str(&hanging(&format!("  {}  ", pad(label, widest, false)), &clean(text), columns));
    }
}
