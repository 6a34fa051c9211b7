//! Parts that published studies share, run again on this host and set beside the reported figures.
//!
//! A study is an experiment file like any other (`experiments/NAME.toml`), the paper's figures as facts beside it
//! (`experiments/papers/NAME.toml`), and an outcome that is a pure function of the records of a run: it can be made again at
//! any time, also of an interrupted run.

pub(crate) mod claim;
pub(crate) mod figure;
pub(crate) mod fit;
pub(crate) mod page;
pub(crate) mod part;
mod record;
mod stored;

use serde::Serialize;
use serde_json::Value;
use takt_lab::Order;
use takt_lab::experiment::Experiment;
use takt_page::Report;

use crate::{Answered, Asked, QuestionError};

pub use claim::{Claim, ClaimPart, PartVerdict, Reason, Tally};
pub use figure::{Figure, RoundValue};
pub use fit::line;
pub use record::RoundRecord;
pub use stored::StudyRun;
pub(crate) use stored::study_of;

/// The order of a study: its file, as far as this machine has the cores.
pub(crate) fn order(asked: &Asked) -> Order {
    Order { experiment: within(asked.experiment.clone(), asked.cores), ..asked.order() }
}

/// The answer of a study: its outcome, and what it looks like.
pub(crate) fn answered(of: &StudyRun, outcome: &impl Serialize, report: Report) -> Result<Answered, QuestionError> {
    let (done, planned) = (of.rounds.valid + of.rounds.skipped, of.rounds.planned);
    let stopped = format!("Stopped after {done} of {planned} rounds; they are kept. --resume runs the rest.");
    // By way of a value: keys are in the order of the alphabet.
    let document = serde_json::to_string_pretty(&serde_json::to_value(outcome)?)?;
    Ok(Answered { report, document, stopped: (!of.about.complete).then_some(stopped), next: None })
}

/// Without the points that need more cores than there are; a part with none left goes too.
fn within(mut experiment: Experiment, cores: usize) -> Experiment {
    let needs = |name: &str, level: &Value| match name {
        "workers" => level.as_u64().unwrap_or(1) as usize,
        "reader" if level == "other-core" => 2,
        _ => 1,
    };
    for part in &mut experiment.parts {
        for factor in &mut part.factors {
            let name = factor.name.clone();
            for levels in [&mut factor.full, &mut factor.quick] {
                levels.retain(|level| needs(&name, level) <= cores);
            }
        }
    }
    experiment.parts.retain(|part| part.factors.iter().all(|f| !f.full.is_empty() && !f.quick.is_empty()));
    experiment
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_lab::experiment::{Depth, named};

    #[test]
    fn on_one_core_what_needs_two_is_left_out_and_the_rest_stays() {
        let aloe = Experiment::parse("aloe", &named("aloe").unwrap()).unwrap();
        let all = aloe.points(Depth::Full).len();
        assert_eq!(within(aloe.clone(), 2).points(Depth::Full).len(), all);
        let one = within(aloe, 1);
        assert!(one.points(Depth::Full).len() < all);
        for point in one.points(Depth::Full) {
            let settings = serde_json::json!(point.settings);
            assert!(settings["workers"].as_u64().unwrap_or(1) <= 1, "{}", point.label());
            assert_ne!(settings["reader"], "other-core");
        }
    }
}
