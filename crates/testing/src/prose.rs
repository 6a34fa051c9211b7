//! How prose reads, as far as a program can tell: sentences of more than 25 words, sentences that open with a clause instead of a
//! subject, chains of semicolons, and words for which takt has another. The cell of a table may be a list: its length is its own.

/// The longest sentence, words.
const LONGEST: usize = 25;

/// A sentence that begins so has a clause for its subject, unless it asks.
const OPENINGS: [&str; 8] = ["What", "Who", "Where", "Whose", "Of", "Whichever", "Whoever", "Whatever"];

/// Shorter ones are headings of columns.
const HEADING: usize = 3;

/// Words that takt does not use, and what it says instead.
const WORDS: [(&str, &str); 17] = [
    ("as it stands", "nothing"),
    ("befall", "affect"),
    ("befalls", "affects"),
    ("for ever", "forever, or without end"),
    ("how manieth", "which"),
    ("laid to", "attributed to"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("nobody pays", "no side effects"),
    ("on the beat", "slot by slot, or every slot"),
    ("processor", "core to run on, or CPU time"),
    ("processors", "cores to run on, or CPU time"),
    ("set aside", "excluded"),
    ("sets aside", "excludes"),
    ("so many", "a given number of"),
    ("software radio", "emulator, software N200 or software X310"),
    ("software radios", "emulators, or software radios by their models"),
];

/// A sentence that reads badly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line where its paragraph begins, from 1.
    pub line: usize,
    pub why: String,
    /// Without links and emphasis; code is `CODE`.
    pub sentence: String,
}

/// The sentences of a Markdown page that read badly: paragraphs, items of lists and cells of tables, without blocks of code.
#[must_use]
pub fn in_markdown(page: &str) -> Vec<Finding> {
    blocks(page).iter().flat_map(in_block).collect()
}

fn in_block(block: &Block) -> Vec<Finding> {
    let finding = |sentence: &str| {
        let why = why(sentence, block.is_cell);
        (!why.is_empty()).then(|| Finding { line: block.line, why: why.join(", "), sentence: sentence.to_owned() })
    };
    sentences(&plain(&block.text)).into_iter().filter_map(finding).collect()
}

fn why(sentence: &str, in_cell: bool) -> Vec<String> {
    let words: Vec<&str> = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).collect();
    let mut why = Vec::new();
    if words.len() > LONGEST && !in_cell {
        why.push(format!("{} words", words.len()));
    }
    let asks = sentence.trim_end_matches(['"', '\'', ')']).ends_with('?');
    let opening = words.first().filter(|first| words.len() > HEADING && !asks && OPENINGS.contains(first));
    why.extend(opening.map(|first| format!("begins with \"{first}\"")));
    if sentence.matches(';').count() > 1 && !in_cell {
        why.push("a chain of semicolons".to_owned());
    }
    why.extend(
        WORDS.iter().filter(|(word, _)| has(sentence, word)).map(|(word, say)| format!("\"{word}\": say {say}")),
    );
    why
}

/// Whether a text has a phrase, as words of their own.
fn has(text: &str, phrase: &str) -> bool {
    let text = text.to_lowercase();
    let edge = |beside: Option<char>| beside.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(phrase)
        .any(|(at, _)| edge(text[..at].chars().next_back()) && edge(text[at + phrase.len()..].chars().next()))
}

