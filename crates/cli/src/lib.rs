//! takt: will this host keep up with a radio?
//!
//! The program parses, calls one function of a crate and renders what comes back; it measures and decides nothing
//! itself. A command is one file in `command/`: its arguments, its call; `screen.rs` of the crate that measures has its text. The
//! result begins with the answer, and the exit status says the same: 0 done and good, 1 done and the answer is no, 2 could not be done, or it is
//! not known.
#![forbid(unsafe_code)]

mod answer;
mod bar;
mod columnar;
mod command;
mod costs;
mod hdr_log;
mod live;
mod old_flags;
mod output;
mod place;
mod policy;
mod problem;
mod radio_args;
mod radio_problem;
#[cfg(test)]
mod reference;
mod screen;
mod signals;
mod soapy;
mod streams;
mod warnings;
mod waveform;
mod wrong_address;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use takt_base::plain::acts;

// Nearly every command needs these, by the name of the crate.
use crate::answer::Answer;
use crate::bar::Bar;
use crate::hdr_log::HdrLogArgs;
use crate::live::LiveArgs;
use crate::output::Output;
use crate::problem::Problem;
use crate::signals::stop_on_signal;
use crate::streams::Ink;

/// Will this host keep up with a radio? Measures every layer between an Ethernet radio and its application.
#[derive(Debug, Parser)]
#[command(name = "takt", version, max_term_width = 110, propagate_version = true)]
#[command(after_help = "Start with: takt check --quick")]
struct Program {
    #[command(subcommand)]
    command: command::Command,

    /// Print one JSON document on standard output instead of text.
    #[arg(long, global = true)]
    json: bool,
}

/// All commands, as clap describes them: manual pages and completions are made from these.
#[must_use]
pub fn commands() -> clap::Command {
    Program::command()
}

/// The program. A binary of one's own with components of one's own is this one line:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     takt::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    // This process may be the one that a component of a waveform was isolated in.
    takt_runtime::isolated::serve_if_asked();
    problem::install();
    warnings::show();
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => {
            let typed: Vec<_> = std::env::args_os().collect();
            if let Some(problem) = old_flags::problem(&error, &typed).or_else(|| wrong_address::problem(&error)) {
                Output::new(false).error(&problem.into());
                return ExitCode::from(2);
            }
            print(&error);
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let output = Output::new(program.json);
    match program.command.run(&output) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Ok(Answer::Unknown) => ExitCode::from(2),
        Err(report) => {
            output.error(&report);
            ExitCode::from(2)
        }
    }
}

/// Help and version are answers, a wrong flag is an error; clap knows which stream each goes to. It repeats what was typed, or put
/// into a script: colours are for what has nothing in it that acts.
fn print(error: &clap::Error) {
    if std::env::args_os().any(|argument| argument.to_string_lossy().contains(acts)) {
        streams::err(&error.render().to_string(), Ink::None);
    } else {
        let _ = error.print();
    }
}
