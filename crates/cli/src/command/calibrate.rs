//! `takt calibrate`: what the cores of this machine can do, by kinds of work.

use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use takt_host::affinity;
use takt_mapper::{Capacities, ClassSpec, CoresSpec, NodeSpec, PlatformSpec, Work};

use crate::answer::Answer;
use crate::costs;
use crate::output::Output;
use crate::story::Story;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt calibrate                           every core this process may use, half a second each
  takt calibrate --cores 2 --out here.toml

The file is a platform for `takt map --platform`; put several together for a cluster. Best on a quiet machine: the
fastest of seven rounds counts.")]
pub struct Args {
    /// Cores; all this process may use by default.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Write a platform file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What was measured, for `--json`.
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
}

/// Cores that differ by more than this are not of one kind.
const ALIKE: f64 = 1.25;

/// Measures.
pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let own = affinity::own_cpus();
    let cores = if args.cores.is_empty() { own.clone() } else { args.cores };
    let mut measured = Vec::new();
    for core in cores {
        let pinned = |error| {
            let list: Vec<String> = own.iter().map(ToString::to_string).collect();
            Story::new(format!("core {core} can't be calibrated"))
                .why(error)
                .fix(format!("--cores of {}", list.join(",")))
        };
        affinity::pin_self(&[core]).map_err(pinned)?;
        measured.push(Core { core, capacities: costs::capacities()? });
    }
    let document = Document { class: costs::class(), cores: measured };
    if let Some(path) = &args.out {
        let refused = |error| Story::new(format!("{} can't be written", path.display())).why(error);
        std::fs::write(path, platform(&document).to_toml()).map_err(refused)?;
    }
    output.result(&document, || text(&document))?;
    Ok(Answer::Yes)
}

/// Cores that can do about the same are of one class: the best of each class stands for it.
fn platform(document: &Document) -> PlatformSpec {
    let mut order: Vec<&Core> = document.cores.iter().collect();
    order.sort_by(|a, b| b.capacities.mac_per_s.total_cmp(&a.capacities.mac_per_s));
    let mut classes: Vec<(f64, Capacities, Vec<u32>)> = Vec::new();
    for core in order {
        let (mac, cpu) = (core.capacities.mac_per_s, u32::try_from(core.core).unwrap_or(u32::MAX));
        match classes.last_mut().filter(|(best, ..)| mac * ALIKE >= *best) {
            Some((_, _, cpus)) => cpus.push(cpu),
            None => classes.push((mac, core.capacities, vec![cpu])),
        }
    }
    let mut spec = PlatformSpec { name: "host".to_owned(), ..PlatformSpec::default() };
    let mut node = NodeSpec { name: "host".to_owned(), ..NodeSpec::default() };
    for (index, (_, capacities, mut cpus)) in classes.into_iter().enumerate() {
        // The fastest class is what costs tried on this machine are measured on.
        let class = if index == 0 { document.class.clone() } else { format!("slower-{index}") };
        cpus.sort_unstable();
        spec.class.insert(class.clone(), ClassSpec { capacities: Some(capacities), ..ClassSpec::default() });
        node.cores.push(CoresSpec { class, cpus });
    }
    spec.node.push(node);
    spec
}

fn text(document: &Document) -> String {
    let mut lines = vec![document.class.clone()];
    let heads: Vec<String> = Work::ALL.iter().map(|work| format!("{:>14}", work.name())).collect();
    lines.push(format!("core  {:>14}{}   G a second", "mac", heads.concat()));
    for core in &document.cores {
        let rate = |work: &Work| core.capacities.work_per_s.map_or(0.0, |rates| rates.get(*work));
        let cells: Vec<String> = Work::ALL.iter().map(|work| format!("{:>14.2}", rate(work) / 1e9)).collect();
        lines.push(format!("{:>4}  {:>14.2}{}", core.core, core.capacities.mac_per_s / 1e9, cells.concat()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(core: usize, mac_per_s: f64) -> Core {
        Core { core, capacities: Capacities { mac_per_s, work_per_s: None } }
    }

    #[test]
    fn cores_of_two_kinds_become_two_classes() {
        let cores = vec![core(0, 1.0e9), core(1, 4.0e9), core(2, 3.9e9), core(3, 1.1e9)];
        let spec = platform(&Document { class: "big".to_owned(), cores });
        let of = |class: &str| spec.node[0].cores.iter().find(|cores| cores.class == class).map(|c| c.cpus.clone());
        assert_eq!((of("big"), of("slower-1")), (Some(vec![1, 2]), Some(vec![0, 3])));
        assert_eq!(spec.class["slower-1"].capacities.map(|c| c.mac_per_s), Some(1.1e9));
        spec.check().expect("a platform");
    }
}
