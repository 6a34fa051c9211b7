//! The parts of the page, in the order they are read.

use std::fmt::Write as _;

use super::tables;
use crate::figure::Figure;
use crate::quantity::with_units;
use crate::xml::{Escaped as E, data_uri, slug};
use crate::{Drawing, Finding, Fix, Report, Section, topology};

/// The answer, where and how it was measured.
pub(super) fn verdict(page: &mut String, report: &Report) {
    let Report { title, verdict, facts, .. } = report;
    let (class, word) = (verdict.answer.finding_word(), verdict.answer.verdict_word());
    let _ = write!(page, "<header class=\"{class}\">\n<p class=\"what\">{}</p>\n", E(title));
    let _ = writeln!(page, "<h1><span class=\"word\">{word}:</span> {}</h1>", E(&verdict.headline));
    page.push_str("<ul class=\"facts\">");
    for fact in facts {
        let _ = write!(page, "<li>{}</li>", E(fact));
    }
    page.push_str("</ul>\n</header>\n");
}

/// The figure that shows the answer, and what to do.
pub(super) fn first_screen(page: &mut String, report: &Report, first: Option<&Figure>) {
    page.push_str("<div class=\"first\">\n");
    if let Some(first) = first {
        page.push_str("<div class=\"figures\">\n");
        figure(page, first);
        page.push_str("</div>\n");
    }
    page.push_str("<div>\n");
    fixes(page, &report.fixes);
    page.push_str("</div>\n</div>\n");
}

/// Findings behind the answer.
pub(super) fn findings(page: &mut String, report: &Report) {
    if report.findings.is_empty() {
        return;
    }
    page.push_str(
        "<section id=\"findings\"><h2>What the answer rests on</h2>\n<div class=\"wide\"><table class=\"findings\">\n",
    );
    page.push_str("<thead class=\"unseen\"><tr><th scope=\"col\">Answer</th><th scope=\"col\">Requested</th>");
    page.push_str("<th scope=\"col\">Measured</th><th scope=\"col\">Margin</th></tr></thead>\n<tbody>\n");
    report.findings.iter().for_each(|f| finding(page, f));
    page.push_str("</tbody></table></div>\n");
    if let Some(limit) = report.not_said.first() {
        let more = report.not_said.len();
        let _ = writeln!(
            page,
            "<p class=\"read\">{} <a href=\"#not-said\">All limits ({more})</a></p>",
            E(&with_units(limit))
        );
    }
    page.push_str("</section>\n");
}

/// Further facts, in sentences.
pub(super) fn summary(page: &mut String, report: &Report) {
    let all: Vec<&String> = report.verdict.summary.iter().chain(&report.verdict.also).collect();
    list(page, "says", "In words", ("ul", "plain"), &all, |page, sentence| {
        let _ = writeln!(page, "<li>{}</li>", E(&with_units(sentence)));
    });
}

fn finding(page: &mut String, f: &Finding) {
    let Finding { answer, subject, measured, margin, record } = f;
    let class = answer.finding_word();
    let measured = tables::link(measured, record.as_deref());
    let (word, subject, margin) = (answer.finding_word(), E(subject), E(margin));
    let _ = write!(page, "<tr><td class=\"answer {class}\">{word}</td><th scope=\"row\">{subject}</th>");
    let _ = writeln!(page, "<td>{measured}</td><td>{margin}</td></tr>");
}

/// A section with a list, where there is anything to list.
fn list<T>(
    page: &mut String,
    id: &str,
    title: &str,
    (tag, class): (&str, &str),
    all: &[T],
    one: impl Fn(&mut String, &T),
) {
    if all.is_empty() {
        return;
    }
    let _ = write!(page, "<section id=\"{id}\">\n<h2>{title}</h2>\n<{tag} class=\"{class}\">\n");
    all.iter().for_each(|item| one(page, item));
    let _ = write!(page, "</{tag}>\n</section>\n");
}

/// The most useful in full, the others folded.
fn fixes(page: &mut String, fixes: &[Fix]) {
    let (first, more) = fixes.split_at(fixes.len().min(FIXES));
    list(page, "fixes", "What to change, largest gain first", ("ol", "fixes"), first, fix);
    if !more.is_empty() {
        let _ = writeln!(page, "<details class=\"more\"><summary>{} more</summary>\n<ol class=\"fixes\">", more.len());
        more.iter().for_each(|one| fix(page, one));
        page.push_str("</ol>\n</details>\n");
    }
}

/// Changes on the first screen.
const FIXES: usize = 3;

