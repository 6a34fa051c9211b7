//! Facts of every study about its run, whatever it measured.

use crate::check::CheckAnswer;
use serde::{Deserialize, Serialize};
use takt_lab::About;
use takt_lab::experiment::{Experiment, Rules, named};
use takt_lab::store::RoundState;
use takt_lab::{RoundsSummary, StoredRun};

use super::record::{left_out, records};
use super::{Claim, RoundRecord, Tally};

/// The part of an outcome that all studies share. Its keys stand beside those of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRun {
    /// Version of the study's document.
    pub schema: u32,
    pub study: String,
    /// The run. Its keys stand beside the others.
    #[serde(flatten)]
    pub about: About,
    /// Rules fixed before the data were seen; `None` in runs of older files.
    #[serde(default)]
    pub rules: Option<Rules>,
    /// The number of the rules by which this program judges claims; those of the run may be older.
    #[serde(default)]
    pub judged_by_rules: Option<u32>,
    pub claims: Vec<Claim>,
    /// How the parts of all claims came out; nothing in documents of before they were judged by parts.
    #[serde(default)]
    pub parts: Tally,
    /// Over the parts of all claims that count: `fails` if one does, `holds` if one was seen and so was every other that can be
    /// judged here, of a run that is complete. The exit status is this.
    pub answer: CheckAnswer,
    pub rounds: RoundsSummary,
    /// Its statements, a sentence each.
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    /// Its limits, a sentence each.
    #[serde(rename = "does_not_say")]
    pub caveats: Vec<String>,
    /// Omissions of this depth, or this machine, a sentence each.
    pub left_out: Vec<String>,
    /// Every round: where all numbers lead back to.
    pub records: Vec<RoundRecord>,
}

impl StudyRun {
    /// Facts of a run about itself; claims and sentences are the study's to add.
    pub(crate) fn of(stored: &StoredRun, schema: u32) -> StudyRun {
        StudyRun {
            schema,
            study: study_of(stored).to_owned(),
            about: About::of(&stored.run, &stored.file, &stored.rounds),
            rules: stored.file.study.as_ref().and_then(|study| study.rules.clone()),
            judged_by_rules: rules_now(study_of(stored)).map(|rules| rules.number),
            claims: Vec::new(),
            parts: Tally::default(),
            answer: CheckAnswer::Unknown,
            rounds: stored.summary(),
            summary: Vec::new(),
            caveats: Vec::new(),
            left_out: left_out(stored),
            records: records(stored),
        }
    }

    /// Takes the claims and concludes from them. An interrupted run never holds.
    pub fn conclude(&mut self, claims: Vec<Claim>) {
        self.parts = Tally::of(&claims);
        self.answer = match self.parts.answer() {
            CheckAnswer::Holds if !self.about.complete => CheckAnswer::Unknown,
            answer => answer,
        };
        self.claims = claims;
    }

    /// True if rounds of this part of the file ran, at a level of this name if one is given. The machine did not lack what was tried
    /// and does not count.
    pub(crate) fn tried(&self, part: &str, level: Option<&str>) -> bool {
        let is = |word: &str, level| word.split_once('=').is_some_and(|(_, is)| is == level);
        let of = |label: &str| {
            let mut words = label.split_whitespace();
            words.next() == Some(part) && level.is_none_or(|level| words.any(|word| is(word, level)))
        };
        self.records.iter().any(|round| round.state != RoundState::Skipped && of(&round.point))
    }

    /// Limits of the figures that come from the run, and the rules they were measured by; without full stops.
    pub(crate) fn limits(&self) -> Vec<String> {
        let mut words: Vec<String> = self.rules.iter().map(Rules::in_words).collect();
        words.extend(self.judged_by_others());
        if self.about.host.virtualisation.as_deref().is_some_and(|kind| kind != "none") {
            words.push("this host is a virtual machine, so the hypervisor causes some of its stalls".to_owned());
        }
        if !self.about.complete {
            words.push("the run was interrupted, so rounds are missing; to run them, give --resume".to_owned());
        }
        words
    }

