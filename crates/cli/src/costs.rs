//! Files of costs, and the error where costs are not known.

use std::io::Read;
use std::path::Path;

use takt_mapper::{CalibrationError, Costs};
use takt_runtime::costs::CostsError;

use crate::output::write;
use crate::{Problem, waveform};

/// Longest file of costs, bytes.
const LONGEST: u64 = 16 << 20;

/// Reads costs that were kept.
/// Errors: the file can't be read, or holds no costs.
pub fn read(path: &Path) -> Result<Costs, Problem> {
    let what = || Problem::new(format!("can't use the costs in {}", path.display()));
    let fix = "give a file written by `takt map WAVEFORM --save-costs FILE`";
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| what().why(error).fix(fix))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| what().why(error).fix(fix))?;
    serde_json::from_str(&text).map_err(|error| what().why(error).fix(fix))
}

/// Keeps them, beside what the file knows of other components.
/// Errors: the file holds something else, or costs of another kind of processor; it can't be written.
pub fn keep(path: &Path, mut costs: Costs) -> Result<(), Problem> {
    if path.exists() {
        costs = costs.beside(read(path)?).map_err(|error| {
            let what = Problem::new(format!("can't add costs to {}", path.display())).why(error);
            what.fix("use one file for each kind of CPU")
        })?;
    }
    let refused = |error| Problem::new(format!("{} can't be written", path.display())).why(error);
    write(path, &(serde_json::to_string_pretty(&costs).map_err(refused)? + "\n"))
}

pub fn problem(error: CostsError) -> Problem {
    match error {
        CostsError::Open(error) => waveform::unopened(error),
        CostsError::Start(error) => waveform::unstarted(error),
        CostsError::Calibration(error) => uncalibrated(error),
        error => Problem::caused("the costs are not those of this waveform", error, CostsError::fix),
    }
}

pub fn uncalibrated(error: CalibrationError) -> Problem {
    Problem::new("this core can't be calibrated").why(error)
}
