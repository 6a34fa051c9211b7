//! The tables of `docs/reference/json.md`, and documents that are held against them. Each key of a document has a row, with its
//! type. Each row occurs, or names its condition: "(only ...)".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub const PAGE: &str = include_str!("../../../../docs/reference/json.md");

/// Fails unless the documents, taken together, have the keys of these tables of the page, and no others.
#[track_caller]
pub fn agrees(of: &[&'static str], documents: &[Value]) {
    let mut walk = Walk::new();
    for table in of {
        assert!(walk.tables.contains_key(*table), "docs/reference/json.md has no table below #{table}");
    }
    documents.iter().for_each(|document| walk.look(of, "", document));
    let wrong: Vec<String> = walk.wrong.iter().cloned().chain(walk.absent()).collect();
    assert!(wrong.is_empty(), "docs/reference/json.md is out of step:\n{}", wrong.join("\n"));
}

/// The anchor of a heading, as Markdown's readers make it.
pub fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// A row of a table.
#[derive(Clone, Copy)]
struct Row {
    key: &'static str,
    /// Type and unit, or a link to the table of an object that several documents have.
    kind: &'static str,
    /// It names a condition, so no document has to have it.
    is_conditional: bool,
}

impl Row {
    /// A line of three cells, of which the first is a key.
    fn parse(line: &'static str) -> Option<Row> {
        let cells: Vec<&'static str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [key, kind, meaning] = cells[..] else { return None };
        let key = key.strip_prefix('`')?.strip_suffix('`')?;
        Some(Row { key, kind, is_conditional: meaning.contains("(only ") })
    }

    /// The table of the object that it is.
    fn shape(self) -> Option<&'static str> {
        let (_, link) = self.kind.split_once("](#")?;
        link.split_once(')').map(|(anchor, _)| anchor)
    }

    /// Whether the value has the row's type.
    fn takes(self, value: &Value) -> bool {
        let is = |word: &str| self.kind.split(|c: char| !c.is_ascii_alphabetic()).any(|part| part == word);
        match value {
            Value::Null => is("null"),
            Value::Bool(_) => is("boolean"),
            Value::Number(number) => is("number") || (is("integer") && !number.is_f64()),
            Value::String(_) => is("string"),
            Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// By the anchors of their headings; rows by their keys.
type Tables = BTreeMap<String, BTreeMap<&'static str, Row>>;

fn tables() -> Tables {
    let mut tables = Tables::new();
    let (mut heading, mut is_code) = (String::new(), false);
    for line in PAGE.lines() {
        is_code ^= line.starts_with("```");
        if is_code {
            continue;
        }
        if line.starts_with('#') {
            heading = anchor(line);
        } else if let Some(row) = Row::parse(line) {
            let former = tables.entry(heading.clone()).or_default().insert(row.key, row);
            assert!(former.is_none(), "{heading}: two rows have the key {}", row.key);
        }
    }
    tables
}

/// A walk through documents that have the keys of some tables.
struct Walk {
    tables: Tables,
    /// The tables that were looked into, those of shapes too.
    used: BTreeSet<&'static str>,
    /// Table and key of each row that occurred.
    seen: BTreeSet<(&'static str, &'static str)>,
    wrong: BTreeSet<String>,
}

impl Walk {
    fn new() -> Walk {
        Walk { tables: tables(), used: BTreeSet::new(), seen: BTreeSet::new(), wrong: BTreeSet::new() }
    }

    /// Looks at a value: at the place of this key in a document that has the keys of these tables.
    fn look(&mut self, of: &[&'static str], key: &str, value: &Value) {
        self.used.extend(of);
        let row = self.see(of, key);
        match (row, row.and_then(Row::shape), value) {
            (Some(row), ..) if row.kind.starts_with("any") => {}
            (_, Some(shape), Value::Object(_)) => self.look(&[shape], "", value),
            (.., Value::Object(fields)) => {
                let parent = if key.is_empty() { String::new() } else { format!("{key}.") };
                let any = format!("{parent}*");
                let is_map = self.begins(of, &any);
                self.see(of, &any);
                if fields.is_empty() && !self.begins(of, &parent) {
                    self.undocumented(of, key, value);
                }
                for (name, field) in fields {
                    let own = format!("{parent}{name}");
                    let key = if is_map && !self.has(of, &own) { &any } else { &own };
                    self.look(of, key, field);
                }
            }
            (.., Value::Array(items)) => {
                let each = format!("{key}[]");
                self.see(of, &each);
                if items.is_empty() && !self.begins(of, &each) {
                    self.undocumented(of, key, value);
                }
                items.iter().for_each(|item| self.look(of, &each, item));
            }
            (Some(row), ..) if row.takes(value) => {}
            (Some(row), ..) => {
                self.wrong.insert(format!("{}: {key} is {value}, and its row says {}", of[0], row.kind));
            }
            (None, _, Value::Null) if self.has_within(of, key) => {}
            (None, ..) => self.undocumented(of, key, value),
        }
    }

    /// Notes that a key occurs, and returns its row.
    fn see(&mut self, of: &[&'static str], key: &str) -> Option<Row> {
        let row = |table: &&'static str| self.tables.get(*table)?.get(key).map(|row| (*table, *row));
        let (table, row) = of.iter().find_map(row)?;
        self.seen.insert((table, row.key));
        Some(row)
    }

    /// Whether the key of some row begins so.
    fn begins(&self, of: &[&'static str], prefix: &str) -> bool {
        let mut tables = of.iter().filter_map(|table| self.tables.get(*table));
        tables.any(|table| table.keys().any(|key| key.starts_with(prefix)))
    }

    /// Whether there is a row of this key, or of one within its value.
    fn has(&self, of: &[&'static str], key: &str) -> bool {
        let mut tables = of.iter().filter_map(|table| self.tables.get(*table));
        tables.any(|table| table.contains_key(key)) || self.has_within(of, key)
    }

    fn has_within(&self, of: &[&'static str], key: &str) -> bool {
        self.begins(of, &format!("{key}.")) || self.begins(of, &format!("{key}[]"))
    }

    fn undocumented(&mut self, of: &[&'static str], key: &str, value: &Value) {
        self.wrong.insert(format!("{}: no row has the key {key}, which is {value}", of[0]));
    }

    /// Rows that did not occur and name no condition.
    fn absent(&self) -> Vec<String> {
        let rows = self.used.iter().flat_map(|table| self.tables[*table].values().map(move |row| (*table, row)));
        let absent = rows.filter(|(table, row)| !row.is_conditional && !self.seen.contains(&(*table, row.key)));
        absent.map(|(table, row)| format!("{table}: nothing has the key {}: give its condition", row.key)).collect()
    }
}

/// The walk sees each kind of fault.
#[test]
fn a_document_out_of_step_is_found() {
    let looked = |document: Value| {
        let mut walk = Walk::new();
        walk.look(&["errors"], "", &document);
        (walk.wrong.iter().cloned().collect::<Vec<String>>(), walk.absent())
    };
    let (wrong, absent) = looked(serde_json::json!({ "error": "x", "why": [], "fix": null }));
    assert!(wrong.is_empty() && absent.is_empty(), "{wrong:?} {absent:?}");
    let (wrong, absent) = looked(serde_json::json!({ "error": 1, "whence": [], "fix": { "a": 1 } }));
    assert_eq!(
        wrong,
        [
            "errors: error is 1, and its row says string",
            "errors: no row has the key fix.a, which is 1",
            "errors: no row has the key whence, which is []",
        ]
    );
    assert_eq!(absent, ["errors: nothing has the key why[]: give its condition"]);
}
