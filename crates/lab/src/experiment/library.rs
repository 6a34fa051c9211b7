//! The experiments that come with the program.

use std::borrow::Cow;

/// Name and text of each, from `experiments/` of the sources.
pub const LIBRARY: &[(&str, &str)] = &[
    ("check", include_str!("../../../../experiments/check.toml")),
    ("known-bad", include_str!("../../../../experiments/known-bad.toml")),
    ("example", include_str!("../../../../experiments/example.toml")),
    ("aloe", include_str!("../../../../experiments/aloe.toml")),
    ("virtual-sdr/link", include_str!("../../../../experiments/virtual-sdr/link.toml")),
    ("virtual-sdr/radio", include_str!("../../../../experiments/virtual-sdr/radio.toml")),
    ("virtual-sdr/share", include_str!("../../../../experiments/virtual-sdr/share.toml")),
    ("routers", include_str!("../../../../experiments/routers.toml")),
    ("guest-timers", include_str!("../../../../experiments/guest-timers.toml")),
    ("linux-rt", include_str!("../../../../experiments/linux-rt.toml")),
    ("uhd-dpdk", include_str!("../../../../experiments/uhd-dpdk.toml")),
];

/// Names that stand for several files: the first, and the parts of the others.
const JOINED: &[(&str, &[&str])] = &[("virtual-sdr", &["virtual-sdr/link", "virtual-sdr/radio"])];

pub fn names() -> impl Iterator<Item = &'static str> {
    LIBRARY.iter().map(|(name, _)| *name).chain(JOINED.iter().map(|(name, _)| *name))
}

#[must_use]
pub fn named(name: &str) -> Option<Cow<'static, str>> {
    let one = |name: &str| LIBRARY.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    if let Some(text) = one(name) {
        return Some(text.into());
    }
    let (_, files) = JOINED.iter().find(|(known, _)| *known == name)?;
    let mut texts = files.iter().filter_map(|file| one(file));
    let first = texts.next()?.to_owned();
    Some(texts.fold(first, |whole, text| whole + "\n" + from_first_part(text)).into())
}

/// Text from the first part on: the first file alone has the lines before.
fn from_first_part(text: &str) -> &str {
    text.find("[[part]]").and_then(|at| text.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{named, names};
    use crate::experiment::{Depth, Experiment};

    #[test]
    fn every_experiment_of_the_library_can_be_run() {
        for name in names() {
            let text = named(name).unwrap();
            let experiment =
                Experiment::parse(name, &text).unwrap_or_else(|error| panic!("{}: {error}", error.place()));
            assert!(!experiment.points(Depth::Quick).is_empty());
            assert!(experiment.points(Depth::Full).len() >= experiment.points(Depth::Quick).len());
        }
    }

    #[test]
    fn the_needed_rates_of_the_check_are_measured_at_either_depth() {
        let check = Experiment::parse("check", &super::named("check").unwrap()).unwrap();
        for depth in [Depth::Full, Depth::Quick] {
            let needed = check.points(depth).iter().filter(|point| check.is_needed(point)).count();
            assert_eq!(needed, check.needs.len(), "{depth:?}");
        }
    }

    /// The lines before the parts hold for all of them, so the files of one study say the same.
    #[test]
    fn files_that_are_joined_agree_on_rounds() {
        let parse = |name: &str| Experiment::parse(name, &named(name).unwrap()).unwrap();
        for (whole, files) in super::JOINED {
            let whole = parse(whole);
            let parts: usize = files.iter().map(|file| parse(file).parts.len()).sum();
            assert_eq!(whole.parts.len(), parts);
            assert!(files.iter().all(|file| parse(file).rounds == whole.rounds));
        }
    }
}
