//! Faults of a waveform: problem, place and remedy.
#![allow(missing_docs, reason = "names and messages say it")]

use std::fmt;
use std::sync::Arc;

use takt_toml::{FilePlace, Source};

use crate::item::Item;
use crate::kind::ParamError;
use crate::shape::{Accepts, Lengths};
use crate::waveform::Spot;

/// The waveform can't run as it stands. The message says what, [`Self::fix`] what would be right, [`Self::place`] where.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphError {
    pub problem: Box<Problem>,
    /// Its place; `None` for a waveform that was not read from a file.
    pub place: Option<FilePlace>,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

/// The problem speaks through this error; its cause speaks for itself.
impl std::error::Error for GraphError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}

impl GraphError {
    pub(crate) fn new(problem: Problem, source: Option<&Arc<Source>>, spot: Spot) -> GraphError {
        let source = source.filter(|_| spot.start != usize::MAX);
        let place = source.map(|source| FilePlace::new(source, spot.start..spot.end));
        GraphError { problem: Box::new(problem), place }
    }

    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        self.problem.fix()
    }
}

/// Everything that can be wrong with a waveform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// As any file can be wrong.
    #[error(transparent)]
    File(#[from] takt_toml::Problem),
    /// A name is no name.
    #[error("`{name}` is not a valid name")]
    Name { name: String },
    #[error("two components are called `{name}`")]
    Duplicate { name: String },
    #[error("the waveform has no components")]
    Empty,
    /// No component type is called so.
    #[error("there is no component type `{kind}`")]
    Kind {
        kind: String,
        /// The type meant, if one is near.
        nearest: Option<String>,
    },
    /// A parameter is wrong; the cause says which and why.
    #[error("component `{component}` has wrong parameters")]
    Param {
        component: String,
        /// Which and why.
        #[source]
        source: ParamError,
    },
    #[error("the declaration of component type `{kind}` is wrong: {fault}")]
    Declaration {
        kind: String,
        /// The faulty declaration.
        fault: &'static str,
    },
    #[error("no component is called `{name}`")]
    Component {
        name: String,
        /// The component meant, if one is near.
        nearest: Option<String>,
    },
    /// A link names a port that is not there.
    #[error("`{component}` has no {side} `{port}`")]
    Port {
        component: String,
        side: Side,
        port: String,
        /// The port meant, if one is near.
        nearest: Option<String>,
        known: Vec<String>,
    },
    /// A link names no port, and the component has none or several.
    #[error("the link names no {side} of `{component}`, which has {}", known.len())]
    WhichPort { component: String, side: Side, known: Vec<String> },
    #[error("no link leads to input `{port}`")]
    Unlinked {
        /// `component.port`.
        port: String,
    },
    #[error("two links lead to input `{port}`: from `{first}` and from `{second}`")]
    Twice {
        /// `component.port`.
        port: String,
        /// Source of the first.
        first: String,
        /// Source of the second.
        second: String,
    },
    /// Types of the two ends differ.
    #[error("`{from}` sends {gives}, but `{to}` takes {takes}")]
    Item {
        /// `component.port`.
        from: String,
        /// `component.port`.
        to: String,
        gives: Item,
        takes: Item,
        /// A component type that makes one of the other.
        converter: Option<String>,
    },
    /// Rates of the two ends differ.
    #[error("`{from}` sends {gives} a slot, but `{to}` takes {takes}")]
    Rate {
        /// `component.port`.
        from: String,
        /// `component.port`.
        to: String,
        gives: Lengths,
        takes: Wanted,
    },
    #[error("`{output}` sends {num}/{den} of the {gets} a slot that `{input}` gets, which is not a whole number")]
    Ratio {
        /// `component.port`.
        output: String,
        /// `component.port`.
        input: String,
        /// Lengths that the input gets.
        gets: Lengths,
        num: u32,
        den: u32,
    },
    #[error("packets of `{port}` have {items} items; at most {max} are allowed")]
    Packet {
        /// `component.port`.
        port: String,
        items: u64,
        max: u64,
    },
    #[error("the packet length on the cycle {} depends on itself", arrows(path))]
    LengthCycle { path: Vec<String> },
    #[error("the cycle {} has no delay: its components would wait for each other in the same slot", arrows(path))]
    Cycle { path: Vec<String> },
    #[error("the cycle {} has {has} slots of delay, but needs {needs} with its isolated components", arrows(path))]
    IsolatedCycle {
        path: Vec<String>,
        /// Functional delay, slots.
        has: u32,
        /// With the slot that each isolated component takes.
        needs: u32,
    },
    /// A packet that is changed in place can't be had again.
    #[error(
        "`{producer}` repeats its last packet when it misses a slot, and `{consumer}` changes that packet in place"
    )]
    RepeatInPlace {
        /// The component with the policy.
        producer: String,
        /// The component that works in place.
        consumer: String,
    },
}

