//! Tables: results, the points of a figure, the rounds.

use std::fmt::Write as _;

use crate::figure::{Figure, Reading};
use crate::quantity::significant;
use crate::xml::{Escaped as E, slug};
use crate::{Cell, Report, Row, Table};

/// A table with its caption; wide ones scroll by themselves, the page never does.
pub(super) fn table(page: &mut String, table: &Table) {
    let _ = write!(page, "<div class=\"wide\" id=\"{}\"><table>", slug(&table.id));
    let _ = write!(page, "<caption>{}</caption>\n<thead><tr>", E(&table.title));
    for column in &table.columns {
        let align = if column.numeric { " class=\"n\"" } else { "" };
        let _ = write!(page, "<th scope=\"col\"{align}>{}</th>", E(&column.head));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    table.rows.iter().for_each(|r| row(page, table, r));
    page.push_str("</tbody></table>");
    if !table.note.is_empty() {
        let _ = write!(page, "<p class=\"read\">{}</p>", E(&table.note));
    }
    page.push_str("</div>\n");
}

fn row(page: &mut String, table: &Table, row: &Row) {
    match row {
        Row::Group { id, title } => {
            let (id, span) = (slug(id), table.columns.len());
            let title = E(title);
            let _ = writeln!(
                page,
                "<tr id=\"{id}\" class=\"group\"><th scope=\"rowgroup\" colspan=\"{span}\">{title}</th></tr>"
            );
        }
        Row::Cells { id, cells } => {
            let id = id.as_ref().map(|id| format!(" id=\"{}\"", slug(id))).unwrap_or_default();
            let _ = write!(page, "<tr{id}>");
            for (i, c) in cells.iter().enumerate() {
                cell(page, c, i == 0, table.columns.get(i).is_some_and(|c| c.numeric));
            }
            page.push_str("</tr>\n");
        }
    }
}

fn cell(page: &mut String, cell: &Cell, first: bool, numeric: bool) {
    let Cell { text, record, answer } = cell;
    let classes = match (answer, numeric) {
        (Some(answer), true) => format!(" class=\"answer {} n\"", answer.finding_word()),
        (Some(answer), false) => format!(" class=\"answer {}\"", answer.finding_word()),
        (None, true) => " class=\"n\"".to_owned(),
        (None, false) => String::new(),
    };
    // In a table of many columns, an interval goes below its number.
    let text = link(&text.replace("\u{a0}[", " ["), record.as_deref());
    let (tag, scope) = if first { ("th", " scope=\"row\"") } else { ("td", "") };
    let _ = write!(page, "<{tag}{scope}{classes}>{text}</{tag}>");
}

/// A text, leading to its record if it has one.
pub(super) fn link(text: &str, record: Option<&str>) -> String {
    match record {
        Some(record) => format!("<a href=\"#{}\">{}</a>", slug(record), E(text)),
        None => E(text).to_string(),
    }
}

/// Values that a figure draws: a row a point; the rounds of each lead to their records.
pub(super) fn points(page: &mut String, figure: &Figure) {
    let (x, y) = (&figure.x, &figure.y);
    let shown: usize = figure.all_series().map(|s| s.points.len()).sum();
    // a distribution function has hundreds of points: the CSV has all, the table every n-th and the last
    let every = shown.div_ceil(80).max(1);
    page.push_str("<div class=\"wide\"><table><thead><tr>");
    for (head, class) in [(x.label.as_str(), ""), (y.label.as_str(), " class=\"n\""), ("rounds", "")] {
        let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", E(head));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for series in figure.all_series() {
        let name = E(&series.name);
        let _ = writeln!(page, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"3\">{name}</th></tr>");
        let last = series.points.len().saturating_sub(1);
        for (_, point) in series.points.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last) {
            let reading = point.y.as_ref().map_or_else(|| "none counts".to_owned(), |r| show(figure, r));
            let x = x.unit.show(point.x, 4);
            let _ = write!(page, "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>", E(&x), E(&reading));
            for dot in &point.rounds {
                let value = y.unit.show(dot.y, 3);
                let value = if dot.counts { value } else { format!("({value})") };
                let _ = write!(page, "{} ", link(&value, dot.record.as_deref()));
            }
            page.push_str("</td></tr>\n");
        }
    }
    page.push_str("</tbody></table></div>\n");
}

fn show(figure: &Figure, reading: &Reading) -> String {
    let text = figure.y.unit.show_reading(reading);
    match reading.interval {
        Some(i) if i.low < i.high => format!("{text} ({} %, n = {})", significant(i.level * 100.0, 3), i.rounds),
        Some(i) => format!("{text} (n = {})", i.rounds),
        None => text,
    }
}

/// Every round, folded away until requested; a link to one unfolds it.
pub(super) fn records(page: &mut String, report: &Report) {
    if report.records.is_empty() {
        return;
    }
    page.push_str("<section id=\"records\">\n<h2>Every round</h2>\n");
    for t in &report.records {
        let rounds = t.rows.iter().filter(|r| matches!(r, Row::Cells { .. })).count();
        let _ = writeln!(page, "<details><summary>{} ({rounds})</summary>", E(&t.title));
        table(page, t);
        page.push_str("</details>\n");
    }
    page.push_str("</section>\n");
}
