//! The comparisons that a claim rests on, and what would decide those that are open.

use std::cmp::Reverse;

use crate::check::CheckAnswer;
use takt_stats::{Estimate, rounds_to_tell};

use super::Measure;
use super::claims::{all_above, all_below, surely_more};
use super::words::value;
use crate::study::Figure;
use crate::study::claim::every;

/// One comparison: a figure with a limit, or with another figure.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    /// Subject and place: `the vm at 25 MS/s`.
    what: String,
    measure: Measure,
    figures: Vec<Figure>,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Above(f64),
    Below(f64),
    Within(f64, f64),
    /// The first is more than the second.
    More,
}

/// Rounds that would decide one that is open. In this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Needed {
    Rounds(usize),
    /// More rounds than a run can have.
    TooMany,
    /// As many rounds of one of its figures count, too few for an interval.
    Interval(usize),
}

impl Compared {
    pub(crate) fn above(what: String, measure: Measure, figure: &Figure, limit: f64) -> Compared {
        Compared { what, measure, figures: vec![figure.clone()], how: How::Above(limit) }
    }

    pub(crate) fn below(what: String, measure: Measure, figure: &Figure, limit: f64) -> Compared {
        Compared { what, measure, figures: vec![figure.clone()], how: How::Below(limit) }
    }

    pub(crate) fn within(what: String, measure: Measure, figure: &Figure, limits: (f64, f64)) -> Compared {
        Compared { what, measure, figures: vec![figure.clone()], how: How::Within(limits.0, limits.1) }
    }

    pub(crate) fn more(what: String, measure: Measure, more: &Figure, less: &Figure) -> Compared {
        Compared { what, measure, figures: vec![more.clone(), less.clone()], how: How::More }
    }

    /// By intervals.
    pub(crate) fn answer(&self) -> CheckAnswer {
        match (self.how, self.figures.as_slice()) {
            (How::Above(limit), figures) => all_above(figures, limit),
            (How::Below(limit), figures) => all_below(figures, limit),
            (How::Within(low, high), figures) => every([all_above(figures, low), all_below(figures, high)]),
            (How::More, [more, less]) => surely_more(more, less),
            (How::More, _) => CheckAnswer::Unknown,
        }
    }

    fn needed(&self) -> Needed {
        let intervals: Vec<Estimate> = self.figures.iter().filter_map(|figure| figure.estimate).collect();
        if intervals.len() < self.figures.len() {
            return Needed::Interval(self.figures.iter().map(Figure::counted).min().unwrap_or_default());
        }
        let distance = match (self.how, intervals.as_slice()) {
            (How::Above(limit) | How::Below(limit), [one, ..]) => (one.point() - limit).abs(),
            (How::Within(low, high), [one, ..]) => (one.point() - low).abs().min((one.point() - high).abs()),
            (How::More, [more, less]) => (more.point() - less.point()).abs(),
            _ => 0.0,
        };
        rounds_to_tell(&intervals, distance).map_or(Needed::TooMany, Needed::Rounds)
    }

    /// `open: router at 512 B, 0.98 [0.93, 1.04] against 0.95: some 12 rounds that spread like these would tell`.
    fn words(&self) -> String {
        let figures: Vec<String> = self.figures.iter().map(|figure| value(self.measure, figure)).collect();
        let limit = |limit: f64| value(self.measure, &Figure { value: Some(limit), ..Figure::default() });
        let against = match self.how {
            How::Above(least) => format!(" against {}", limit(least)),
            How::Below(most) => format!(" against {}", limit(most)),
            How::Within(low, high) => format!(" against {} to {}", limit(low), limit(high)),
            How::More => String::new(),
        };
        let needed = match self.needed() {
            Needed::Rounds(rounds) => format!("about {rounds} rounds that spread like these would tell"),
            Needed::TooMany => "the difference is too small for their spread".to_owned(),
            Needed::Interval(0) => "no round counts".to_owned(),
            Needed::Interval(_) => "only one round counts, so there is no interval".to_owned(),
        };
        format!("open: {}, {}{against}: {needed}", self.what, figures.join(" and "))
    }
}

/// Open comparisons that are named one by one.
const NAMED: usize = 3;

/// Which intervals are too wide, and how many rounds would decide: first what takes most.
pub(super) fn undecided(comparisons: &[Compared]) -> Vec<String> {
    let mut open: Vec<&Compared> =
        comparisons.iter().filter(|compared| compared.answer() == CheckAnswer::Unknown).collect();
    open.sort_by_key(|compared| Reverse(compared.needed()));
    let mut words: Vec<String> = open.iter().take(NAMED).map(|compared| compared.words()).collect();
    if let Some(more @ 1..) = open.len().checked_sub(NAMED) {
        words.push(format!("{more} more {} open", if more == 1 { "is" } else { "are" }));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::testing::figure;
    use super::*;

    fn near(rounds: &[f64]) -> Compared {
        Compared::above("router at 512 B".into(), Measure::Times, &figure(rounds), 0.95)
    }

    #[test]
    fn what_is_open_says_which_interval_is_too_wide_and_how_many_rounds_would_tell() {
        let open = near(&[0.93, 1.01, 0.99, 0.98, 1.00]);
        assert_eq!(open.answer(), CheckAnswer::Unknown);
        let words =
            "open: router at 512 B, 0.98 [0.94, 1.02] against 0.95: about 7 rounds that spread like these would tell";
        assert_eq!(undecided(&[open]), [words]);
        assert_eq!(undecided(&[near(&[0.99, 1.0, 1.01])]), Vec::<String>::new(), "that holds");
        let [one, none] = [near(&[0.9]), near(&[])].map(|open| undecided(&[open]).join(""));
        assert!(one.ends_with("only one round counts, so there is no interval"), "{one}");
        assert!(none.ends_with("unknown against 0.95: no round counts"), "{none}");
    }

    #[test]
    fn two_that_do_not_differ_say_so_and_many_are_counted() {
        let alike =
            || Compared::more("the vm and native".into(), Measure::Count, &figure(&[1.0, 3.0]), &figure(&[1.0, 3.0]));
        let words = undecided(&[alike(), alike(), near(&[0.9, 1.0]), near(&[0.9, 1.0]), near(&[0.9])]);
        assert_eq!(words.len(), 4, "{words:?}");
        assert!(words[0].contains("only one round") && words[1].contains("too small for their spread"), "{words:?}");
        assert_eq!(words[3], "2 more are open");
    }

    #[test]
    fn one_that_fails_decides_and_none_decides_nothing() {
        let fails = near(&[0.1, 0.11, 0.12]);
        let of = |compared: &[Compared]| every(compared.iter().map(Compared::answer));
        assert_eq!(of(&[near(&[0.9]), fails]), CheckAnswer::Fails);
        assert_eq!(of(&[near(&[0.99, 1.0, 1.01])]), CheckAnswer::Holds);
        assert_eq!(of(&[]), CheckAnswer::Unknown);
    }
}
