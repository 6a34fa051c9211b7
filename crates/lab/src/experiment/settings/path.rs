//! Settings of the path between host and radio: the path, and `path_NAME` for each of its options, as `takt` builds it.

use takt_load::setting::{Setting, Takes};

use super::domains::PathOption;

/// The setting that sets an option of a path.
pub(crate) fn setting_of(option: &str) -> String {
    format!("path_{}", option.replace('-', "_"))
}

const fn option(name: &'static str, option: &'static PathOption, about: &'static str) -> Setting {
    Setting::new(name, Takes::Domain(option), "usual").about(about)
}

pub(super) const ROWS: &[Setting] = &[
    Setting::new(
        "path",
        Takes::Word(&["direct", "loopback", "switch", "router", "router-small", "router-hw", "xdp-router"]),
        "direct",
    )
    .about("what lies between host and radio; direct is a veth pair where permitted, else loopback"),
    option("path_rate", &PathOption("rate"), "rate of each cable, bits a second"),
    option("path_buffer", &PathOption("buffer"), "what may wait before a cable, bytes"),
    option("path_mtu", &PathOption("mtu"), "the largest packet, bytes"),
    option("path_addressing", &PathOption("addressing"), "how addresses are given: static, outside, dhcp"),
    option("path_cpu", &PathOption("cpu"), "what router-small may use of a CPU each way, or calibrated"),
    option("path_seed", &PathOption("seed"), "of all chance on the path"),
    option("path_delay", &PathOption("delay"), "what every frame is delayed by"),
    option("path_jitter", &PathOption("jitter"), "what frames are delayed by beside that, at random"),
    option("path_hold", &PathOption("hold"), "how long a reordered frame is held back"),
    option("path_loss", &PathOption("loss"), "share of frames lost"),
    option("path_reorder", &PathOption("reorder"), "share of frames held back"),
    option("path_duplicate", &PathOption("duplicate"), "share of frames doubled"),
    option("path_impaired_rate", &PathOption("impaired-rate"), "rate of the hop that impairs, bits a second"),
];

#[cfg(test)]
mod tests {
    use super::{ROWS, setting_of};

    #[test]
    fn every_option_of_a_path_can_be_set() {
        let rows: Vec<&str> = ROWS[1..].iter().map(|row| row.name).collect();
        let settings: Vec<String> = takt_testbed::net::OPTIONS.iter().map(|option| setting_of(option)).collect();
        assert_eq!(rows, settings);
    }
}
