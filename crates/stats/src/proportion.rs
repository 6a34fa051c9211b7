//! How often something fails, when failures are few.

use std::fmt;

use serde::Serialize;

use crate::dist::beta_quantile;
use crate::estimate::percent;
use crate::{Estimate, Method};

/// Share of rounds that failed, with the exact interval of C. J. Clopper and E. S. Pearson (Biometrika 26, 1934): it
/// holds the truth at least as often as `level` says, for every n and every truth.
///
/// The unit is the round: 3 unclean rounds of 10, not 17 late slots of 9000, which are not independent. `None` for no
/// rounds, more failures than rounds, or a level outside 0 to 1.
///
/// ```
/// let unclean = takt_stats::proportion(10, 3, 0.95).unwrap();
/// assert_eq!(format!("{unclean:.3}"), "0.300 [0.067, 0.652] (95 %, Clopper-Pearson, n = 10)");
/// ```
pub fn proportion(rounds: usize, failures: usize, level: f64) -> Option<Estimate> {
    let passes = rounds.checked_sub(failures).filter(|_| rounds > 0 && level > 0.0 && level < 1.0)?;
    let tail = (1.0 - level) / 2.0;
    let (f, p) = (failures as f64, passes as f64);
    let low = if failures == 0 { 0.0 } else { beta_quantile(tail, f, p + 1.0)? };
    let high = if passes == 0 { 1.0 } else { beta_quantile(1.0 - tail, f + 1.0, p)? };
    Estimate::new(f / rounds as f64, low, high, level, rounds, Method::ClopperPearson)
}

/// Possibilities that a number of rounds, few or none of them unclean, leaves. Never "probability zero".
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CleanRounds {
    /// Rounds that count.
    pub rounds: usize,
    /// Those in which something went wrong.
    pub unclean: usize,
    /// Largest share of unclean rounds, in the long run, that such an outcome still leaves possible; 0 to 1, above 0.
    pub up_to: f64,
    /// Confidence of that bound, 0 to 1.
    pub level: f64,
}

/// One-sided upper bound on the share of unclean rounds (Clopper-Pearson; for zero failures 1 - (1 - level)^(1/n)).
/// `None` for no rounds, more failures than rounds, or a level outside 0 to 1.
///
/// ```
/// let bound = takt_stats::clean_rounds(60, 0, 0.95).unwrap();
/// assert_eq!(bound.to_string(), "60 clean rounds leave up to 5 % of rounds unclean possible (95 %)");
/// ```
pub fn clean_rounds(rounds: usize, failures: usize, level: f64) -> Option<CleanRounds> {
    let passes = rounds.checked_sub(failures).filter(|_| rounds > 0 && level > 0.0 && level < 1.0)?;
    let up_to = match (failures, passes) {
        (_, 0) => 1.0,
        (0, n) => 1.0 - (1.0 - level).powf(1.0 / n as f64),
        (f, p) => beta_quantile(level, f as f64 + 1.0, p as f64)?,
    };
    Some(CleanRounds { rounds, unclean: failures, up_to, level })
}

/// Rounds it takes, all of them clean, to bring the bound of [`clean_rounds`] down to `up_to`. `None` unless both
/// arguments lie between 0 and 1.
///
/// ```
/// assert_eq!(takt_stats::rounds_to_show(0.05, 0.95), Some(59));
/// ```
pub fn rounds_to_show(up_to: f64, level: f64) -> Option<usize> {
    let inside = up_to > 0.0 && up_to < 1.0 && level > 0.0 && level < 1.0;
    inside.then(|| ((1.0 - level).ln() / (-up_to).ln_1p()).ceil() as usize)
}

/// `three clean rounds leave up to 63 % of rounds unclean possible (95 %)`.
impl fmt::Display for CleanRounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (share, level) = (up_to_percent(self.up_to), percent(self.level));
        let (n, rounds) = (word(self.rounds), if self.rounds == 1 { "round" } else { "rounds" });
        match (self.unclean, self.rounds) {
            (0, 1) => write!(f, "one clean round leaves"),
            (0, _) => write!(f, "{n} clean {rounds} leave"),
            (k, _) => write!(f, "{} unclean of {n} {rounds} {}", word(k), if k == 1 { "leaves" } else { "leave" }),
        }?;
        write!(f, " up to {share} % of rounds unclean possible ({level} %)")
    }
}

/// Rounded so that it stays readable and is never zero: 63, 5, 0.5, 0.03.
fn up_to_percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent >= 0.95 { 0.0 } else { -percent.log10().floor() };
    format!("{percent:.0$}", decimals.clamp(0.0, 12.0) as usize)
}

/// Small numbers as words.
fn word(n: usize) -> String {
    const WORDS: [&str; 11] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    WORDS.get(n).map_or_else(|| n.to_string(), |&w| w.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Clopper & Pearson as tabulated in Documenta Geigy, Scientific Tables, 7th ed., 95 %
    fn intervals_agree_with_the_published_table() {
        let table = [
            (10, 0, 0.0, 0.3085),
            (10, 1, 0.0025, 0.4450),
            (10, 3, 0.0667, 0.6525),
            (10, 5, 0.1871, 0.8129),
            (20, 1, 0.0013, 0.2487),
            (20, 10, 0.2720, 0.7280),
            (50, 0, 0.0, 0.0711),
            (100, 5, 0.0164, 0.1128),
        ];
        for (n, k, low, high) in table {
            let e = proportion(n, k, 0.95).expect("inside");
            assert!((e.low() - low).abs() < 6e-5 && (e.high() - high).abs() < 6e-5, "{k} of {n}: {e:?}");
            let mirrored = proportion(n, n - k, 0.95).expect("inside");
            assert!((mirrored.low() - (1.0 - e.high())).abs() < 1e-9, "{k} of {n}");
        }
    }

    #[test] // J. A. Hanley & A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983)
    fn zero_failures_leave_a_bound_the_rule_of_three_approximates() {
        for n in [30, 60, 100, 1000] {
            let bound = clean_rounds(n, 0, 0.95).expect("inside").up_to;
            assert!(bound > 0.0 && (bound * n as f64 - 3.0).abs() < 0.15, "{n}: {bound}");
            let by_beta = beta_quantile(0.95, 1.0, n as f64).expect("inside");
            assert!((bound - by_beta).abs() < 1e-9, "the closed form is the beta quantile");
        }
        assert_eq!(rounds_to_show(0.632, 0.95), Some(3));
    }

    #[test]
    fn the_sentence_reads_for_every_count() {
        let says = |n, k| clean_rounds(n, k, 0.95).expect("inside").to_string();
        assert_eq!(says(1, 0), "one clean round leaves up to 95 % of rounds unclean possible (95 %)");
        assert_eq!(says(10, 1), "one unclean of ten rounds leaves up to 39 % of rounds unclean possible (95 %)");
        assert_eq!(says(2, 2), "two unclean of two rounds leave up to 100 % of rounds unclean possible (95 %)");
        assert_eq!(says(1_000_000, 0), "1000000 clean rounds leave up to 0.0003 % of rounds unclean possible (95 %)");
        assert_eq!((clean_rounds(0, 0, 0.95), clean_rounds(2, 3, 0.95)), (None, None));
    }
}
