//! `takt component list`: the documentation of component types, as they carry it.

use std::fmt::Write;

use miette::Result;
use serde::Serialize;
use takt_base::nearest;
use takt_base::words::sentence;
use takt_graph::{Accepts, Catalogue, Kind, Length, ParamSpec, Params, Shape};
use takt_host::call;
use takt_runtime::Registry;

use crate::{Answer, Output, Problem, waveform};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt component list\n  takt component list awgn")]
pub struct Args {
    /// Describe this component only.
    name: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    kind: &'a Kind,
    /// Ports with the default parameters; `None` where a parameter has no default.
    ports: Option<Ports>,
}

#[derive(Serialize)]
struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

#[derive(Serialize)]
struct Port {
    name: String,
    item: &'static str,
    packet: String,
}

pub fn run(args: &Args, output: &Output) -> Result<Answer> {
    let registry = waveform::registry()?;
    match &args.name {
        None => {
            let all: Vec<Document<'_>> = registry.kinds().into_iter().map(|kind| document(kind, &registry)).collect();
            output.answer(&all, || table(&all), Answer::Yes)
        }
        Some(name) => {
            let one = document(find(name, &registry)?, &registry);
            output.answer(&one, || page(&one), Answer::Yes)
        }
    }
}

/// The type of this name, or a problem that knows the nearest.
pub fn find<'a>(name: &str, registry: &'a Registry) -> Result<&'a Kind, Problem> {
    registry.kind(name).ok_or_else(|| {
        let near = nearest(name, registry.kinds().into_iter().map(|kind| kind.name.as_str()));
        let list = call::takt("component list");
        let fix = near.map_or_else(|| list.clone(), |near| format!("did you mean {near}?\n{list}"));
        Problem::new(format!("there is no component `{name}`"))
            .why("no component of this program has that name")
            .fix(fix)
    })
}

fn document<'a>(kind: &'a Kind, registry: &Registry) -> Document<'a> {
    let shape = kind.resolve(&Params::new()).and_then(|params| registry.shape(kind, &params));
    Document { kind, ports: shape.ok().map(|shape| ports(&shape)) }
}

fn ports(shape: &Shape) -> Ports {
    let input = |port: &takt_graph::InputShape| Port {
        name: port.name.clone(),
        item: port.item.name(),
        packet: match port.accepts {
            Accepts::Any => "any number".to_owned(),
            Accepts::Exactly(n) => format!("{n}"),
            Accepts::MultipleOf(n) => format!("a multiple of {n}"),
            Accepts::Ratio { num, den, of } => format!("{num}/{den} of `{}`", shape.inputs[of].name),
        },
    };
    let output = |port: &takt_graph::OutputShape| Port {
        name: port.name.clone(),
        item: port.item.name(),
        packet: match port.length {
            Length::Fixed(n) => format!("{n}"),
            Length::UpTo(n) => format!("up to {n}"),
            Length::Ratio { num: 1, den: 1, of } => format!("as many as `{}`", shape.inputs[of].name),
            Length::Ratio { num, den, of } => format!("{num}/{den} of `{}`", shape.inputs[of].name),
        },
    };
    Ports { inputs: shape.inputs.iter().map(input).collect(), outputs: shape.outputs.iter().map(output).collect() }
}

fn table(all: &[Document<'_>]) -> String {
    let width = all.iter().map(|one| one.kind.name.len()).max().unwrap_or(0);
    let line = |one: &Document<'_>| format!("{:<width$}  {}", one.kind.name, one.kind.summary);
    let mut text = all.iter().map(line).collect::<Vec<_>>().join("\n");
    let _ = write!(text, "\n\n{} says all about one", call::takt("component list NAME"));
    text
}

fn page(one: &Document<'_>) -> String {
    let mut text = format!("{}: {}\n", one.kind.name, one.kind.summary);
    let names = |param: &ParamSpec| param.names().collect::<Vec<_>>().join(", ");
    let width = one.kind.params.iter().map(|param| names(param).len()).max().unwrap_or(0).max(12);
    match &one.ports {
        Some(ports) => {
            for (side, list) in [("input", &ports.inputs), ("output", &ports.outputs)] {
                for port in list {
                    let _ =
                        writeln!(text, "  {side:<7} {:<width$} {:<5} {} a packet", port.name, port.item, port.packet);
                }
            }
        }
        None => text.push_str("  ports depend on parameters that have no default\n"),
    }
    for param in &one.kind.params {
        let _ = writeln!(text, "  param   {:<width$} {}", names(param), about(param));
    }
    text
}

fn about(param: &ParamSpec) -> String {
    let default = param.default.as_ref().map_or_else(|| "must be given".to_owned(), |value| format!("default {value}"));
    let variable = if param.variable { "; can be set while running" } else { "" };
    format!("{} {} ({default}{variable})", param.doc, sentence(&param.expected()))
}
