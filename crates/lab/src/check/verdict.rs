//! The verdict: needs met or not, from figures alone.

use super::fixes::fixes;
use super::limit::{limit, mode_words, percent};
use super::rates::{highest, holds};
use super::{Answer, Format, Limit, Need, NeedVerdict, RatePoint, RoundState, Verdict};

/// Judges; `planned` rounds of each rate were to be run. Sentences are added by whoever knows the setup.
#[must_use]
pub fn judge(needs: &[Need], points: &[RatePoint], planned: usize) -> Verdict {
    let needs: Vec<NeedVerdict> = needs.iter().map(|need| judge_need(need, points, planned)).collect();
    let (highest, limits) = (highest(points), limits(points));
    Verdict {
        answer: overall(&needs),
        fixes: fixes(&limits, &highest),
        highest,
        limits,
        needs,
        says: Vec::new(),
        does_not_say: Vec::new(),
    }
}

/// One need that fails decides; else one that can't be told does.
fn overall(needs: &[NeedVerdict]) -> Answer {
    let any = |answer| needs.iter().any(|need| need.answer == answer);
    match (any(Answer::Fails), any(Answer::Unknown)) {
        (true, _) => Answer::Fails,
        (false, true) => Answer::Unknown,
        (false, false) => Answer::Holds,
    }
}

fn judge_need(need: &Need, points: &[RatePoint], planned: usize) -> NeedVerdict {
    let is = |point: &&RatePoint| {
        (point.mode, point.format) == (need.mode, need.format) && (point.rate_sps / need.rate_sps - 1.0).abs() < 1e-6
    };
    let Some(point) = points.iter().find(is) else {
        let why = "this rate was not measured".into();
        return NeedVerdict {
            need: need.clone(),
            answer: Answer::Unknown,
            counted: 0,
            clean: 0,
            lost_share: None,
            why,
        };
    };
    let (answer, why) = answer(point, planned);
    let lost = [point.rx_lost_share, point.tx_lost_share].into_iter().flatten();
    let lost_share = lost.max_by(|a, b| a.point().total_cmp(&b.point())).filter(|_| answer == Answer::Fails);
    NeedVerdict { need: need.clone(), answer, counted: point.counted, clean: point.clean, lost_share, why }
}

/// A single unclean round that counts decides. Clean ones do if at least half of those planned count.
fn answer(point: &RatePoint, planned: usize) -> (Answer, String) {
    let (counted, clean) = (point.counted, point.clean);
    if counted > clean {
        let evidence = limit(point).map_or(String::new(), |limit| format!(": {}", limit.evidence));
        return (Answer::Fails, format!("{} of {} not clean{evidence}", counted - clean, rounds(counted)));
    }
    if holds(point) && counted * 2 >= planned {
        return (Answer::Holds, format!("clean in {}", all_rounds(counted)));
    }
    if let Some(skipped) = &point.skipped {
        return (Answer::Fails, format!("not run, since {skipped}"));
    }
    let with = |state| point.rounds.iter().filter(|round| round.state == state).count();
    let causes = [
        (with(RoundState::EmulatorLate), "the emulator was late itself in"),
        (with(RoundState::Disturbed), "other load disturbed"),
        (with(RoundState::Failed), "the workload could not be run in"),
    ];
    let told: Vec<String> =
        causes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {}", rounds(*n))).collect();
    let told = if told.is_empty() { "no round was run".into() } else { told.join(", ") };
    (Answer::Unknown, format!("{counted} of {} count, too few to tell: {told}", rounds(planned)))
}

fn rounds(count: usize) -> String {
    if count == 1 { "1 round".into() } else { format!("{count} rounds") }
}

fn all_rounds(count: usize) -> String {
    if count == 1 { "the one round that counts".into() } else { format!("all of {count} rounds") }
}

/// For each mode and format the lowest rate that failed, and its layer.
fn limits(points: &[RatePoint]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = points.iter().filter_map(limit).collect();
    limits.sort_by(|a, b| (a.format, a.mode).cmp(&(b.format, b.mode)).then(a.rate_sps.total_cmp(&b.rate_sps)));
    limits.dedup_by_key(|limit| (limit.format, limit.mode));
    limits
}

