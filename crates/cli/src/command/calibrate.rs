//! `takt calibrate`: what the cores of this machine can do, by kinds of work.

use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use takt_host::affinity;
use takt_mapper::{Capacities, MeasuredCore, PlatformError, PlatformSpec, Work};
use takt_runtime::costs::{self, MeasureError};

use crate::costs::uncalibrated;
use crate::output::write;
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt calibrate                           every core that this process may use, one second each
  takt calibrate --cores 1 --out here.toml
  takt calibrate --class cortex-a72 --out board.toml    if the CPU does not report its model

The file is a platform for `takt map --platform`, on this machine or on another one. For a cluster,
put several together. Use a quiet machine. takt takes the fastest of several rounds.

Exit status: 0 measured, 2 the command failed.")]
pub struct Args {
    /// Cores to measure [default: all that this process may use].
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Name for this kind of core [default: the vendor's name].
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Write the result to this platform file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Document {
    class: String,
    cores: Vec<MeasuredCore>,
}

pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let own = affinity::own_cpus();
    let cores = if args.cores.is_empty() { &own } else { &args.cores };
    let measured = costs::measured_cores(cores).map_err(|error| unmeasured(error, &own))?;
    let document = Document { class: args.class.unwrap_or_else(costs::class), cores: measured };
    let platform = PlatformSpec::measured(&document.class, &document.cores);
    platform
        .check()
        .map_err(|error| Problem::caused("the measurement is not a valid platform", error, PlatformError::fix))?;
    if let Some(path) = &args.out {
        write(path, &platform.to_toml())?;
    }
    if cfg!(debug_assertions) {
        output.note("note      this takt was built without optimisation, and so were the loops that it timed: cargo build --release");
    }
    output.answer(&document, || text(&document), Answer::Yes)
}

fn unmeasured(error: MeasureError, own: &[usize]) -> Problem {
    match error {
        MeasureError::Calibration(error) => uncalibrated(error),
        MeasureError::Core { core, source } => {
            let list: Vec<String> = own.iter().map(ToString::to_string).collect();
            let what = format!("core {core} can't be calibrated");
            Problem::new(what).why(source).fix(format!("give --cores with some of {}", list.join(",")))
        }
    }
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
    lines.push("takt map predicts by the cost of each kind of instruction: --out FILE, or --json.".to_owned());
    lines.join("\n")
}
