//! Where a workload runs, whichever it is.

use takt_load::setting::{Setting, Takes};

use super::domains::{Cpus, KernelParameters, Memory};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "environment",
        takes: Takes::Word(&["native", "container", "vm"]),
        default: Some("native"),
        about: "where the host side runs",
    },
    Setting {
        name: "environment_cpus",
        takes: Takes::Domain(&Cpus),
        default: Some("all"),
        about: "how many CPUs' worth of time it may use; native has no limit",
    },
    Setting {
        name: "environment_memory",
        takes: Takes::Domain(&Memory),
        default: Some("all"),
        about: "how much memory it may use; native has no limit",
    },
    Setting {
        name: "environment_runtime",
        takes: Takes::Word(&["any", "runc", "crun", "podman", "docker"]),
        default: Some("any"),
        about: "what makes a container; any is the first of these that works here",
    },
    Setting {
        name: "environment_parameters",
        takes: Takes::Domain(&KernelParameters),
        default: Some("none"),
        about: "what the kernel of a virtual machine is told on its command line",
    },
    Setting {
        name: "twin",
        takes: Takes::Whole(1, 9),
        default: Some("1"),
        about: "changes nothing: with the levels 1 and 2 the same is measured twice, and their difference is noise",
    },
];
