//! From what was written to what holds.

use takt_base::nearest;
use takt_graph::limits::{is_name, shortened};

use super::error::{PlatformError, PlatformProblem};
use super::{Class, ClassSpec, Core, CoresSpec, LinkSpec, Node, NodeLink, Platform, PlatformSpec};
use crate::cost::work::Work;

/// Limits of a platform. A file is hostile until checked.
pub mod limits {
    /// Bytes of a platform file.
    pub const FILE_BYTES: usize = 1 << 18;
    pub const NODES: usize = 256;
    pub const CLASSES: usize = 64;
    /// Cores: as many as a plan may have workers.
    pub const CORES: usize = takt_graph::limits::WORKERS;
    pub const LINKS: usize = 4096;
    /// Slots a packet may take from machine to machine.
    pub const DELAY_SLOTS: u32 = takt_graph::limits::DELAY_SLOTS;
    /// Time that takt itself may take of a slot or a call, ns.
    pub const OVERHEAD_NS: u64 = 1_000_000_000;
}

/// One step from a table to what is in it.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}
impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

/// The problem, and the path to it.
pub(super) struct Wrong {
    pub(super) problem: PlatformProblem,
    pub(super) path: Vec<Step>,
}

macro_rules! wrong {
    ([$($step:expr),*], $problem:expr) => {
        return Err(Wrong { problem: $problem, path: vec![$(Step::from($step)),*] })
    };
}

impl PlatformSpec {
    /// Makes a platform of it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<Platform, PlatformError> {
        self.checked().map_err(|wrong| PlatformError { problem: Box::new(wrong.problem), place: None })
    }

    pub(super) fn checked(&self) -> Result<Platform, Wrong> {
        named(&self.name, || vec!["name".into()])?;
        few("classes", self.class.len(), limits::CLASSES, "class")?;
        few("nodes", self.node.len(), limits::NODES, "node")?;
        few("links", self.link.len(), limits::LINKS, "link")?;
        let name = self.name.clone();
        let mut platform = Platform { name, classes: vec![], nodes: vec![], cores: vec![], links: vec![] };
        for (name, spec) in &self.class {
            named(name, || vec!["class".into(), name.as_str().into()])?;
            sound(name, spec)?;
            platform.classes.push(Class { name: name.clone(), spec: *spec });
        }
        for (n, node) in self.node.iter().enumerate() {
            named(&node.name, || vec!["node".into(), n.into(), "name".into()])?;
            if platform.nodes.iter().any(|other| other.name == node.name) {
                wrong!(["node", n, "name"], PlatformProblem::Duplicate { what: "node", name: node.name.clone() });
            }
            if let Some(rate) = node.bytes_per_s.filter(|rate| !divides(*rate)) {
                wrong!(["node", n, "bytes_per_s"], rate_problem(rate));
            }
            platform.nodes.push(Node { name: node.name.clone(), bytes_per_s: node.bytes_per_s });
            for (c, cores) in node.cores.iter().enumerate() {
                add_cores(&mut platform, (n, c), cores)?;
            }
        }
        if platform.cores.is_empty() {
            wrong!(["node"], PlatformProblem::Empty);
        }
        for (l, link) in self.link.iter().enumerate() {
            add_link(&mut platform, l, link)?;
        }
        Ok(platform)
    }
}

fn add_cores(platform: &mut Platform, (n, c): (usize, usize), cores: &CoresSpec) -> Result<(), Wrong> {
    let names = platform.classes.iter().map(|class| class.name.as_str());
    let Some(class) = names.clone().position(|name| name == cores.class) else {
        wrong!(["node", n, "cores", c, "class"], unknown("class", &cores.class, names));
    };
    for (i, &cpu) in cores.cpus.iter().enumerate() {
        if platform.cores.iter().any(|core| core.node == n && core.cpu == cpu) {
            let name = format!("{}:{cpu}", platform.nodes[n].name);
            wrong!(["node", n, "cores", c, "cpus", i], PlatformProblem::Duplicate { what: "core", name });
        }
        // Compared here, so that a long list costs no more than the limit squared.
        if platform.cores.len() == limits::CORES {
            let problem = PlatformProblem::TooMany { what: "cores", count: limits::CORES + 1, max: limits::CORES };
            wrong!(["node", n, "cores", c, "cpus", i], problem);
        }
        platform.cores.push(Core { node: n, class, cpu });
    }
    Ok(())
}