fn fix(page: &mut String, fix: &Fix) {
    let Fix { what, gain, how, is_command } = fix;
    let _ = write!(page, "<li><p>{} <span class=\"gain\">{}</span></p>", E(what), E(gain));
    let tag = if *is_command { "code" } else { "span" };
    let _ = writeln!(page, "<p class=\"how\"><{tag}>{}</{tag}></p></li>", E(how));
}

/// Figures side by side, but for the one that is shown already; tables below.
pub(super) fn section(page: &mut String, section: &Section, shown: Option<&Figure>) {
    let id = slug(&section.id);
    let _ = write!(page, "<section id=\"{id}\">\n<h2>{}</h2>\n", E(&section.title));
    if !section.lead.is_empty() {
        let _ = writeln!(page, "<p class=\"lead\">{}</p>", E(&section.lead));
    }
    section.drawings.iter().for_each(|d| drawing(page, d));
    let mut figures = section.figures.iter().filter(|f| !shown.is_some_and(|s| std::ptr::eq(s, *f))).peekable();
    if figures.peek().is_some() {
        page.push_str("<div class=\"figures\">\n");
        figures.for_each(|f| figure(page, f));
        page.push_str("</div>\n");
    }
    section.tables.iter().for_each(|t| tables::table(page, t));
    page.push_str("</section>\n");
}

pub(super) fn drawing(page: &mut String, drawing: &Drawing) {
    let (id, caption) = (slug(&drawing.id), E(&drawing.caption));
    let _ = write!(page, "<figure id=\"{id}\" class=\"drawing\">\n<figcaption>{caption}</figcaption>\n");
    page.push_str(&topology::to_inline_svg(&drawing.topology));
    page.push_str("</figure>\n");
}

/// Its finding, the drawing, how to read it, its numbers.
fn figure(page: &mut String, figure: &Figure) {
    drawn_figure(page, figure, &figure.to_inline_svg());
}

/// The same of a figure that is drawn already.
pub(super) fn drawn_figure(page: &mut String, figure: &Figure, drawn: &str) {
    let id = slug(&figure.id);
    let _ = write!(page, "<figure id=\"figure-{id}\">\n<figcaption>{}</figcaption>\n", E(&figure.finding));
    page.push_str(drawn);
    let _ = write!(page, "<p class=\"read\">{}", E(&figure.how_to_read));
    let dots = || figure.all_series().flat_map(|s| &s.points).flat_map(|p| &p.rounds);
    if dots().next().is_some() {
        page.push_str(" Faint dots are rounds");
        page.push_str(if dots().all(|d| d.counts) { "." } else { ", crosses rounds that do not count." });
    }
    for reason in [&figure.x.not_from_zero, &figure.y.not_from_zero].into_iter().flatten() {
        let _ = write!(page, " The axis does not begin at 0: {}.", E(reason));
    }
    let uri = data_uri("text/csv", &figure.to_csv());
    let source = format!("{}: {}", figure.source.run, figure.source.query);
    let _ = write!(
        page,
        "</p>\n<details class=\"data\"><summary>The numbers</summary>\n<p>From {}. \
         <a href=\"{uri}\" download=\"{id}.csv\">All of them as CSV</a>.</p>\n",
        E(&source)
    );
    tables::points(page, figure);
    page.push_str("</details>\n</figure>\n");
}

/// Cautions for the reader, and what was not run: one folded list.
pub(super) fn not_said(page: &mut String, report: &Report) {
    let all = &report.not_said;
    if all.is_empty() {
        return;
    }
    let title = "What this does not say, and what was not run";
    let _ = writeln!(page, "<section id=\"not-said\">\n<details><summary>{title} ({})</summary>", all.len());
    page.push_str("<ul class=\"plain\">\n");
    for sentence in all {
        let _ = writeln!(page, "<li>{}</li>", E(&with_units(sentence)));
    }
    page.push_str("</ul>\n</details>\n</section>\n");
}

pub(super) fn host(page: &mut String, report: &Report) {
    list(page, "host", "The machine", ("dl", "host"), &report.host, |page, (name, value)| {
        let _ = writeln!(page, "<div><dt>{}</dt><dd>{}</dd></div>", E(name), E(value));
    });
}

pub(super) fn provenance(page: &mut String, report: &Report) {
    let p = &report.provenance;
    let _ = write!(page, "<footer>\n<p>Run <b>{}</b>, begun {}, by {}.", E(&report.run), E(&p.started), E(&p.version));
    for note in &p.notes {
        let _ = write!(page, " {}", E(note));
    }
    page.push_str("</p>\n");
    for command in &p.commands {
        let _ = writeln!(page, "<p><code>{}</code></p>", E(command));
    }
    page.push_str("</footer>\n");
}
