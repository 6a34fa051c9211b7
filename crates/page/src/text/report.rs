//! A report on a terminal. The answer is the first line; a short text then fits on a screen.

use super::table::answer_tone;
use super::wrap::{clean, hanging, pad, width, wrap};
use super::{Depth, TextStyle, Tone, plot, table};
use crate::{Finding, Fix, Report, topology};

impl Report {
    /// The report for a terminal, a pipe or a file. Nothing in it moves; it ends with the answer and a line end.
    pub fn to_text(&self, style: &TextStyle) -> String {
        if style.depth == Depth::Full {
            return self.with(&Shown { fixes: usize::MAX, not_said: usize::MAX }, style);
        }
        let [fullest, less @ ..] = SHOWN;
        let mut text = self.with(&fullest, style);
        for shown in less {
            if text.lines().count() <= SCREEN_LINES {
                break;
            }
            text = self.with(&shown, style);
        }
        text
    }

    fn with(&self, shown: &Shown, style: &TextStyle) -> String {
        let columns = style.columns();
        let mut out = String::new();
        answer(&mut out, self, style);
        let facts: Vec<String> = self.facts.iter().map(|f| unbroken(&clean(f))).collect();
        out.push_str(&hanging("", &facts.join(" · "), columns));
        findings(&mut out, &self.findings, style);
        let full = style.depth == Depth::Full;
        if let Some(brief) = self.brief.as_ref().filter(|_| !full) {
            out.push_str(&table::render(brief, style));
        }
        for sentence in self.verdict.summary.iter().chain(self.verdict.also.iter().filter(|_| full)) {
            out.push_str(&hanging("", &clean(sentence), columns));
        }
        fixes(&mut out, &self.fixes[..shown.fixes.min(self.fixes.len())], style);
        if full {
            sections(&mut out, self, style);
        }
        let not_said = &self.not_said[..shown.not_said.min(self.not_said.len())];
        if !not_said.is_empty() {
            let sentences: Vec<String> = not_said.iter().map(|s| clean(s)).collect();
            out.push_str(&hanging("", &format!("What this does not say: {}", sentences.join(" ")), columns));
        }
        let more =
            [(self.fixes.len(), shown.fixes, "fix", "fixes"), (self.not_said.len(), shown.not_said, "limit", "limits")];
        out.push_str(&on_the_page(&more));
        if let Some(page) = &self.page {
            // a path is never broken: it is there to be copied
            out.push_str(&format!("Report: {}\n", clean(page)));
        }
        style.finish(&out)
    }
}

/// How much a text says of what has no end.
struct Shown {
    /// Changes, the most useful first.
    fixes: usize,
    /// Sentences of what the report does not say, the weightiest first.
    not_said: usize,
}

/// A short text is read at a glance: this much of a terminal.
const SCREEN_LINES: usize = 25;
/// Contents of a short text: the first of these that fits on a screen, or the last.
const SHOWN: [Shown; 4] = [
    Shown { fixes: 2, not_said: 2 },
    Shown { fixes: 2, not_said: 1 },
    Shown { fixes: 1, not_said: 1 },
    Shown { fixes: 1, not_said: 0 },
];

/// Parts that a short text leaves to the page: `(there, shown, one, several)`.
fn on_the_page(parts: &[(usize, usize, &str, &str)]) -> String {
    let left = parts.iter().map(|(there, shown, one, several)| (there.saturating_sub(*shown), one, several));
    let left = left.filter(|(count, ..)| *count > 0);
    let words: Vec<String> =
        left.map(|(n, one, more)| format!("{n} more {}", if n == 1 { one } else { more })).collect();
    if words.is_empty() { String::new() } else { format!("In the report: {}.\n", words.join(", ")) }
}

