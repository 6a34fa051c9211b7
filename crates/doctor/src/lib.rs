//! What in a host stands between a radio and its deadline, what it costs, and the change that mends it.
//!
//! A [`Rule`] is data: why it hurts, how to look, what it costs, what mends it. [`examine`] looks and changes nothing.
//! A [`Fixer`] makes changes and takes them back: each is in the [`journal`], on disk, before the setting is written,
//! so that neither `kill -9` nor a full disk leaves a change nobody knows of. Undo is not code of a rule; it is the old
//! value, recorded.
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
pub use fixer::{Applied, FixError, Fixer, Outcome, Undone};
pub use page::{explain, page};
pub use rule::{Finding, Fix, KernelRange, Measure, Probe, Proof, Rule, Topic, Ways};
pub use rules::RULES;
pub use setting::{Change, Setting, SettingError};

#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
