//! Flags that a command does not have, and what has their place: a former name, or the name that another command uses.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::Problem;

struct Renamed {
    /// As it is typed after `takt`.
    command: &'static [&'static str],
    old: &'static str,
    /// Each with a value and what it is for, as in a fix.
    new: &'static [&'static str],
}

const RENAMED: [Renamed; 4] = [
    Renamed {
        command: &["rate"],
        old: "--rate",
        new: &["give --rx 25M   (to receive)", "give --tx 25M   (to transmit)"],
    },
    Renamed { command: &["rate"], old: "--format", new: &["give --wire sc8"] },
    Renamed { command: &["udp", "send"], old: "--rate", new: &["give --bitrate 100M"] },
    Renamed { command: &["stops"], old: "-d", new: &["give -t 10min"] },
];

/// Says what has the place of a flag that is not there; `None` for any other error. clap's own guess is of nearness alone.
pub fn problem(error: &clap::Error, typed: &[OsString]) -> Option<Problem> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let is_typed =
        |words: &[&str]| words.iter().enumerate().all(|(n, word)| typed.get(n + 1).is_some_and(|t| t == word));
    let Renamed { command, old, new } =
        RENAMED.iter().find(|renamed| renamed.old == flag && is_typed(renamed.command))?;
    Some(Problem::new(format!("`takt {}` has no {old}", command.join(" "))).fix(new.join("\n")))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Program;

    fn refused(words: &[&str]) -> Option<String> {
        let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
        let error = Program::try_parse_from(words).expect_err("a flag that is not there");
        crate::problem::install();
        Some(format!("{:?}", miette::Report::new(problem(&error, &typed)?)))
    }

    #[test]
    fn an_old_name_is_answered_with_the_new_one() {
        let said = |words: &[&str]| refused(words).expect("a known slip");
        assert_eq!(
            said(&["takt", "rate", "--rate", "25M"]),
            "error: `takt rate` has no --rate\n  fix   give --rx 25M   (to receive)\n  or    give --tx 25M   (to \
             transmit)\n"
        );
        assert_eq!(
            said(&["takt", "rate", "--rx", "1M", "--format", "sc8"]),
            "error: `takt rate` has no --format\n  fix   give --wire sc8\n"
        );
        assert_eq!(
            said(&["takt", "udp", "send", "--addr", "127.0.0.1", "--rate", "1M"]),
            "error: `takt udp send` has no --rate\n  fix   give --bitrate 100M\n"
        );
        assert_eq!(said(&["takt", "stops", "-d", "10min"]), "error: `takt stops` has no -d\n  fix   give -t 10min\n");
        assert_eq!(refused(&["takt", "rate", "--no-such-flag"]), None);
    }

    #[test]
    fn new_names_are_there_and_old_ones_are_not() {
        for Renamed { command, old, new } in RENAMED {
            let mut at = Program::command();
            for word in command {
                at = at.find_subcommand(word).expect("a command").clone();
            }
            let names = |flag: &clap::Arg| {
                let long = flag.get_long().map(|long| format!("--{long}"));
                let short = flag.get_short().map(|short| format!("-{short}"));
                long.into_iter().chain(short).collect::<Vec<_>>()
            };
            let names: Vec<String> = at.get_arguments().flat_map(names).collect();
            let is_there = |new: &&str| names.iter().any(|name| new.split(' ').nth(1) == Some(name.as_str()));
            assert!(new.iter().all(is_there) && names.iter().all(|name| name != old), "{command:?} {names:?}");
        }
    }
}
