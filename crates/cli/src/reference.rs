//! The reference page of all commands: what `-h` says, on one page, kept in step by a test; and what flags are by default.

use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory};
use takt_emulator::emulate;
use takt_load::{rate, wakeup};

use crate::Program;

const WIDTH: usize = 100;

fn page() -> String {
    let mut program = Program::command();
    program.build();
    let mut text = String::from(
        "# Commands\n\nWhat `takt COMMAND -h` says; `--help` says more where there is more. Generated from the program; a test keeps it in step \
         (`TAKT_BLESS=1 cargo test -p takt reference` rewrites it).\n\nExit status of every command: 0 done and good, 1 done \
         and the answer is no, 2 could not be done, with the reason and the fix.\n\nNothing that takt prints commands a terminal. \
         Characters of others that would act, in names, files, records and replies, are printed as `\\u001b` and the like, also with `--json`.\n",
    );
    for command in program.get_subcommands() {
        section(&mut text, command, "takt");
    }
    text
}

fn section(text: &mut String, command: &Command, parent: &str) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = format!("{parent} {}", command.get_name());
    let help = command.clone().term_width(WIDTH).render_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for inner in command.get_subcommands() {
        section(text, inner, &name);
    }
}

/// The page has all commands, those of clusters too.
#[test]
#[cfg_attr(not(feature = "cluster"), ignore = "the page is that of --features cluster")]
fn the_reference_page_is_in_step_with_the_program() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    if std::env::var_os("TAKT_BLESS").is_some() {
        std::fs::write(path, page()).expect("docs are there");
    }
    let on_disk = std::fs::read_to_string(path).expect("docs/reference/cli.md");
    assert!(on_disk == page(), "docs/reference/cli.md is out of step; TAKT_BLESS=1 rewrites it");
}

/// Options as flags, of which none was given.
fn without_flags<T: Args>() -> T {
    let matches = T::augment_args(Command::new("test")).get_matches_from(["test"]);
    T::from_arg_matches(&matches).expect("nothing is required")
}

#[test]
fn without_flags_options_are_the_usual_ones() {
    assert_eq!(without_flags::<rate::Options>(), rate::Options::default());
    assert_eq!(without_flags::<wakeup::Options>(), wakeup::Options::default());
    assert_eq!(without_flags::<emulate::Options>(), emulate::Options::default());
}