    /// That this program judges by other rules than those the rounds were measured under.
    fn judged_by_others(&self) -> Option<String> {
        let now = rules_now(&self.study)?;
        let measured = match &self.rules {
            Some(rules) if rules.number == now.number => return None,
            Some(rules) => format!("by rules {}", rules.number),
            None => "by a file without rules".to_owned(),
        };
        Some(format!(
            "the rounds were measured {measured}, but their claims are judged by rules {} of {}: {}",
            now.number, now.since, now.changed
        ))
    }
}

/// The rules of a study as they are in this program.
fn rules_now(study: &str) -> Option<Rules> {
    Experiment::parse(study, &named(study)?).ok()?.study?.rules
}

/// The name of the study that a run's file says it is; empty if it is none.
pub(crate) fn study_of(stored: &StoredRun) -> &str {
    stored.file.study.as_ref().map_or("", |study| &study.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::study::{ClaimPart, PartVerdict};
    use crate::sweep::testing::outcome;

    fn run(verdicts: &[PartVerdict], complete: bool) -> StudyRun {
        let paper = json!({ "cite": "", "setup": [], "numbers": {}, "figure": [], "claim": [] });
        let mut run = outcome(&serde_json::from_value(paper).expect("facts")).of;
        run.about.complete = complete;
        let part = |verdict: &PartVerdict| ClaimPart {
            part: String::new(),
            verdict: verdict.clone(),
            measured: String::new(),
        };
        let claim = |verdict| Claim::new(1, "", None, vec![part(verdict)]);
        run.conclude(verdicts.iter().map(claim).collect());
        run
    }

    fn not_judged(open: bool) -> PartVerdict {
        PartVerdict::NotJudged { why: String::new(), open }
    }

    #[test]
    fn a_study_holds_by_what_can_be_judged_here_and_an_interrupted_one_never_does() {
        let answer = |verdicts: &[PartVerdict], complete| run(verdicts, complete).answer;
        let (seen, fails) = (PartVerdict::Seen, PartVerdict::Fails);
        assert_eq!(
            answer(&[seen.clone(), not_judged(false)], true),
            CheckAnswer::Holds,
            "a claim that can't be judged here"
        );
        assert_eq!(answer(&[seen.clone(), not_judged(false)], false), CheckAnswer::Unknown);
        assert_eq!(answer(&[seen.clone(), not_judged(true)], true), CheckAnswer::Unknown, "one that is left open");
        assert_eq!(answer(&[not_judged(false)], true), CheckAnswer::Unknown, "nothing was judged");
        assert_eq!(answer(&[], true), CheckAnswer::Unknown);
        assert_eq!(
            answer(&[seen, fails, not_judged(true)], false),
            CheckAnswer::Fails,
            "more rounds change nothing of that"
        );
    }

    #[test]
    fn what_was_run_is_told_by_part_and_level() {
        let mut run = run(&[], true);
        let round = |point: &str, state: &str| json!({ "round_id": 1, "point": point, "state": state, "why": null, "figures": {} });
        let records =
            [round("link environment=vm payload_bytes=64", "disturbed"), round("radio environment=vm", "skipped")];
        run.records = records.into_iter().map(|record| serde_json::from_value(record).expect("a round")).collect();
        assert!(run.tried("link", Some("vm")) && run.tried("link", None));
        assert!(!run.tried("link", Some("container")) && !run.tried("radio", Some("vm")) && !run.tried("lin", None));
    }

    #[test]
    fn rules_of_before_are_named_beside_those_that_judge() {
        let mut run = run(&[], true);
        run.study = "routers".into();
        assert!(run.limits().iter().any(|words| words.starts_with("the rounds were measured by a file without rules")));
        run.rules = rules_now("routers");
        assert!(run.limits().iter().all(|words| !words.starts_with("the rounds were measured")));
    }
}
