//! `takt run --cluster` in a program that was built without clusters.

use std::path::PathBuf;

use miette::Result;

use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
pub struct OnCluster {
    #[arg(long = "cluster", value_name = "DIR", hide = true)]
    folder: Option<PathBuf>,
}

impl OnCluster {
    pub fn is_wanted(&self) -> bool {
        self.folder.is_some()
    }
}

pub fn run(_: &super::Args, _: &Output) -> Result<Answer> {
    let why = "Zenoh and TLS are some 300 crates, and off by default";
    let fix = "cargo build --release --features cluster";
    Err(Problem::new("this takt was built without clusters").why(why).fix(fix).into())
}
