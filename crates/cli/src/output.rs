//! Standard output and standard error, as the reader wants them: text or JSON, terminal or pipe.

use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;

use rustix::termios::tcgetwinsize;
use serde::Serialize;
use takt_page::{Depth, Screen, TextStyle};

use crate::streams::{self, Ink};
use crate::{Answer, Problem};

/// Writes a text to a file.
pub fn write(path: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(path, text).map_err(|error| Problem::new(format!("{} can't be written", path.display())).why(error))
}

/// Streams to which a command prints. A reader who has left (broken pipe) is not an error.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    json: bool,
    terminal: bool,
}

impl Output {
    /// `json`: one document on standard output and nothing else there.
    pub fn new(json: bool) -> Output {
        Output { json, terminal: stdout().is_terminal() }
    }

    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// Whether something that moves (a progress bar) may be drawn on standard error.
    pub fn may_draw(&self) -> bool {
        self.terminal && !self.json && stderr().is_terminal()
    }

    /// Prints a line at once, also into a pipe: the reader may wait for `ready`.
    pub fn line(&self, text: impl AsRef<str>) {
        let _ = streams::out(&format!("{}\n", text.as_ref()), Ink::None);
    }

    /// A line for people on standard error: progress, warnings.
    pub fn note(&self, text: impl AsRef<str>) {
        streams::err(&format!("{}\n", text.as_ref()), Ink::None);
    }

    /// Prints the JSON document if the reader requested JSON, else the text.
    /// Errors: the value can't be written as JSON (a map with keys that are no strings).
    pub fn result<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> miette::Result<()> {
        self.print(value, text, Ink::None)
    }

    /// [`result`](Self::result), whose text `takt_page` has drawn: it may have colours.
    pub fn drawn<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> miette::Result<()> {
        self.print(value, text, Ink::Colours)
    }

    /// [`drawn`](Self::drawn), of a document that is JSON already.
    pub fn drawn_document(&self, document: &str, text: impl FnOnce() -> String) {
        if self.json { self.line(document) } else { self.write_text(&text(), Ink::Colours) }
    }

    fn print<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String, ink: Ink) -> miette::Result<()> {
        if self.json {
            let document = serde_json::to_string_pretty(value).map_err(|e| miette::miette!("JSON: {e}"))?;
            self.line(document);
        } else {
            self.write_text(&text(), ink);
        }
        Ok(())
    }

    fn write_text(&self, text: &str, ink: Ink) {
        let ink = if self.may_draw() { ink } else { Ink::None };
        let _ = streams::out(&format!("{}\n", text.trim_end()), ink);
    }

    /// [`result`](Self::result), and the exit status that goes with it.
    pub fn answer<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce() -> String,
        then: Answer,
    ) -> miette::Result<Answer> {
        self.result(value, text).map(|()| then)
    }

    /// [`result`](Self::result) of what the command prints, as wide as the terminal is; the rest too if `explain`.
    pub fn screen<T: Serialize>(
        &self,
        value: &T,
        screen: impl FnOnce() -> Screen,
        explain: bool,
        then: Answer,
    ) -> miette::Result<Answer> {
        self.drawn(value, || self.text(&screen(), explain)).map(|()| then)
    }

    /// As [`screen`](Self::screen) prints it.
    pub fn text(&self, screen: &Screen, explain: bool) -> String {
        screen.to_text(&TextStyle { depth: if explain { Depth::Full } else { Depth::Answer }, ..self.style() })
    }

    /// Abilities of this terminal; 100 columns where it is none, or does not say.
    pub fn style(&self) -> TextStyle {
        let usual = TextStyle::default();
        let size = tcgetwinsize(stdout()).ok().filter(|size| self.terminal && size.ws_col > 0);
        TextStyle { colour: self.may_draw(), width: size.map_or(usual.width, |size| size.ws_col.into()), ..usual }
    }

    /// Says on standard error why a command could not be carried out; with `--json` also as a document.
    pub fn error(&self, report: &miette::Report) {
        if self.json {
            let causes: Vec<String> = report.chain().skip(1).map(ToString::to_string).collect();
            let document = serde_json::json!({
                "error": report.to_string(),
                "why": causes,
                "fix": report.help().map(|h| h.to_string()),
            });
            self.line(document.to_string());
        }
        // The handler makes plain what it draws (`problem.rs`).
        streams::err(&format!("{report:?}"), if stderr().is_terminal() { Ink::Colours } else { Ink::None });
    }
}