fn add_link(platform: &mut Platform, l: usize, link: &LinkSpec) -> Result<(), Wrong> {
    let mut nodes = [0, 0];
    for (end, name) in link.between.iter().enumerate() {
        let names = platform.nodes.iter().map(|node| node.name.as_str());
        match names.clone().position(|known| known == name) {
            Some(node) => nodes[end] = node,
            None => wrong!(["link", l, "between", end], unknown("node", name, names)),
        }
    }
    if nodes[0] == nodes[1] {
        wrong!(["link", l, "between"], PlatformProblem::Loop { name: link.between[0].clone() });
    }
    nodes.sort_unstable();
    if platform.links.iter().any(|other| other.nodes == nodes) {
        let name = link.between.join(" - ");
        wrong!(["link", l, "between"], PlatformProblem::Duplicate { what: "link", name });
    }
    if !divides(link.bytes_per_s) {
        wrong!(["link", l, "bytes_per_s"], rate_problem(link.bytes_per_s));
    }
    if !(1..=limits::DELAY_SLOTS).contains(&link.delay_slots) {
        let expected = "a whole number of slots from 1 to 4096";
        let problem = PlatformProblem::Value { key: "delay_slots", got: link.delay_slots.to_string(), expected };
        wrong!(["link", l, "delay_slots"], problem);
    }
    platform.links.push(NodeLink { nodes, bytes_per_s: link.bytes_per_s, delay_slots: link.delay_slots });
    Ok(())
}

fn sound(name: &str, spec: &ClassSpec) -> Result<(), Wrong> {
    for (key, ns) in [("slot_ns", spec.slot_ns), ("call_ns", spec.call_ns)] {
        if ns > limits::OVERHEAD_NS {
            let problem = PlatformProblem::Value { key, got: ns.to_string(), expected: "at most a second" };
            wrong!(["class", name, key], problem);
        }
    }
    if let Some((work, rate)) = spec.capacities.and_then(|capacities| capacities.wrong()) {
        let key = work.map_or("mac_per_s", Work::name);
        let problem =
            PlatformProblem::Value { key, got: rate.to_string(), expected: "operations per second, at least 1" };
        match work {
            Some(_) => wrong!(["class", name, "capacities", "work_per_s", key], problem),
            None => wrong!(["class", name, "capacities", key], problem),
        }
    }
    if let Some(price) = spec.prices.and_then(|prices| prices.wrong()) {
        let expected = "nanoseconds for each kind of instruction, above 0";
        wrong!(["class", name, "prices"], PlatformProblem::Value { key: "prices", got: price.to_string(), expected });
    }
    Ok(())
}

fn named(name: &str, path: impl Fn() -> Vec<Step>) -> Result<(), Wrong> {
    if is_name(name) {
        return Ok(());
    }
    Err(Wrong { problem: PlatformProblem::Name { name: shortened(name) }, path: path() })
}

fn few(what: &'static str, count: usize, max: usize, key: &str) -> Result<(), Wrong> {
    if count > max {
        wrong!([key], PlatformProblem::TooMany { what, count, max });
    }
    Ok(())
}

fn unknown<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> PlatformProblem {
    let nearest = nearest(name, known.clone()).map(str::to_owned);
    PlatformProblem::Unknown { what, name: shortened(name), nearest, known: known.map(str::to_owned).collect() }
}

fn divides(rate: f64) -> bool {
    rate.is_finite() && rate >= 1.0
}

fn rate_problem(rate: f64) -> PlatformProblem {
    let expected = "bytes per second, at least 1";
    PlatformProblem::Value { key: "bytes_per_s", got: rate.to_string(), expected }
}
