//! [`Waveform`]: the application as its author wrote it, in a file or with the builder; unchecked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_toml::Source;

use crate::value::{Params, Value};

/// Components, links and the beat. [`crate::Graph::check`] makes it something that can run.
///
/// ```
/// use std::time::Duration;
/// use takt_graph::{ComponentSpec, Waveform};
/// let waveform = Waveform::new("bpsk", Duration::from_millis(1))
///     .with(ComponentSpec::new("source", "bit-source").param("items", 1000))
///     .with(ComponentSpec::new("modulator", "bpsk-modulate"))
///     .with(ComponentSpec::new("sink", "hash-sink"))
///     .chain(["source", "modulator", "sink"]);
/// assert_eq!(waveform.links.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Waveform {
    /// Its name.
    pub name: String,
    /// Length of a slot, nanoseconds.
    pub slot_ns: u64,
    /// Components, in the order written.
    pub components: Vec<ComponentSpec>,
    /// Links, in the order written.
    pub links: Vec<LinkSpec>,
    /// Ways of messages: names of components, and after how many slots, at least 1, they arrive.
    pub messages: Vec<LinkSpec>,
    /// The file it was read from.
    pub(crate) source: Option<Arc<Source>>,
}

/// A component as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentSpec {
    /// Its name, unique in the waveform.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its given parameters; the rest is defaults.
    pub params: Params,
    /// Treatment of slots that it misses.
    pub on_miss: MissPolicy,
    /// Execution time it is allowed a slot, nanoseconds; where none is declared, what it usually takes.
    pub budget_ns: Option<u64>,
    /// Whether it runs in a process of its own.
    pub isolated: bool,
    pub(crate) spot: Spot,
    pub(crate) kind_spot: Spot,
    pub(crate) param_spots: Vec<(String, Spot)>,
}

/// A link as written.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// `component.port`, or `component` where it has one output.
    pub from: String,
    /// `component.port`, or `component` where it has one input.
    pub to: String,
    /// Functional delay, slots: in its slot j the consumer sees what the producer made in its slot j - delay.
    pub delay: u32,
    pub(crate) from_spot: Spot,
    pub(crate) to_spot: Spot,
}

/// Treatment of slots that a component misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissPolicy {
    /// They are not executed; consumers get a missing packet.
    #[default]
    Skip,
    /// They are not executed; consumers get the last packet again.
    Repeat,
    /// As skip, and the component switches to its cheaper mode.
    Degrade,
    /// The waveform stops in good order at the next edge.
    Stop,
}

impl MissPolicy {
    /// All of them.
    pub const ALL: [MissPolicy; 4] = [MissPolicy::Skip, MissPolicy::Repeat, MissPolicy::Degrade, MissPolicy::Stop];

    /// As written in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MissPolicy::Skip => "skip",
            MissPolicy::Repeat => "repeat",
            MissPolicy::Degrade => "degrade",
            MissPolicy::Stop => "stop",
        }
    }
}

impl fmt::Display for MissPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Waveform {
    /// Without components. A slot beyond 500 years is one of 500 years, and refused by the checks as any beyond a minute.
    #[must_use]
    pub fn new(name: &str, slot: Duration) -> Waveform {
        let slot_ns = u64::try_from(slot.as_nanos()).unwrap_or(u64::MAX);
        Waveform {
            name: name.to_owned(),
            slot_ns,
            components: Vec::new(),
            links: Vec::new(),
            messages: Vec::new(),
            source: None,
        }
    }

    /// With one component more.
    #[must_use]
    pub fn with(mut self, component: ComponentSpec) -> Waveform {
        self.components.push(component);
        self
    }

    /// With one link more, without delay.
    #[must_use]
    pub fn link(self, from: &str, to: &str) -> Waveform {
        self.delayed(from, to, 0)
    }

    /// With one link more, of a functional delay in slots.
    #[must_use]
    pub fn delayed(mut self, from: &str, to: &str, delay: u32) -> Waveform {
        self.links.push(LinkSpec::new(from, to, delay));
        self
    }

    /// With messages from one component to another, which arrive `delay` slots later, at least 1.
    #[must_use]
    pub fn message(mut self, from: &str, to: &str, delay: u32) -> Waveform {
        self.messages.push(LinkSpec::new(from, to, delay));
        self
    }

    /// With links from each to the next.
    #[must_use]
    pub fn chain<'a>(mut self, components: impl IntoIterator<Item = &'a str>) -> Waveform {
        let mut before: Option<&str> = None;
        for next in components {
            if let Some(from) = before.replace(next) {
                self.links.push(LinkSpec::new(from, next, 0));
            }
        }
        self
    }

    /// Name and text of the file it was read from.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        self.source.as_deref()
    }
}

impl ComponentSpec {
    /// With no parameter set.
    #[must_use]
    pub fn new(name: &str, kind: &str) -> ComponentSpec {
        ComponentSpec {
            name: name.to_owned(),
            kind: kind.to_owned(),
            params: Params::new(),
            on_miss: MissPolicy::default(),
            budget_ns: None,
            isolated: false,
            spot: Spot::NONE,
            kind_spot: Spot::NONE,
            param_spots: Vec::new(),
        }
    }

    /// With a parameter set.
    #[must_use]
    pub fn param(mut self, name: &str, value: impl Into<Value>) -> ComponentSpec {
        self.params.set(name, value.into());
        self
    }

    /// With a policy for missed slots.
    #[must_use]
    pub fn on_miss(mut self, policy: MissPolicy) -> ComponentSpec {
        self.on_miss = policy;
        self
    }

    /// In a process of its own: what it breaks there costs its slots and nothing else, and what it gives is there a slot
    /// later.
    #[must_use]
    pub fn isolated(mut self) -> ComponentSpec {
        self.isolated = true;
        self
    }

    /// With a budget.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> ComponentSpec {
        self.budget_ns = Some(u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX));
        self
    }
}

impl LinkSpec {
    /// From one port to another.
    #[must_use]
    pub fn new(from: &str, to: &str, delay: u32) -> LinkSpec {
        let (from, to) = (from.to_owned(), to.to_owned());
        LinkSpec { from, to, delay, from_spot: Spot::NONE, to_spot: Spot::NONE }
    }
}

/// Place in the file. Two descriptions are equal wherever they stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Spot {
    /// Nowhere: made by the builder.
    pub(crate) const NONE: Spot = Spot { start: usize::MAX, end: usize::MAX };
}

impl PartialEq for Spot {
    fn eq(&self, _: &Spot) -> bool {
        true
    }
}

impl From<std::ops::Range<usize>> for Spot {
    fn from(range: std::ops::Range<usize>) -> Spot {
        Spot { start: range.start, end: range.end }
    }
}
