//! Findings of a search: the JSON document of `takt udp search`. `docs/reference/udp.md` explains each key.

use serde::{Deserialize, Serialize};
use takt_stats::{Estimate, Quantiles};

use super::super::client::Progress;
use super::super::place::Places;
use super::super::report::UdpReport;
use super::bisection::Verdict;
use super::found::Ask;
use super::options::SearchOptions;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    pub schema: u32,
    pub options: SearchOptions,
    pub sizes: Vec<SizeFound>,
    /// Whether all was searched; `false` after Ctrl-C.
    pub complete: bool,
}

impl SearchReport {
    /// Whether every search ended, and found a rate.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.complete && self.sizes.iter().all(|size| size.searches.iter().all(|search| search.value.is_some()))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeFound {
    pub payload_bytes: usize,
    /// Everything the sender can send, whatever is lost of it.
    pub flat_out: Trial,
    /// The highest rate that held, datagrams a second each way: the mean of the searches that found one. `None`: none did.
    pub datagrams_per_s: Option<f64>,
    pub throughput_bps: Option<f64>,
    pub estimate: Option<Estimate>,
    pub set_by: Option<SetBy>,
    pub searches: Vec<SearchOutcome>,
    pub bursts: Option<Bursts>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOutcome {
    /// The highest value that held: datagrams a second, or datagrams of a burst. `None`: none did.
    pub value: Option<f64>,
    /// The lowest above it that did not. `None`: none failed.
    pub failed_at: Option<f64>,
    pub set_by: SetBy,
    /// Each trial, in order; the last clean one at `value` is the one that counts.
    pub trials: Vec<Trial>,
    pub complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// More was lost than the goal allows: the path, or the receiver.
    Path,
    Sender,
    Ceiling,
}

/// One trial. With both directions at once counts are of both, the rate is each way's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub intended: f64,
    pub duration_s: f64,
    pub verdict: Verdict,
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    /// The share of it, of the way that lost more.
    pub lost_share: f64,
    pub unsent: u64,
    pub sent_s: f64,
    /// Datagrams received a second, each way's mean.
    pub received_per_s: f64,
    pub latency_us: Quantiles,
    pub jitter_us: Option<f64>,
    pub by_place: Places,
    pub unplaced: u64,
}

/// A trial of which more than this share of what was due was not sent is the sender's limit: below, a stall at its end.
const UNSENT_SHARE: f64 = 0.001;

/// Datagrams of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialCounts {
    pub sent: u64,
    pub received: u64,
    /// Due, but not sent.
    pub unsent: u64,
}

impl Trial {
    /// From counts alone.
    #[must_use]
    pub fn counted(ask: Ask, counts: TrialCounts, loss_share: f64) -> Trial {
        let TrialCounts { sent, received, unsent } = counts;
        let lost = sent.saturating_sub(received);
        let share = if sent == 0 { 0.0 } else { lost as f64 / sent as f64 };
        let seconds = ask.duration.as_secs_f64();
        Trial {
            intended: ask.value,
            duration_s: seconds,
            verdict: verdict(share, counts, loss_share),
            sent,
            received,
            lost,
            lost_share: share,
            unsent,
            sent_s: seconds,
            received_per_s: received as f64 / seconds.max(f64::MIN_POSITIVE),
            latency_us: Quantiles::default(),
            jitter_us: None,
            by_place: Places::default(),
            unplaced: 0,
        }
    }

    pub(super) fn of(ask: Ask, report: &UdpReport, loss_share: f64) -> Trial {
        let ways = || std::iter::once(&report.way).chain(&report.from_server);
        let sum = |of: fn(&super::super::report::Way) -> u64| ways().map(of).sum::<u64>();
        let counts = TrialCounts {
            sent: sum(|w| w.sent.datagrams),
            received: sum(|w| w.received.datagrams),
            unsent: sum(|w| w.unsent),
        };
        let share = ways().map(|way| way.lost.share).fold(0.0, f64::max);
        let places = ways().map(|way| way.lost.by_place).fold(Places::default(), Places::and);
        Trial {
            verdict: verdict(share, counts, loss_share),
            lost: sum(|w| w.lost.total),
            lost_share: share,
            sent_s: ways().map(|way| way.sent.span_s).fold(0.0, f64::max),
            received_per_s: ways().map(|way| way.datagrams_per_s).sum::<f64>() / ways().count() as f64,
            latency_us: report.way.latency_us,
            jitter_us: report.way.jitter_us,
            by_place: places,
            unplaced: sum(|w| w.lost.unplaced),
            ..Trial::counted(ask, counts, loss_share)
        }
    }
}

fn verdict(lost_share: f64, counts: TrialCounts, goal: f64) -> Verdict {
    let TrialCounts { sent, unsent, .. } = counts;
    if sent == 0 || unsent as f64 > UNSENT_SHARE * (sent + unsent) as f64 {
        Verdict::Behind
    } else if lost_share > goal {
        Verdict::Lossy
    } else {
        Verdict::Clean
    }
}

