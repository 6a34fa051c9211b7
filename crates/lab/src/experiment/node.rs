//! A value of a TOML file that remembers where each of its parts stands.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use toml::Spanned;

/// A leaf, a list or a table.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(Value),
    List(Vec<Spanned<Node>>),
    Table(Table),
}

/// Names and values, each with its place.
pub(super) type Table = BTreeMap<Spanned<String>, Spanned<Node>>;

impl Node {
    /// Its kind, for complaints.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Node::Leaf(_) => "a single value",
            Node::List(_) => "a list",
            Node::Table(_) => "a table",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list or a table")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = list.next_element()? {
            all.push(item);
        }
        Ok(Node::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut all = Table::new();
        while let Some((name, value)) = map.next_entry()? {
            all.insert(name, value);
        }
        Ok(Node::Table(all))
    }
}
