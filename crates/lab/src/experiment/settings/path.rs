//! Settings of the path between host and radio: the path, and `path_NAME` for each of its options, as `takt` builds it.

use serde_json::Value;
use takt_base::parse_number;
use takt_load::setting::{Setting, Settings, Takes, UnknownLevel};
use takt_testbed::net::{PathName, PathSpec};

use super::domains::PathOption;

/// The path of a point between its two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPath {
    /// Its kind and options; of the loopback interface those of a plain cable.
    spec: PathSpec,
    /// The loopback interface, without namespaces.
    pub is_loopback: bool,
    /// The options that are set, with the names of their settings.
    set: Vec<&'static str>,
    /// Rate of each cable, bits a second, where it is set.
    pub cable_bps: Option<f64>,
}

impl PointPath {
    /// Its name in files.
    pub(crate) fn name(&self) -> &'static str {
        if self.is_loopback { LOOPBACK } else { self.spec.name.as_str() }
    }

    /// Whether it is a cable, whatever its options.
    pub(crate) fn is_direct(&self) -> bool {
        !self.is_loopback && self.spec.name == PathName::Direct
    }

    /// The setting of an option that is set; `None`: all are usual.
    pub(crate) fn option_set(&self) -> Option<&'static str> {
        self.set.first().copied()
    }

    /// The path that takt builds. `None` for the loopback interface, and for a plain cable, which is a veth pair where permitted
    /// and loopback where not. `usual_mtu_bytes`: the largest packet if no option says otherwise.
    pub(crate) fn built(&self, usual_mtu_bytes: u32) -> Option<PathSpec> {
        let mtu_bytes = if self.set.contains(&MTU) { self.spec.mtu_bytes } else { usual_mtu_bytes };
        let spec = PathSpec { mtu_bytes, ..self.spec.clone() };
        let cable = PathSpec { mtu_bytes: usual_mtu_bytes, ..PathSpec::of(PathName::Direct) };
        (!self.is_loopback && spec != cable).then_some(spec)
    }
}

const LOOPBACK: &str = "loopback";
const MTU: &str = "path_mtu";

const PATH: Setting = Setting::new(
    "path",
    Takes::Word(&["direct", LOOPBACK, "switch", "router", "router-small", "router-hw", "xdp-router"]),
    "direct",
)
.about("what lies between host and radio; direct is a veth pair where permitted, else loopback");

const fn option(name: &'static str, option: &'static PathOption, about: &'static str) -> Setting {
    Setting::new(name, Takes::Domain(option), USUAL).about(about)
}

const USUAL: &str = "usual";

const OPTIONS: [(Setting, &str); 13] = [
    (option("path_rate", &PathOption("rate"), "rate of each cable, bits a second"), "rate"),
    (option("path_buffer", &PathOption("buffer"), "what may wait before a cable, bytes"), "buffer"),
    (option("path_mtu", &PathOption("mtu"), "the largest packet, bytes"), "mtu"),
    (
        option("path_addressing", &PathOption("addressing"), "how addresses are given: static, outside, dhcp"),
        "addressing",
    ),
    (option("path_cpu", &PathOption("cpu"), "what router-small may use of a CPU each way, or calibrated"), "cpu"),
    (option("path_seed", &PathOption("seed"), "of all chance on the path"), "seed"),
    (option("path_delay", &PathOption("delay"), "what every frame is delayed by"), "delay"),
    (option("path_jitter", &PathOption("jitter"), "what frames are delayed by beside that, at random"), "jitter"),
    (option("path_hold", &PathOption("hold"), "how long a reordered frame is held back"), "hold"),
    (option("path_loss", &PathOption("loss"), "share of frames lost"), "loss"),
    (option("path_reorder", &PathOption("reorder"), "share of frames held back"), "reorder"),
    (option("path_duplicate", &PathOption("duplicate"), "share of frames doubled"), "duplicate"),
    (
        option("path_impaired_rate", &PathOption("impaired-rate"), "rate of the hop that impairs, bits a second"),
        "impaired-rate",
    ),
];

pub(super) const ROWS: &[Setting] = &{
    let mut rows = [PATH; OPTIONS.len() + 1];
    let mut n = 0;
    while n < OPTIONS.len() {
        rows[n + 1] = OPTIONS[n].0;
        n += 1;
    }
    rows
};

/// The path of a point.
pub(super) fn read(settings: &Settings) -> Result<PointPath, UnknownLevel> {
    let is_loopback = settings.read_by(&PATH, |level| Some(level == LOOPBACK))?;
    let name = settings.read_by(&PATH, |level| match level.as_str()? {
        LOOPBACK => Some(PathName::Direct),
        name => name.parse().ok(),
    })?;
    let mut path = PointPath { spec: PathSpec::of(name), is_loopback, set: Vec::new(), cable_bps: None };
    for (setting, option) in OPTIONS {
        let is_set = settings.read_by(&setting, |level| match level {
            level if level == USUAL => Some(false),
            level => path.spec.set(option, &plain(level)).is_ok().then_some(true),
        })?;
        path.set.extend(is_set.then_some(setting.name));
    }
    let (rate, _) = OPTIONS[0];
    path.cable_bps =
        settings.read_by(&rate, |level| Some(level.as_f64().or_else(|| parse_number(level.as_str()?).ok())))?;
    Ok(path)
}

/// A number as `PathSpec` reads it: never abbreviated.
fn plain(level: &Value) -> String {
    level.as_str().map_or_else(|| level.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_a_path_can_be_set() {
        let settings = OPTIONS.map(|(setting, _)| setting.name.to_owned());
        assert_eq!(settings, takt_testbed::net::OPTIONS.map(|option| format!("path_{}", option.replace('-', "_"))));
        assert_eq!(OPTIONS.map(|(_, option)| option), takt_testbed::net::OPTIONS);
    }
}
