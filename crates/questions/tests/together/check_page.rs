//! The page of a check: what a browser, a printer and a screen reader may rely on.

use std::collections::{BTreeMap, BTreeSet};

use takt_page::{Report, Row};
use takt_questions::check;

use crate::support;

fn all() -> [(&'static str, Report); 4] {
    support::all().map(|(name, outcome)| (name, check::report(&outcome)))
}

/// One tag of a page: name and attributes.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: BTreeMap<String, String>,
}

/// Reads the tags of a page strictly: quoted attributes only, every element closed in order. Panics on anything else,
/// so that a text that escaped its element is found.
fn tags(page: &str) -> Vec<Tag> {
    const VOID: [&str; 1] = ["meta"];
    let mut rest = page.strip_prefix("<!doctype html>\n").expect("a doctype");
    let (mut tags, mut open) = (Vec::new(), Vec::new());
    while let Some((text, after)) = rest.split_once('<') {
        assert!(open.last().is_some_and(|o| o == "style") || !text.contains('>'), "a stray > in {text:?}");
        let (inside, next) = after.split_once('>').expect("a tag that ends");
        rest = next;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "elements close in order");
            continue;
        }
        let closed = inside.ends_with('/');
        let (name, mut list) =
            inside.trim_end_matches('/').split_once(' ').unwrap_or((inside.trim_end_matches('/'), ""));
        let mut attributes = BTreeMap::new();
        while let Some((key, after)) = list.split_once("=\"") {
            let (value, after) = after.split_once('"').expect("a quoted value");
            assert!(attributes.insert(key.trim().to_owned(), value.to_owned()).is_none(), "{key} twice");
            list = after;
        }
        assert!(list.trim().is_empty(), "unquoted attribute {list:?}");
        if !closed && !VOID.contains(&name) {
            open.push(name.to_owned());
        }
        tags.push(Tag { name: name.to_owned(), attributes });
    }
    assert!(open.is_empty(), "open at the end: {open:?}");
    tags
}

#[test]
fn every_link_leads_somewhere_inside_the_page() {
    for (name, report) in all() {
        let tags = tags(&report.to_html());
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|t| t.attributes.get("id")) {
            assert!(ids.insert(id.as_str()), "{name}: id {id} twice");
        }
        let links: Vec<&str> = tags.iter().filter(|t| t.name == "a").map(|t| t.attributes["href"].as_str()).collect();
        assert!(links.len() > 50, "{name}: {} links", links.len());
        for link in links {
            let inside = link.strip_prefix('#').is_some_and(|id| ids.contains(id));
            assert!(inside || link.starts_with("data:text/csv;"), "{name}: {link}");
        }
    }
}

/// Elements that neither run nor load anything.
const ALLOWED: &str = "html head meta title style body header main section footer h1 h2 p ul ol li dl dt dd div span b code a \
    table caption thead tbody tr th td figure figcaption details summary svg desc g path circle text";

#[test]
fn the_page_runs_nothing_and_loads_nothing() {
    for (name, report) in all() {
        let page = report.to_html();
        let tags = tags(&page);
        for tag in tags {
            assert!(ALLOWED.split(' ').any(|name| name == tag.name), "{name}: <{}>", tag.name);
            for (key, value) in &tag.attributes {
                assert!(!key.starts_with("on") && key != "src" && key != "style", "{name}: {key}={value}");
            }
        }
        assert!(page.contains("default-src 'none'"), "and a policy says so");
        let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
        assert!(!style.contains("url(") && !style.contains("@import"), "{name}");
        assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{name}: nothing that acts");
    }
}

#[test]
fn every_number_of_the_results_leads_to_its_rounds() {
    let mut seen = 0;
    for (name, report) in all() {
        let records: BTreeSet<&str> = report
            .records
            .iter()
            .flat_map(|t| &t.rows)
            .filter_map(|r| match r {
                Row::Group { id, .. } => Some(id.as_str()),
                Row::Cells { id, .. } => id.as_deref(),
            })
            .collect();
        let tables = || report.sections.iter().flat_map(|s| &s.tables).filter(|t| t.id != "doctor-rules");
        let rows = || tables().flat_map(|t| t.rows.iter().map(move |r| (t, r)));
        let mut anchors = records.clone();
        anchors.extend(rows().filter_map(|(_, r)| if let Row::Cells { id, .. } = r { id.as_deref() } else { None }));
        for (table, row) in rows() {
            let Row::Cells { cells, .. } = row else { continue };
            for (cell, column) in cells.iter().zip(&table.columns).filter(|(_, c)| c.numeric) {
                if !cell.text.contains(|c: char| c.is_ascii_digit()) || cell.text.starts_with("not run") {
                    continue;
                }
                let none = || panic!("{name}: {} {:?} in {}", table.id, cell.text, column.head);
                let record = cell.record.as_ref().unwrap_or_else(none);
                assert!(anchors.contains(record.as_str()), "{name}: {record}");
                seen += 1;
            }
        }
        for finding in &report.findings {
            assert!(
                finding.record.as_ref().is_some_and(|r| anchors.contains(r.as_str())),
                "{name}: {}",
                finding.subject
            );
        }
        for dot in report.figures().flat_map(|f| &f.series).flat_map(|s| &s.points).flat_map(|p| &p.rounds) {
            assert!(dot.record.as_ref().is_some_and(|r| records.contains(r.as_str())), "{name}: {dot:?}");
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn drawings_and_tables_speak_to_those_who_do_not_see_them() {
    let page = check::report(&support::quick_fails()).to_html();
    let tags = tags(&page);
    let ids: BTreeSet<&str> = tags.iter().filter_map(|t| t.attributes.get("id")).map(String::as_str).collect();
    let drawings: Vec<&Tag> = tags.iter().filter(|t| t.name == "svg").collect();
    assert!(drawings.len() >= 6, "{}", drawings.len());
    for svg in drawings {
        assert_eq!(svg.attributes["role"], "img");
        assert!(svg.attributes["aria-labelledby"].split(' ').all(|id| ids.contains(id)), "{svg:?}");
    }
    assert!(
        tags.iter().filter(|t| t.name == "th").all(|t| t.attributes.contains_key("scope")),
        "every head says of what"
    );
    assert_eq!(tags[0].attributes["lang"], "en");
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("@media print"));
}

#[test]
fn the_json_is_one_document_with_the_same_answer() {
    for (name, report) in all() {
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).expect(name);
        assert_eq!(json["schema"], "takt.report/1");
        assert_eq!(json["verdict"]["headline"], report.verdict.headline.as_str());
        assert_eq!(json["records"].as_array().map(Vec::len), Some(report.records.len()));
    }
    let json: serde_json::Value = serde_json::from_str(&check::report(&support::quick_fails()).to_json()).unwrap();
    assert_eq!(json["verdict"]["answer"], "no");
    let lost = &json["sections"][0]["figures"][0];
    assert_eq!(
        (lost["id"].as_str(), lost["x"]["unit"].as_str(), lost["y"]["unit"].as_str()),
        (Some("lost-sc16"), Some("S/s"), Some("share"))
    );
}
