//! Errors as people read them: what, why, the fix, and what else would work.
//!
//! ```text
//! error: an N200 can't stream at 22 MS/s
//!   why   22 MS/s is not 100 MHz divided by a whole number (100 / 22 = 4.55)
//!   fix   give --rx 20M (divide by 5)  or  give --rx 25M (divide by 4)
//! ```
//!
//! Crates say what went wrong as types; a command turns them into a [`Problem`], because only it knows which flag fixes
//! it. Below an error that points into a file, miette draws the place.

use std::error::Error;
use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ReportHandler};
use takt_base::plain::plain;
use takt_host::call::{self, WITH_SUDO};

use crate::place::Misplaced;

/// Draws every error of the program in the form above.
pub fn install() {
    // Only a second call can be refused, and main calls once.
    let _ = miette::set_hook(Box::new(|_| Box::new(Handler)));
}

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
pub struct Problem {
    what: String,
    #[source]
    why: Option<Box<dyn Error + Send + Sync>>,
    #[help]
    fix: Option<String>,
}

impl Problem {
    /// A problem in the words of who requested it: `an N200 can't stream at 22 MS/s`.
    pub fn new(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), why: None, fix: None }
    }

    /// The cause, with its own causes behind it.
    #[must_use]
    pub fn why(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Problem {
        self.why = Some(cause.into());
        self
    }

    /// Adds advice; a further line is an alternative. If a library's fix says that the same call needs root's rights,
    /// it becomes that call.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Problem {
        let fix = fix.into();
        self.fix = Some(match call::sudo_again() {
            Some(command) => fix.replace(WITH_SUDO, &command),
            None => fix,
        });
        self
    }

    /// `what` could not be done because of `error`, whose `fix` says what to do.
    pub fn caused<E, F>(what: impl Into<String>, error: E, fix: impl FnOnce(&E) -> F) -> Problem
    where
        E: Error + Send + Sync + 'static,
        F: Into<Option<String>>,
    {
        let fix = fix(&error).into();
        let problem = Problem::new(what).why(error);
        match fix {
            Some(fix) => problem.fix(fix),
            None => problem,
        }
    }
}

struct Handler;

impl ReportHandler for Handler {
    fn debug(&self, error: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Others' text is in all of it, and colours come around it.
        if let Some(place) = Misplaced::of(error) {
            return f.write_str(&drawn(&place)?);
        }
        writeln!(f, "error: {}", plain(&error.to_string()))?;
        let mut cause = error.source();
        while let Some(why) = cause {
            aligned(f, "why", &why.to_string())?;
            cause = why.source();
        }
        if let Some(help) = error.help() {
            for (n, line) in help.to_string().lines().enumerate() {
                aligned(f, if n == 0 { "fix" } else { "or" }, line)?;
            }
        }
        Ok(())
    }
}

/// `error: FILE: what`, the place, and what is known besides.
fn drawn(place: &Misplaced) -> Result<String, fmt::Error> {
    let mut theme = GraphicalTheme::default();
    "error:".clone_into(&mut theme.characters.error);
    let mut drawn = String::new();
    GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).render_report(&mut drawn, place)?;
    Ok(drawn.trim_start().to_owned())
}

fn aligned(f: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    let text = plain(text);
    let mut lines = text.lines();
    writeln!(f, "  {label:<5} {}", lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(f, "        {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_a_file_names_the_file_and_shows_the_place() {
        install();
        let label = miette::LabeledSpan::at(0..3, "use one of: name, slot");
        let report = miette::miette!(labels = vec![label], "unknown key `bad` in the file")
            .with_source_code(miette::NamedSource::new("some/where/bad.toml", "bad = 1\n".to_owned()));
        let drawn = format!("{report:?}");
        assert!(drawn.starts_with("error: bad.toml: unknown key `bad` in the file\n"), "{drawn}");
        assert!(drawn.contains("some/where/bad.toml:1:1") && drawn.contains("use one of: name, slot"), "{drawn}");
    }

    #[test]
    fn a_problem_shows_what_why_and_the_ways_out() {
        install();
        let cause = std::io::Error::other("22 MS/s is not 100 MHz divided by a whole number (100 / 22 = 4.55)");
        let problem = Problem::new("an N200 can't stream at 22 MS/s")
            .why(cause)
            .fix("give --rx 20M (divide by 5)\ngive --rx 25M (divide by 4)");
        let drawn = format!("{:?}", miette::Report::new(problem));
        assert_eq!(
            drawn,
            "error: an N200 can't stream at 22 MS/s\n  \
             why   22 MS/s is not 100 MHz divided by a whole number (100 / 22 = 4.55)\n  \
             fix   give --rx 20M (divide by 5)\n  or    give --rx 25M (divide by 4)\n"
        );
    }
}