/// Splits where a mark ends a sentence: a space follows, and something that can begin one, such as takt's name.
fn sentences(text: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for (at, _) in text.match_indices(['.', '!', '?']) {
        let after = text[at + 1..].trim_start_matches(['"', '\'', ')']);
        let next = after.trim_start();
        let begins = |c: char| c.is_uppercase() || c.is_ascii_digit() || c == '"' || c == '(';
        if next.len() < after.len() && (next.starts_with(begins) || next.starts_with("takt")) {
            let end = text.len() - after.len();
            found.push(text[begin..end].trim());
            begin = end;
        }
    }
    found.push(text[begin..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Without emphasis, with the words of links and `CODE` for code.
fn plain(markdown: &str) -> String {
    let mut parts = markdown.split('`').enumerate();
    let text = parts.by_ref().map(|(n, part)| if n % 2 == 1 { "CODE" } else { part }).collect::<String>();
    let mut text = text.replace('*', "");
    while let Some((begin, middle, end)) = link(&text) {
        let image = text[..begin].ends_with('!');
        let words = if image { String::new() } else { text[begin + 1..middle].to_owned() };
        text.replace_range(begin - usize::from(image)..end, &words);
    }
    text
}

/// The places where the first link begins, its words end, and it ends.
fn link(text: &str) -> Option<(usize, usize, usize)> {
    let middle = text.find("](")?;
    let begin = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')? + 1;
    Some((begin, middle, end))
}

/// A paragraph, an item of a list, or the cell of a table.
struct Block {
    /// The line where it begins, from 1.
    line: usize,
    text: String,
    is_cell: bool,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut code, mut open) = (false, false);
    for (line, text) in page.lines().enumerate().map(|(n, text)| (n + 1, text.trim())) {
        let block = |text: &str, is_cell| Block { line, text: text.trim().to_owned(), is_cell };
        let fence = text.starts_with("```");
        code ^= fence;
        if code || fence || text.is_empty() || text.starts_with(['#', '<', '|']) {
            open = false;
            if !code && text.starts_with('|') {
                found.extend(text.trim_matches('|').split(" | ").map(|cell| block(cell, true)));
            }
            continue;
        }
        match (item(text), found.last_mut()) {
            (Some(item), _) => found.push(block(item, false)),
            (None, Some(last)) if open => last.text = format!("{} {text}", last.text),
            (None, _) => found.push(block(text, false)),
        }
        open = true;
    }
    found
}

/// The words of an item of a list.
fn item(text: &str) -> Option<&str> {
    let numbered = || {
        let (number, words) = text.split_once(". ")?;
        number.chars().all(|c| c.is_ascii_digit()).then_some(words)
    };
    text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")).or_else(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whys(page: &str) -> Vec<(usize, String)> {
        in_markdown(page).into_iter().map(|finding| (finding.line, finding.why)).collect()
    }

    #[test]
    fn a_good_page_has_no_findings() {
        let page = "# What it does\n\ntakt streams, and counts. Where does it lose?\n\n- `takt rate` [streams](a.md) **both** ways.\n\n\
                    | what | where |\n| --- | --- |\n| a | b |\n\n```sh\nWhat is code is not read; not; ever.\n```\n";
        assert_eq!(whys(page), []);
    }

    #[test]
    fn each_fault_is_found_where_it_stands() {
        let long = vec!["word"; LONGEST + 1].join(" ");
        let page = format!(
            "Good.\n\n{long}.\n\nIt begins.\nWhat is here reads badly.\n\n1. one; two; three\n\n| one; two; three | It mends all of it. |\n"
        );
        let expected =
            [(3, "26 words"), (5, "begins with \"What\""), (8, "a chain of semicolons"), (10, "\"mends\": say fixes")];
        assert_eq!(whys(&page), expected.map(|(line, why)| (line, why.to_owned())));
    }

    #[test]
    fn words_count_only_whole_and_outside_code_and_links() {
        assert_eq!(whys("Processors amend `mend` and [this](mend.md).").len(), 1);
        assert_eq!(whys("They amend it, and microprocessors do."), []);
    }

    #[test]
    fn a_sentence_of_exactly_the_longest_length_is_good() {
        assert_eq!(whys(&format!("{}.", vec!["word"; LONGEST].join(" "))), []);
    }

    #[test]
    fn links_without_an_end_end() {
        assert_eq!(plain("a](b"), "a](b");
        assert_eq!(plain("![x](y) [z](w) [v](u"), " z [v](u");
    }
}
