//! How the fixes of errors begin, as far as their source shows it: with an imperative verb, or as a command to run.
//!
//! A fix stands in an arm or a block of `fn fix` and of `let fix = match`, and behind `fix:`, `remedy:`, `let fix =`,
//! `let remedy =` and `.fix(`. Each of its lines is an alternative. A line that begins with a placeholder is another one's.

use std::ops::Range;

/// A fix begins with one of these.
const VERBS: &str = "add allow ask boot bring calibrate call change check choose clean close connect copy correct count \
                     define end exclude fix free give ignore install keep leave let limit link list listen load look \
                     lower make measure mount move name omit open pass pin pipe place play print put raise read \
                     receive record recover reduce register remove rename repair repeat replace report resample \
                     restart restore run see send set shorten sort split start stop switch take transmit try unpack \
                     use wait write";

/// Or with one of these: a program that the reader can run, "do not", or "did you mean".
const OTHERS: &str = "cargo did do echo sudo takt";

/// A line of a fix in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The line of the source in which its text begins, from 1.
    pub line: usize,
    pub text: String,
}

impl Fix {
    /// Whether it begins with a verb, a command, or a text from elsewhere.
    #[must_use]
    pub fn begins_well(&self) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ';', ':']);
        first.starts_with('{') || [VERBS, OTHERS].iter().any(|words| words.split(' ').any(|word| word == first))
    }
}

/// The fixes in a source, line by line, without those of its tests.
#[must_use]
pub fn in_source(source: &str) -> Vec<Fix> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let regions = regions(source);
    let begins = |at: usize| begins_a_fix(&source[..at], regions.iter().any(|region| region.contains(&at)));
    let is_fix = |literal: &Range<usize>| begins(literal.start - 1) && !is_pattern(&source[literal.end..]);
    literals(source).into_iter().filter(is_fix).flat_map(|literal| lines(source, literal)).collect()
}

fn lines(source: &str, literal: Range<usize>) -> Vec<Fix> {
    let line = source[..literal.start].matches('\n').count() + 1;
    // A backslash at the end of a line joins it with the next word.
    let parts = source[literal].split("\\\n").enumerate();
    let text: String = parts.map(|(n, part)| if n == 0 { part } else { part.trim_start() }).collect();
    let texts = text.split("\\n").map(str::trim).filter(|text| !text.is_empty());
    texts.map(|text| Fix { line, text: text.to_owned() }).collect()
}

/// Whether the text behind `before` is where a fix begins.
fn begins_a_fix(before: &str, within_a_region: bool) -> bool {
    let mut before = before.trim_end();
    while let Some(outside) = ["format!(", "format_args!(", "Some("].iter().find_map(|call| before.strip_suffix(call)) {
        before = outside.trim_end();
    }
    let names_it = ["fix:", "remedy:", "let fix =", "let remedy =", ".fix("].iter().any(|end| before.ends_with(end));
    names_it || within_a_region && (before.ends_with("=>") || before.ends_with('{'))
}

/// Whether a text, whose end is given with its quote, is what a match compares with.
fn is_pattern(end: &str) -> bool {
    let after = end.get(1..).unwrap_or_default().trim_start();
    after.starts_with("=>") || after.starts_with("| ")
}

/// Functions and matches that give a fix. rustfmt ends each with a brace below the begin of its first line.
fn regions(source: &str) -> Vec<Range<usize>> {
    let functions = source.match_indices("fn fix(").filter(|(at, _)| gives_text(&source[*at..]));
    let matches = source.match_indices("let fix = match ");
    functions.chain(matches).filter_map(|(at, _)| region(source, at)).collect()
}

/// Whether the function returns a text.
fn gives_text(function: &str) -> bool {
    let signature = function.split('{').next().unwrap_or_default();
    signature.split_once("->").is_some_and(|(_, gives)| gives.contains("String") || gives.contains("str"))
}

fn region(source: &str, at: usize) -> Option<Range<usize>> {
    let line = source[..at].rfind('\n').map_or(0, |before| before + 1);
    let indent: String = source[line..].chars().take_while(|c| *c == ' ').collect();
    let end = source[at..].find(&format!("\n{indent}}}"))?;
    Some(at..at + end)
}

/// The texts of a source, without their quotes, outside of comments.
fn literals(source: &str) -> Vec<Range<usize>> {
    let bytes = source.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        at = match rest {
            [b'/', b'/', ..] => end_of(source, at, "\n"),
            [b'r', b'"', ..] => end_of(source, at + 2, "\""),
            [b'r', b'#', b'"', ..] => end_of(source, at + 3, "\"#"),
            [b'\'', b'"', b'\'', ..] => at + 3,
            [b'\'', b'\\', _, b'\'', ..] => at + 4,
            [b'"', ..] => {
                let end = end_of_text(bytes, at + 1);
                found.push(at + 1..end);
                end + 1
            }
            _ => at + 1,
        };
    }
    found
}

/// The place behind the next `mark`.
fn end_of(source: &str, from: usize, mark: &str) -> usize {
    source[from..].find(mark).map_or(source.len(), |at| from + at + mark.len())
}

/// The place of the quote that ends a text.
fn end_of_text(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at).filter(|byte| **byte != b'"') {
        at += if byte == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(usize, String)> {
        in_source(source).into_iter().map(|fix| (fix.line, fix.text)).collect()
    }

    #[test]
    fn fixes_are_found_where_they_are_written() {
        let source = r#"
// .fix("a comment")
impl E {
    fn fix(&self) -> Option<String> {
        match self {
            E::A => Some("give --a\nomit \"b\"".to_owned()),
            E::B { list } => format!("use one \
                of {}", list.join(", ")),
        }
    }
    fn fix(page: &mut String) { let tag = if a { "code" } else { "span" }; }
}
fn f() {
    let fix = match kind {
        "a" | "b" => "wait",
        '"' => "wait",
        _ => "{again}",
    };
    problem("what").fix("try it");
    Failure { what: "what", fix: Some(format!("set {x}")) }
}
#[cfg(test)]
mod tests { fix: "in a test" }
"#;
        let expected = [
            (6, "give --a"),
            (6, "omit \\\"b\\\""),
            (7, "use one of {}"),
            (15, "wait"),
            (16, "wait"),
            (17, "{again}"),
            (19, "try it"),
            (20, "set {x}"),
        ];
        assert_eq!(texts(source), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_fix_begins_with_a_verb_a_command_or_a_text_from_elsewhere() {
        let begins_well = |text: &str| Fix { line: 1, text: text.to_owned() }.begins_well();
        for good in
            ["give --rx 25M", "wait; then go on", "sudo modprobe tun", "did you mean `a`?", "{again}   (once more)"]
        {
            assert!(begins_well(good), "{good}");
        }
        for bad in ["--rx 25M", "a longer --interval", "fewer, or later", "rate = 1", "1 to 16", "", "Give --rx 25M"] {
            assert!(!begins_well(bad), "{bad}");
        }
    }

    #[test]
    fn a_source_that_ends_within_a_text_ends() {
        assert_eq!(texts("fix: \"give\\"), [(1, "give\\".to_owned())]);
        assert_eq!(texts("r#\"fix: \"give"), []);
    }
}
