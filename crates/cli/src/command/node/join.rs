//! `takt node` without a subcommand: joins, and executes what it is given.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use miette::{IntoDiagnostic, Result};
use takt_cluster::metrics::Server;
use takt_cluster::{Folder, Node, Offer};
use takt_host::affinity;
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_runtime::costs;

use super::{Place, problem};
use crate::costs::uncalibrated;
use crate::waveform::Libraries;
use crate::{Answer, Output, Problem, stop_on_signal, warnings};

#[derive(Debug, clap::Args)]
pub struct Join {
    #[command(flatten)]
    place: Place,
    /// Cores on which workers may run, one each; all this process may use by default.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    cores: Vec<u32>,
    /// Packet engine of the samples between nodes.
    #[arg(
        long,
        help = format!("Packet engine of the samples between nodes: {}", EngineKind::FORMS),
        value_name = "E",
        default_value = "mmsg"
    )]
    engine: EngineKind,
    /// Give metrics to Prometheus at `http://[ADDR]:PORT/metrics`; on loopback unless an address is named.
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = port)]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(args: Join, output: &Output) -> Result<Answer> {
    let folder = Folder::read(&args.place.folder).map_err(|error| problem("join the cluster", error))?;
    let registry = args.libraries.registry()?;
    let stop = stop_on_signal()?;
    let program = std::env::current_exe().into_diagnostic()?;
    let offer = Offer { cores: cores(&args.cores)?, capacities: capacities()?, engine: args.engine, program };
    let mut node = Node::open(&folder, offer, registry).map_err(|error| problem("join the cluster", error))?;
    let metrics = args.metrics.map(|at| Server::open(at).map_err(|error| closed(at, error))).transpose()?;
    let metrics_at = metrics.as_ref().map(Server::local);
    if let Some(server) = metrics {
        node.publish_metrics(server, warnings::refused_peers);
    }
    let ready = |facts: &takt_cluster::message::NodeFacts| {
        output.line(format!("ready node {}", facts.node));
        if let Some(at) = metrics_at {
            output.line(format!("metrics at http://{at}/metrics"));
        }
    };
    let note = |line: &str| output.note(line);
    node.serve(&stop, ready, note).map_err(|error| problem("serve the cluster", error))?;
    Ok(Answer::Yes)
}

/// `PORT` is on loopback; `ADDR:PORT` where it says.
fn port(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    match port.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => {
            text.parse().map_err(|_| "a port such as 9477, or an address and a port such as 10.0.0.1:9477".into())
        }
    }
}

fn closed(at: SocketAddr, error: io::Error) -> Problem {
    Problem::new(format!("can't give metrics at {at}"))
        .why(error)
        .fix("--metrics with a port of this machine that is free")
}

fn cores(wanted: &[u32]) -> Result<Vec<u32>> {
    let own: Vec<u32> = affinity::own_cpus().into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect();
    if let Some(core) = wanted.iter().find(|core| !own.contains(core)) {
        let list: Vec<String> = own.iter().map(ToString::to_string).collect();
        return Err(Problem::new(format!("can't offer core {core}"))
            .why("it is not online, or not allowed to this process")
            .fix(format!("--cores of {}", list.join(",")))
            .into());
    }
    Ok(if wanted.is_empty() { own } else { wanted.to_vec() })
}

/// What the core that this thread is on can do; all are taken to be of one class.
fn capacities() -> Result<ClassSpec> {
    let capacities = costs::capacities().map_err(uncalibrated)?;
    let prices = costs::prices().map_err(uncalibrated)?;
    Ok(ClassSpec { capacities: Some(capacities), prices: Some(prices), ..ClassSpec::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_on_loopback_unless_an_address_is_named() {
        let at = |text: &str| port(text).map(|at| at.to_string()).ok();
        assert_eq!(at("9477").as_deref(), Some("127.0.0.1:9477"));
        assert_eq!(at(":9477").as_deref(), Some("127.0.0.1:9477"));
        assert_eq!(at("0.0.0.0:9477").as_deref(), Some("0.0.0.0:9477"));
        assert_eq!(at("[::1]:9477").as_deref(), Some("[::1]:9477"));
        for wrong in ["", "70000", "localhost:9477", "10.0.0.1", "::1"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
