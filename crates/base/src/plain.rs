//! Text that others wrote, shown so that it stays text: nothing in it moves a cursor, writes a clipboard or turns the direction of
//! writing, so that one name reads as another.
//!
//! A character that would act is shown as JSON writes it, `\u001b`: a reader sees that it was there, and a JSON document that has been
//! through here says the same as before.
//!
//! ```
//! use takt_base::plain::plain;
//! assert_eq!(plain("node \u{1b}]0;mine\u{7}\n"), "node \\u001b]0;mine\\u0007\n");
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts instead of being shown: a control (a terminal's sequences begin with one, in C0 and in C1), or one that
/// turns the direction of writing (UAX #9).
#[must_use]
pub const fn acts(c: char) -> bool {
    let controls = matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}');
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    controls || turns
}

/// The text with all that [`acts`] shown. Ends of lines (`\n`, and `\r\n` as CSV has them) and tabs stay.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    shown(text, true)
}

/// The same in one line: ends of lines and tabs are shown too.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    shown(text, false)
}

/// The text of a terminal with colours: sequences that only set one (`ESC [ digits m`, ECMA-48 SGR) stay too.
///
/// For text of which all that others wrote went through [`plain`] before the colours were put in.
#[must_use]
pub fn plain_but_colours(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\u{1b}');
    let mut out = plain(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let digits = part.trim_start_matches('[').trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        let is_colour = part.starts_with('[') && !part.starts_with("[[") && digits.starts_with('m');
        out.push_str(if is_colour { "\u{1b}" } else { "\\u001b" });
        out.push_str(&plain(part));
    }
    Cow::Owned(out)
}

fn shown(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' if keeps_lines => out.push(c),
            '\r' if keeps_lines && chars.peek() == Some(&'\n') => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // All of them are of the basic plane: four digits.
            c if acts(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown_and_all_else_stays() {
        for (given, want) in [
            ("", ""),
            ("grün, 25 MS/s\n\tµs", "grün, 25 MS/s\n\tµs"),
            ("\u{1b}[2J", "\\u001b[2J"),
            ("\u{9b}2J\u{9d}0;x\u{9c}", "\\u009b2J\\u009d0;x\\u009c"),
            ("a,b\r\nc\r\r\n\r", "a,b\r\nc\\u000d\r\n\\u000d"),
            ("a\rb\u{8}\u{7f}\0", "a\\u000db\\u0008\\u007f\\u0000"),
            ("gpj\u{202e}exe \u{2066}x\u{2069}\u{61c}\u{200f}", "gpj\\u202eexe \\u2066x\\u2069\\u061c\\u200f"),
        ] {
            assert_eq!(plain(given), want, "{given:?}");
        }
        assert_eq!(one_line("a\n\tb\u{1b}"), "a\\n\\tb\\u001b");
    }

    #[test]
    fn of_sequences_only_colours_pass_and_only_where_they_may() {
        for (given, want) in [
            ("\u{1b}[32mHolds\u{1b}[0m", "\u{1b}[32mHolds\u{1b}[0m"),
            ("\u{1b}[38;5;9mx\u{1b}[m\n", "\u{1b}[38;5;9mx\u{1b}[m\n"),
            ("\u{1b}]0;x\u{7}", "\\u001b]0;x\\u0007"),
            ("\u{1b}[2J\u{1b}[1;31m", "\\u001b[2J\u{1b}[1;31m"),
            ("\u{1b}[[1m \u{1b}[?1m \u{1b}[>4;1m", "\\u001b[[1m \\u001b[?1m \\u001b[>4;1m"),
            ("\u{1b}\u{1b}[31m \u{9b}31m", "\\u001b\u{1b}[31m \\u009b31m"),
            ("\u{1b}", "\\u001b"),
        ] {
            assert_eq!(plain_but_colours(given), want, "{given:?}");
            assert!(!plain(given).contains('\u{1b}'), "{given:?}");
        }
    }

    #[test]
    fn every_character_that_acts_is_one_that_json_reads_back() {
        let all: String = ('\0'..=char::MAX).filter(|&c| acts(c)).collect();
        assert_eq!(all.chars().count(), 32 + 33 + 12);
        assert!(all.chars().all(|c| u32::from(c) <= 0xffff));
        assert!(one_line(&all).is_ascii());
    }
}