/// Status, subject, what was seen, margin: in columns where they fit, else one below the other. A short text leaves a margin
/// out that is in the way of that.
fn findings(out: &mut String, findings: &[Finding], style: &TextStyle) {
    let text = |f: &Finding, i: usize| clean([&f.subject, &f.measured, &f.margin][i]);
    let widest = |i: usize| findings.iter().map(|f| width(&text(f, i))).max().unwrap_or(0);
    let (word, subject, measured) = (9, widest(0), widest(1));
    let bare = 2 + word + subject + 3 + measured;
    let whole = bare + 3 + widest(2) <= style.columns();
    let fits = whole || (style.depth == Depth::Answer && bare <= style.columns());
    let part = |f: &Finding, i: usize| if i < 2 || whole || !fits { text(f, i) } else { String::new() };
    for f in findings {
        let status = style.paint(answer_tone(f.answer), &pad(f.answer.finding_word(), word, false));
        if fits {
            let (a, b) = (pad(&part(f, 0), subject + 3, false), pad(&part(f, 1), measured + 3, false));
            out.push_str(format!("  {status}{a}{b}{}", part(f, 2)).trim_end());
            out.push('\n');
        } else {
            let lead = " ".repeat(2 + word);
            let subject = hanging(&lead, &part(f, 0), style.columns());
            out.push_str(&format!("  {status}{}", subject.strip_prefix(&lead).unwrap_or(&subject)));
            let rest: Vec<String> = [part(f, 1), part(f, 2)].into_iter().filter(|t| !t.is_empty()).collect();
            out.push_str(&hanging(&lead, &rest.join(" · "), style.columns()));
        }
    }
}

/// Numbered; the command at the right edge where there is room, else below.
fn fixes(out: &mut String, fixes: &[Fix], style: &TextStyle) {
    let how = |f: &Fix| clean(if f.is_command { &f.how } else { "advice" });
    let right = fixes.iter().map(|f| width(&how(f))).max().unwrap_or(0);
    let beside = style.columns() >= right + 60;
    let left = if beside { style.columns() - right - 2 } else { style.columns() };
    for (i, fix) in fixes.iter().enumerate() {
        let how = how(fix);
        let advice = if fix.is_command { "" } else { fix.how.as_str() };
        let sentences = [fix.what.as_str(), fix.gain.as_str(), advice].map(clean);
        let text = sentences.iter().filter(|s| !s.is_empty()).cloned().collect::<Vec<_>>().join(" ");
        let number = format!("{:>3}  ", i + 1);
        for (row, line) in wrap(&text, left - 5).iter().enumerate() {
            let lead = if row == 0 { number.as_str() } else { "     " };
            let last = if row == 0 && beside { how.as_str() } else { "" };
            out.push_str(&format!("{}{last}\n", pad(&format!("{lead}{line}"), left + 2, false)));
        }
        if !beside && fix.is_command {
            out.push_str(&hanging("     ", &how, style.columns()));
        }
    }
}

fn sections(out: &mut String, report: &Report, style: &TextStyle) {
    for section in &report.sections {
        for line in hanging("", &clean(&section.title), style.columns()).lines() {
            out.push_str(&format!("\n{}\n", style.paint(Tone::Strong, line)));
        }
        if !section.lead.is_empty() {
            out.push_str(&hanging("", &clean(&section.lead), style.columns()));
        }
        for drawing in &section.drawings {
            let line = format!("{}: {}", drawing.caption, topology::to_line(&drawing.topology));
            out.push_str(&hanging("  ", &clean(&line), style.columns()));
        }
        for figure in &section.figures {
            out.push_str(&format!("\n{}", plot::render(figure, style)));
        }
        for t in &section.tables {
            out.push_str(&format!("\n{}{}", hanging("", &clean(&t.title), style.columns()), table::render(t, style)));
            if !t.note.is_empty() {
                out.push_str(&hanging("  ", &clean(&t.note), style.columns()));
            }
        }
    }
    out.push('\n');
}

/// `No: an N200 at 25 + 25 MS/s does not hold on this host.`
pub(super) fn answer(out: &mut String, report: &Report, style: &TextStyle) {
    let word = report.verdict.answer.verdict_word();
    let text = hanging("", &format!("{word}: {}", clean(&report.verdict.headline)), style.columns());
    let (_, rest) = text.split_at(word.len());
    out.push_str(&style.paint(answer_tone(report.verdict.answer), word));
    out.push_str(rest);
}

/// A fact stays on one line.
pub(super) fn unbroken(fact: &str) -> String {
    if width(fact) < 40 { fact.replace(' ', "\u{a0}") } else { fact.to_owned() }
}