/// Input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Input,
    Output,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Side::Input { "input" } else { "output" })
    }
}

/// Lengths that an input wants, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// As declared.
    Declared(Accepts),
    /// As another input of the component makes it.
    Lengths(Lengths),
    /// A ratio of another input's, whose packets have these lengths; it is not whole.
    Fraction { num: u32, den: u32, of: Lengths },
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Declared(Accepts::Any) => write!(f, "any"),
            Wanted::Declared(Accepts::Exactly(n)) => write!(f, "exactly {n}"),
            Wanted::Declared(Accepts::MultipleOf(n)) => write!(f, "multiples of {n}"),
            Wanted::Declared(Accepts::Ratio { num, den, .. }) => write!(f, "{num}/{den} of another input"),
            Wanted::Lengths(lengths) => write!(f, "{lengths} (as its other input makes it)"),
            Wanted::Fraction { num, den, of } => write!(f, "{num}/{den} of its other input's {of}"),
        }
    }
}

pub(crate) fn arrows(path: &[String]) -> String {
    let round: Vec<&str> = path.iter().chain(path.first()).map(String::as_str).collect();
    round.join(" -> ")
}

impl Problem {
    fn fix(&self) -> String {
        let or = |nearest: &Option<String>, otherwise: String| match nearest {
            Some(near) => format!("did you mean `{near}`?"),
            None => otherwise,
        };
        match self {
            Problem::File(problem) => problem.fix(),
            Problem::Name { .. } => "give 1 to 64 letters, digits, `-` or `_`".to_owned(),
            Problem::Duplicate { .. } => "rename one of them".to_owned(),
            Problem::Empty => "add a [component.NAME] with its `type`".to_owned(),
            Problem::Kind { nearest, .. } => or(nearest, "see `takt component list` for all types".to_owned()),
            Problem::Param { source, .. } => source.fix(),
            Problem::Declaration { .. } => "fix the component's declaration".to_owned(),
            Problem::Component { nearest, .. } => or(nearest, "add a [component.NAME] for it".to_owned()),
            Problem::Port { side, nearest, known, .. } => or(nearest, ports(*side, known)),
            Problem::WhichPort { side, known, .. } => ports(*side, known),
            Problem::Unlinked { port } => format!("add a [[link]] with to = \"{port}\""),
            Problem::Twice { .. } => "remove one of the links, or join them with a component".to_owned(),
            Problem::Item { converter: Some(kind), .. } => format!("put a `{kind}` between them"),
            Problem::Item { .. } => "link ports of one type, or put a converter between them".to_owned(),
            Problem::Rate { .. } => "change the producer's packet length, or put a component between them".to_owned(),
            Problem::Ratio { den, .. } => format!("send `{den}` or a multiple of it in every slot"),
            Problem::Packet { .. } => "shorten the slot or the packet".to_owned(),
            Problem::LengthCycle { .. } => "put a component with a fixed packet length on the cycle".to_owned(),
            Problem::Cycle { .. } => "give one of its links delay = 1 (its first packet is then empty)".to_owned(),
            Problem::IsolatedCycle { needs, .. } => {
                format!("give the cycle a delay of {needs} slots, or do not isolate its components")
            }
            Problem::RepeatInPlace { producer, .. } => {
                format!("give `{producer}` another on_miss, or put a `copy` between them")
            }
        }
    }
}

fn ports(side: Side, known: &[String]) -> String {
    if known.is_empty() {
        return format!("remove the link: the component has no {side}s");
    }
    format!("use one of its {side}s: {}", known.join(", "))
}
