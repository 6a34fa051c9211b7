//! A change on trial: made before a round with it, undone before a round without it, and in the end kept or undone.

use crate::fixer::unix_ms;
use crate::journal::Scope;
use crate::{Change, Fixer, Rule, UndoOutcome};

use super::{Claim, Guard, ProveError};

/// A change that is made and undone in alternation. Dropped before its end, it is undone.
pub(super) struct Trial {
    rule: &'static Rule,
    pub(super) changes: Vec<Change>,
    /// The scope of this trial's entries in the journal, and of no others.
    own: Scope,
    made: bool,
    // In this order: if the guard has to act, it needs the journal that the fixer holds.
    fixer: Fixer,
    guard: Option<Guard>,
}

impl Trial {
    pub(super) fn begin(claim: &Claim<'_>, changes: Vec<Change>) -> Result<Trial, ProveError> {
        let fixer = Fixer::open(claim.host.clone(), claim.state)?;
        // A process has one proof at a time. A process number may be used again, so the time is in the id.
        let id = format!("prove-{}-{}", std::process::id(), unix_ms());
        let guard = Some((claim.guard)(&id).map_err(ProveError::Guard)?);
        Ok(Trial { rule: claim.rule, changes, own: Scope::Run { id }, made: false, fixer, guard })
    }

    /// Makes or undoes the change, unless that is done already.
    pub(super) fn turn(&mut self, with: bool) -> Result<(), ProveError> {
        if with && !self.made {
            // A change that fails half-way is half made.
            self.made = true;
            self.fixer.apply(self.rule.id, &self.own, &self.changes)?;
        } else if !with && self.made {
            self.give_back()?;
        }
        Ok(())
    }

    pub(super) fn give_back(&mut self) -> Result<(), ProveError> {
        let own = &self.own;
        for undone in self.fixer.undo(|entry| entry.scope == *own) {
            if !matches!(undone.outcome, UndoOutcome::Settled { .. }) {
                return Err(ProveError::GiveBack { setting: undone.setting.to_string(), was: undone.was });
            }
        }
        self.made = false;
        Ok(())
    }

    /// Ends the trial, with the change kept or undone.
    pub(super) fn end(mut self, kept: bool) -> Result<(), ProveError> {
        self.turn(kept)?;
        self.made = false;
        Ok(())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // A refused change stays in the journal, and the guard tries again.
        if !self.made || self.give_back().is_ok() {
            self.guard.take().into_iter().for_each(Guard::release);
        }
    }
}
