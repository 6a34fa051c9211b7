//! Packet engines travel by name: for `#[serde(with = "engine_name")]`.

use serde::{Deserialize, Deserializer, Serializer, de};
use takt_packet::EngineKind;

pub(super) fn serialize<S: Serializer>(engine: &EngineKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(engine.name())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<EngineKind, D::Error> {
    String::deserialize(from)?.parse().map_err(de::Error::custom)
}
