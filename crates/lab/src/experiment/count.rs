//! `rounds.count`: a whole number, or one for each depth of a run.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// Rounds of each point. The derived code reads the table; the trait below reads either form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub(super) struct Count {
    pub(super) full: u32,
    pub(super) quick: u32,
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, or { full = 10, quick = 3 }")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
        let count = u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))?;
        Ok(Count { full: count, quick: count })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Count, A::Error> {
        Count::deserialize(MapAccessDeserializer::new(map))
    }
}
