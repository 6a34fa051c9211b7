//! Proving a change of the doctor on the host itself: measured with it and without it, in turns.
//!
//! ```text
//!   pair        1      2      3      4   ...        A without the change, B with it
//!   order      A B    B A    A B    B A             what drifts hits both alike
//!                \      /
//!                 change is made or given back, through the journal, before a round that needs it otherwise
//! ```
//!
//! The pair is the unit: the gain is the mean over pairs with its 95 % interval. Whatever happens on the way, an error, a
//! signal, a panic, the host is given back as it was; after `kill -9` by a [guard](Guard), and if that was killed too, by
//! `takt doctor --undo`, since the change is in the journal. Only a change that its owner wants to keep stays.

mod gain;
mod guard;
mod measure;
mod outcome;
mod probes;

use std::path::Path;
use std::time::Duration;

use takt_base::Stop;
use takt_host::Host;
use takt_host::doctor::journal::{JournalError, Scope};
use takt_host::doctor::{self, Change, Measure, MendError, Mender, Outcome as Undone, Proof, Rule, Verdict};

pub use gain::{Answer, Gain, Size};
pub use guard::{Guard, wait_and_undo};
pub use measure::MeasureError;
pub use outcome::{Outcome, Pair, SCHEMA};

/// How it is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Pairs of rounds, 2 at least.
    pub pairs: u32,
    /// How long a round measures; what is seen only now and then takes longer.
    pub round: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options { pairs: 8, round: Duration::from_secs(1) }
    }
}

/// What is to be proved, and where.
pub struct Claim<'a> {
    /// The host whose setting is changed.
    pub host: &'a Host,
    /// The folder of its journal, usually [`takt_host::dirs::state_dir`].
    pub state: &'a Path,
    /// The rule.
    pub rule: &'static Rule,
    /// How it is measured.
    pub options: Options,
    /// Starts the guard, which is told the number of the first entry of the journal that is the proof's own.
    pub guard: &'a dyn Fn(u64) -> std::io::Result<Guard>,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The round that begins, from 1.
    pub round: u32,
    /// Rounds in all.
    pub of: u32,
    /// It is one with the change.
    pub with: bool,
}

/// Why nothing was proved. The host is as it was, unless [`ProveError::GiveBack`] says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The rule names no measure.
    #[error("{why}")]
    NotProvable {
        /// Why not.
        why: &'static str,
    },
    /// There is nothing to change on this host.
    #[error("there is nothing to change here: {seen}")]
    NothingToChange {
        /// What the rule saw.
        seen: String,
    },
    /// The rule could not look.
    #[error("this host does not show it: {seen}")]
    NotVisible {
        /// Why not.
        seen: String,
    },
    /// One pair has no interval.
    #[error("{pairs} pairs are not within 2 to 10000")]
    Pairs {
        /// Pairs asked for.
        pairs: u32,
    },
    /// Somebody asked to stop before two pairs were measured.
    #[error("stopped after {pairs} whole pairs")]
    Stopped {
        /// Pairs that were whole.
        pairs: usize,
    },
    /// The change could not be made.
    #[error("changing the setting")]
    Change(#[from] MendError),
    /// The journal can't be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The guard could not be started.
    #[error("starting the guard that gives back after a kill")]
    Guard(#[source] std::io::Error),
    /// A round failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A value that cannot be compared.
    #[error("the rounds can't be compared: {values:?}")]
    Values {
        /// What was measured.
        values: Vec<Pair>,
    },
    /// The setting could not be given back.
    #[error("{setting} can't be given back its value {was}")]
    GiveBack {
        /// The setting.
        setting: String,
        /// Its value before.
        was: String,
    },
}

impl ProveError {
    /// What to do about it, if anything.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            ProveError::Change(error) => error.fix(),
            ProveError::Journal(error) => error.fix(),
            ProveError::Measure(error) => error.fix(),
            ProveError::Pairs { .. } => Some("--pairs 8".to_owned()),
            ProveError::GiveBack { .. } => Some("takt doctor --undo".to_owned()),
            _ => None,
        }
    }
}

