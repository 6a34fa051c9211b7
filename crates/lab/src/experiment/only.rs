//! A part of an experiment, run again.

use super::{Experiment, Factor, plain};

/// No point is of that kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no point has {requested}")]
pub struct NoSuchPoint {
    pub requested: String,
    /// Possible names, a word each.
    pub there: Vec<String>,
}

impl Experiment {
    /// Leaves only the points that have this: `part=NAME`, or `FACTOR=LEVEL`, the level as it is shown. A part without the
    /// factor is left out.
    pub fn only(&mut self, word: &str) -> Result<(), NoSuchPoint> {
        let (name, level) = word.split_once('=').unwrap_or((word, ""));
        let there = self.words(name);
        if name == "part" {
            self.parts.retain(|part| part.name == level);
        } else {
            let factors = self.parts.iter_mut().flat_map(|part| &mut part.factors);
            factors.filter(|factor| factor.name == name).for_each(|factor| factor.retain(|one| plain(one) == level));
            let has = |factor: &Factor| factor.name == name && !factor.full.is_empty();
            self.parts.retain(|part| part.factors.iter().any(has));
        }
        if self.parts.is_empty() {
            return Err(NoSuchPoint { requested: word.into(), there });
        }
        Ok(())
    }

    /// Words that can follow `NAME=`; for an unknown name, the names.
    fn words(&self, name: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut note = |word: String| {
            if !words.contains(&word) {
                words.push(word);
            }
        };
        let factors = || self.parts.iter().flat_map(|part| &part.factors);
        if name == "part" {
            self.parts.iter().for_each(|part| note(format!("part={}", part.name)));
        } else if factors().any(|factor| factor.name == name) {
            let levels = factors().filter(|factor| factor.name == name).flat_map(|factor| &factor.full);
            levels.for_each(|level| note(format!("{name}={}", plain(level))));
        } else {
            note("part=".into());
            factors().for_each(|factor| note(format!("{}=", factor.name)));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Depth, Experiment, named};

    #[test]
    fn a_part_or_a_level_can_be_run_alone_and_nothing_can_t() {
        let routers = || Experiment::parse("routers", &named("routers").unwrap()).unwrap();
        let points = |words: &[&str], depth| {
            let mut some = routers();
            words.iter().for_each(|word| some.only(word).unwrap());
            some.points(depth).len()
        };
        assert_eq!(points(&["part=noise"], Depth::Full), 2);
        assert_eq!(points(&["path=router", "payload_bytes=512"], Depth::Quick), 1);
        assert_eq!(points(&["part=routers", "payload_bytes=1472"], Depth::Quick), 5, "a level of the full run");
        let error = routers().only("path=rooter").unwrap_err();
        assert_eq!(error.to_string(), "no point has path=rooter");
        assert!(error.there.contains(&"path=router".to_owned()));
        assert!(routers().only("colour=red").unwrap_err().there.contains(&"path=".to_owned()));
    }
}
