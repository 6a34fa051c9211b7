//! The reference page of all commands, which a test compares with what `-h` prints; and the defaults of flags.

use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory};
use takt_emulator::emulate;
use takt_load::rate;
use takt_radio::calibration::CalibrationUse;
use takt_testing::prose::in_markdown;
use takt_wakeup::WakeupOptions;

use crate::Program;

const WIDTH: usize = 100;

fn page() -> String {
    let mut program = Program::command();
    program.build();
    let mut text = String::from(
        "# Commands\n\nThis page has the output of `takt COMMAND -h`. `--help` says more about some flags. \
         A test compares the page with the program (`TAKT_BLESS=1 cargo test -p takt reference` rewrites it).\n\n\
         Every command ends with one of these exit statuses:\n\n\
         - 0: done, and the answer is yes\n\
         - 1: done, and the answer is no\n\
         - 2: the command failed (takt prints the reason and the fix), or the answer is not known\n\n\
         Nothing that takt prints can control your terminal. takt prints control characters in names, files, records and \
         replies as `\\u001b` and the like, also with `--json`.\n",
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
    // An experiment's rounds depend on no file of the host that runs them; a person's do.
    let usual = rate::RateOptions { calibration: CalibrationUse::Uhd, ..rate::RateOptions::default() };
    assert_eq!(without_flags::<rate::RateOptions>(), usual);
    assert_eq!(without_flags::<WakeupOptions>(), WakeupOptions::default());
    assert_eq!(without_flags::<emulate::EmulatorOptions>(), emulate::EmulatorOptions::default());
}

/// The help of a command, of its flags, and of the commands in it, each with the place where it stands.
fn helps(command: &Command, name: &str) -> Vec<(String, String)> {
    let own = [command.get_about(), command.get_long_about()].into_iter().flatten().map(ToString::to_string);
    let mut found: Vec<_> = own.map(|text| (name.to_owned(), text)).collect();
    for flag in command.get_arguments() {
        let texts = [flag.get_help(), flag.get_long_help()].into_iter().flatten();
        found.extend(texts.map(|text| (format!("{name} {flag}"), text.to_string())));
    }
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    found.extend(inner.flat_map(|inner| helps(inner, &format!("{name} {}", inner.get_name()))));
    found
}

#[test]
fn every_help_text_reads_well() {
    let mut program = Program::command();
    program.build();
    let mut bad = String::new();
    for (place, text) in helps(&program, "takt") {
        for finding in in_markdown(&text) {
            let _ = writeln!(bad, "{place}: {}: {}", finding.why, finding.sentence);
        }
    }
    assert!(bad.is_empty(), "rewrite these:\n{bad}");
}
