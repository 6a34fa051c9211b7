//! `takt node certificates`: a folder for each node.

use std::net::IpAddr;
use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use takt_cluster::{Settings, certificates};

use super::problem;
use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt node certificates --out cluster --listen quic/10.0.0.1:7447 a
  takt node certificates --out cluster --listen quic/10.0.0.2:7447 --connect quic/10.0.0.1:7447 b
  takt node certificates --out cluster a b c       each then edits its cluster.toml

Copy each folder to its machine and no other, and keep `authority` where you made it: who has its
key can let anybody in. In a folder, cluster.toml says where the node listens and whom it asks.")]
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
    };
    let folders = certificates::issue(&args.out, &args.cluster, &args.nodes, &settings)
        .map_err(|error| problem("make certificates", error))?;
    let document = Document { folders, authority: args.out.join(certificates::AUTHORITY_FOLDER) };
    let text = || {
        let folders = document.folders.iter().map(|folder| format!("{}\n", folder.display()));
        format!("{}Copy each to its machine. {} stays here.", folders.collect::<String>(), document.authority.display())
    };
    output.answer(&document, text, Answer::Yes)
}
