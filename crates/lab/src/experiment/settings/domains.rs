//! What settings of where and beside what a workload runs can be set to.

use std::str::FromStr;

use serde_json::{Value, json};
use takt_base::parse_bytes;
use takt_load::Every;
use takt_load::setting::{Domain, word_or};
use takt_testbed::disturbance::{Load, Spec};
use takt_testbed::environment::Parameters;
use takt_testbed::net::PathSpec;

/// `"all"`, or CPUs' worth of time.
#[derive(Debug)]
pub(super) struct Cpus;

impl Domain for Cpus {
    fn shown(&self) -> String {
        "all | a number of CPUs".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let read = |value: &Value| value.as_f64().filter(|cpus| (0.01..=1024.0).contains(cpus)).map(|cpus| json!(cpus));
        word_or(value, "all", read, "\"all\", or a number of CPUs from 0.01 to 1024")
    }
}

/// `"all"`, or bytes: `"2GiB"`.
#[derive(Debug)]
pub(super) struct Memory;

impl Domain for Memory {
    fn shown(&self) -> String {
        "all | bytes, such as 2GiB".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let bytes = |value: &Value| parse_bytes(value.as_str()?).ok().filter(|bytes| *bytes >= 64 << 20);
        let read = |value: &Value| bytes(value).map(|_| value.clone());
        word_or(value, "all", read, "\"all\", or 64MiB and more, such as \"2GiB\"")
    }
}

/// `"none"`, or parameters of a guest's kernel.
#[derive(Debug)]
pub(super) struct KernelParameters;

impl Domain for KernelParameters {
    fn shown(&self) -> String {
        format!("none | of these, with spaces between: {}", Parameters::known(" "))
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        match value.as_str().map(str::parse::<Parameters>) {
            // In their own order, so that the same is one level.
            Some(Ok(parameters)) => Ok(json!(parameters.to_string())),
            Some(Err(error)) => Err(error.remedy),
            None => Err("\"none\", or words such as \"highres=off\"".into()),
        }
    }
}

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
            Err(error) => Err(format!("\"usual\"; {error}")),
        }
    }
}

/// `"none"`, or kinds of load with their counts, such as `"busy:4"`.
#[derive(Debug)]
pub(super) struct Disturbance;

impl Domain for Disturbance {
    fn shown(&self) -> String {
        format!("none | KIND:N, KIND:Nx (N a core), joined by +; {}", Load::words(" | "))
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        match value.as_str().map(str::parse::<Spec>) {
            Some(Ok(_)) => Ok(value.clone()),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("\"none\", or kinds with counts, such as \"busy:4\"".into()),
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
        word_or(value, "none", read, format!("\"none\", or per cent from 1 to {}", self.0))
    }
}

/// `"none"`, or a span of every period such as `"4ms every 5ms"`.
#[derive(Debug)]
pub(super) struct SpanOfPeriod;

impl Domain for SpanOfPeriod {
    fn shown(&self) -> String {
        "none | a span of every period, such as 4ms every 5ms".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        match value.as_str().map(Every::from_str) {
            Some(Ok(_)) => Ok(value.clone()),
            _ if value == "none" => Ok(value.clone()),
            Some(Err(error)) => Err(format!("\"none\"; {error}")),
            None => Err("\"none\", or a span of every period such as \"4ms every 5ms\"".into()),
        }
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
