//! `takt doctor` as a person runs it, on hosts made of files: what it says, what it changes, and that it gives everything
//! back. The target `alone` changes this machine's own settings.

mod person;
mod program;
#[path = "../support/mod.rs"]
mod support;
mod undo;
