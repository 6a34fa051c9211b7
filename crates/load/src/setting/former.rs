//! Names of older versions: a file with one is refused with the present name, and old records are read.

use std::collections::BTreeMap;

use serde_json::Value;

/// Former name, present name.
const NAMES: [(&str, &str); 4] =
    [("scheduling", "policy"), ("priority", "policy"), ("wait", "timer"), ("twin", "replicate")];

/// The policy that sched(7) calls `SCHED_OTHER`, in some workloads: former word, present word.
const OTHER: (&str, &str) = ("normal", "other");

/// Former key of a stored document, present key.
const KEYS: [(&str, &str); 3] = [("aside", "excluded"), ("asked", "intended"), ("seen", "observed")];

/// Present name of the setting.
#[must_use]
pub fn present_name(former: &str) -> Option<&'static str> {
    NAMES.iter().find(|(name, _)| *name == former).map(|(_, present)| *present)
}

/// Present name of a setting's level.
#[must_use]
pub fn present_level(setting: &str, level: &Value) -> Option<&'static str> {
    (setting == "policy" && level == OTHER.0).then_some(OTHER.1)
}

/// Gives the settings of an older version's record their present names.
#[must_use]
pub fn rename(settings: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let rename = |(name, level): (String, Value)| {
        let name = present_name(&name).map_or(name, str::to_owned);
        let level = present_level(&name, &level).map_or(level, Value::from);
        (name, level)
    };
    settings.into_iter().map(rename).collect()
}

/// Gives the keys of an older version's document their present names, at every depth.
pub fn rename_keys(document: &mut Value) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(rename_keys),
        Value::Object(members) => {
            for (former, present) in KEYS {
                if let Some(value) = members.remove(former) {
                    members.insert(present.to_owned(), value);
                }
            }
            if members.contains_key("p99_9") {
                *members = std::mem::take(members).into_iter().map(|(name, value)| (name + "_us", value)).collect();
            }
            members.values_mut().for_each(rename_keys);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_of_an_older_version_gets_the_present_names_and_levels() {
        let former = [("priority", "normal"), ("wait", "spin"), ("cap", "normal")];
        let settings = former.map(|(name, level)| (name.to_owned(), json!(level))).into();
        assert_eq!(json!(rename(settings)), json!({ "cap": "normal", "policy": "other", "timer": "spin" }));
    }

    #[test]
    fn keys_get_their_present_names_at_every_depth() {
        let mut document =
            json!({ "aside": { "asked": 1 }, "rounds": [{ "seen": "aside" }, { "p50": 2, "p99_9": 3 }] });
        rename_keys(&mut document);
        assert_eq!(
            document,
            json!({
                "excluded": { "intended": 1 },
                "rounds": [{ "observed": "aside" }, { "p50_us": 2, "p99_9_us": 3 }],
            })
        );
    }
}
