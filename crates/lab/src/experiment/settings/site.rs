//! Settings of the place at which a workload runs, whichever it is.

use takt_load::setting::{Setting, Takes};

use super::domains::{CPUS, ENVIRONMENT, KERNEL_PARAMETERS, MEMORY};

pub(super) const ROWS: &[Setting] = &[
    Setting::new("environment", Takes::Domain(&ENVIRONMENT), "native")
        .about("where the host side runs; node:NAME is a node of the cluster that --cluster names"),
    Setting::new("environment_cpus", Takes::Domain(&CPUS), "all")
        .about("how many CPUs' worth of time it may use, of a node whole cores; native and aarch64 have no limit"),
    Setting::new("environment_memory", Takes::Domain(&MEMORY), "all")
        .about("how much memory it may use; native, aarch64 and nodes have no limit"),
    Setting::new("environment_runtime", Takes::Word(&["any", "runc", "crun", "podman", "docker"]), "any")
        .about("what makes a container; any is the first of these that works here"),
    Setting::new("environment_parameters", Takes::Domain(&KERNEL_PARAMETERS), "none")
        .about("parameters on the kernel command line of a virtual machine"),
    Setting::new("replicate", Takes::Whole(1, 9), "1")
        .about("changes nothing: with the levels 1 and 2 the same is measured twice, and their difference is noise"),
];
