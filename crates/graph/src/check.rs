//! The checks that make a [`Waveform`] a [`Graph`]: names, types, ports, rates, cycles, limits, in this order.

use std::collections::HashMap;

use takt_base::nearest;
use takt_toml::Problem as File;

use crate::error::{GraphError, Problem, Side};
use crate::graph::{Component, Graph, Link, PortId};
use crate::item::Item;
use crate::kind::{Catalogue, Kind, ParamError};
use crate::plan::{Latency, Plan, PlanError};
use crate::shape::{Length, Lengths};
use crate::value::Params;
use crate::waveform::{ComponentSpec, LinkSpec, MissPolicy, Spot, Waveform};
use crate::{cycle, limits, rates};

impl Graph {
    /// Checks a waveform against the component types there are.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place and what would be right.
    pub fn check(waveform: &Waveform, catalogue: &dyn Catalogue) -> Result<Graph, GraphError> {
        Checker { waveform, catalogue, by_name: HashMap::new() }.graph()
    }
}

struct Checker<'a> {
    waveform: &'a Waveform,
    catalogue: &'a dyn Catalogue,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Checker<'a> {
    fn graph(mut self) -> Result<Graph, GraphError> {
        let waveform = self.waveform;
        self.sizes()?;
        let mut components = Vec::with_capacity(waveform.components.len());
        for (index, spec) in waveform.components.iter().enumerate() {
            self.name(&spec.name, spec.spot)?;
            if self.by_name.insert(&spec.name, index).is_some() {
                return Err(self.wrong(Problem::Duplicate { name: spec.name.clone() }, spec.spot));
            }
            components.push(self.component(spec)?);
        }
        let mut graph = Graph { name: waveform.name.clone(), slot_ns: waveform.slot_ns, components, links: Vec::new() };
        for spec in &waveform.links {
            let link = self.link(&graph, spec)?;
            graph.links.push(link);
        }
        for spec in &waveform.messages {
            self.message(&mut graph, spec)?;
        }
        self.each_input_once(&graph)?;
        self.types(&graph)?;
        rates::settle(&mut graph).map_err(|fault| {
            let (problem, link) = *fault;
            self.wrong(problem, self.spot_of(link))
        })?;
        self.cycles(&mut graph)?;
        self.repeated(&graph)?;
        self.isolated(&graph)?;
        Ok(graph)
    }

    fn wrong(&self, problem: Problem, spot: Spot) -> GraphError {
        GraphError::new(problem, self.waveform.source.as_ref(), spot)
    }

    fn spot_of(&self, link: Option<usize>) -> Spot {
        link.and_then(|index| self.waveform.links.get(index)).map_or(Spot::NONE, |link| link.to_spot)
    }

    fn sizes(&self) -> Result<(), GraphError> {
        let waveform = self.waveform;
        self.name(&waveform.name, Spot::NONE)?;
        if waveform.components.is_empty() {
            return Err(self.wrong(Problem::Empty, Spot::NONE));
        }
        if !(limits::SLOT_MIN_NS..=limits::SLOT_MAX_NS).contains(&waveform.slot_ns) {
            let (got, expected) = (format!("{} ns", waveform.slot_ns), "a time from 1 us to 1 min".to_owned());
            return Err(self.wrong(File::Value { key: "slot".to_owned(), got, expected }.into(), Spot::NONE));
        }
        let links = waveform.links.len().saturating_add(waveform.messages.len());
        self.few("components", waveform.components.len(), limits::COMPONENTS, Spot::NONE)?;
        self.few("links", links, limits::LINKS, Spot::NONE)
    }

    fn few(&self, what: &'static str, count: usize, max: usize, spot: Spot) -> Result<(), GraphError> {
        let (count, max) = (count as u64, max as u64);
        if count > max { Err(self.wrong(File::TooMany { what, count, max }.into(), spot)) } else { Ok(()) }
    }

    fn name(&self, name: &str, spot: Spot) -> Result<(), GraphError> {
        if limits::is_name(name) {
            return Ok(());
        }
        Err(self.wrong(Problem::Name { name: limits::shortened(name) }, spot))
    }

    fn component(&self, spec: &ComponentSpec) -> Result<Component, GraphError> {
        let Some(kind) = self.catalogue.kind(&spec.kind) else {
            let known = self.catalogue.kinds();
            let nearest = nearest(&spec.kind, known.iter().map(|kind| kind.name.as_str())).map(str::to_owned);
            return Err(self.wrong(Problem::Kind { kind: spec.kind.clone(), nearest }, spec.kind_spot));
        };
        let refused = |source: ParamError| {
            let same = |given: &str, name: &str| kind.find(given).map_or(given, |param| &param.name) == name;
            let at = source.param().and_then(|name| spec.param_spots.iter().find(|(given, _)| same(given, name)));
            let spot = at.map_or(spec.spot, |&(_, spot)| spot);
            self.wrong(Problem::Param { component: spec.name.clone(), source }, spot)
        };
        let params = kind.resolve(&spec.params).map_err(refused)?;
        let shape = self.catalogue.shape(kind, &params).map_err(refused)?;
        if let Some(fault) = shape.fault() {
            return Err(self.wrong(Problem::Declaration { kind: kind.name.clone(), fault }, spec.kind_spot));
        }
        Ok(Component {
            name: spec.name.clone(),
            kind: kind.name.clone(),
            params,
            shape,
            on_miss: spec.on_miss,
            budget_ns: spec.budget_ns,
            stateless: kind.stateless,
            isolated: spec.isolated,
            message_inputs: 0,
            message_output: false,
        })
    }

    fn link(&self, graph: &Graph, spec: &LinkSpec) -> Result<Link, GraphError> {
        self.few("slots of delay", spec.delay as usize, limits::DELAY_SLOTS as usize, spec.to_spot)?;
        let from = self.port(graph, &spec.from, Side::Output, spec.from_spot)?;
        let to = self.port(graph, &spec.to, Side::Input, spec.to_spot)?;
        let item = graph.components[from.component].shape.outputs[from.port].item;
        Ok(unsettled(from, to, spec.delay, item, false))
    }

    /// Messages are packets of bytes on ports that no component declares; behind those it does, so that nothing moves.
    fn message(&self, graph: &mut Graph, spec: &LinkSpec) -> Result<(), GraphError> {
        if !(1..=limits::DELAY_SLOTS).contains(&spec.delay) {
            let (got, expected) = (spec.delay.to_string(), format!("1 to {} slots", limits::DELAY_SLOTS));
            let problem = File::Value { key: "delay".to_owned(), got, expected };
            return Err(self.wrong(problem.into(), spec.to_spot));
        }
        let (from, to) = (self.index(&spec.from, spec.from_spot)?, self.index(&spec.to, spec.to_spot)?);
        let sender = &mut graph.components[from];
        let longest = u32::try_from(limits::MESSAGES * limits::MESSAGE_BYTES).unwrap_or(u32::MAX);
        if !sender.message_output {
            sender.message_output = true;
            sender.shape = std::mem::take(&mut sender.shape).output("messages", Item::Byte, Length::UpTo(longest));
        }
        let from = PortId { component: from, port: sender.shape.outputs.len() - 1 };
        let receiver = &mut graph.components[to];
        receiver.message_inputs += 1;
        receiver.shape = std::mem::take(&mut receiver.shape).input("messages", Item::Byte);
        let inputs = receiver.shape.inputs.len();
        self.few("inputs", inputs, limits::PORTS, spec.to_spot)?;
        let to = PortId { component: to, port: inputs - 1 };
        graph.links.push(unsettled(from, to, spec.delay, Item::Byte, true));
        Ok(())
    }

    /// The component of this name.
    fn index(&self, name: &str, spot: Spot) -> Result<usize, GraphError> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let name = limits::shortened(name);
            let nearest = nearest(&name, self.by_name.keys().copied()).map(str::to_owned);
            self.wrong(Problem::Component { name, nearest }, spot)
        })
    }

    fn port(&self, graph: &Graph, text: &str, side: Side, spot: Spot) -> Result<PortId, GraphError> {
        let (name, port) = text.split_once('.').map_or((text, None), |(name, port)| (name, Some(port)));
        let component = self.index(name, spot)?;
        let shape = &graph.components[component].shape;
        let known: Vec<String> = match side {
            Side::Input => shape.inputs.iter().map(|input| input.name.clone()).collect(),
            Side::Output => shape.outputs.iter().map(|output| output.name.clone()).collect(),
        };
        let component_name = || graph.components[component].name.clone();
        let found = match port {
            Some(port) => known.iter().position(|name| name == port).ok_or_else(|| Problem::Port {
                component: component_name(),
                side,
                port: limits::shortened(port),
                nearest: nearest(port, known.iter().map(String::as_str)).map(str::to_owned),
                known: known.clone(),
            }),
            None if known.len() == 1 => Ok(0),
            None => Err(Problem::WhichPort { component: component_name(), side, known }),
        };
        found.map(|port| PortId { component, port }).map_err(|problem| self.wrong(problem, spot))
    }

    fn each_input_once(&self, graph: &Graph) -> Result<(), GraphError> {
        let mut leads: HashMap<PortId, usize> = HashMap::new();
        for (index, link) in graph.links.iter().enumerate() {
            if let Some(first) = leads.insert(link.to, index) {
                let problem = Problem::Twice {
                    port: graph.input_name(link.to),
                    first: graph.output_name(graph.links[first].from),
                    second: graph.output_name(link.from),
                };
                return Err(self.wrong(problem, self.spot_of(Some(index))));
            }
        }
        for (component, node) in graph.components.iter().enumerate() {
            for port in 0..node.shape.inputs.len() {
                let id = PortId { component, port };
                if !leads.contains_key(&id) {
                    let spot = self.waveform.components[component].spot;
                    return Err(self.wrong(Problem::Unlinked { port: graph.input_name(id) }, spot));
                }
            }
        }
        Ok(())
    }

    fn types(&self, graph: &Graph) -> Result<(), GraphError> {
        for (index, link) in graph.links.iter().enumerate() {
            let takes = graph.components[link.to.component].shape.inputs[link.to.port].item;
            if takes != link.item {
                let problem = Problem::Item {
                    from: graph.output_name(link.from),
                    to: graph.input_name(link.to),
                    gives: link.item,
                    takes,
                    converter: self.converter(link.item, takes),
                };
                return Err(self.wrong(problem, self.spot_of(Some(index))));
            }
        }
        Ok(())
    }

    /// A component type with one input and one output that makes `to` of `from` as it comes.
    fn converter(&self, from: Item, to: Item) -> Option<String> {
        let converts = |kind: &&&Kind| {
            let params = kind.resolve(&Params::new()).ok();
            let shape = params.and_then(|params| self.catalogue.shape(kind, &params).ok());
            shape.is_some_and(|shape| match (shape.inputs.as_slice(), shape.outputs.as_slice()) {
                ([input], [output]) => input.item == from && output.item == to,
                _ => false,
            })
        };
        self.catalogue.kinds().iter().find(converts).map(|kind| kind.name.clone())
    }

    fn cycles(&self, graph: &mut Graph) -> Result<(), GraphError> {
        let count = graph.components.len();
        if let Some(cycle) = cycle::find(&cycle::outgoing(count, graph.links.iter().filter(|link| link.delay == 0))) {
            let path = cycle.iter().map(|&c| graph.components[c].name.clone()).collect();
            let closing = graph.links.iter().position(|link| {
                Some(&link.from.component) == cycle.last() && Some(&link.to.component) == cycle.first()
            });
            return Err(self.wrong(Problem::Cycle { path }, self.spot_of(closing)));
        }
        let part = cycle::parts(&cycle::outgoing(count, graph.links.iter()));
        for link in &mut graph.links {
            link.in_cycle = part[link.from.component] == part[link.to.component];
        }
        Ok(())
    }

    /// One worker is always enough, so that what else a plan is refused for is the plan's fault.
    fn isolated(&self, graph: &Graph) -> Result<(), GraphError> {
        match Plan::new(graph, vec![graph.topological_order()], Latency::Compact) {
            Err(PlanError::Cycle { path, has, needs }) => {
                Err(self.wrong(Problem::IsolatedCycle { path, has, needs }, Spot::NONE))
            }
            _ => Ok(()),
        }
    }

    fn repeated(&self, graph: &Graph) -> Result<(), GraphError> {
        let changes = |to: PortId| {
            graph.components[to.component].shape.outputs.iter().any(|output| output.in_place == Some(to.port))
        };
        for (index, link) in graph.links.iter().enumerate() {
            let producer = &graph.components[link.from.component];
            if producer.on_miss == MissPolicy::Repeat && !link.message && changes(link.to) {
                let consumer = graph.components[link.to.component].name.clone();
                let problem = Problem::RepeatInPlace { producer: producer.name.clone(), consumer };
                return Err(self.wrong(problem, self.spot_of(Some(index))));
            }
        }
        Ok(())
    }
}

/// A link whose lengths and cycles are not known yet.
fn unsettled(from: PortId, to: PortId, delay: u32, item: Item, message: bool) -> Link {
    Link { from, to, delay, item, lengths: Lengths::exactly(0), in_cycle: false, message }
}
