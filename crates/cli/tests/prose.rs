//! Everything that takt's readers read, held against the rules of [`takt_testing::prose`] and [`takt_testing::fixes`].
//!
//! A sentence that has to stay as it is has a line in `tests/prose/exceptions`, with the reason.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use takt_testing::fixes::in_source;
use takt_testing::prose::in_markdown;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A sentence of a page, or a fix of a source, that stays as it is.
struct Exception {
    page: String,
    /// How it begins.
    begins: String,
    is_needed: bool,
}

/// Those of pages, or of sources.
fn exceptions(of_pages: bool) -> Vec<Exception> {
    let lines = fs::read_to_string(Path::new(ROOT).join("tests/prose/exceptions")).expect("tests/prose/exceptions");
    let exception = |line: &str| {
        let mut parts = line.split(" | ");
        let (Some(page), Some(begins), Some(_why), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            panic!("tests/prose/exceptions: not \"page | begin of the sentence | why it stays\": {line}");
        };
        Exception { page: page.to_owned(), begins: begins.to_owned(), is_needed: false }
    };
    let all = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(exception);
    all.filter(|exception| exception.page.ends_with(".md") == of_pages).collect()
}

/// Whether an exception has a text of a page, which is then needed.
fn is_excepted(exceptions: &mut [Exception], page: &str, text: &str) -> bool {
    let known = exceptions.iter_mut().find(|one| one.page == page && text.starts_with(&one.begins));
    known.map(|known| known.is_needed = true).is_some()
}

/// Fails if something is bad, or an exception is not needed.
fn judge(mut bad: String, exceptions: &[Exception]) {
    for Exception { page, begins, .. } in exceptions.iter().filter(|exception| !exception.is_needed) {
        writeln!(bad, "tests/prose/exceptions: nothing needs this any more: {page} | {begins}").expect("memory");
    }
    assert!(bad.is_empty(), "rewrite these, or give the reason in tests/prose/exceptions:\n{bad}");
}

/// The path of a file from the root.
fn from_root(path: &Path) -> String {
    let path = path.strip_prefix(ROOT).expect("below the root").to_string_lossy();
    path.trim_start_matches("./").to_owned()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for top in [".", "docs", "crates", "peers", "packaging", "fuzz"] {
        below(&Path::new(ROOT).join(top), if top == "." { 0 } else { 3 }, "md", &mut pages);
    }
    pages.sort();
    pages
}

/// Files with an extension in a folder and in those in it, without those of tests.
fn below(folder: &Path, depth: usize, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() && depth > 0 && entry.file_name() != "target" && entry.file_name() != "tests" {
            below(&path, depth - 1, extension, found);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
}

#[test]
fn every_page_reads_well() {
    let mut exceptions = exceptions(true);
    let mut bad = String::new();
    // The table of contents has titles, and no sentences.
    for path in pages().into_iter().filter(|path| !path.ends_with("docs/SUMMARY.md")) {
        let page = from_root(&path);
        for finding in in_markdown(&fs::read_to_string(&path).expect("a page")) {
            if !is_excepted(&mut exceptions, &page, &finding.sentence) {
                writeln!(bad, "{page}:{}: {}: {}", finding.line, finding.why, finding.sentence).expect("memory");
            }
        }
    }
    judge(bad, &exceptions);
}

#[test]
fn every_fix_begins_with_a_verb_or_a_command() {
    let mut exceptions = exceptions(false);
    let (mut bad, mut read) = (String::new(), 0);
    let mut sources = Vec::new();
    below(&Path::new(ROOT).join("crates"), 8, "rs", &mut sources);
    sources.sort();
    for path in sources {
        let source = from_root(&path);
        for fix in in_source(&fs::read_to_string(&path).expect("a source")) {
            read += 1;
            if !fix.begins_well() && !is_excepted(&mut exceptions, &source, &fix.text) {
                writeln!(bad, "{source}:{}: {}", fix.line, fix.text).expect("memory");
            }
        }
    }
    assert!(read > 400, "only {read} fixes were found: the check looks in the wrong places");
    judge(bad, &exceptions);
}

/// The links of a page to other pages, files and headings, outside of blocks of code.
fn links(page: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        code ^= line.trim_start().starts_with("```");
        if code {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")));
    }
    found
}

/// The anchor of a heading, as Markdown's readers make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Why a link from a page leads nowhere, if so.
fn leads_nowhere(page: &Path, link: &str) -> Option<&'static str> {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_owned() } else { page.with_file_name("").join(file) };
    if !target.exists() {
        return Some("there is no such file");
    }
    let docs = fs::canonicalize(Path::new(ROOT).join("docs")).expect("docs");
    let within = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path.starts_with(&docs));
    if within(page) && !within(&target) {
        return Some("the site has pages of docs/ only: name the file as `path/from/the/root`");
    }
    if heading.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return None;
    }
    let text = fs::read_to_string(target).expect("a page");
    let there = text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
    (!there).then_some("the page has no such heading")
}

#[test]
fn every_link_leads_somewhere() {
    let mut bad = String::new();
    for path in pages() {
        for link in links(&fs::read_to_string(&path).expect("a page")) {
            if let Some(why) = leads_nowhere(&path, &link) {
                writeln!(bad, "{}: {link}: {why}", path.display()).expect("memory");
            }
        }
    }
    assert!(bad.is_empty(), "links that lead nowhere:\n{bad}");
}

#[test]
fn a_link_to_nothing_is_found() {
    let readme = Path::new(ROOT).join("README.md");
    assert_eq!(links("[a](b.md#c) and [d](https://e)\n```\n[f](g)\n```"), ["b.md#c"]);
    assert_eq!(leads_nowhere(&readme, "no-such-page.md"), Some("there is no such file"));
    assert_eq!(leads_nowhere(&readme, "CHANGELOG.md#no-such-heading"), Some("the page has no such heading"));
    assert_eq!(leads_nowhere(&readme, "CHANGELOG.md#changelog"), None);
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let docs = Path::new(ROOT).join("docs");
    let summary = docs.join("SUMMARY.md");
    let listed = links(&fs::read_to_string(&summary).expect("the table of contents"));
    let listed = |page: &PathBuf| listed.iter().any(|link| docs.join(link) == *page);
    let missing: Vec<PathBuf> =
        pages().into_iter().filter(|page| page.starts_with(&docs) && *page != summary && !listed(page)).collect();
    assert!(missing.is_empty(), "no reader of docs/SUMMARY.md finds {missing:?}");
}