/// `25 + 25 MS/s sc16` for duplex, `25 MS/s sc16 receive` for one way.
#[must_use]
pub fn need_words(need: &Need) -> String {
    let msps = msps(need.rate_sps);
    let format = format_words(need.format);
    match need.mode {
        super::Mode::Duplex => format!("{msps} + {msps} MS/s {format}"),
        mode => format!("{msps} MS/s {format} {}", mode_words(mode)),
    }
}

pub(super) fn format_words(format: Format) -> &'static str {
    match format {
        Format::Sc16 => "sc16",
        Format::Sc8 => "sc8",
    }
}

/// Mega-samples a second with at most two decimals.
pub(super) fn msps(rate_sps: f64) -> String {
    format!("{}", (rate_sps / 1e4).round() / 100.0)
}

/// How far each mode goes, a sentence each.
pub(super) fn highest_words(verdict: &Verdict) -> Vec<String> {
    let sentence = |one: &super::HighestClean| {
        let what = format!("{} {}", mode_words(one.mode), format_words(one.format));
        let Some(rate) = one.rate_sps else {
            return match one.first_failing_sps {
                Some(failing) => format!("{what}: not clean at {} MS/s, the lowest rate measured", msps(failing)),
                None => format!("{what}: no rate could be judged"),
            };
        };
        let mut text = format!("{what}: clean up to {} MS/s in {}", msps(rate), all_rounds(one.counted));
        text += &match (one.first_failing_sps, one.open_above) {
            (Some(failing), false) => format!(", not at {} MS/s", msps(failing)),
            (Some(failing), true) => format!(", not at {} MS/s; between them none could be judged", msps(failing)),
            (None, true) => "; what lies above could not be judged".into(),
            (None, false) => ", the highest rate measured".into(),
        };
        if let Some(headroom) = one.headroom {
            text += &format!("; a core is full at about {:.1} times that", headroom.point());
        }
        text
    };
    verdict.highest.iter().map(sentence).collect()
}

/// Where it ends and why, a sentence each.
pub(super) fn limit_words(verdict: &Verdict) -> Vec<String> {
    let sentence = |limit: &Limit| {
        let what =
            format!("{} {} at {} MS/s", mode_words(limit.mode), format_words(limit.format), msps(limit.rate_sps));
        format!("{what}: {}", limit.evidence)
    };
    verdict.limits.iter().map(sentence).collect()
}

