//! [`Fields`]: what takt does not know of an object, as it stands in the file.

use serde_json::Value;
use serde_json::value::RawValue;

use super::raw;

/// Fields that takt keeps without reading them, in their order. They are held as their text: a value read takes many times the
/// room of its text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields(Box<str>);

impl Fields {
    /// The value of a field; of a name that stands there twice, the last.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        let mut found = None;
        self.each(|known, value| {
            if known == name {
                found = Some(value.get().to_owned());
            }
        });
        serde_json::from_str(&found?).ok()
    }

    /// Adds a field, or gives it another value.
    pub fn insert(&mut self, name: &str, value: impl Into<Value>) {
        let mut text = FieldsText::default();
        self.each(|known, kept| {
            if known != name {
                text.push(known, kept.get());
            }
        });
        text.push(name, &value.into().to_string());
        *self = text.done();
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each name and value, in order.
    pub(super) fn each(&self, mut see: impl FnMut(&str, &RawValue)) {
        if !self.is_empty() {
            // It was JSON when it was put together.
            let _ = raw::each_field(&self.0, |name, value| {
                see(&name, value);
                Ok::<(), std::convert::Infallible>(())
            });
        }
    }
}

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() { "{}" } else { &self.0 })
    }
}

impl<N: AsRef<str>, V: Into<Value>> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Fields {
        let mut text = FieldsText::default();
        fields.into_iter().for_each(|(name, value)| text.push(name.as_ref(), &value.into().to_string()));
        text.done()
    }
}

/// [`Fields`] being put together.
#[derive(Default)]
pub(super) struct FieldsText(String);

impl FieldsText {
    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&Value::from(name).to_string());
        self.0.push(':');
        self.0.push_str(value);
    }

    pub(super) fn done(mut self) -> Fields {
        if !self.0.is_empty() {
            self.0.push('}');
        }
        Fields(self.0.into_boxed_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_found_by_its_name_and_replaced() {
        let mut fields: Fields = [("a", json!(1)), ("b \"quoted\"", json!({ "c": [null] }))].into_iter().collect();
        assert_eq!(fields.get("b \"quoted\""), Some(json!({ "c": [null] })));
        assert_eq!((fields.get("c"), Fields::default().get("a")), (None, None));
        fields.insert("a", "text");
        fields.insert("d", 2.5);
        assert_eq!(format!("{fields:?}"), r#"{"b \"quoted\"":{"c":[null]},"a":"text","d":2.5}"#);
        assert!(!fields.is_empty() && Fields::default().is_empty());
    }
}
