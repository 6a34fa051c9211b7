//! Finds what on a host keeps a radio from its deadlines, says what it costs, and fixes it.
//!
//! A [`Rule`] is data: why something hurts, how to look, what it costs, and how to fix it. [`examine`] looks and changes
//! nothing. A [`Fixer`] makes changes and undoes them. It writes each change to the [`journal`], on disk, before it writes
//! the setting. So neither `kill -9` nor a full disk leaves an unrecorded change. A rule has no code for undo: undo restores
//! the recorded old value.
//!
//! ```
//! use takt_host::Host;
//! for diagnosis in takt_doctor::examine(&Host::this(), |rule| rule.id == "clock-source") {
//!     println!("{}: {:?}, {}", diagnosis.id, diagnosis.verdict, diagnosis.observed);
//! }
//! ```
#![forbid(unsafe_code)]

mod card;
mod diagnosis;
mod fixer;
pub mod journal;
mod page;
pub mod prove;
mod rule;
mod rules;
mod setting;

pub use card::CardFact;
pub use diagnosis::{Cost, Diagnosis, FixKind, FixOffer, Verdict, examine};
pub use fixer::{Applied, FixError, Fixer, UndoOutcome, Undone};
pub use page::{explain, page};
pub use rule::{Finding, Fix, Instructions, KernelRange, Measure, Probe, Proof, Rule, Topic};
pub use rules::RULES;
pub use setting::{Change, Setting, SettingError};

#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