/// The longest burst without loss (RFC 2544, 26.4; RFC 9004).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    pub searches: Vec<SearchOutcome>,
    /// The longest burst that passed, datagrams: the mean of the searches. `None`: not one datagram passed.
    pub datagrams: Option<f64>,
    pub estimate: Option<Estimate>,
    /// How fast bursts left, datagrams a second: what RFC 9004 calls the maximum theoretical frame rate.
    pub sent_per_s: Option<f64>,
    /// Time that a buffer of that many lasts at that rate, s (RFC 9004: implied buffer time).
    pub implied_buffer_s: Option<f64>,
    /// Less what was forwarded while the burst came in, s (RFC 9004: corrected buffer time). `None`: every burst passed, so
    /// that there is no end of a buffer to be seen, or no rate is known.
    pub corrected_buffer_s: Option<f64>,
}

impl Bursts {
    /// RFC 9004, section 6.4, from the searches and the throughput that was measured before.
    pub(super) fn of(searches: Vec<SearchOutcome>, throughput_per_s: Option<f64>) -> Bursts {
        let lengths: Vec<f64> = searches.iter().filter_map(|found| found.value).collect();
        let rates = |found: &SearchOutcome| {
            let longest =
                found.trials.iter().filter(|trial| trial.sent_s > 0.0).max_by(|a, b| a.intended.total_cmp(&b.intended));
            longest.map(|trial| trial.sent as f64 / trial.sent_s)
        };
        let sent_per_s = mean(&searches.iter().filter_map(rates).collect::<Vec<_>>());
        let (datagrams, limited) = (mean(&lengths), searches.iter().all(|found| found.set_by == SetBy::Path));
        let implied_buffer_s = datagrams.zip(sent_per_s).map(|(datagrams, per_s)| datagrams / per_s);
        let corrected_buffer_s = implied_buffer_s.zip(throughput_per_s).zip(sent_per_s).filter(|_| limited);
        Bursts {
            estimate: takt_stats::mean(&lengths, 0.95),
            corrected_buffer_s: corrected_buffer_s
                .map(|((implied, through), per_s)| implied * (1.0 - (through / per_s).min(1.0))),
            searches,
            datagrams,
            sent_per_s,
            implied_buffer_s,
        }
    }
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchProgress {
    pub payload_bytes: usize,
    /// Which of the searches, from 1; 0: the trial flat out.
    pub repeat: u32,
    pub repeats: u32,
    /// Whether the longest burst is searched; else the rate.
    pub burst: bool,
    /// The value on trial; infinite flat out.
    pub intended: f64,
    pub trials: u32,
    pub round: Progress,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn burst(length: u64, sent_s: f64, set_by: SetBy) -> SearchOutcome {
        let ask = Ask { value: length as f64, duration: Duration::from_secs(10) };
        let trial =
            Trial { sent_s, ..Trial::counted(ask, TrialCounts { sent: length, received: length, unsent: 0 }, 0.0) };
        SearchOutcome { value: Some(length as f64), failed_at: None, set_by, trials: vec![trial], complete: true }
    }

    #[test]
    fn a_buffer_is_corrected_by_what_left_it_meanwhile() {
        // 1000 and 1200 pass at 100 000 a second: 11 ms. At 60 000 a second 40 % of that stay.
        let searches = vec![burst(1000, 0.01, SetBy::Path), burst(1200, 0.012, SetBy::Path)];
        let bursts = Bursts::of(searches, Some(60_000.0));
        assert_eq!((bursts.datagrams, bursts.sent_per_s), (Some(1100.0), Some(100_000.0)));
        assert_eq!(bursts.implied_buffer_s, Some(0.011));
        assert!(bursts.corrected_buffer_s.is_some_and(|s| (s - 0.0044).abs() < 1e-12), "{bursts:?}");
        assert!(bursts.estimate.is_some());
    }

    #[test]
    fn where_no_burst_is_too_long_no_buffer_is_claimed() {
        let bursts = Bursts::of(vec![burst(1000, 0.01, SetBy::Ceiling)], Some(60_000.0));
        assert_eq!((bursts.corrected_buffer_s, bursts.datagrams), (None, Some(1000.0)));
        assert_eq!(Bursts::of(vec![], None).datagrams, None);
    }

    #[test]
    fn a_stall_at_the_end_is_no_limit_of_the_sender_and_no_loss() {
        let ask = Ask { value: 1000.0, duration: Duration::from_secs(1) };
        let of = |sent, received, unsent| Trial::counted(ask, TrialCounts { sent, received, unsent }, 0.001).verdict;
        assert_eq!(
            (of(1000, 1000, 0), of(999, 999, 1), of(990, 990, 10)),
            (Verdict::Clean, Verdict::Clean, Verdict::Behind)
        );
        assert_eq!(
            (of(1000, 999, 0), of(1000, 998, 0), of(0, 0, 1000)),
            (Verdict::Clean, Verdict::Lossy, Verdict::Behind)
        );
    }
}
