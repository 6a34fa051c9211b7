//! Judgement of a claim: intervals, never points.

use crate::check::CheckAnswer;

use super::compared::{Compared, undecided};
use crate::study::Figure;
use crate::study::claim::{Judged, every};

impl Judged {
    /// By comparisons, each of which must hold; there must be one. If they leave it open, the evidence ends with what
    /// would decide.
    pub(crate) fn by(comparisons: &[Compared], mut measured: Vec<String>) -> Judged {
        let answer = every(comparisons.iter().map(Compared::answer));
        if answer == CheckAnswer::Unknown {
            measured.extend(undecided(comparisons));
        }
        Judged::new(answer, measured.join("; "))
    }
}

/// Whether all lie above a limit: holds if all surely do, fails if one surely does not.
pub(crate) fn all_above<'a>(figures: impl IntoIterator<Item = &'a Figure>, limit: f64) -> CheckAnswer {
    all(figures, |low, _| low > limit, |_, high| high < limit)
}

pub(crate) fn all_below<'a>(figures: impl IntoIterator<Item = &'a Figure>, limit: f64) -> CheckAnswer {
    all(figures, |_, high| high < limit, |low, _| low > limit)
}

pub(crate) fn surely_more(more: &Figure, less: &Figure) -> CheckAnswer {
    match (more.estimate, less.estimate) {
        (Some(more), Some(less)) if more.low() > less.high() => CheckAnswer::Holds,
        (Some(more), Some(less)) if more.high() < less.low() => CheckAnswer::Fails,
        _ => CheckAnswer::Unknown,
    }
}

fn all<'a>(
    figures: impl IntoIterator<Item = &'a Figure>,
    surely: impl Fn(f64, f64) -> bool,
    surely_not: impl Fn(f64, f64) -> bool,
) -> CheckAnswer {
    let ends: Vec<Option<(f64, f64)>> =
        figures.into_iter().map(|figure| figure.estimate.map(|e| (e.low(), e.high()))).collect();
    if ends.is_empty() {
        CheckAnswer::Unknown
    } else if ends.iter().flatten().any(|(low, high)| surely_not(*low, *high)) {
        CheckAnswer::Fails
    } else if ends.iter().all(|ends| ends.is_some_and(|(low, high)| surely(low, high))) {
        CheckAnswer::Holds
    } else {
        CheckAnswer::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::figure;
    use super::*;

    #[test]
    fn intervals_decide_and_a_single_round_does_not() {
        let (high, low) = (figure(&[0.90, 0.91, 0.92]), figure(&[0.20, 0.21, 0.22]));
        let wide = figure(&[0.6, 0.9, 1.1]);
        assert_eq!(all_above([&high], 0.8), CheckAnswer::Holds);
        assert_eq!(all_above([&high, &wide], 0.8), CheckAnswer::Unknown);
        assert_eq!(all_above([&high, &wide, &low], 0.8), CheckAnswer::Fails);
        assert_eq!(all_below([&low], 0.4), CheckAnswer::Holds);
        assert_eq!(all_above([&figure(&[0.9])], 0.8), CheckAnswer::Unknown);
        assert_eq!(all_above([], 0.8), CheckAnswer::Unknown);
        assert_eq!(surely_more(&high, &low), CheckAnswer::Holds);
        assert_eq!(surely_more(&low, &high), CheckAnswer::Fails);
        assert_eq!(surely_more(&high, &wide), CheckAnswer::Unknown);
    }
}
