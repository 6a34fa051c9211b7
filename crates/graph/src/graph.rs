//! [`Graph`]: a waveform that has passed the checks.

use serde::Serialize;

use crate::item::Item;
use crate::kind::Catalogue;
use crate::shape::{Lengths, Shape};
use crate::value::Params;
use crate::waveform::MissPolicy;

/// A waveform whose names, types, rates, cycles and limits hold. Components and links are known by their index.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(crate) name: String,
    pub(crate) slot_ns: u64,
    pub(crate) components: Vec<Component>,
    pub(crate) links: Vec<Link>,
}

/// A component of a checked waveform.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its name, unique in the waveform.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Complete and in range.
    pub params: Params,
    /// Its ports.
    pub shape: Shape,
    /// Treatment of slots that it misses.
    pub on_miss: MissPolicy,
    /// Execution time it is allowed a slot, nanoseconds, where declared.
    pub budget_ns: Option<u64>,
    /// Whether copies of it may take turns.
    pub stateless: bool,
    /// Whether it runs in a process of its own: what it makes in a slot is handed over in the next.
    pub isolated: bool,
    /// How many of the shape's inputs, the last ones, carry messages and not packets.
    pub message_inputs: usize,
    /// Whether the last of the shape's outputs carries messages.
    pub message_output: bool,
}

impl Component {
    /// The ports it declares itself: those of the shape without those that carry messages.
    #[must_use]
    pub fn declared(&self) -> Shape {
        let mut shape = self.shape.clone();
        shape.inputs.truncate(shape.inputs.len().saturating_sub(self.message_inputs));
        shape.outputs.truncate(shape.outputs.len().saturating_sub(self.message_output.into()));
        shape
    }
}

/// A port by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PortId {
    /// Index among the graph's components.
    pub component: usize,
    /// Index among the component's inputs or outputs.
    pub port: usize,
}

/// A link of a checked waveform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// An output.
    pub from: PortId,
    /// An input.
    pub to: PortId,
    /// Functional delay, slots.
    pub delay: u32,
    /// Items that flow.
    pub item: Item,
    /// How much of it a slot.
    pub lengths: Lengths,
    /// Whether it lies on a cycle.
    pub in_cycle: bool,
    /// Whether messages flow, 64 bytes each, and not packets of samples.
    pub message: bool,
}

impl Link {
    /// Bytes of its longest packet.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.lengths.max * self.item.bytes() as u64
    }
}

impl Graph {
    /// The waveform's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length of a slot, nanoseconds.
    #[must_use]
    pub fn slot_ns(&self) -> u64 {
        self.slot_ns
    }

    /// Its components.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Its links. Every input has exactly one; an output has any number.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The same waveform, to be tried: with the parameters that its components have in trials ([`ParamSpec::in_trials`]).
    ///
    /// [`ParamSpec::in_trials`]: crate::ParamSpec::in_trials
    #[must_use]
    pub fn for_trials(&self, catalogue: &dyn Catalogue) -> Graph {
        let mut graph = self.clone();
        for component in &mut graph.components {
            let params = catalogue.kind(&component.kind).map(|kind| kind.params.as_slice()).unwrap_or_default();
            for (name, value) in params.iter().filter_map(|param| Some((&param.name, param.in_trials.as_ref()?))) {
                component.params.set(name, value.clone());
            }
        }
        graph
    }

    /// Index of the component of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.components.iter().position(|component| component.name == name)
    }

    /// The link that leads to an input.
    #[must_use]
    pub fn link_to(&self, input: PortId) -> Option<usize> {
        self.links.iter().position(|link| link.to == input)
    }

    /// Components that produce nothing: what they receive is what the waveform gives.
    pub fn sinks(&self) -> impl Iterator<Item = usize> {
        let sinks = self.components.iter().enumerate();
        let gives = |component: &Component| component.shape.outputs.len() > usize::from(component.message_output);
        sinks.filter(move |(_, component)| !gives(component)).map(|(index, _)| index)
    }

    /// `component.port` of an output.
    #[must_use]
    pub fn output_name(&self, port: PortId) -> String {
        let component = &self.components[port.component];
        format!("{}.{}", component.name, component.shape.outputs[port.port].name)
    }

    /// `component.port` of an input.
    #[must_use]
    pub fn input_name(&self, port: PortId) -> String {
        let component = &self.components[port.component];
        format!("{}.{}", component.name, component.shape.inputs[port.port].name)
    }

    /// Components so that each stands behind those it receives from without delay. Unique: of those that could come next, the
    /// first written does.
    #[must_use]
    pub fn topological_order(&self) -> Vec<usize> {
        let immediate = |link: &&Link| link.delay == 0;
        let mut waits = vec![0_usize; self.components.len()];
        for link in self.links.iter().filter(immediate) {
            waits[link.to.component] += 1;
        }
        let outgoing = crate::cycle::outgoing(self.components.len(), self.links.iter().filter(immediate));
        let mut ready: std::collections::BTreeSet<usize> = (0..waits.len()).filter(|&c| waits[c] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(next) = ready.pop_first() {
            order.push(next);
            for &to in &outgoing[next] {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        order
    }
}
