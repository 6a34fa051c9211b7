//! `takt node certificates`: a folder for each node.

use std::net::IpAddr;
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
  takt node certificates --out cluster a b c       each then edits its cluster.toml
  takt node certificates --out cluster --tenant blue --days 90 blue-1      for who gives orders

Copy each folder to its machine and no other, and keep `authority` where you made it: who has its
key can let anybody in. In a folder, cluster.toml says where the node listens and whom it asks.
A folder without --tenant is a node's, and its orders are the operator's, who may do everything.
With it the folder is no node's: its orders are the tenant's, who may stop and change its own
waveforms alone, and has what `[quota.TENANT]` in the nodes' cluster.toml leaves it.")]
pub struct Args {
    /// Where the folders are made.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The cluster's name.
    #[arg(long, value_name = "NAME", default_value = "takt")]
    cluster: String,
    /// An address that the nodes listen on.
    #[arg(long, value_name = "quic/ADDR:PORT", default_value = "quic/0.0.0.0:7447")]
    listen: Vec<String>,
    /// Nodes or routers that the nodes connect to; found by multicast otherwise.
    #[arg(long, value_name = "quic/ADDR:PORT")]
    connect: Vec<String>,
    /// The address that samples come to; that of --listen otherwise.
    #[arg(long, value_name = "A")]
    samples: Option<IpAddr>,
    /// What the interface of that address can carry, bits a second.
    #[arg(long, value_name = "RATE", default_value = "1e9", value_parser = takt_base::parse_number)]
    samples_bits_per_s: f64,
    /// Who gives orders with these folders; the operator otherwise.
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    tenant: Option<Tenant>,
    /// How long from now the certificates are valid; without end otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// The nodes, by name.
    #[arg(required = true, value_name = "NODE")]
    nodes: Vec<String>,
}

#[derive(Serialize)]
struct Document {
    folders: Vec<PathBuf>,
    authority: PathBuf,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let settings = Settings {
        cluster: args.cluster.clone(),
        node: String::new(),
        listen: args.listen,
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
        format!("{}Copy each to its machine. {} stays here.", folders.collect::<String>(), document.authority.display())
    };
    output.answer(&document, text, Answer::Yes)
}

fn tenant(name: &str) -> Result<Tenant, String> {
    let must = "1 to 64 letters, digits, `-`, `_`, and not `operator` or `default`";
    Tenant::named(name).ok_or_else(|| must.to_owned())
}
