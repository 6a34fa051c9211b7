//! Which path, with which properties.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use takt_path::ethernet::{HEADER_BYTES, IP_UDP_BYTES, wire_bytes};
use takt_path::model::{HopSpec, Impairments};

/// The path between host and radio. In order of an experiment's table: a name, then options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    pub name: PathName,
    /// Rate of each cable, bits a second, preamble and gap counted; `None`: as fast as this machine.
    pub rate_bps: Option<u64>,
    /// Bytes on the wire that may wait before a cable in a switch or router.
    pub buffer_bytes: u32,
    pub mtu_bytes: u32,
    pub addressing: Addressing,
    /// Share of a CPU that `router-small` may use each way; `None`: found out, so that it is as fast as the study's
    /// ([`SMALL_DATAGRAMS_PER_S`](super::SMALL_DATAGRAMS_PER_S)).
    pub cpu_share: Option<f64>,
    /// Impairments of frames, in a hop of its own next to the radio.
    pub impairments: Impairments,
    pub impaired_rate_bps: Option<u64>,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathName {
    #[default]
    Direct,
    Switch,
    Router,
    RouterSmall,
    RouterHw,
    XdpRouter,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addressing {
    #[default]
    Static,
    /// A router's outer address by DHCP, the host's by hand: the study's scenarios II and III.
    Outside,
    /// The host's by DHCP, and a router's outer address: I and IV.
    Dhcp,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathSpecError {
    #[error("there is no path {name:?}; expected one of: {}", PathSpec::NAMES.join(", "))]
    Name { name: String, nearest: Option<&'static str> },
    #[error("a path has no option {option:?}; expected one of: {}", super::OPTIONS.join(", "))]
    Option { option: String, nearest: Option<&'static str> },
    #[error("{option} of a path is {expected}, not {value:?}")]
    Value { option: &'static str, expected: &'static str, value: String },
}

const MEGABIT: u64 = 1_000_000;

impl Default for PathSpec {
    fn default() -> PathSpec {
        PathSpec::of(PathName::Direct)
    }
}

impl PathSpec {
    /// The largest packet of Ethernet.
    pub const MTU_BYTES: u32 = 1500;
    /// The largest that cards agree on, and what a radio on 10 Gb/s is given.
    pub const JUMBO_MTU_BYTES: u32 = 9000;

    pub const NAMES: [&'static str; 6] = ["direct", "switch", "router", "router-small", "router-hw", "xdp-router"];

    /// A path of this kind as it is by default: the study's addressing, ports of 100 Mb/s in `router-hw`, of
    /// 1 Gb/s (as an N200 has) in switches and other routers, and no limit for `direct`.
    #[must_use]
    pub fn of(name: PathName) -> PathSpec {
        let (rate_bps, addressing) = match name {
            PathName::Direct => (None, Addressing::Static),
            PathName::Switch => (Some(1000 * MEGABIT), Addressing::Dhcp),
            PathName::Router | PathName::RouterSmall => (Some(1000 * MEGABIT), Addressing::Outside),
            PathName::RouterHw => (Some(100 * MEGABIT), Addressing::Dhcp),
            PathName::XdpRouter => (Some(1000 * MEGABIT), Addressing::Static),
        };
        PathSpec {
            name,
            rate_bps,
            buffer_bytes: 256 * 1024,
            mtu_bytes: PathSpec::MTU_BYTES,
            addressing,
            cpu_share: None,
            impairments: Impairments::default(),
            impaired_rate_bps: None,
            seed: 1,
        }
    }

    pub fn named(name: &str) -> Result<PathSpec, PathSpecError> {
        name.parse().map(PathSpec::of)
    }

    /// Most datagrams of that size that a cable of this path, or the model of its router, can carry each second.
    /// `None`: nothing but this machine limits it. A datagram that needs fragments counts all of them.
    #[must_use]
    pub fn ceiling_datagrams_per_s(&self, payload_bytes: usize) -> Option<f64> {
        let rates = [self.rate_bps, self.impaired_rate_bps].into_iter().flatten();
        let cable = rates.min().map(|rate| rate as f64 / 8.0 / self.datagram_wire_bytes(payload_bytes) as f64);
        let processor = self.hardware().and_then(|hardware| hardware.processor).map(|processor| {
            let frames = self.frames(payload_bytes);
            let bytes: usize = frames.iter().sum();
            let ns = processor.per_frame_ns as f64 * frames.len() as f64
                + processor.per_byte_ps as f64 * bytes as f64 / 1000.0;
            1e9 / ns
        });
        cable.into_iter().chain(processor).reduce(f64::min)
    }

    pub(super) fn hardware(&self) -> Option<HopSpec> {
        let of_study = HopSpec::wr741nd(self.seed);
        (self.name == PathName::RouterHw).then_some(HopSpec { rate_bps: self.rate_bps, ..of_study })
    }

    /// The hop that impairs; `None`: nothing is impaired.
    pub(super) fn impairing(&self) -> Option<HopSpec> {
        let hop = HopSpec {
            rate_bps: self.impaired_rate_bps,
            buffer_bytes: self.buffer_bytes.into(),
            processor: None,
            impairments: self.impairments,
            seed: self.seed,
        };
        (!hop.is_plain()).then_some(hop)
    }

    fn datagram_wire_bytes(&self, payload_bytes: usize) -> usize {
        self.frames(payload_bytes).into_iter().map(wire_bytes).sum()
    }

    fn frames(&self, payload_bytes: usize) -> Vec<usize> {
        const IP_BYTES: usize = 20;
        let mtu = self.mtu_bytes as usize;
        if payload_bytes + IP_UDP_BYTES <= mtu {
            return vec![payload_bytes + IP_UDP_BYTES + HEADER_BYTES];
        }
        // All fragments but the last carry a multiple of eight bytes (RFC 791).
        let each = (mtu - IP_BYTES) / 8 * 8;
        let all = payload_bytes + IP_UDP_BYTES - IP_BYTES;
        (0..all).step_by(each).map(|begun| (all - begun).min(each) + IP_BYTES + HEADER_BYTES).collect()
    }
}

impl PathName {
    const ALL: [PathName; 6] =
        [Self::Direct, Self::Switch, Self::Router, Self::RouterSmall, Self::RouterHw, Self::XdpRouter];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = PathName::ALL.iter().zip(PathSpec::NAMES).find(|(name, _)| **name == self);
        found.map_or("direct", |(_, text)| text)
    }
}

impl std::fmt::Display for PathName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PathName {
    type Err = PathSpecError;

    fn from_str(text: &str) -> Result<PathName, PathSpecError> {
        let found = PathName::ALL.into_iter().find(|name| name.as_str() == text);
        let nearest = takt_base::nearest(text, PathSpec::NAMES);
        found.ok_or_else(|| PathSpecError::Name { name: text.into(), nearest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceilings_are_those_of_a_cable() {
        let spec = PathSpec { rate_bps: Some(100_000_000), ..PathSpec::of(PathName::Router) };
        let per_s = |payload| spec.ceiling_datagrams_per_s(payload).map(f64::round);
        assert_eq!((per_s(16), per_s(1472)), (Some(148_810.0), Some(8_127.0)));
        // 1480 bytes and 28 bytes, each in a frame of its own: 1538 and 86 on the wire.
        assert_eq!(per_s(1500), Some((12_500_000.0_f64 / (1538.0 + 86.0)).round()));
        assert_eq!(PathSpec::default().ceiling_datagrams_per_s(16), None);
    }

    #[test]
    fn the_study_s_router_is_slower_than_its_cable() {
        let spec = PathSpec::of(PathName::RouterHw);
        let per_s = spec.ceiling_datagrams_per_s(128).unwrap();
        assert!((20_000.0..22_000.0).contains(&per_s), "{per_s}");
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for name in PathSpec::NAMES {
            let spec = PathSpec::named(name).unwrap();
            assert_eq!(spec.name.to_string(), name);
            let text = serde_json::to_string(&spec).unwrap();
            assert!(text.contains(&format!("\"name\":\"{name}\"")), "{text}");
            assert_eq!(serde_json::from_str::<PathSpec>(&text).unwrap(), spec);
        }
        let error = PathSpec::named("router-smal").unwrap_err();
        assert!(matches!(error, PathSpecError::Name { nearest: Some("router-small"), .. }), "{error}");
    }
}
