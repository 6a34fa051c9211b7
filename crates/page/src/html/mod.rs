//! A report as one HTML file: no script, nothing loaded from elsewhere, readable in print, in the dark and aloud.

mod beside;
mod parts;
mod tables;

use std::fmt::Write as _;

use crate::xml::Escaped as E;
use crate::{Report, palette, svg};

/// Layout and type of the page; colours come from the palette, figures bring their own rules.
const STYLE: &str = include_str!("page.css");

impl Report {
    /// The whole report as one self-contained page.
    ///
    /// Every link leads to a place inside the page or to data inside the page; a policy in its head forbids all else,
    /// so that nothing a record contains can make a reader's browser fetch or run anything.
    pub fn to_html(&self) -> String {
        let mut page = String::new();
        head(&mut page, self);
        parts::verdict(&mut page, self);
        page.push_str("<main>\n");
        let first = self.figures().next();
        parts::first_screen(&mut page, self, first);
        parts::findings(&mut page, self);
        parts::summary(&mut page, self);
        for section in &self.sections {
            parts::section(&mut page, section, first);
        }
        parts::not_said(&mut page, self);
        parts::host(&mut page, self);
        tables::records(&mut page, self);
        page.push_str("</main>\n");
        parts::provenance(&mut page, self);
        page.push_str("</body>\n</html>\n");
        page
    }
}

fn head(page: &mut String, report: &Report) {
    let answer = report.verdict.answer.verdict_word();
    preamble(page, &format!("{}: {answer} ({})", report.title, report.run));
}

/// Head of a page with this title, and the start of its body.
fn preamble(page: &mut String, title: &str) {
    let title = E(title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{}\n{STYLE}\n{}</style>\n</head>\n<body>\n",
        palette::css(),
        svg::STYLE
    );
}
