//! Two reports side by side as one HTML file.

use std::fmt::Write as _;

use super::{parts, preamble, tables};
use crate::beside::{Beside, Pair, apart, figure_apart, figures};
use crate::figure::Figure;
use crate::xml::{Escaped as E, slug};
use crate::{Report, Section};

/// Names of the columns, as anchors have them.
const COLUMNS: [&str; 2] = ["first", "second"];

impl Beside {
    /// Both reports as one self-contained page: two columns, one below the other on a phone.
    pub fn to_html(&self) -> String {
        let mut page = String::new();
        preamble(&mut page, &format!("{} beside {}", self.first.run, self.second.run));
        two(&mut page, [&self.first, &self.second], parts::verdict);
        page.push_str("<main>\n<section id=\"findings\"><h2>What the answers rest on</h2>\n");
        two(&mut page, [&self.first, &self.second], findings);
        page.push_str("</section>\n");
        let values = self.values();
        if !values.rows.is_empty() {
            page.push_str("<section id=\"both\"><h2>Values of both</h2>\n");
            tables::table(&mut page, &values);
            page.push_str("</section>\n");
        }
        self.sections().iter().for_each(|pair| section(&mut page, pair));
        page.push_str("</main>\n");
        two(&mut page, [&self.first, &self.second], parts::provenance);
        page.push_str("</body>\n</html>\n");
        page
    }
}

/// The same part of both, in two columns.
fn two<T>(page: &mut String, both: [T; 2], part: impl Fn(&mut String, T)) {
    page.push_str("<div class=\"two\">\n");
    for one in both {
        page.push_str("<div>\n");
        part(page, one);
        page.push_str("</div>\n");
    }
    page.push_str("</div>\n");
}

fn findings(page: &mut String, report: &Report) {
    let _ = writeln!(page, "<h3>{}</h3>", E(&report.run));
    page.push_str("<div class=\"wide\"><table class=\"findings\"><tbody>\n");
    for finding in &report.findings {
        let word = finding.answer.finding_word();
        let (subject, measured) = (E(&finding.subject), E(&finding.measured));
        let _ = writeln!(
            page,
            "<tr><td class=\"answer {word}\">{word}</td><th scope=\"row\">{subject}</th><td>{measured}</td></tr>"
        );
    }
    page.push_str("</tbody></table></div>\n");
}

/// Figures of the same name beside each other; then drawings and tables of each.
fn section(page: &mut String, pair: &Pair<&Section>) {
    let Some(named) = pair.first.or(pair.second) else { return };
    let _ = write!(page, "<section id=\"{}\">\n<h2>{}</h2>\n", slug(&named.id), E(&named.title));
    if !named.lead.is_empty() {
        let _ = writeln!(page, "<p class=\"lead\">{}</p>", E(&named.lead));
    }
    for pair in figures(pair) {
        let both = [(COLUMNS[0], pair.first, pair.second), (COLUMNS[1], pair.second, pair.first)];
        two(page, both, |page, (column, figure, other)| match figure {
            Some(figure) => one_figure(page, figure, other, column),
            None => page.push_str("<p class=\"read\">This run has no such figure.</p>\n"),
        });
    }
    let both = [(COLUMNS[0], pair.first), (COLUMNS[1], pair.second)];
    if both.iter().any(|(_, section)| section.is_some_and(|s| !s.tables.is_empty() || !s.drawings.is_empty())) {
        two(page, both, |page, (column, section)| {
            let Some(section) = section.map(|section| apart(section, column)) else { return };
            section.drawings.iter().for_each(|drawing| parts::drawing(page, drawing));
            section.tables.iter().for_each(|table| tables::table(page, table));
        });
    }
    page.push_str("</section>\n");
}

fn one_figure(page: &mut String, figure: &Figure, other: Option<&Figure>, column: &str) {
    let figure = figure_apart(figure, column);
    let drawn = other.map_or_else(|| figure.to_inline_svg(), |other| figure.to_inline_svg_beside(other));
    parts::drawn_figure(page, &figure, &drawn);
}
