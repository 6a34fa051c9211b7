//! An environment by its name and limits, as an experiment file states it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use takt_host::leftovers::Run;

use super::{Aarch64, Container, Environment, EnvironmentError, Native, Nodes, Parameters, RuntimeName, Vm, node_of};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentKind {
    #[default]
    Native,
    /// Processes of this machine whose instructions are another processor's.
    Aarch64,
    Container,
    Vm,
    /// A node of a cluster, by its name.
    Node,
}

impl EnvironmentKind {
    /// Every one on this machine, the least separated first.
    pub const ALL: [EnvironmentKind; 4] =
        [EnvironmentKind::Native, EnvironmentKind::Aarch64, EnvironmentKind::Container, EnvironmentKind::Vm];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EnvironmentKind::Native => "native",
            EnvironmentKind::Aarch64 => "aarch64",
            EnvironmentKind::Container => "container",
            EnvironmentKind::Vm => "vm",
            EnvironmentKind::Node => "node",
        }
    }

    /// Whether it can be kept to a share of this machine, and has a network of its own: a container, a virtual machine.
    #[must_use]
    pub const fn is_apart(self) -> bool {
        matches!(self, EnvironmentKind::Container | EnvironmentKind::Vm)
    }

    #[must_use]
    pub fn named(name: &str) -> Option<EnvironmentKind> {
        EnvironmentKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// CPUs' worth of time, at least 0.01; a virtual machine has whole processors, so this is rounded up there. `None`:
    /// a container has no limit, a virtual machine as many processors as the host side has.
    pub cpus: Option<f64>,
    /// Memory, bytes, at least 64 MiB. `None`: a container has no limit, a virtual machine [`Vm::MEMORY_BYTES`].
    pub memory_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub kind: EnvironmentKind,
    /// Which node.
    #[serde(default)]
    pub node: Option<String>,
    /// How much of its machine it may use; `native` and `aarch64` have no limits, a node one of whole cores.
    #[serde(default)]
    pub limits: Limits,
    /// Runtime of a container; `None`: the first that works here.
    #[serde(default)]
    pub runtime: Option<RuntimeName>,
    /// Parameters of a virtual machine's kernel.
    #[serde(default)]
    pub parameters: Parameters,
    /// Whether a person will look into it: a virtual machine then also gets a shell and some programs.
    #[serde(skip)]
    pub shell: bool,
}

impl Spec {
    /// Spec of an environment by its name in experiment files.
    #[must_use]
    pub fn named(name: &str) -> Option<Spec> {
        let node = node_of(name).map(|node| Spec {
            kind: EnvironmentKind::Node,
            node: Some(node.to_owned()),
            ..Spec::default()
        });
        node.or_else(|| Some(Spec { kind: EnvironmentKind::named(name)?, ..Spec::default() }))
    }

    /// Its name in experiment files and records.
    #[must_use]
    pub fn name(&self) -> String {
        self.node.as_ref().map_or_else(|| self.kind.name().to_owned(), |node| format!("node:{node}"))
    }
}

/// Finds out whether the environment can be had here, and how; nothing is brought up yet, except that the first virtual
/// machine of a boot is preceded by a test whether KVM works.
///
/// `program` is the takt that is to run inside as agent. `nodes`: what speaks with those of a cluster, if one is named.
pub fn open(
    spec: &Spec,
    program: PathBuf,
    run: &Run,
    nodes: Option<&dyn Nodes>,
) -> Result<Box<dyn Environment>, EnvironmentError> {
    let native = Native::new(program, run);
    check(spec)?;
    Ok(match spec.kind {
        EnvironmentKind::Native => Box::new(native),
        EnvironmentKind::Aarch64 => Box::new(Aarch64::open(native)?),
        EnvironmentKind::Container => Box::new(Container::open(native, run.clone(), spec.limits, spec.runtime)?),
        EnvironmentKind::Vm => Box::new(
            Vm::open(native, run.clone(), spec.limits)?.with_parameters(spec.parameters).with_shell(spec.shell),
        ),
        EnvironmentKind::Node => {
            let node = spec.node.as_deref().unwrap_or_default();
            let nodes = nodes.ok_or_else(|| EnvironmentError::NoCluster { node: node.to_owned() })?;
            // Whole cores, as processors of a virtual machine are.
            nodes.environment(node, spec.limits.cpus.map(|cpus| cpus.ceil() as u32), native)?
        }
    })
}

fn check(spec: &Spec) -> Result<(), EnvironmentError> {
    let &Spec { kind, limits: Limits { cpus, memory_bytes }, .. } = spec;
    let impossible = |limit, value: String, allowed| Err(EnvironmentError::Limit { limit, value, allowed });
    match (kind, cpus, memory_bytes) {
        (kind, Some(cpus), _) if !kind.is_apart() && kind != EnvironmentKind::Node => {
            impossible("cpus", cpus.to_string(), NO_LIMITS)
        }
        (kind, _, Some(bytes)) if !kind.is_apart() => impossible("memory", bytes.to_string(), NO_LIMITS),
        // A quota is a whole number of microseconds of each 100 ms, 1000 at least.
        (_, Some(cpus), _) if !(0.01..=1024.0).contains(&cpus) => impossible("cpus", cpus.to_string(), "0.01 to 1024"),
        (_, _, Some(bytes)) if bytes < MIN_MEMORY_BYTES => impossible("memory", bytes.to_string(), "64 MiB or more"),
        _ => Ok(()),
    }
}

const NO_LIMITS: &str = "native and aarch64 have no limits";
/// The agent, its threads and their buffers, and for a guest its kernel.
const MIN_MEMORY_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: EnvironmentKind, cpus: Option<f64>, memory_bytes: Option<u64>) -> Spec {
        Spec { kind, limits: Limits { cpus, memory_bytes }, ..Spec::default() }
    }

    #[test]
    fn impossible_limits_are_refused_with_what_is_possible() {
        for (kind, cpus, memory) in [
            (EnvironmentKind::Native, Some(1.0), None),
            (EnvironmentKind::Aarch64, Some(1.0), None),
            (EnvironmentKind::Native, None, Some(1 << 30)),
            (EnvironmentKind::Container, Some(0.0), None),
            (EnvironmentKind::Container, Some(f64::NAN), None),
            (EnvironmentKind::Vm, Some(-1.0), None),
            (EnvironmentKind::Vm, None, Some(1 << 20)),
        ] {
            let refused = check(&spec(kind, cpus, memory)).unwrap_err();
            assert!(matches!(refused, EnvironmentError::Limit { .. }), "{refused}");
        }
        check(&spec(EnvironmentKind::Container, Some(0.5), Some(1 << 28))).unwrap();
        check(&Spec::default()).unwrap();
    }

    #[test]
    fn a_kind_is_found_by_the_name_it_is_written_with() {
        for kind in EnvironmentKind::ALL {
            assert_eq!(EnvironmentKind::named(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(EnvironmentKind::named("docker"), None);
    }

    #[test]
    fn an_environment_is_found_by_the_name_it_is_written_with() {
        for name in ["native", "vm", "node:rack-1"] {
            assert_eq!(Spec::named(name).map(|spec| spec.name()).as_deref(), Some(name));
        }
        for wrong in ["node", "node:", "node:a/b", "node:*", "nodes:a", ""] {
            assert_eq!(Spec::named(wrong), None, "{wrong}");
        }
    }
}
