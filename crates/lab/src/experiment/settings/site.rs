//! Settings of the place at which a workload runs, whichever it is.

use takt_load::setting::{ByteCount, Setting, Settings, Takes, UnknownLevel};
use takt_testbed::environment::{EnvironmentKind, Limits, Parameters, RuntimeName, Spec};

use super::domains;

const ENVIRONMENT: Setting = Setting::new("environment", Takes::Domain(&domains::ENVIRONMENT), "native")
    .about("where the host side runs; node:NAME is a node of the cluster that --cluster names");
const CPUS: Setting = Setting::new("environment_cpus", Takes::Domain(&domains::CPUS), "all")
    .about("how many CPUs' worth of time it may use, of a node whole cores; native and aarch64 have no limit");
const MEMORY: Setting = Setting::new("environment_memory", Takes::Domain(&domains::MEMORY), "all")
    .about("how much memory it may use; native, aarch64 and nodes have no limit");
const RUNTIME: Setting =
    Setting::new("environment_runtime", Takes::Word(&["any", "runc", "crun", "podman", "docker"]), "any")
        .about("what makes a container; any is the first of these that works here");
const PARAMETERS: Setting = Setting::new("environment_parameters", Takes::Domain(&domains::KERNEL_PARAMETERS), "none")
    .about("parameters on the kernel command line of a virtual machine");
const REPLICATE: Setting = Setting::new("replicate", Takes::Whole(1, 9), "1")
    .about("changes nothing: with the levels 1 and 2 the same is measured twice, and their difference is noise");

pub(super) const ROWS: &[Setting] = &[ENVIRONMENT, CPUS, MEMORY, RUNTIME, PARAMETERS, REPLICATE];

/// The environment of a point. `native` and `aarch64` have no limits: those of a sweep over environments are for the others.
pub(super) fn read(settings: &Settings) -> Result<Spec, UnknownLevel> {
    let Spec { kind, node, .. } = settings.read_by(&ENVIRONMENT, |level| Spec::named(level.as_str()?))?;
    let limits = Limits {
        cpus: settings.read(&CPUS)?,
        memory_bytes: settings.read::<Option<ByteCount>>(&MEMORY)?.map(|ByteCount(bytes)| bytes),
    };
    let runtime = settings.read_by(&RUNTIME, |level| match level.as_str()? {
        "any" => Some(None),
        name => RuntimeName::named(name).map(Some),
    })?;
    let parameters: Parameters = settings.read_by(&PARAMETERS, |level| level.as_str()?.parse().ok())?;
    Ok(Spec {
        kind,
        node,
        limits: match kind {
            EnvironmentKind::Container | EnvironmentKind::Vm => limits,
            EnvironmentKind::Node => Limits { memory_bytes: None, ..limits },
            EnvironmentKind::Native | EnvironmentKind::Aarch64 => Limits::default(),
        },
        runtime: runtime.filter(|_| kind == EnvironmentKind::Container),
        parameters: if kind == EnvironmentKind::Vm { parameters } else { Parameters::default() },
        shell: false,
    })
}
