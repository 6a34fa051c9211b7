//! Packet lengths: from declared outputs along the links, through exact ratios, to every input.

use crate::error::{Problem, Wanted};
use crate::graph::{Component, Graph, Link, PortId};
use crate::limits;
use crate::shape::{Accepts, Length, Lengths};

/// A problem, and the link it is about.
pub(crate) type Fault = Box<(Problem, Option<usize>)>;

/// Fills in the lengths of all links and checks them against the inputs.
pub(crate) fn settle(graph: &mut Graph) -> Result<(), Fault> {
    let lengths = propagate(graph)?;
    for (link, lengths) in graph.links.iter_mut().zip(lengths) {
        link.lengths = lengths;
    }
    for index in 0..graph.links.len() {
        accept(graph, index).map_err(|problem| Box::new((*problem, Some(index))))?;
    }
    Ok(())
}

/// Lengths by link: an output is settled once the input it depends on is.
fn propagate(graph: &Graph) -> Result<Vec<Lengths>, Fault> {
    let mut of_link: Vec<Option<Lengths>> = vec![None; graph.links.len()];
    let mut into: Vec<Vec<Option<usize>>> =
        graph.components.iter().map(|component| vec![None; component.shape.inputs.len()]).collect();
    let mut from: Vec<Vec<Vec<usize>>> =
        graph.components.iter().map(|component| vec![Vec::new(); component.shape.outputs.len()]).collect();
    for (index, link) in graph.links.iter().enumerate() {
        into[link.to.component][link.to.port] = Some(index);
        from[link.from.component][link.from.port].push(index);
    }
    // Every component is looked at once, and again whenever one of its inputs was settled: bounded by the links.
    let mut work: Vec<usize> = (0..graph.components.len()).rev().collect();
    while let Some(at) = work.pop() {
        for (port, links) in from[at].iter().enumerate() {
            if links.iter().all(|&link| of_link[link].is_some()) {
                continue;
            }
            let known = |input: usize| into[at][input].and_then(|link| of_link[link]);
            let Some(lengths) = output(graph, PortId { component: at, port }, known)? else { continue };
            for &link in links {
                of_link[link] = Some(lengths);
                work.push(graph.links[link].to.component);
            }
        }
    }
    of_link
        .iter()
        .copied()
        .collect::<Option<Vec<Lengths>>>()
        .ok_or_else(|| Box::new((unsettled(graph, &of_link), None)))
}

/// Lengths that an output gives; `None` while the input it depends on is not settled.
fn output(graph: &Graph, port: PortId, known: impl Fn(usize) -> Option<Lengths>) -> Result<Option<Lengths>, Fault> {
    let lengths = match graph.components[port.component].shape.outputs[port.port].length {
        Length::Fixed(items) => Lengths::exactly(items.into()),
        Length::UpTo(items) => Lengths::up_to(items.into()),
        Length::Ratio { num, den, of } => {
            let Some(gets) = known(of) else { return Ok(None) };
            let input = PortId { component: port.component, port: of };
            gets.times(num, den).ok_or_else(|| {
                let (output, input_name) = (graph.output_name(port), graph.input_name(input));
                Box::new((Problem::Ratio { output, input: input_name, gets, num, den }, graph.link_to(input)))
            })?
        }
    };
    if lengths.max > limits::ITEMS {
        let problem = Problem::Packet { port: graph.output_name(port), items: lengths.max, max: limits::ITEMS };
        return Err(Box::new((problem, None)));
    }
    Ok(Some(lengths))
}

fn accept(graph: &Graph, index: usize) -> Result<(), Box<Problem>> {
    let Link { from, to, lengths, .. } = graph.links[index];
    let component: &Component = &graph.components[to.component];
    let takes = match component.shape.inputs[to.port].accepts {
        Accepts::Any => return Ok(()),
        accepts @ Accepts::Exactly(n) if !lengths.exact || lengths.max != u64::from(n) => Wanted::Declared(accepts),
        accepts @ Accepts::MultipleOf(n) if !lengths.multiple_of(n) => Wanted::Declared(accepts),
        Accepts::Exactly(_) | Accepts::MultipleOf(_) => return Ok(()),
        Accepts::Ratio { num, den, of } => {
            let other = graph.link_to(PortId { component: to.component, port: of });
            let of = other.map_or(Lengths::exactly(0), |link| graph.links[link].lengths);
            match of.times(num, den) {
                Some(wanted) if wanted == lengths => return Ok(()),
                Some(wanted) => Wanted::Lengths(wanted),
                None => Wanted::Fraction { num, den, of },
            }
        }
    };
    Err(Box::new(Problem::Rate { from: graph.output_name(from), to: graph.input_name(to), gives: lengths, takes }))
}

/// The cycle along which lengths depend on themselves. Every unsettled output waits for an unsettled input, so following
/// them backwards must come round.
fn unsettled(graph: &Graph, of_link: &[Option<Lengths>]) -> Problem {
    let open = graph.links.iter().zip(of_link).filter(|(_, lengths)| lengths.is_none()).map(|(link, _)| link);
    let cycle = crate::cycle::find(&crate::cycle::outgoing(graph.components.len(), open)).unwrap_or_default();
    Problem::LengthCycle { path: cycle.into_iter().map(|c| graph.components[c].name.clone()).collect() }
}
