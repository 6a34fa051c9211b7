//! The study `uhd-dpdk`: what bypassing the kernel's sockets gives a stream of samples, and an LTE link that such streams carry.
//!
//! | part of `experiments/uhd-dpdk.toml` | tables of the paper |
//! | --- | --- |
//! | `quiet`, `loaded` | 2: jitter and drops by bandwidth; 3: processor time |
//! | `polling` | 3: the thread that never sleeps |
//! | `jumbo` | none: frames of 8000 bytes, up to the radio's master clock |
//! | `link`, `link-loaded` | 2 and 3, of the link itself ([`link`]) |
//! | `noise` | none: the same point measured twice |

mod judge;
pub mod link;

use takt_lab::store::RoundRow;

use crate::study::claim::Judged;
use crate::sweep::SweepOutcome;

use crate::study::part;
use crate::sweep::{ChartPlan, Facts, Measure, Read, Study, cpu_cores, dropped_share, others_busy, rate, stream_busy};

pub(super) const STUDY: Study = Study {
    name: "uhd-dpdk",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    points,
    link: link::cases,
    caveats: &[
        "claims 1 to 4 and their charts are of the samples' own datagrams, with no LTE above them; claims 5 to 10 are of takt's LTE link",
        "the link's load is takt's own: datagrams at a steady rate, counted as iperf3 counts them; the paper's passed a tunnel and the \
         kernel's sockets of both hosts as well",
        "both ends of the link run in one process; its threads are takt's, so only those of one name compare, and only between engines here",
        "the terminal's radio is a second software X310 with engine mmsg; the paper's was a B210 on USB",
        "the paper bypasses the kernel with DPDK on a card of 10 Gb/s; here with AF_XDP on a virtual cable, whose frames are copied",
        "takt runs here; peers/uhd-dpdk/run measures the paper's pair, UHD by sockets and UHD with DPDK, over a tap",
        "on a virtual cable, the sender's core does the receiver's protocol work; with xdp, the radio also computes checksums, \
         which a card would compute",
        "the master clock of the software X310 is 184.32 MHz, frames have 1472 bytes (jumbo: 8000), and takt hands over each \
         datagram when it arrives",
    ],
};

/// Claims 1 to 4 are of a stream of samples, the others of the link.
fn points(number: u32, outcome: &SweepOutcome) -> Vec<String> {
    if number < FIRST_OF_LINK { judge::points(number, outcome) } else { link::points(outcome) }
}

fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    if number < FIRST_OF_LINK { judge::judge(number, part, outcome) } else { link::judge(number, part, outcome) }
}

const FIRST_OF_LINK: u32 = 5;

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
        "Share of a core that the receiving thread used, loaded host",
        of(LOADED, "thread-loaded", "", Measure::Share, stream_busy),
    ),
    (
        "Share of a core that all other threads of the process used",
        of(QUIET, "other-threads", "", Measure::Share, others_busy),
    ),
    (
        "Frames of 8000 bytes: from the air to the program, 99.9 %",
        of(JUMBO, "delay-jumbo", "", Measure::Seconds, delay_s),
    ),
    ("Frames of 8000 bytes: jitter of delivery", of(JUMBO, "jitter-jumbo", "", Measure::Seconds, jitter_s)),
    ("Frames of 8000 bytes: samples dropped", of(JUMBO, "dropped-jumbo", "", Measure::Share, dropped_share)),
    (
        "Frames of 8000 bytes: share of a core that the receiving thread used",
        of(JUMBO, "thread-jumbo", "", Measure::Share, stream_busy),
    ),
    (
        "Commands to stream that came too late, per second",
        of(QUIET, "late", "", Measure::Count, |round| rate(round, "/rx/late")),
    ),
    ("Receive calls per second", of(QUIET, "calls", "", Measure::Count, |round| rate(round, "/rx/receive_calls"))),
];

fn jitter_s(round: &RoundRow) -> Option<f64> {
    Some(part::at(round, "/rx/delivery/jitter_us")? * 1e-6)
}

fn delay_s(round: &RoundRow) -> Option<f64> {
    Some(part::at(round, "/rx/delivery/delay/p99_9_us")? * 1e-6)
}

#[cfg(test)]
mod tests {
    use crate::check::CheckAnswer;

    use super::*;
    use crate::sweep::testing::assert_of_its_paper;

    #[test]
    fn every_chart_and_claim_is_a_table_of_the_paper() {
        assert_of_its_paper(
            &STUDY,
            &[
                "unusable_share",
                "full_core_share",
                "recv_thread_share",
                "io_thread_share",
                "drop_100_prb_dpdk_share",
                "near_all_share",
                "seldom_share",
                "shown_thread_share",
            ],
        );
    }

    /// docs/explanation/leaving-the-sockets.md, measured by rules 3.
    #[test]
    fn the_kept_run_comes_out_part_by_part_as_it_did_claim_by_claim() {
        let text = include_str!("../../../../measured/uhd-dpdk-2026-11-27-2cores.json");
        let kept: SweepOutcome = serde_json::from_str(text).expect("documents of before are read");
        let before: Vec<CheckAnswer> = kept.of.claims.iter().map(|claim| claim.answer).collect();
        assert_eq!(kept.of.parts, crate::study::Tally::default(), "its claims had none");
        let mut again = SweepOutcome { paper: facts(), ..kept };
        let judged = again.paper.judged(|number| points(number, &again), |number, part| judge(number, part, &again));
        again.of.conclude(judged);
        let of_stream =
            |claims: &[crate::study::Claim]| claims.iter().take(4).map(|claim| claim.answer).collect::<Vec<_>>();
        assert_eq!(of_stream(&again.of.claims), before);
        let link = again.of.claims.iter().skip(4);
        assert!(link.map(|claim| claim.answer).all(|answer| answer == CheckAnswer::Unknown), "it had no link");
        let tallies: Vec<[usize; 4]> = again
            .of
            .claims
            .iter()
            .take(4)
            .map(crate::study::Claim::tally)
            .map(|t| [t.counted, t.seen, t.fails, t.open])
            .collect();
        assert_eq!(tallies, [[9, 1, 0, 8], [9, 0, 0, 9], [2, 1, 1, 0], [1, 0, 0, 0]]);
        let jitter = again.of.claims[0].parts.iter().find(|part| part.verdict.answer() == CheckAnswer::Holds);
        assert_eq!(jitter.map(|part| part.part.as_str()), Some("30.72 MS/s on a loaded host"));
        assert_eq!((again.of.parts.counted, again.of.answer), (27, CheckAnswer::Fails));
        let rules =
            again.of.limits().into_iter().find(|words| words.starts_with("the rounds were measured by rules 3"));
        assert!(rules.is_some_and(|words| words.contains("their claims are judged by rules 8 of 2026-11-29")));
    }
}
