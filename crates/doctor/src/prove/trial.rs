//! A change on trial: made before a round with it, given back before one without, and in the end as it is to be.

use crate::fixer::unix_ms;
use crate::journal::Scope;
use crate::{Change, Fixer, Outcome as Undone, Rule};

use super::{Claim, Guard, ProveError};

/// A change that is made and given back in turns. Dropped before its end, it is given back.
pub(super) struct Trial {
    rule: &'static Rule,
    pub(super) changes: Vec<Change>,
    /// What the journal's entries of ours have, and no others.
    own: Scope,
    made: bool,
    // In this order: the guard, should it have to act, needs the journal that the fixer holds.
    fixer: Fixer,
    guard: Option<Guard>,
}

impl Trial {
    pub(super) fn begin(claim: &Claim<'_>, changes: Vec<Change>) -> Result<Trial, ProveError> {
        let fixer = Fixer::open(claim.host.clone(), claim.state)?;
        // A process has one proof at a time; its number alone may be another's after a while.
        let id = format!("prove-{}-{}", std::process::id(), unix_ms());
        let guard = Some((claim.guard)(&id).map_err(ProveError::Guard)?);
        Ok(Trial { rule: claim.rule, changes, own: Scope::Run { id }, made: false, fixer, guard })
    }

    /// Makes the change, or gives it back; nothing if it is so already.
    pub(super) fn turn(&mut self, with: bool) -> Result<(), ProveError> {
        if with && !self.made {
            // What fails half-way is half made.
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
            if !matches!(undone.outcome, Undone::Settled { .. }) {
                return Err(ProveError::GiveBack { setting: undone.setting.to_string(), was: undone.was });
            }
        }
        self.made = false;
        Ok(())
    }

    /// Leaves the change as it is to be.
    pub(super) fn end(mut self, kept: bool) -> Result<(), ProveError> {
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
