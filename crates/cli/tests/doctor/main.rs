//! `takt doctor` as a person runs it, on hosts made of files and on this one: what it says, what it changes, and that it gives
//! everything back.

mod machine;
mod person;
mod program;
mod proof;
mod undo;
