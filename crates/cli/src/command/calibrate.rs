//! `takt calibrate`: what the cores of this machine can do, by kinds of work.

use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use takt_host::affinity;
use takt_mapper::{Capacities, ClassSpec, CoresSpec, NodeSpec, PlatformError, PlatformSpec, Prices, Work};

use crate::costs;
use crate::output::write;
use crate::{Answer, Output, Problem};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt calibrate                           every core this process may use, a second each
  takt calibrate --cores 1 --out here.toml
  takt calibrate --class cortex-a72 --out board.toml    where the processor does not say what it is

The file is a platform for `takt map --platform`, here or on another machine; put several together
for a cluster. Best on a quiet machine: the fastest of several rounds counts.")]
pub struct Args {
    /// Cores; all this process may use by default.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    cores: Vec<usize>,
    /// What to call this kind of core; as its maker does by default.
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Write a platform file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Document {
    class: String,
    cores: Vec<Core>,
}

#[derive(Serialize)]
struct Core {
    core: usize,
    #[serde(flatten)]
    capacities: Capacities,
    /// Nanoseconds of an instruction of each kind.
    prices: Prices,
}

/// Cores that differ by more than this are not of one kind.
const ALIKE: f64 = 1.25;

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let own = affinity::own_cpus();
    let cores = if args.cores.is_empty() { own.clone() } else { args.cores };
    let mut measured = Vec::new();
    for core in cores {
        let pinned = |error| {
            let list: Vec<String> = own.iter().map(ToString::to_string).collect();
            Problem::new(format!("core {core} can't be calibrated"))
                .why(error)
                .fix(format!("--cores of {}", list.join(",")))
        };
        affinity::pin_self(&[core]).map_err(pinned)?;
        measured.push(Core { core, capacities: costs::capacities()?, prices: costs::prices()? });
    }
    let document = Document { class: args.class.unwrap_or_else(costs::class), cores: measured };
    let platform = platform(&document);
    platform.check().map_err(|error| Problem::caused("this is no platform", error, PlatformError::fix))?;
    if let Some(path) = &args.out {
        write(path, &platform.to_toml())?;
    }
    if cfg!(debug_assertions) {
        output.note("note      this takt was built without optimisation, and so were the loops that it timed: cargo build --release");
    }
    output.answer(&document, || text(&document), Answer::Yes)
}

/// Cores that can do about the same are of one class: the best of each class stands for it.
fn platform(document: &Document) -> PlatformSpec {
    let mut order: Vec<&Core> = document.cores.iter().collect();
    order.sort_by(|a, b| b.capacities.mac_per_s.total_cmp(&a.capacities.mac_per_s));
    let mut classes: Vec<(f64, &Core, Vec<u32>)> = Vec::new();
    for core in order {
        let (mac, cpu) = (core.capacities.mac_per_s, u32::try_from(core.core).unwrap_or(u32::MAX));
        match classes.last_mut().filter(|(best, ..)| mac * ALIKE >= *best) {
            Some((_, _, cpus)) => cpus.push(cpu),
            None => classes.push((mac, core, vec![cpu])),
        }
    }
    let mut spec = PlatformSpec { name: "host".to_owned(), ..PlatformSpec::default() };
    let mut node = NodeSpec { name: "host".to_owned(), ..NodeSpec::default() };
    for (index, (_, best, mut cpus)) in classes.into_iter().enumerate() {
        // The fastest class is what costs tried on this machine are measured on.
        let class = if index == 0 { document.class.clone() } else { format!("slower-{index}") };
        cpus.sort_unstable();
        let (capacities, prices) = (Some(best.capacities), Some(best.prices));
        spec.class.insert(class.clone(), ClassSpec { capacities, prices, ..ClassSpec::default() });
        node.cores.push(CoresSpec { class, cpus });
    }
    spec.node.push(node);
    spec
}

fn text(document: &Document) -> String {
    let names: Vec<&str> = std::iter::once("mac").chain(Work::ALL.iter().map(|work| work.name())).collect();
    let line = |core: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells = names.iter().zip(cells).map(|(name, cell)| format!("  {cell:>width$}", width = name.len().max(6)));
        format!("{core:>4}{}", cells.collect::<String>())
    };
    let mut lines = vec![
        format!("{}: 1e9 operations a second, of memory bytes", document.class),
        line("core", &mut names.iter().map(|name| (*name).to_owned())),
    ];
    for core in &document.cores {
        let Capacities { mac_per_s, work_per_s } = core.capacities;
        let work = Work::ALL.iter().map(|&work| work_per_s.map_or(0.0, |rates| rates.get(work)));
        let mut cells = std::iter::once(mac_per_s).chain(work).map(|rate| format!("{:.2}", rate / 1e9));
        lines.push(line(&core.core.to_string(), &mut cells));
    }
    lines.push("What an instruction of each kind takes, by which takt map predicts: --out FILE, or --json.".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use takt_mapper::Operations;

    use super::*;

    fn core(core: usize, mac_per_s: f64) -> Core {
        let prices = Prices(Operations::from_array([1e9 / mac_per_s; 15]));
        Core { core, capacities: Capacities { mac_per_s, work_per_s: None }, prices }
    }

    #[test]
    fn cores_of_two_kinds_become_two_classes() {
        let cores = vec![core(0, 1.0e9), core(1, 4.0e9), core(2, 3.9e9), core(3, 1.1e9)];
        let spec = platform(&Document { class: "big".to_owned(), cores });
        let of = |class: &str| spec.node[0].cores.iter().find(|cores| cores.class == class).map(|c| c.cpus.clone());
        assert_eq!((of("big"), of("slower-1")), (Some(vec![1, 2]), Some(vec![0, 3])));
        assert_eq!(spec.class["slower-1"].capacities.map(|c| c.mac_per_s), Some(1.1e9));
        assert_eq!(spec.class["slower-1"].prices.map(|prices| prices.0.load), Some(1.0 / 1.1));
        spec.check().expect("a platform");
    }
}
