//! `takt node` without a subcommand: joins, and executes what it is given.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use miette::{IntoDiagnostic, Result};
use takt_cluster::message::RadioFacts;
use takt_cluster::metrics::Server;
use takt_cluster::{Folder, Node, Offer};
use takt_host::affinity;
use takt_live::{Kind, board};
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_radio::{AnyIdentity, FoundRadio, FoundState, Model, Net, RadioError, WallNet, find};
use takt_runtime::costs;

use super::{Place, problem};
use crate::costs::uncalibrated;
use crate::{Answer, LiveArgs, Output, Problem, stop_on_signal, warnings, waveform};

#[derive(Debug, clap::Args)]
pub struct Join {
    #[command(flatten)]
    place: Place,
    /// Cores for workers, one worker each [default: all that this process may use].
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<u32>,
    /// Packet engine for samples between nodes.
    #[arg(
        long,
        help = format!("Packet engine for samples between nodes: {}", EngineKind::FORMS),
        value_name = "ENGINE",
        default_value = "mmsg"
    )]
    engine: EngineKind,
    /// Radio that this machine reaches, for `takt node list`. takt asks it once what it is; no run uses it. Repeat for
    /// several.
    #[arg(long, value_name = "ADDR", value_parser = takt_base::parse_ip)]
    radio: Vec<IpAddr>,
    /// Serve metrics to Prometheus at `http://[ADDR]:PORT/metrics`, on loopback unless you name an address.
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = port)]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    live: LiveArgs,
}

pub fn run(args: Join, output: &Output) -> Result<Answer> {
    let folder = Folder::read(&args.place.folder).map_err(|error| problem("join the cluster", error))?;
    let registry = waveform::registry()?;
    let stop = stop_on_signal()?;
    let program = std::env::current_exe().into_diagnostic()?;
    let offer = Offer { cores: cores(&args.cores)?, capacities: capacities()?, engine: args.engine, program };
    let radios = radios(&args.radio);
    for radio in radios.iter().filter(|radio| radio.model.is_none()) {
        let why = radio.why.as_deref().unwrap_or("nothing answers");
        output.note(format!("radio     {}: {why}", radio.addr));
    }
    let mut node = Node::open(&folder, offer, registry).map_err(|error| problem("join the cluster", error))?;
    node.offer_radios(radios);
    let metrics = args.metrics.map(|at| Server::open(at).map_err(|error| closed(at, error))).transpose()?;
    let metrics_at = metrics.as_ref().map(Server::local);
    if let Some(server) = metrics {
        node.publish_metrics(server, warnings::refused_peers);
    }
    let (board, source) = board();
    let title = format!("node {} of cluster {}", folder.settings().node, folder.settings().cluster);
    let publisher = args.live.publish(Kind::Node, &title, source, output);
    if publisher.is_some() {
        node.watched_on(board);
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
    Problem::new(format!("can't serve metrics at {at}")).why(error).fix("give --metrics a free port of this machine")
}

fn cores(wanted: &[u32]) -> Result<Vec<u32>> {
    let own: Vec<u32> = affinity::own_cpus().into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect();
    if let Some(core) = wanted.iter().find(|core| !own.contains(core)) {
        let list: Vec<String> = own.iter().map(ToString::to_string).collect();
        return Err(Problem::new(format!("can't offer core {core}"))
            .why("it is not online, or not allowed to this process")
            .fix(format!("give --cores with some of {}", list.join(",")))
            .into());
    }
    Ok(if wanted.is_empty() { own } else { wanted.to_vec() })
}

/// Capacities of the core that this thread is on; all are taken to be of one class.
fn capacities() -> Result<ClassSpec> {
    let capacities = costs::capacities().map_err(uncalibrated)?;
    let prices = costs::prices().map_err(uncalibrated)?;
    Ok(ClassSpec { capacities: Some(capacities), prices: Some(prices), ..ClassSpec::default() })
}

/// Radios at these addresses, each asked as `takt find` asks: a radio stays with whoever uses it.
fn radios(addrs: &[IpAddr]) -> Vec<RadioFacts> {
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    addrs.iter().map(|&addr| radio(addr, find(&net, Some(addr)))).collect()
}

/// Facts that a node reports of the radio at an address.
fn radio(addr: IpAddr, found: Result<Vec<FoundRadio>, RadioError>) -> RadioFacts {
    let silent = RadioFacts { addr, model: None, serial: None, software: false, rates_sps: None, why: None };
    match found.map(|all| all.into_iter().next()) {
        Ok(Some(FoundRadio { identity: Some(identity), .. })) => {
            let about = identity.about();
            let (model, serial) = (Some(about.model.to_owned()), Some(about.serial.to_owned()));
            let software = identity.software();
            RadioFacts { model, serial, software, rates_sps: rates_sps(&identity), ..silent }
        }
        Ok(Some(FoundRadio { state: FoundState::Unsuitable { why }, .. })) => RadioFacts { why: Some(why), ..silent },
        Ok(_) => silent,
        Err(error) => {
            let causes = std::iter::successors(error.source(), |&cause| cause.source());
            let why = causes.fold(error.to_string(), |why, cause| format!("{why}: {cause}"));
            RadioFacts { why: Some(why), ..silent }
        }
    }
}

/// The lowest and the highest rate of a radio's model.
fn rates_sps(identity: &AnyIdentity) -> Option<[f64; 2]> {
    let model = match identity {
        AnyIdentity::N200(_) => Model::N200,
        AnyIdentity::X310(_) => Model::X310,
    };
    let ([_, lowest], [highest, _]) = (model.rates_around(0.0), model.rates_around(f64::INFINITY));
    Some([lowest?, highest?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radio_that_does_not_answer_is_told_from_one_that_can_t_be_used() {
        let addr = IpAddr::from([10, 0, 0, 2]);
        let silent = radio(addr, Ok(Vec::new()));
        assert_eq!((silent.addr, silent.model, silent.why), (addr, None, None));
        let state = FoundState::Unsuitable { why: "it is a USRP2".to_owned() };
        let other = radio(addr, Ok(vec![FoundRadio { addr, identity: None, state }]));
        assert_eq!((other.model, other.why.as_deref()), (None, Some("it is a USRP2")));
    }

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
