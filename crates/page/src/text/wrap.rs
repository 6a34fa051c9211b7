//! Lines that fit.

use crate::quantity::with_units;
use crate::xml::harmless;

/// Text from outside, made safe for a terminal ([`harmless`]); line ends become spaces.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { harmless(c) }).collect()
}

/// Columns a text takes, one a character.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Lines of at most `columns`, broken at spaces (not at no-break spaces, and not before a unit); a word that is longer is
/// cut. At least one.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let text = with_units(text);
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let mut word = word;
        let line = lines.last().map_or(0, |l| width(l));
        let needs = if line == 0 { width(word) } else { line + 1 + width(word) };
        if needs > columns && line > 0 {
            lines.push(String::new());
        }
        while width(word) > columns {
            let cut = word.char_indices().nth(columns).map_or(word.len(), |(at, _)| at);
            let (head, tail) = word.split_at(cut);
            lines.last_mut().expect("never empty").push_str(head);
            lines.push(String::new());
            word = tail;
        }
        let line = lines.last_mut().expect("never empty");
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

/// The text, or as much of its beginning as fits, ended by an ellipsis.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// Wrapped, the first line behind `first`, the others behind as many blanks.
pub(super) fn hanging(first: &str, text: &str, columns: usize) -> String {
    let indent = width(first);
    let mut out = String::new();
    for (i, line) in wrap(text, columns.saturating_sub(indent).max(10)).iter().enumerate() {
        let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
        out.push_str(&format!("{lead}{line}\n"));
    }
    out
}

/// Filled up with blanks, to the left or to the right of the text.
pub(super) fn pad(text: &str, columns: usize, right: bool) -> String {
    let blanks = " ".repeat(columns.saturating_sub(width(text)));
    if right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_numbers_stay_with_their_units() {
        let text = "the reader's longest pause was 1.9\u{a0}ms on core\u{a0}1";
        let lines = wrap(text, 20);
        assert!(lines.iter().all(|l| width(l) <= 20), "{lines:?}");
        assert!(lines.iter().any(|l| l.contains("1.9\u{a0}ms")), "{lines:?}");
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn no_escape_sequence_reaches_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\nd"), "a\u{fffd}[31mb\u{fffd}c d");
    }
}
