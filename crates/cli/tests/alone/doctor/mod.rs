//! `takt doctor` on this machine's own settings.

mod machine;
#[path = "../../doctor/program.rs"]
mod program;
mod proof;
