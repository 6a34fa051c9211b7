//! The words of an experiment file: what can be set, to what, and for which workload.
//!
//! A setting is a factor if it has several levels, else it is fixed; the file decides. Everything that can be set is one
//! row of one of the tables here, from which checking, `takt experiment factors` and the reference page come: a new
//! word is a new row. A record holds every setting of its workload, those left at their default as well.

mod deadline;
mod disturbance;
mod impairment;
mod interface;
mod path;
mod radio;
mod site;
mod takes;
mod udp;
mod values;
mod wakeup;
mod waveform;

use takt_load::Kind;

pub(crate) use path::OPTIONS as PATH_OPTIONS;
pub use takes::Takes;
pub(crate) use takes::{ethernet_bps, per_second};
pub use values::Settings;

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a file.
    pub name: &'static str,
    /// What it can be set to.
    pub takes: Takes,
    /// The workloads that know it.
    pub of: &'static [Kind],
    /// What it is if nobody sets it, as in a file; `None`: it must be set.
    pub default: Option<&'static str>,
    /// What it means.
    pub about: &'static str,
}

/// By what they are about, in the order in which they are listed.
const TABLES: [&[Setting]; 10] = [
    site::ROWS,
    disturbance::ROWS,
    impairment::ROWS,
    path::ROWS,
    radio::ROWS,
    udp::ROWS,
    waveform::ROWS,
    interface::ROWS,
    deadline::ROWS,
    wakeup::ROWS,
];

/// Everything that can be set.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    TABLES.into_iter().flatten()
}

/// A setting's row by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.name == name)
}
