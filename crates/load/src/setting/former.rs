//! Names that settings had in older versions: a file with one is refused with the present name, and old records are read.

use std::collections::BTreeMap;

use serde_json::Value;

/// Former name, present name.
const NAMES: [(&str, &str); 3] = [("scheduling", "policy"), ("priority", "policy"), ("wait", "timer")];

/// The policy that sched(7) calls `SCHED_OTHER`, in some workloads: former word, present word.
const OTHER: (&str, &str) = ("normal", "other");

/// What the setting is called now.
#[must_use]
pub fn present_name(former: &str) -> Option<&'static str> {
    NAMES.iter().find(|(name, _)| *name == former).map(|(_, present)| *present)
}

/// What the level of a setting is called now.
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
}
