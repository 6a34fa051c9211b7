//! The words of an experiment file: what can be set, to what, and for which workload.
//!
//! A setting is a factor if it has several levels, else it is fixed; the file decides. A workload lists its own settings
//! (`takt_load`); here is what is set about where, over which path and beside what it runs, and its type: [`PointPlace`]. A record
//! holds every setting of its workload, those left at their default as well.

mod disturbance;
mod domains;
mod impairment;
mod path;
mod site;

use takt_load::WorkloadKind;
use takt_load::setting::UnknownLevel;
pub use takt_load::setting::{Setting, Settings, Takes};
use takt_testbed::environment::Spec;

pub use disturbance::PointDisturbance;
pub use impairment::PointImpairment;
pub(crate) use impairment::unimpaired;
pub use path::PointPath;

/// Where, over which path and beside what a point is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPlace {
    pub environment: Spec,
    /// `None`: the workload has no other side.
    pub path: Option<PointPath>,
    pub disturbance: PointDisturbance,
    pub impairment: PointImpairment,
}

impl PointPlace {
    /// From the settings of a point.
    ///
    /// # Errors
    /// A level that a setting accepts and that can't be read: a fault of takt.
    pub fn read(kind: WorkloadKind, settings: &Settings) -> Result<PointPlace, UnknownLevel> {
        Ok(PointPlace {
            environment: site::read(settings)?,
            path: kind.has_path().then(|| path::read(settings)).transpose()?,
            disturbance: disturbance::read(settings)?,
            impairment: impairment::read(settings, &kind.workload().facts())?,
        })
    }
}

/// Settings of a workload, and of where, over which path and beside what it runs.
pub fn of(kind: WorkloadKind) -> impl Iterator<Item = &'static Setting> {
    let path = if kind.has_path() { path::ROWS } else { &[] };
    let facts = kind.workload().facts();
    let stops = if facts.is_hurt_by_stops { impairment::STOPS } else { &[] };
    let quota = if facts.takes_cpu_quota { impairment::QUOTA } else { &[] };
    [site::ROWS, path, disturbance::ROWS, stops, quota, facts.settings].into_iter().flatten()
}

/// Everything that can be set, each once. Two rows with one name are for different workloads.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    let mut all: Vec<&'static Setting> = Vec::new();
    for setting in WorkloadKind::ALL.iter().flat_map(|&kind| of(kind)) {
        if !all.iter().any(|known| is_same(known, setting)) {
            all.push(setting);
        }
    }
    all.into_iter()
}

/// The workloads that know a setting.
pub fn kinds(setting: &'static Setting) -> impl Iterator<Item = WorkloadKind> {
    WorkloadKind::ALL.iter().copied().filter(move |&kind| of(kind).any(|known| is_same(known, setting)))
}

/// Workloads share a row by a copy of it.
fn is_same(one: &Setting, other: &Setting) -> bool {
    (one.name, one.about) == (other.name, other.about)
}

#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use takt_base::nearest;

    use super::*;

    #[test]
    fn every_default_is_a_value_its_setting_accepts() {
        for setting in all() {
            if let Some(default) = setting.default_value() {
                assert_eq!(setting.accept(&default), Ok(default.clone()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn a_name_stands_once_in_what_a_workload_knows() {
        for &kind in WorkloadKind::ALL {
            let mut names: Vec<&str> = of(kind).map(|setting| setting.name).collect();
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before, "{}", kind.name());
        }
    }

    #[test]
    fn a_slip_of_the_pen_in_a_name_is_near_what_was_meant() {
        assert_eq!(nearest("enviroment", all().map(|s| s.name)), Some("environment"));
        assert_eq!(nearest("colour", all().map(|s| s.name)), None);
    }
}