/// Measures what a rule's change is worth, and asks `keep` whether it should stay. Raised, `stop` ends it early: what was
/// measured until then is the outcome, and the change does not stay.
///
/// # Errors
/// The rule can't be proved here, a round failed, or there is too little to compare; see [`ProveError`].
pub fn prove(
    claim: &Claim<'_>,
    progress: &mut dyn FnMut(Progress),
    keep: &mut dyn FnMut(&Outcome) -> bool,
    stop: &Stop,
) -> Result<Outcome, ProveError> {
    let (measure, changes) = ready(claim)?;
    let round = claim.options.round.max(probes::shortest(measure));
    let options = Options { round, ..claim.options };
    let mut trial = Trial::begin(claim, changes)?;
    let pairs = pairs(&mut trial, measure, options, progress, stop)?;
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
    measure: Measure,
    options: Options,
    progress: &mut dyn FnMut(Progress),
    stop: &Stop,
) -> Result<Vec<Pair>, ProveError> {
    // `None`: stopped within the round, whose number is not to be used.
    let mut round = |number: u32, with: bool| -> Result<Option<f64>, ProveError> {
        progress(Progress { round: number, of: options.pairs.saturating_mul(2), with });
        trial.turn(with)?;
        let measured = probes::measure(measure, options.round, stop);
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

/// What can be measured and changed, or why not.
fn ready(claim: &Claim<'_>) -> Result<(Measure, Vec<Change>), ProveError> {
    let measure = match claim.rule.proof {
        Proof::By(measure) => measure,
        Proof::Not(why) => return Err(ProveError::NotProvable { why }),
    };
    let pairs = claim.options.pairs;
    if !(2..=MOST_PAIRS).contains(&pairs) {
        return Err(ProveError::Pairs { pairs });
    }
    let seen = doctor::examine(claim.host, |one| one.id == claim.rule.id).pop();
    let Some(seen) = seen else { return Err(ProveError::NotVisible { seen: String::new() }) };
    match (seen.verdict, seen.fix) {
        (Verdict::NotVisible | Verdict::NotKnownHere, _) => Err(ProveError::NotVisible { seen: seen.seen }),
        (_, Some(offer)) if !offer.changes.is_empty() => Ok((measure, offer.changes)),
        _ => Err(ProveError::NothingToChange { seen: seen.seen }),
    }
}

/// More than anybody waits for.
const MOST_PAIRS: u32 = 10_000;

/// A change that is made and given back in turns. Dropped before its end, it is given back.
struct Trial {
    rule: &'static Rule,
    changes: Vec<Change>,
    /// The journal's number of the first entry that may be ours.
    first: u64,
    made: bool,
    // In this order: the guard, should it have to act, needs the journal that the mender holds.
    mender: Mender,
    guard: Option<Guard>,
}

impl Trial {
    fn begin(claim: &Claim<'_>, changes: Vec<Change>) -> Result<Trial, ProveError> {
        let mender = Mender::open(claim.host.clone(), claim.state)?;
        let first = mender.next_number();
        let guard = Some((claim.guard)(first).map_err(ProveError::Guard)?);
        Ok(Trial { rule: claim.rule, changes, first, made: false, mender, guard })
    }

    /// Makes the change, or gives it back; nothing if it is so already.
    fn turn(&mut self, with: bool) -> Result<(), ProveError> {
        if with && !self.made {
            // What fails half-way is half made.
            self.made = true;
            self.mender.apply(self.rule.id, &Scope::Host, &self.changes)?;
        } else if !with && self.made {
            self.give_back()?;
        }
        Ok(())
    }

    fn give_back(&mut self) -> Result<(), ProveError> {
        let first = self.first;
        for undone in self.mender.undo(|entry| entry.number >= first) {
            if !matches!(undone.outcome, Undone::Settled { .. }) {
                return Err(ProveError::GiveBack { setting: undone.setting.to_string(), was: undone.was });
            }
        }
        self.made = false;
        Ok(())
    }

    /// Leaves the change as it is to be.
    fn end(mut self, kept: bool) -> Result<(), ProveError> {
        self.turn(kept)?;
        self.made = false;
        Ok(())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // What is refused stays in the journal, and the guard tries again.
        if !self.made || self.give_back().is_ok() {
            self.guard.take().into_iter().for_each(Guard::release);
        }
    }
}

#[cfg(test)]
mod tests;
