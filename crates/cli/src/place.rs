//! An error that points into a file, made plain before miette draws and colours it.

use std::error::Error;
use std::fmt;
use std::path::Path;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use takt_base::plain::{acts, one_line, plain};

/// More lines than any file has that takt reads, which have a size each.
const ALL_LINES: usize = 1 << 24;

/// A copy of an error, of its causes and of the file that it points into.
#[derive(Debug)]
pub struct Misplaced {
    what: String,
    why: Option<Box<Cause>>,
    fix: Option<String>,
    labels: Vec<LabeledSpan>,
    file: NamedSource<String>,
}

impl Misplaced {
    /// `None` for an error that points into no file.
    pub fn of(error: &dyn Diagnostic) -> Option<Misplaced> {
        let label = |label: LabeledSpan| {
            let text = label.label().map(|text| plain(text).into_owned());
            LabeledSpan::new_with_span(text, *label.inner())
        };
        let file = file(error.source_code()?);
        let what = plain(&error.to_string()).into_owned();
        let name = Path::new(file.name()).file_name().map(|name| format!("{}: ", name.to_string_lossy()));
        Some(Misplaced {
            what: name.unwrap_or_default() + &what,
            file,
            why: error.source().map(Cause::of),
            fix: error.help().map(|help| plain(&help.to_string()).into_owned()),
            labels: error.labels().into_iter().flatten().map(label).collect(),
        })
    }
}

/// The whole file; each character keeps its bytes, as labels count these.
fn file(code: &dyn SourceCode) -> NamedSource<String> {
    let Ok(all) = code.read_span(&SourceSpan::from(0..0), 0, ALL_LINES) else {
        return NamedSource::new("", String::new());
    };
    // A carriage return before a line feed is part of the line's end, which is not drawn.
    let lines = String::from_utf8_lossy(all.data());
    let lines = lines.split_inclusive("\r\n").map(|line| match line.strip_suffix("\r\n") {
        Some(line) => line.chars().map(inert).chain(['\r', '\n']).collect(),
        None => line.chars().map(inert).collect::<String>(),
    });
    NamedSource::new(one_line(all.name().unwrap_or_default()), lines.collect::<String>())
}

/// A sign of as many bytes as a character that acts.
fn inert(c: char) -> char {
    match (acts(c) && !matches!(c, '\n' | '\t'), c.len_utf8()) {
        (false, _) => c,
        (true, 1) => '?',
        (true, 2) => '\u{bf}',
        (true, _) => char::REPLACEMENT_CHARACTER,
    }
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for Misplaced {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.why.as_deref().map(|why| why as &dyn Error)
    }
}

impl Diagnostic for Misplaced {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fix.as_ref().map(|fix| Box::new(fix) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.file)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// A cause, and those behind it.
#[derive(Debug)]
struct Cause {
    text: String,
    why: Option<Box<Cause>>,
}

impl Cause {
    fn of(error: &dyn Error) -> Box<Cause> {
        Box::new(Cause { text: plain(&error.to_string()).into_owned(), why: error.source().map(Cause::of) })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.why.as_deref().map(|why| why as &dyn Error)
    }
}

#[cfg(test)]
mod tests {
    use miette::{GraphicalReportHandler, GraphicalTheme, miette};

    use super::*;

    const EVIL: &str = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";

    #[test]
    fn what_is_drawn_acts_nowhere_and_points_where_it_did() {
        // As the program does before anything else: the first to draw an error says how all are drawn.
        crate::problem::install();
        let text = format!("# {EVIL}\r\nbad = 1 # {EVIL}\n");
        let at = text.find("bad").expect("it is there");
        let label = LabeledSpan::at(at..at + 3, format!("no such key {EVIL}"));
        let report = miette!(labels = vec![label], help = format!("omit {EVIL}"), "unknown key {EVIL}")
            .with_source_code(NamedSource::new(format!("{EVIL}.toml"), text));
        let place = Misplaced::of(report.as_ref()).expect("it points into a file");
        for colours in [false, true] {
            let theme = if colours { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
            let mut drawn = String::new();
            GraphicalReportHandler::new_themed(theme).render_report(&mut drawn, &place).expect("a string takes it");
            let shown = takt_base::plain::plain_but_colours(&drawn);
            assert_eq!(shown, drawn, "nothing but colours");
            assert_eq!(drawn.contains('\u{1b}'), colours, "{drawn}");
            assert!(drawn.contains("unknown key \\u001b]0;x\\u0007\\u009b2J\\u202e"), "{drawn}");
            assert!(drawn.contains(".toml:2:1") && drawn.contains("bad"), "{drawn}");
        }
    }

    #[test]
    fn a_character_that_acts_keeps_its_bytes() {
        for c in ('\0'..=char::MAX).filter(|&c| acts(c) && !matches!(c, '\n' | '\t')) {
            assert!(!acts(inert(c)) && inert(c).len_utf8() == c.len_utf8(), "{c:?}");
        }
    }
}
