//! [`Platform`]: nodes with cores of one class or another, and the links between nodes.
//!
//! A [`PlatformSpec`] is what a file says or a program puts together; [`PlatformSpec::check`] makes a `Platform` of it,
//! where everything goes by index and holds.

mod check;
mod error;
mod file;
mod measured;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use check::limits;
pub use error::{PlatformError, PlatformProblem};
pub use measured::MeasuredCore;

use crate::cost::costs::Costs;
use crate::cost::prices::Prices;
use crate::cost::work::Capacities;

/// A platform as written. Format of its file: `docs/reference/platform.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlatformSpec {
    pub name: String,
    /// Kinds of cores, by name.
    pub class: BTreeMap<String, ClassSpec>,
    pub node: Vec<NodeSpec>,
    /// The links between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkSpec>,
}

/// A kind of core as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [class.NAME]")]
pub struct ClassSpec {
    /// Time that takt itself takes of every slot of a worker, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slot_ns: u64,
    /// Time of a component's call, ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub call_ns: u64,
    /// Capacities of a core. Costs measured on another class hold here only if both say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacities: Option<Capacities>,
    /// Time of an instruction of each kind there. Better than capacities where components' instructions were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// A machine as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[node]]")]
pub struct NodeSpec {
    pub name: String,
    /// Bytes a second that its cores can hand to each other, all together; unlimited if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    pub cores: Vec<CoresSpec>,
}

/// Cores of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { class = \"zen5\", cpus = [0, 1] }")]
pub struct CoresSpec {
    pub class: String,
    /// Their numbers on the machine.
    pub cpus: Vec<u32>,
}

/// A link between machines as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[link]]")]
pub struct LinkSpec {
    pub between: [String; 2],
    /// Each way, bytes a second.
    pub bytes_per_s: f64,
    /// Slots a packet takes; at least 1.
    #[serde(default = "one")]
    pub delay_slots: u32,
}

fn one() -> u32 {
    1
}

/// A platform that holds: names are known, figures can be divided by, there is at least one core.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    name: String,
    classes: Vec<Class>,
    nodes: Vec<Node>,
    cores: Vec<Core>,
    links: Vec<NodeLink>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    pub name: String,
    pub spec: ClassSpec,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: String,
    /// Between its cores, bytes a second; `None`: no limit.
    pub bytes_per_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Core {
    pub node: usize,
    pub class: usize,
    /// Its number on the machine.
    pub cpu: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeLink {
    /// Indices of the machines.
    pub nodes: [usize; 2],
    /// Each way, bytes a second.
    pub bytes_per_s: f64,
    /// Slots a packet takes; at least 1.
    pub delay_slots: u32,
}

impl Platform {
    /// One machine with these cores, all of one class. A calibration of this host gives one.
    ///
    /// # Errors
    /// No core, a core twice, a name that is none, capacities that can't be divided by.
    ///
    /// ```
    /// use takt_mapper::{ClassSpec, Platform};
    ///
    /// let platform = Platform::host("zen5", ClassSpec::default(), &[0, 1, 2]).unwrap();
    /// assert_eq!(platform.cores().len(), 3);
    /// assert!(Platform::host("zen5", ClassSpec::default(), &[]).is_err());
    /// ```
    pub fn host(class: &str, spec: ClassSpec, cpus: &[u32]) -> Result<Platform, PlatformError> {
        PlatformSpec::host(class, spec, cpus).check()
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All cores, machine by machine, as written.
    #[must_use]
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// Links between machines; at most one between two.
    #[must_use]
    pub fn links(&self) -> &[NodeLink] {
        &self.links
    }

    #[must_use]
    pub fn class_of(&self, core: usize) -> &Class {
        &self.classes[self.cores[core].class]
    }

    /// `node:cpu` of a core.
    #[must_use]
    pub fn core_name(&self, core: usize) -> String {
        let core = &self.cores[core];
        format!("{}:{}", self.nodes[core.node].name, core.cpu)
    }
}

impl Costs {
    /// With the capacities of the processor that they were measured on, where the platform has that kind of core.
    #[must_use]
    pub fn with_capacities_of(mut self, platform: &Platform) -> Costs {
        let class = platform.classes().iter().find(|class| class.name == self.reference);
        self.capacities = self.capacities.or(class.and_then(|class| class.spec.capacities));
        self
    }
}

impl PlatformSpec {
    /// One machine, called `host`, with these cores, all of one class; to be written to a file or checked.
    #[must_use]
    pub fn host(class: &str, spec: ClassSpec, cpus: &[u32]) -> PlatformSpec {
        let cores = vec![CoresSpec { class: class.to_owned(), cpus: cpus.to_vec() }];
        PlatformSpec {
            name: "host".to_owned(),
            class: BTreeMap::from([(class.to_owned(), spec)]),
            node: vec![NodeSpec { name: "host".to_owned(), bytes_per_s: None, cores }],
            link: Vec::new(),
        }
    }

    /// As a file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Names and numbers in tables: always TOML.
        toml::to_string(self).unwrap_or_default()
    }
}
