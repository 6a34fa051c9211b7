//! The study `uhd-dpdk`, first part: what bypassing the kernel's sockets gives a stream of samples. Its second part is an LTE
//! link, and is not here.
//!
//! | part of `experiments/uhd-dpdk.toml` | tables of the paper |
//! | --- | --- |
//! | `quiet`, `loaded` | 2: jitter and drops by bandwidth; 3: processor time |
//! | `polling` | 3: the thread that never sleeps |
//! | `jumbo` | none: frames of 8000 bytes, up to the radio's master clock |
//! | `noise` | none: the same point measured twice |

mod claims;

use takt_lab::store::RoundRow;

use claims::{judge, points};

use super::part;
use super::sweep::{ChartPlan, Facts, Measure, Read, Study, cpu_cores, dropped_share, others_busy, rate, stream_busy};

pub(super) const STUDY: Study = Study {
    name: "uhd-dpdk",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    points,
    does_not_say: &[
        "the paper's jitter and drops are of iperf3 over an LTE link; here they are of the samples' own datagrams, with no LTE above them",
        "the paper bypasses the kernel with DPDK on a card of 10 Gb/s; here with AF_XDP on a virtual cable, whose frames are copied",
        "what runs here is takt; the paper's pair, UHD by sockets and UHD with DPDK, is measured by peers/uhd-dpdk/run, over a tap",
        "on a virtual cable the sender's processor does the receiver's protocol work; with xdp the radio also makes its checksums, \
         which a card would make",
        "the master clock of the software X310 is 184.32 MHz, frames are of 1472 bytes (jumbo: 8000), and each datagram is handed over \
         as it comes",
    ],
};

/// The facts that come with the program; a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/uhd-dpdk.toml")).expect("tested to be right")
}

const QUIET: ChartPlan = ChartPlan { part: "quiet", x: "rate_sps", by: "engine", ..ChartPlan::BLANK };
const LOADED: ChartPlan = ChartPlan { part: "loaded", ..QUIET };
const POLLING: ChartPlan = ChartPlan { part: "polling", ..QUIET };
const JUMBO: ChartPlan = ChartPlan { part: "jumbo", ..QUIET };

const fn of(plan: ChartPlan, id: &'static str, number: &'static str, measure: Measure, read: Read) -> ChartPlan {
    ChartPlan { id, number, measure, read, ..plan }
}

const CHARTS: [ChartPlan; 7] = [
    of(QUIET, "jitter", "Table 2", Measure::Seconds, jitter_s),
    of(QUIET, "dropped", "Table 2", Measure::Share, dropped_share),
    of(LOADED, "jitter-loaded", "Table 2", Measure::Seconds, jitter_s),
    of(LOADED, "dropped-loaded", "Table 2", Measure::Share, dropped_share),
    of(QUIET, "thread", "Table 3", Measure::Share, stream_busy),
    of(POLLING, "thread-polling", "Table 3", Measure::Share, stream_busy),
    of(QUIET, "cores", "Table 3", Measure::Cores, cpu_cores),
];

const EVIDENCE: [(&str, ChartPlan); 12] = [
    ("From the air to the program, 99.9 %", of(QUIET, "delay", "", Measure::Seconds, delay_s)),
    ("The same, loaded host", of(LOADED, "delay-loaded", "", Measure::Seconds, delay_s)),
    ("The same, where the receiving thread polls", of(POLLING, "delay-polling", "", Measure::Seconds, delay_s)),
    ("Samples dropped, where it polls", of(POLLING, "dropped-polling", "", Measure::Share, dropped_share)),
    (
        "Share of a processor that the receiving thread used, loaded host",
        of(LOADED, "thread-loaded", "", Measure::Share, stream_busy),
    ),
    (
        "Share of a processor that all other threads of the process used",
        of(QUIET, "other-threads", "", Measure::Share, others_busy),
    ),
    (
        "Frames of 8000 bytes: from the air to the program, 99.9 %",
        of(JUMBO, "delay-jumbo", "", Measure::Seconds, delay_s),
    ),
    ("Frames of 8000 bytes: jitter of delivery", of(JUMBO, "jitter-jumbo", "", Measure::Seconds, jitter_s)),
    ("Frames of 8000 bytes: samples dropped", of(JUMBO, "dropped-jumbo", "", Measure::Share, dropped_share)),
    (
        "Frames of 8000 bytes: share of a processor that the receiving thread used",
        of(JUMBO, "thread-jumbo", "", Measure::Share, stream_busy),
    ),
    (
        "Commands to stream that came too late, a second",
        of(QUIET, "late", "", Measure::Count, |round| rate(round, "/rx/late")),
    ),
    ("Calls that received, a second", of(QUIET, "calls", "", Measure::Count, |round| rate(round, "/rx/receive_calls"))),
];

fn jitter_s(round: &RoundRow) -> Option<f64> {
    Some(part::at(round, "/rx/delivery/jitter_us")? * 1e-6)
}

fn delay_s(round: &RoundRow) -> Option<f64> {
    Some(part::at(round, "/rx/delivery/delay/p99_9_us")? * 1e-6)
}

#[cfg(test)]
mod tests {
    use takt_lab::check::Answer;

    use super::*;
    use crate::sweep::Outcome;
    use crate::sweep::testing::assert_of_its_paper;

    #[test]
    fn every_chart_and_claim_is_a_table_of_the_paper() {
        assert_of_its_paper(
            &STUDY,
            &["unusable_share", "full_core_share", "recv_thread_share", "io_thread_share", "drop_100_prb_dpdk_share"],
        );
    }

    /// docs/explanation/leaving-the-sockets.md, measured by rules 3.
    #[test]
    fn the_kept_run_comes_out_part_by_part_as_it_did_claim_by_claim() {
        let text = include_str!("../../../../docs/explanation/data/uhd-dpdk-2026-11-27-2cores.json");
        let kept: Outcome = serde_json::from_str(text).expect("documents of before are read");
        let before: Vec<Answer> = kept.of.claims.iter().map(|claim| claim.answer).collect();
        assert_eq!(kept.of.parts, crate::Tally::default(), "its claims had none");
        let mut again = Outcome { paper: facts(), ..kept };
        let judged = again.paper.judged(|number| points(number, &again), |number, part| judge(number, part, &again));
        again.of.conclude(judged);
        assert_eq!(again.of.claims.iter().map(|claim| claim.answer).collect::<Vec<_>>(), before);
        let tallies: Vec<[usize; 4]> =
            again.of.claims.iter().map(crate::Claim::tally).map(|t| [t.counted, t.seen, t.fails, t.open]).collect();
        assert_eq!(tallies, [[9, 1, 0, 8], [9, 0, 0, 9], [2, 1, 1, 0], [1, 0, 0, 0]]);
        let jitter = again.of.claims[0].parts.iter().find(|part| part.verdict.answer() == Answer::Holds);
        assert_eq!(jitter.map(|part| part.part.as_str()), Some("30.72 MS/s on a loaded host"));
        assert_eq!((again.of.parts.counted, again.of.answer), (20, Answer::Fails));
        let rules =
            again.of.limits().into_iter().find(|words| words.starts_with("the rounds were measured by rules 3"));
        assert!(rules.is_some_and(|words| words.contains("their claims are judged by rules 7 of 2026-11-28")));
    }
}
