//! What every workload shares: where it runs, over what, for how long.

use takt_load::Kind::{Deadline, Interface, LongestPacket, Roles, RoundTrip, Udp, Wakeup};

use super::{Kind, Setting, Takes};

pub(super) const EVERY: &[Kind] =
    &[Udp, Kind::Rate, RoundTrip, Kind::Waveform, LongestPacket, Interface, Roles, Deadline, Wakeup];
const PATHS: &[Kind] = &[Udp, Kind::Rate, RoundTrip, Deadline];

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "environment",
        takes: Takes::Word(&["native", "container", "vm"]),
        of: EVERY,
        default: Some("native"),
        about: "where the host side runs",
    },
    Setting {
        name: "environment_cpus",
        takes: Takes::Cpus,
        of: EVERY,
        default: Some("all"),
        about: "how many CPUs' worth of time it may use; native has no limit",
    },
    Setting {
        name: "environment_memory",
        takes: Takes::Memory,
        of: EVERY,
        default: Some("all"),
        about: "how much memory it may use; native has no limit",
    },
    Setting {
        name: "environment_runtime",
        takes: Takes::Word(&["any", "runc", "crun", "podman", "docker"]),
        of: EVERY,
        default: Some("any"),
        about: "what makes a container; any is the first of these that works here",
    },
    Setting {
        name: "environment_parameters",
        takes: Takes::Parameters,
        of: EVERY,
        default: Some("none"),
        about: "what the kernel of a virtual machine is told on its command line",
    },
    Setting {
        name: "path",
        takes: Takes::Word(&["direct", "loopback", "switch", "router", "router-small", "router-hw", "xdp-router"]),
        of: PATHS,
        default: Some("direct"),
        about: "what lies between host and radio; direct is a veth pair where permitted, else loopback",
    },
    Setting {
        name: "engine",
        takes: Takes::Word(&["mmsg", "socket"]),
        of: PATHS,
        default: Some("mmsg"),
        about: "how datagrams enter and leave the host side",
    },
    Setting {
        name: "duration",
        takes: Takes::Span,
        of: &[Udp, Kind::Rate, RoundTrip, Kind::Waveform, LongestPacket, Roles, Deadline, Wakeup],
        default: None,
        about: "what of a round is measured; of a search: its confirmation, a trial takes a quarter",
    },
    Setting {
        name: "warm_up",
        takes: Takes::SpanOrNone,
        of: &[Udp, Kind::Rate, RoundTrip, Kind::Waveform, Deadline, Wakeup],
        default: Some("500ms"),
        about: "runs before it and is not in the record",
    },
    Setting {
        name: "twin",
        takes: Takes::Whole(1, 9),
        of: EVERY,
        default: Some("1"),
        about: "changes nothing: with the levels 1 and 2 the same is measured twice, and their difference is noise",
    },
];
