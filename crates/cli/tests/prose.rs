//! Everything that takt's readers read, held against the rules of [`takt_testing::prose`].
//!
//! A sentence that has to stay as it is has a line in `tests/prose/exceptions`, with the reason.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use takt_testing::prose::in_markdown;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A sentence of a page that stays as it is.
struct Exception {
    page: String,
    /// How it begins.
    begins: String,
}

fn exceptions() -> Vec<Exception> {
    let lines = fs::read_to_string(Path::new(ROOT).join("tests/prose/exceptions")).expect("tests/prose/exceptions");
    let exception = |line: &str| {
        let mut parts = line.split(" | ");
        let (Some(page), Some(begins), Some(_why), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            panic!("tests/prose/exceptions: not \"page | begin of the sentence | why it stays\": {line}");
        };
        Exception { page: page.to_owned(), begins: begins.to_owned() }
    };
    lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(exception).collect()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for top in [".", "docs", "crates", "peers", "packaging", "fuzz"] {
        below(&Path::new(ROOT).join(top), if top == "." { 0 } else { 3 }, &mut pages);
    }
    pages.sort();
    pages
}

fn below(folder: &Path, depth: usize, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() && depth > 0 && entry.file_name() != "target" && entry.file_name() != "tests" {
            below(&path, depth - 1, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

#[test]
fn every_page_reads_well() {
    let exceptions = exceptions();
    let mut used = vec![false; exceptions.len()];
    let mut bad = String::new();
    // The table of contents has titles, and no sentences.
    for path in pages().into_iter().filter(|path| !path.ends_with("docs/SUMMARY.md")) {
        let page = path.strip_prefix(ROOT).expect("below the root").to_string_lossy();
        let page = page.trim_start_matches("./");
        for finding in in_markdown(&fs::read_to_string(&path).expect("a page")) {
            let known = exceptions.iter().position(|one| one.page == page && finding.sentence.starts_with(&one.begins));
            match known {
                Some(known) => used[known] = true,
                None => {
                    writeln!(bad, "{page}:{}: {}: {}", finding.line, finding.why, finding.sentence).expect("memory");
                }
            }
        }
    }
    for (exception, used) in exceptions.iter().zip(used) {
        if !used {
            writeln!(
                bad,
                "tests/prose/exceptions: nothing needs this any more: {} | {}",
                exception.page, exception.begins
            )
            .expect("memory");
        }
    }
    assert!(bad.is_empty(), "rewrite these, or give the reason in tests/prose/exceptions:\n{bad}");
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
