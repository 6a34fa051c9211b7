//! A flag whose value is not an IP address, told in the form of the program's other errors.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};
use takt_base::AddressError;

use crate::Problem;

/// The problem with the address, and what to type; `None` for any other error.
pub fn problem(error: &clap::Error) -> Option<Problem> {
    let address = error.source()?.downcast_ref::<AddressError>()?;
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    // clap names the value behind the flag: `--addr <ADDR>`.
    let flag = argument.split(' ').next().unwrap_or(argument);
    Some(Problem::caused(format!("can't use this value of {flag}"), address.clone(), AddressError::fix))
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use super::*;
    use crate::Program;

    fn said(words: &[&str]) -> Option<String> {
        let error = Program::try_parse_from(words).expect_err("a wrong value");
        crate::problem::install();
        Some(format!("{:?}", miette::Report::new(problem(&error)?)))
    }

    /// The words that lead to each command with a flag `--addr`.
    fn with_address(command: &Command, words: &[String]) -> Vec<Vec<String>> {
        let has = command.get_arguments().any(|flag| flag.get_long() == Some("addr"));
        let own = has.then(|| words.to_vec());
        let inner = command.get_subcommands();
        let inner = inner.flat_map(|inner| with_address(inner, &[words, &[inner.get_name().to_owned()]].concat()));
        own.into_iter().chain(inner).collect()
    }

    #[test]
    fn a_wrong_address_is_answered_with_an_example_and_the_fix() {
        assert_eq!(
            said(&["takt", "rate", "--rx", "1M", "--addr", "1.2.3"]).expect("an address"),
            "error: can't use this value of --addr\n  \
             why   `1.2.3` is not an IP address such as 192.168.10.2\n  \
             fix   give four numbers from 0 to 255, such as 192.168.10.2\n"
        );
        assert_eq!(said(&["takt", "rate", "--rx", "fast", "--addr", "127.0.0.1"]), None);
    }

    #[test]
    fn every_command_with_an_address_says_so() {
        let commands = with_address(&Program::command(), &["takt".to_owned()]);
        assert!(commands.len() >= 11, "{commands:?}");
        for command in commands {
            let typed: Vec<&str> = command.iter().map(String::as_str).chain(["--addr", "radio.lab"]).collect();
            let said = said(&typed).unwrap_or_else(|| panic!("{typed:?} is refused in clap's words"));
            assert!(said.contains("`radio.lab` is not an IP") && said.contains("getent ahostsv4 radio.lab"), "{said}");
        }
    }
}