/// The share of rounds that may be unclean in truth, for the needs that hold.
pub(super) fn confidence_words(verdict: &Verdict) -> Option<String> {
    let weakest = verdict.needs.iter().filter(|need| need.answer == Answer::Holds).map(|need| need.counted).min()?;
    let bound = takt_stats::clean_rounds(weakest, 0, super::rates::LEVEL)?;
    let enough = takt_stats::rounds_to_show(0.05, super::rates::LEVEL)?;
    Some(format!("{bound}; {enough} clean rounds bring that to {}", percent(0.05)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{point, round};
    use super::super::{LostByPlace, Mode, RateRound};
    use super::*;

    fn need() -> Need {
        Need { model: "n200".into(), mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 }
    }

    fn lossy() -> RateRound {
        let lost_by_place = LostByPlace { receive_buffer: Some(36), ..LostByPlace::default() };
        RateRound { clean: false, rx_lost_share: 0.2, lost_by_place, ..round() }
    }

    fn with_state(state: RoundState, clean: bool) -> RateRound {
        RateRound { state, clean, ..round() }
    }

    /// The whole table of answers: rounds of the needed rate, what is answered, and why.
    #[test]
    fn rounds_decide_the_answer() {
        let late = || with_state(RoundState::EmulatorLate, false);
        let disturbed = || with_state(RoundState::Disturbed, true);
        let table: [(Vec<RateRound>, Answer, &str); 9] = [
            (vec![round(), round(), round(), round()], Answer::Holds, "clean in all of 4 rounds"),
            (
                vec![round(), lossy(), round()],
                Answer::Fails,
                "1 of 3 rounds not clean: the receiving socket dropped 36 datagrams, its buffer being full",
            ),
            (vec![round(), round(), late(), late()], Answer::Holds, "clean in all of 2 rounds"),
            (
                vec![round(), late(), late(), late()],
                Answer::Unknown,
                "1 of 4 rounds count, too few to tell: the emulator was late itself in 3 rounds",
            ),
            (
                vec![lossy(), late(), late(), late()],
                Answer::Fails,
                "1 of 1 round not clean: the receiving socket dropped 36 datagrams, its buffer being full",
            ),
            (
                vec![late(), disturbed()],
                Answer::Unknown,
                "0 of 4 rounds count, too few to tell: the emulator was late itself in 1 round, other load disturbed \
                 1 round",
            ),
            (vec![disturbed()], Answer::Unknown, "0 of 4 rounds count, too few to tell: other load disturbed 1 round"),
            (
                vec![with_state(RoundState::Failed, false)],
                Answer::Unknown,
                "0 of 4 rounds count, too few to tell: the workload could not be run in 1 round",
            ),
            (vec![], Answer::Unknown, "0 of 4 rounds count, too few to tell: no round was run"),
        ];
        for (rounds, answer, why) in table {
            let verdict = judge(&[need()], &[point(Mode::Duplex, 25e6, rounds)], 4);
            assert_eq!((verdict.answer, verdict.needs[0].why.as_str()), (answer, why));
        }
    }

    #[test]
    fn a_rate_skipped_as_hopeless_fails_with_the_reason() {
        let skipped = RatePoint {
            skipped: Some("rate_sps below it lost 20.0 % at 5M and 60.0 % at 10M".into()),
            ..point(Mode::Duplex, 25e6, vec![])
        };
        let verdict = judge(&[need()], &[skipped], 4);
        assert_eq!(verdict.answer, Answer::Fails);
        assert!(verdict.needs[0].why.starts_with("not run, since rate_sps below it lost"));
    }

    #[test]
    fn a_need_that_was_not_measured_is_unknown_and_one_that_fails_outweighs_it() {
        let elsewhere = point(Mode::Rx, 25e6, vec![lossy()]);
        assert_eq!(judge(&[need()], std::slice::from_ref(&elsewhere), 1).answer, Answer::Unknown);
        let both = [need(), Need { mode: Mode::Rx, ..need() }];
        let verdict = judge(&both, &[elsewhere], 1);
        assert_eq!(verdict.answer, Answer::Fails);
        assert!(verdict.needs[1].lost_share.is_none(), "one round has no interval");
    }

    #[test]
    fn each_mode_has_the_limit_of_its_lowest_failing_rate() {
        let points = [
            point(Mode::Duplex, 25e6, vec![lossy()]),
            point(Mode::Duplex, 20e6, vec![lossy()]),
            point(Mode::Duplex, 10e6, vec![round()]),
            point(Mode::Tx, 25e6, vec![round()]),
        ];
        let verdict = judge(&[need()], &points, 1);
        let limits: Vec<(Mode, f64)> = verdict.limits.iter().map(|limit| (limit.mode, limit.rate_sps)).collect();
        assert_eq!(limits, [(Mode::Duplex, 20e6)]);
        assert_eq!(
            highest_words(&verdict),
            [
                "transmit sc16: clean up to 25 MS/s in the one round that counts, the highest rate measured",
                "full duplex sc16: clean up to 10 MS/s in the one round that counts, not at 20 MS/s",
            ]
        );
        let said = "full duplex sc16 at 20 MS/s: the receiving socket dropped 36 datagrams, its buffer being full";
        assert_eq!(limit_words(&verdict), [said]);
    }

    #[test]
    fn clean_rounds_never_prove_more_than_they_do() {
        let verdict = judge(&[need()], &[point(Mode::Duplex, 25e6, vec![round(), round(), round()])], 3);
        assert_eq!(
            confidence_words(&verdict).unwrap(),
            "three clean rounds leave up to 63 % of rounds unclean possible (95 %); 59 clean rounds bring that to 5 %"
        );
        let fails = judge(&[need()], &[point(Mode::Duplex, 25e6, vec![lossy()])], 1);
        assert_eq!(confidence_words(&fails), None);
    }

    #[test]
    fn needs_are_told_as_people_say_them() {
        assert_eq!(need_words(&need()), "25 + 25 MS/s sc16");
        let rx = Need { mode: Mode::Rx, rate_sps: 1e8 / 3.0, format: Format::Sc8, ..need() };
        assert_eq!(need_words(&rx), "33.33 MS/s sc8 receive");
    }
}
