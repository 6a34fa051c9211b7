//! `takt node certificates`: a folder for each node.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use miette::Result;
use serde::Serialize;
use takt_cluster::certificates::{self, Grant};
use takt_cluster::tenant::{Quotas, Tenant};
use takt_cluster::{PtpSettings, Settings};

use super::problem;
use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt node certificates --out cluster --listen quic/10.0.0.1:7447 a
  takt node certificates --out cluster --listen quic/10.0.0.2:7447 --connect quic/10.0.0.1:7447 b
  takt node certificates --out cluster --samples 10.0.0.3 c      listens there, found by multicast
  takt node certificates --out cluster a           for one machine alone: listens on loopback
  takt node certificates --out cluster --tenant blue --days 90 blue-1      for a tenant

Copy each folder to its own machine only. Keep `authority` where you made it: its key can let
anybody in. In each folder, cluster.toml says where the node listens and which nodes it asks.

A folder without --tenant belongs to a node. Its orders are the operator's, who may do everything.
A folder with --tenant does not belong to a node. Its orders are the tenant's, who may stop and
change only its own waveforms, within `[quota.TENANT]` of the nodes' cluster.toml.

Exit status: 0 the folders are made, 2 the command failed.")]
pub struct Args {
    /// Directory of the new folders.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the cluster.
    #[arg(long, value_name = "NAME", default_value = "takt")]
    cluster: String,
    /// Address that the nodes listen on [default: that of --samples, else 127.0.0.1; port 7447].
    #[arg(long, value_name = "quic/ADDR:PORT")]
    listen: Vec<String>,
    /// Node or router that the nodes connect to [default: found by multicast].
    #[arg(long, value_name = "quic/ADDR:PORT")]
    connect: Vec<String>,
    /// Address that receives samples [default: that of --listen].
    #[arg(long, value_name = "ADDR", value_parser = takt_base::parse_ip)]
    samples: Option<IpAddr>,
    /// Capacity of the interface of that address, in bit/s.
    #[arg(long, value_name = "RATE", default_value = "1e9", value_parser = takt_base::parse_number)]
    samples_bits_per_s: f64,
    /// Tenant who gives orders with these folders [default: the operator].
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    tenant: Option<Tenant>,
    /// Number of days for which the certificates are valid [default: without end].
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// Names of the nodes.
    #[arg(required = true, value_name = "NODE")]
    nodes: Vec<String>,
}

/// The port where none was said.
const PORT: u16 = 7447;
const ALONE: &str = "A node of it listens on loopback alone: --samples ADDRESS or --listen quic/ADDRESS:PORT lets other machines reach it.";

/// Addresses at which nodes listen: those that were named, or the one that samples come to; else loopback.
fn listen(named: Vec<String>, samples: Option<IpAddr>) -> Vec<String> {
    let usual = || SocketAddr::new(samples.unwrap_or(Ipv4Addr::LOCALHOST.into()), PORT);
    if named.is_empty() { vec![format!("quic/{}", usual())] } else { named }
}

fn on_loopback(listen: &[String]) -> bool {
    let at = |endpoint: &String| endpoint.split_once('/')?.1.parse::<SocketAddr>().ok();
    listen.iter().all(|endpoint| at(endpoint).is_some_and(|at| at.ip().is_loopback()))
}

#[derive(Serialize)]
struct Document {
    folders: Vec<PathBuf>,
    authority: PathBuf,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let listen = listen(args.listen, args.samples);
    let alone = args.tenant.is_none() && args.connect.is_empty() && on_loopback(&listen);
    let settings = Settings {
        cluster: args.cluster.clone(),
        node: String::new(),
        listen,
        multicast: args.connect.is_empty(),
        connect: args.connect,
        samples: args.samples,
        samples_bits_per_s: args.samples_bits_per_s,
        samples_to: Vec::new(),
        quota: Quotas::default(),
        ptp: PtpSettings::default(),
    };
    let until = args.days.map(|days| SystemTime::now() + Duration::from_secs(u64::from(days) * 86_400));
    let grant = Grant { tenant: args.tenant, from: None, until };
    let folders = certificates::issue(&args.out, &args.cluster, &args.nodes, &settings, &grant)
        .map_err(|error| problem("make certificates", error))?;
    let document = Document { folders, authority: args.out.join(certificates::AUTHORITY_FOLDER) };
    let text = || {
        let folders = document.folders.iter().map(|folder| format!("{}\n", folder.display()));
        let stays = document.authority.display();
        let alone = if alone { format!("\n{ALONE}") } else { String::new() };
        format!("{}Copy each to its machine. {stays} stays here.{alone}", folders.collect::<String>())
    };
    output.answer(&document, text, Answer::Yes)
}

fn tenant(name: &str) -> Result<Tenant, String> {
    let must = "1 to 64 letters, digits, `-` or `_`, and not `operator` or `default`";
    Tenant::named(name).ok_or_else(|| must.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_listen_where_they_were_told_to_and_else_on_loopback_alone() {
        for (named, samples, want, alone) in [
            (&[][..], None, &["quic/127.0.0.1:7447"][..], true),
            (&[], Some("10.0.0.1"), &["quic/10.0.0.1:7447"], false),
            (&[], Some("fd00::1"), &["quic/[fd00::1]:7447"], false),
            (&["quic/0.0.0.0:1"], Some("10.0.0.1"), &["quic/0.0.0.0:1"], false),
            (&["quic/127.0.0.1:1", "quic/10.0.0.1:1"], None, &["quic/127.0.0.1:1", "quic/10.0.0.1:1"], false),
            (&["quic/host:1"], None, &["quic/host:1"], false),
        ] {
            let named = named.iter().map(ToString::to_string).collect();
            let listens = listen(named, samples.map(|address| address.parse().expect("an address")));
            assert_eq!(
                (&listens[..], on_loopback(&listens)),
                (&want.iter().map(ToString::to_string).collect::<Vec<_>>()[..], alone)
            );
        }
    }
}
