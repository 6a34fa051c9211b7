//! Proves a change of the doctor on the host itself: measures with it and without it, in alternation.
//!
//! ```text
//!   pair        1      2      3      4   ...        A without the change, B with it
//!   order      A B    B A    A B    B A             drift affects both alike
//!                \      /
//!                 takt makes or undoes the change, through the journal, before a round that needs it
//! ```
//!
//! The pair is the unit: the gain is the mean over pairs with its 95 % interval. After an error, a signal or a panic, takt
//! restores the host. After `kill -9` a [guard](Guard) does. If that was killed too, `takt doctor --undo` does, since the
//! change is in the journal. Only a change that its owner wants to keep stays.

mod error;
mod gain;
mod guard;
mod measure;
mod outcome;
mod probes;
mod trial;

use std::path::Path;
use std::time::Duration;

use takt_host::Host;

use crate::{Change, Measure, Proof, Rule, Verdict};
use takt_base::Stop;

pub use error::ProveError;
pub use gain::{Gain, ProveAnswer, Size};
pub use guard::{Guard, wait_and_undo};
pub use measure::MeasureError;
pub use outcome::{Pair, ProveOutcome, SCHEMA};

use self::trial::Trial;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProveOptions {
    /// Pairs of rounds, at least 2.
    pub pairs: u32,
    /// How long a round measures; rare events need longer rounds.
    pub round: Duration,
}

impl Default for ProveOptions {
    fn default() -> ProveOptions {
        ProveOptions { pairs: 8, round: Duration::from_secs(1) }
    }
}

/// The change to prove, and the host.
pub struct Claim<'a> {
    pub host: &'a Host,
    /// The folder of the host's journal, usually [`takt_host::dirs::state_dir`].
    pub state: &'a Path,
    pub rule: &'static Rule,
    pub options: ProveOptions,
    /// Starts the guard, which gets the proof's own [run](crate::journal::Scope::Run) by its `id`.
    pub guard: &'a dyn Fn(&str) -> std::io::Result<Guard>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The round that begins, from 1.
    pub round: u32,
    pub of: u32,
    pub with: bool,
}

/// Measures the effect of a rule's change, and asks `keep` whether it should stay. If `stop` is raised, it ends early: the
/// outcome is what was measured until then, and the change does not stay.
///
/// # Errors
/// The rule can't be proved here, a round failed, or there is too little to compare; see [`ProveError`].
pub fn prove(
    claim: &Claim<'_>,
    progress: &mut dyn FnMut(Progress),
    keep: &mut dyn FnMut(&ProveOutcome) -> bool,
    stop: &Stop,
) -> Result<ProveOutcome, ProveError> {
    prove_by(&mut probes::measure, claim, progress, keep, stop)
}

type Probe<'a> = &'a mut dyn FnMut(Measure, Duration, &Stop) -> Result<f64, MeasureError>;

fn prove_by(
    probe: Probe<'_>,
    claim: &Claim<'_>,
    progress: &mut dyn FnMut(Progress),
    keep: &mut dyn FnMut(&ProveOutcome) -> bool,
    stop: &Stop,
) -> Result<ProveOutcome, ProveError> {
    let (measure, changes) = ready(claim)?;
    let round = claim.options.round.max(probes::shortest(measure));
    let options = ProveOptions { round, ..claim.options };
    let mut trial = Trial::begin(claim, changes)?;
    let mut measured = |round| probe(measure, round, stop);
    let pairs = pairs(&mut trial, &mut measured, options, progress, stop)?;
    if pairs.len() < 2 {
        trial.give_back()?;
        return Err(ProveError::Stopped { pairs: pairs.len() });
    }
    let Some(gain) = Gain::of(measure, &pairs) else {
        trial.give_back()?;
        return Err(ProveError::Values { values: pairs });
    };
    let changes = trial.changes.clone();
    let mut outcome = outcome::of(claim.rule, measure, options, changes, pairs, gain, stop.requested());
    outcome.kept = !stop.requested() && keep(&outcome);
    trial.end(outcome.kept)?;
    Ok(outcome)
}

fn pairs(
    trial: &mut Trial,
    measure: &mut dyn FnMut(Duration) -> Result<f64, MeasureError>,
    options: ProveOptions,
    progress: &mut dyn FnMut(Progress),
    stop: &Stop,
) -> Result<Vec<Pair>, ProveError> {
    // `None`: stopped within the round, whose number is not to be used.
    let mut round = |number: u32, with: bool| -> Result<Option<f64>, ProveError> {
        progress(Progress { round: number, of: options.pairs.saturating_mul(2), with });
        trial.turn(with)?;
        let measured = measure(options.round);
        if stop.requested() { Ok(None) } else { Ok(Some(measured?)) }
    };
    let mut pairs = Vec::new();
    for pair in 0..options.pairs {
        // A B, B A, A B: an even drift adds nothing to either.
        let with_first = pair % 2 == 1;
        let Some(one) = round(pair * 2 + 1, with_first)? else { break };
        let Some(other) = round(pair * 2 + 2, !with_first)? else { break };
        let (without, with) = if with_first { (other, one) } else { (one, other) };
        pairs.push(Pair { without, with });
    }
    Ok(pairs)
}

/// The measurement and the changes, or why there are none.
fn ready(claim: &Claim<'_>) -> Result<(Measure, Vec<Change>), ProveError> {
    let measure = match claim.rule.proof {
        Proof::By(measure) => measure,
        Proof::Not(why) => return Err(ProveError::NotProvable { why }),
    };
    let pairs = claim.options.pairs;
    if !(2..=MOST_PAIRS).contains(&pairs) {
        return Err(ProveError::Pairs { pairs });
    }
    let observed = crate::examine(claim.host, |one| one.id == claim.rule.id).pop();
    let Some(observed) = observed else { return Err(ProveError::NotVisible { observed: String::new() }) };
    match (observed.verdict, observed.fix) {
        (Verdict::NotVisible | Verdict::NotKnownHere, _) => Err(ProveError::NotVisible { observed: observed.observed }),
        (_, Some(offer)) if !offer.changes.is_empty() => Ok((measure, offer.changes)),
        _ => Err(ProveError::NothingToChange { observed: observed.observed }),
    }
}

/// More than anybody would wait for.
const MOST_PAIRS: u32 = 10_000;

#[cfg(test)]
mod tests;
