//! Options of a path: `path_NAME` for each, as `takt` builds it.

use takt_load::Kind::{Deadline, RoundTrip, Udp};

use super::{Kind, Setting, Takes};

const PATHS: &[Kind] = &[Udp, Kind::Rate, RoundTrip, Deadline];

/// Each setting with the option it sets.
pub(crate) const OPTIONS: &[(&str, &str)] = &[
    ("path_rate", "rate"),
    ("path_buffer", "buffer"),
    ("path_mtu", "mtu"),
    ("path_addressing", "addressing"),
    ("path_cpu", "cpu"),
    ("path_seed", "seed"),
    ("path_delay", "delay"),
    ("path_jitter", "jitter"),
    ("path_hold", "hold"),
    ("path_loss", "loss"),
    ("path_reorder", "reorder"),
    ("path_duplicate", "duplicate"),
    ("path_impaired_rate", "impaired-rate"),
];

const fn option(name: &'static str, option: &'static str, about: &'static str) -> Setting {
    Setting { name, takes: Takes::PathOption(option), of: PATHS, default: Some("usual"), about }
}

pub(super) const ROWS: &[Setting] = &[
    option("path_rate", "rate", "rate of each cable, bits a second"),
    option("path_buffer", "buffer", "what may wait before a cable, bytes"),
    option("path_mtu", "mtu", "the largest packet, bytes"),
    option("path_addressing", "addressing", "how addresses are given: static, outside, dhcp"),
    option("path_cpu", "cpu", "what router-small may use of a CPU each way, or calibrated"),
    option("path_seed", "seed", "of all chance on the path"),
    option("path_delay", "delay", "what every frame is delayed by"),
    option("path_jitter", "jitter", "what frames are delayed by beside that, at random"),
    option("path_hold", "hold", "how long a reordered frame is held back"),
    option("path_loss", "loss", "share of frames lost"),
    option("path_reorder", "reorder", "share of frames held back"),
    option("path_duplicate", "duplicate", "share of frames doubled"),
    option("path_impaired_rate", "impaired-rate", "rate of the hop that impairs, bits a second"),
];

#[cfg(test)]
mod tests {
    use super::{OPTIONS, ROWS};

    #[test]
    fn every_option_of_a_path_can_be_set() {
        let set: Vec<&str> = OPTIONS.iter().map(|(_, option)| *option).collect();
        assert_eq!(set, takt_testbed::net::OPTIONS);
        assert!(ROWS.iter().zip(OPTIONS).all(|(row, (name, _))| row.name == *name));
    }
}
