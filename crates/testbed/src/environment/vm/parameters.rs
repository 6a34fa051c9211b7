//! Parameters of a guest's kernel on its command line: words of a list, since any other could take the guest's console, its
//! first process or its modules away (Linux, Documentation/admin-guide/kernel-parameters.txt).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use takt_base::nearest;

/// Words for the command line of a guest's kernel, each at most once. As text they are joined by spaces, and `none` is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Parameters([bool; WORDS.len()]);

/// Effects on wake-ups: sleeps end at clock ticks, the clock ticks while nobody needs it, where the kernel may be
/// pre-empted, and interrupts are handled by threads.
const WORDS: [&str; 6] = ["highres=off", "nohz=off", "preempt=none", "preempt=voluntary", "preempt=full", "threadirqs"];
const NONE: &str = "none";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a parameter for a guest's kernel: {remedy}")]
pub struct ParametersError {
    word: String,
    pub remedy: String,
}

impl Parameters {
    /// Every word there is, joined.
    #[must_use]
    pub fn known(between: &str) -> String {
        WORDS.join(between)
    }

    /// As they stand on a command line, a space before each.
    pub(super) fn command_line(self) -> String {
        self.words().map(|word| format!(" {word}")).collect()
    }

    /// Those that a kernel was started with, from its `/proc/cmdline`; of others takt's own guests have none.
    #[must_use]
    pub fn in_command_line(text: &str) -> Parameters {
        Parameters(WORDS.map(|known| text.split_whitespace().any(|word| word == known)))
    }

    fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.into_iter().zip(self.0).filter_map(|(word, has)| has.then_some(word))
    }

    /// The word that sets the same to something else.
    fn rival(self, word: &str) -> Option<&'static str> {
        let key = |word: &str| word.split('=').next().map(str::to_owned);
        self.words().find(|other| key(other) == key(word))
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words().collect::<Vec<_>>().join(" ") {
            none if none.is_empty() => f.write_str(NONE),
            words => f.write_str(&words),
        }
    }
}

impl FromStr for Parameters {
    type Err = ParametersError;

    fn from_str(text: &str) -> Result<Parameters, ParametersError> {
        let mut parameters = Parameters::default();
        let wrong = |word: &str, remedy| ParametersError { word: word.to_owned(), remedy };
        if text == NONE {
            return Ok(parameters);
        }
        for word in text.split_whitespace() {
            let Some(index) = WORDS.iter().position(|known| *known == word) else {
                return Err(wrong(word, remedy(word)));
            };
            if let Some(rival) = parameters.rival(word) {
                return Err(wrong(word, format!("{rival} is already there")));
            }
            if let Some(has) = parameters.0.get_mut(index) {
                *has = true;
            }
        }
        match parameters == Parameters::default() {
            true => Err(wrong(text, remedy(text))),
            false => Ok(parameters),
        }
    }
}

fn remedy(word: &str) -> String {
    match nearest(word, WORDS) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("give {NONE}, or any of: {}", Parameters::known(", ")),
    }
}

kept_as_text!(Parameters, ParametersError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_order_and_written_in_one() {
        for (text, written) in
            [("none", "none"), ("nohz=off highres=off", "highres=off nohz=off"), ("  preempt=full ", "preempt=full")]
        {
            let parameters: Parameters = text.parse().unwrap();
            assert_eq!(parameters.to_string(), written);
            assert_eq!(serde_json::to_value(parameters).unwrap(), written);
        }
    }

    #[test]
    fn what_is_not_on_the_list_or_contradicts_itself_is_refused_with_a_remedy() {
        for (text, remedy) in [
            ("highres=of", "did you mean highres=off?"),
            ("init=/bin/sh", "give none, or any of: highres=off, nohz=off"),
            ("preempt=none preempt=full", "preempt=none is already there"),
            ("highres=off highres=off", "highres=off is already there"),
            ("highres=off -- --guest", "give none, or any of"),
            ("", "give none, or any of"),
        ] {
            let error = text.parse::<Parameters>().unwrap_err();
            assert!(error.remedy.starts_with(remedy), "{text}: {error}");
        }
    }

    #[test]
    fn a_command_line_says_which_of_them_were_given() {
        let line = "console=ttyS0 quiet highres=off preempt=full rdinit=/takt -- agent --guest /orders.json\n";
        assert_eq!(Parameters::in_command_line(line).to_string(), "highres=off preempt=full");
        assert_eq!(Parameters::in_command_line("highres=offf"), Parameters::default());
    }
}
