//! Values of settings: where a workload runs, and beside what.

use serde_json::{Value, json};
use takt_base::parse_bytes;
use takt_load::Every;
use takt_load::setting::{Domain, word_or, word_remedy};
use takt_testbed::disturbance::{self, Load};
use takt_testbed::environment::{EnvironmentKind, Parameters, Spec};
use takt_testbed::net::PathSpec;

/// Values that need nothing but what these two functions say.
#[derive(Debug)]
pub(super) struct Values {
    shown: fn() -> String,
    accept: fn(&Value) -> Result<Value, String>,
}

impl Domain for Values {
    fn shown(&self) -> String {
        (self.shown)()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        (self.accept)(value)
    }
}

/// The name of an environment: `"native"`, `"node:a"`.
pub(super) const ENVIRONMENT: Values = Values {
    shown: || format!("{} | node:NAME", EnvironmentKind::ALL.map(EnvironmentKind::name).join(" | ")),
    accept: |value| {
        let name = value.as_str().unwrap_or_default();
        if Spec::named(name).is_some() {
            return Ok(value.clone());
        }
        let known = EnvironmentKind::ALL.map(EnvironmentKind::name);
        Err(word_remedy(name, &known, format!("give one of: {}, node:NAME", known.join(", "))))
    },
};

/// `"all"`, or CPUs' worth of time.
pub(super) const CPUS: Values = Values {
    shown: || "all | a number of CPUs".into(),
    accept: |value| {
        let read = |value: &Value| value.as_f64().filter(|cpus| (0.01..=1024.0).contains(cpus)).map(|cpus| json!(cpus));
        word_or(value, "all", read, "give \"all\", or a number of CPUs from 0.01 to 1024")
    },
};

/// `"all"`, or bytes: `"2GiB"`.
pub(super) const MEMORY: Values = Values {
    shown: || "all | bytes, such as 2GiB".into(),
    accept: |value| {
        let bytes = |value: &Value| parse_bytes(value.as_str()?).ok().filter(|bytes| *bytes >= 64 << 20);
        let read = |value: &Value| bytes(value).map(|_| value.clone());
        word_or(value, "all", read, "give \"all\", or at least 64MiB, such as \"2GiB\"")
    },
};

/// `"none"`, or parameters of a guest's kernel.
pub(super) const KERNEL_PARAMETERS: Values = Values {
    shown: || format!("none | of these, with spaces between: {}", Parameters::known(" ")),
    accept: |value| match value.as_str().map(str::parse::<Parameters>) {
        // In their own order, so that the same is one level.
        Some(Ok(parameters)) => Ok(json!(parameters.to_string())),
        Some(Err(error)) => Err(error.remedy),
        None => Err("give \"none\", or words such as \"highres=off\"".into()),
    },
};

/// `"none"`, or kinds of load with their counts, such as `"busy:4"`.
pub(super) const DISTURBANCE: Values = Values {
    shown: || format!("none | KIND:N, KIND:Nx (N a core), joined by +; {}", Load::words(" | ")),
    accept: |value| match value.as_str().map(str::parse::<disturbance::Spec>) {
        Some(Ok(_)) => Ok(value.clone()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("give \"none\", or kinds with counts, such as \"busy:4\"".into()),
    },
};

/// `"none"`, or a span of every period such as `"4ms every 5ms"`.
pub(super) const SPAN_OF_PERIOD: Values = Values {
    shown: || "none | a span of every period, such as 4ms every 5ms".into(),
    accept: |value| match value.as_str().map(str::parse::<Every>) {
        Some(Ok(_)) => Ok(value.clone()),
        _ if value == "none" => Ok(value.clone()),
        Some(Err(error)) => Err(format!("give \"none\", or a valid span: {error}")),
        None => Err("give \"none\", or a span of every period such as \"4ms every 5ms\"".into()),
    },
};

/// `"usual"`, or what that option of a path takes.
#[derive(Debug)]
pub(super) struct PathOption(pub(super) &'static str);

impl Domain for PathOption {
    fn shown(&self) -> String {
        format!("usual | {} of a path", self.0)
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match PathSpec::default().set(self.0, &text) {
            Ok(()) => Ok(value.clone()),
            Err(_) if value == "usual" => Ok(value.clone()),
            Err(error) => Err(format!("give \"usual\", or a valid value: {error}")),
        }
    }
}

/// `"none"`, or per cent from 1 to this.
#[derive(Debug)]
pub(super) struct Percent(pub(super) u32);

impl Domain for Percent {
    fn shown(&self) -> String {
        format!("none | per cent, 1 to {}", self.0)
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let fits = |value: &Value| value.as_f64().is_some_and(|percent| (1.0..=f64::from(self.0)).contains(&percent));
        let read = |value: &Value| fits(value).then(|| value.clone());
        word_or(value, "none", read, format!("give \"none\", or per cent from 1 to {}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::settings::find;

    fn accept(name: &str, value: impl Into<Value>) -> Result<Value, (String, String)> {
        find(name).expect("a setting").accept(&value.into())
    }

    #[test]
    fn ranges_are_kept() {
        assert_eq!(accept("environment_cpus", 1.5), Ok(json!(1.5)));
        assert!(accept("environment_cpus", 0).is_err() && accept("environment_memory", "1KiB").is_err());
        assert_eq!(accept("environment_memory", "2GiB"), Ok(json!("2GiB")));
        assert_eq!(accept("environment_parameters", "nohz=off highres=off"), Ok(json!("highres=off nohz=off")));
        assert_eq!(accept("environment_parameters", "hires=off").unwrap_err().1, "did you mean highres=off?");
        assert_eq!(accept("cap", 40), Ok(json!(40)));
        assert!(accept("cap", 0).is_err() && accept("cap", 101).is_err() && accept("cap", "none").is_ok());
        assert!(accept("cpu_quota", 101).is_ok() && accept("cpu_quota", 1001).is_err());
        assert_eq!(accept("hog", "4ms every 5ms"), Ok(json!("4ms every 5ms")));
        assert!(accept("stall", "6ms every 5ms").unwrap_err().1.contains("the first shorter than the second"));
        assert!(accept("disturbance", "bussy:4").unwrap_err().1.contains("did you mean busy?"));
        assert_eq!(accept("path_loss", 0.01), Ok(json!(0.01)));
        assert_eq!(accept("path_delay", "5ms"), Ok(json!("5ms")));
        assert!(accept("path_delay", "5 parsec").unwrap_err().1.contains("a time"));
    }
}
