//! Objects and lists of JSON, one member after the other, each as its text: nothing is held of what was passed.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Why a walk ended early.
#[derive(Debug)]
pub(super) enum Ended<E> {
    /// The text is of another type, or names of fields are no text.
    Type,
    /// Whoever looked at a member did not like it.
    By(E),
}

/// Shows each field of an object, name and text, until `see` has had enough.
pub(super) fn each_field<'t, E>(
    text: &'t str,
    see: impl FnMut(String, &'t RawValue) -> Result<(), E>,
) -> Result<(), Ended<E>> {
    walk(text, see, |from, walk| from.deserialize_map(walk))
}

/// Shows each item of a list, its index and text, until `see` has had enough.
pub(super) fn each_item<'t, E>(
    text: &'t str,
    mut see: impl FnMut(usize, &'t RawValue) -> Result<(), E>,
) -> Result<(), Ended<E>> {
    let mut index = 0;
    let numbered = |_, item| {
        index += 1;
        see(index - 1, item)
    };
    walk(text, numbered, |from, walk| from.deserialize_seq(walk))
}

/// Items of a list; 0 of what is none.
pub(super) fn items(text: &str) -> usize {
    struct Count;
    impl<'de> Visitor<'de> for Count {
        type Value = usize;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<usize, A::Error> {
            let mut count = 0;
            while items.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
            }
            Ok(count)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Count).unwrap_or(0)
}

fn walk<'t, E, S: FnMut(String, &'t RawValue) -> Result<(), E>>(
    text: &'t str,
    see: S,
    start: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'t>>, Walk<'_, S, E>) -> serde_json::Result<()>,
) -> Result<(), Ended<E>> {
    let mut from = serde_json::Deserializer::from_str(text);
    let mut stopped = None;
    let walked = start(&mut from, Walk { see, stopped: &mut stopped }).and_then(|()| from.end());
    match (stopped, walked) {
        (Some(error), _) => Err(Ended::By(error)),
        (None, Err(_)) => Err(Ended::Type),
        (None, Ok(())) => Ok(()),
    }
}

struct Walk<'a, S, E> {
    see: S,
    stopped: &'a mut Option<E>,
}

impl<'t, E, S: FnMut(String, &'t RawValue) -> Result<(), E>> Walk<'_, S, E> {
    fn show<D: serde::de::Error>(&mut self, name: String, value: &'t RawValue) -> Result<(), D> {
        (self.see)(name, value).map_err(|error| {
            *self.stopped = Some(error);
            D::custom("stopped")
        })
    }
}

impl<'t, E, S: FnMut(String, &'t RawValue) -> Result<(), E>> Visitor<'t> for Walk<'_, S, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or a list")
    }

    fn visit_map<A: MapAccess<'t>>(mut self, mut fields: A) -> Result<(), A::Error> {
        while let Some((name, value)) = fields.next_entry::<String, &RawValue>()? {
            self.show(name, value)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            self.show(String::new(), item)?;
        }
        Ok(())
    }
}
