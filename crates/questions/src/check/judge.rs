//! The verdict: needs met or not, from figures alone. A rate is judged in `answer.rs`.

use takt_base::shown::time;

use super::answer::answer;
use super::fixes::fixes;
use super::limit::{limit, mode_words};
use super::rate_words::msps;
use super::rates::{highest, own_clean};
use super::{
    CheckAnswer, DoctorFinding, Ground, Limit, Mode, Need, NeedVerdict, RatePoint, RoundsSummary, Stops, Verdict,
    remedy,
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub points: &'a [RatePoint],
    /// Rounds of each rate that were to be run.
    pub planned: usize,
    /// Whether the run was ended before all of them were.
    pub interrupted: bool,
    /// Whether the emulator had to share the host side's only core.
    pub shared_core: bool,
    /// Why nothing was sent to the radio, if nothing was.
    pub receive_only: Option<&'a str>,
    pub doctor: &'a [DoctorFinding],
    /// When this machine stood still, where the radio stood still with it.
    pub stops: Option<&'a Stops>,
    /// Why this host was too busy for the check, if it was.
    pub busy: Option<&'a str>,
    /// Summary of the whole run's rounds.
    pub rounds: RoundsSummary,
}

/// The verdict without its sentences, which need the setup.
#[must_use]
pub fn judge(needs: &[Need], evidence: &Evidence<'_>) -> Verdict {
    let needs: Vec<NeedVerdict> = needs.iter().map(|need| judge_need(need, evidence)).collect();
    let (highest, limits) = (highest(evidence.points), limits(evidence.points));
    let mut all_fixes = remedy::of_needs(&needs, evidence);
    all_fixes.extend(fixes(&limits, &highest, evidence.doctor, &evidence.rounds));
    Verdict {
        answer: overall(&needs),
        fixes: all_fixes,
        highest,
        limits,
        needs,
        waveform: None,
        summary: Vec::new(),
        also: Vec::new(),
        caveats: Vec::new(),
    }
}

/// One need that fails decides; else one that is unknown does. Without a need nothing was asked, and nothing is known.
fn overall(needs: &[NeedVerdict]) -> CheckAnswer {
    let any = |answer| needs.iter().any(|need| need.answer == answer);
    match (any(CheckAnswer::Fails), any(CheckAnswer::Unknown) || needs.is_empty()) {
        (true, _) => CheckAnswer::Fails,
        (false, true) => CheckAnswer::Unknown,
        (false, false) => CheckAnswer::Holds,
    }
}

/// The rounds of the needed rate decide. If they show no loss, three things still can. They are rounds of a stream that
/// is part of the needed one, a stop of this machine that no buffer holds, and a host too busy for rounds.
fn judge_need(need: &Need, evidence: &Evidence<'_>) -> NeedVerdict {
    let by_rounds = by_rounds(need, evidence);
    if by_rounds.answer == CheckAnswer::Fails {
        return by_rounds;
    }
    let part = spoilt_part(need, evidence);
    let busy = evidence.busy.filter(|_| by_rounds.counted == 0);
    let (answer, decided_by, why) = if let Some(why) = busy {
        (CheckAnswer::Fails, Ground::BusyHost, why.to_owned())
    } else if let Some((CheckAnswer::Fails, why)) = part {
        (CheckAnswer::Fails, Ground::PartOfStream, why)
    } else if let Some(why) = stopped(need, evidence) {
        (CheckAnswer::Fails, Ground::Stops, why)
    } else if let Some((answer, why)) = part.filter(|_| by_rounds.answer == CheckAnswer::Holds) {
        (answer, Ground::PartOfStream, why)
    } else {
        return by_rounds;
    };
    NeedVerdict { answer, decided_by, why, ..by_rounds }
}

fn by_rounds(need: &Need, evidence: &Evidence<'_>) -> NeedVerdict {
    let need_verdict = |answer, why| NeedVerdict {
        need: need.clone(),
        answer,
        decided_by: Ground::Rounds,
        counted: 0,
        clean: 0,
        lost_share: None,
        why,
    };
    let Some(point) = evidence.points.iter().find(|point| is_of(need, point)) else {
        let why = match evidence.receive_only.filter(|_| need.mode != Mode::Rx) {
            Some(why) => format!("takt did not measure transmitting: {why}; to measure it, give --transmit"),
            None => "this rate was not measured".into(),
        };
        return need_verdict(CheckAnswer::Unknown, why);
    };
    let (answer, why) = answer(point, evidence);
    let lost = [point.rx_lost_share, point.tx_lost_share].into_iter().flatten();
    let lost_share = lost.max_by(|a, b| a.point().total_cmp(&b.point())).filter(|_| answer == CheckAnswer::Fails);
    NeedVerdict { counted: point.counted, clean: point.clean, lost_share, ..need_verdict(answer, why) }
}

pub(super) fn is_of(need: &Need, point: &RatePoint) -> bool {
    (point.mode, point.format) == (need.mode, need.format) && (point.rate_sps / need.rate_sps - 1.0).abs() < 1e-6
}

/// Whether a stream is part of a needed one: no direction and no sample more, in the same format.
fn is_part_of(point: &RatePoint, need: &Need) -> bool {
    let direction = need.mode == Mode::Duplex || point.mode == need.mode;
    direction && point.format == need.format && point.rate_sps <= need.rate_sps * (1.0 + 1e-6) && !is_of(need, point)
}

/// Judges the part of a needed stream that was not clean: the lowest that surely fails, else the lowest that is open. A host that
/// can't do the part can't do the whole: its clean rounds were luck.
fn spoilt_part(need: &Need, evidence: &Evidence<'_>) -> Option<(CheckAnswer, String)> {
    let spoilt = |point: &&RatePoint| is_part_of(point, need) && own_clean(point) < point.counted;
    let mut parts: Vec<&RatePoint> = evidence.points.iter().filter(spoilt).collect();
    parts.sort_by(|a, b| a.rate_sps.total_cmp(&b.rate_sps));
    let known = parts.into_iter().map(|point| {
        let (answer, why) = answer(point, evidence);
        let known = if answer == CheckAnswer::Fails { "fails" } else { "is not known" };
        (answer, format!("{} at {} MS/s {known}: {why}", mode_words(point.mode), msps(point.rate_sps)))
    });
    known.min_by_key(|(answer, _)| *answer != CheckAnswer::Fails)
}

/// Says why a radio that goes on would have lost samples while this machine stood still, if it would have.
fn stopped(need: &Need, evidence: &Evidence<'_>) -> Option<String> {
    let stops = evidence.stops?;
    let at = stops.at(need).filter(|at| !at.fits())?;
    let holds = time(at.holds_ms * 1e-3);
    Some(format!("this machine stood still for {}; the buffers hold {holds}", stops.how_long(at.longest_ms)))
}

/// For each mode and format the lowest rate that failed, and its layer.
fn limits(points: &[RatePoint]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = points.iter().filter_map(limit).collect();
    limits.sort_by(|a, b| (a.format, a.mode).cmp(&(b.format, b.mode)).then(a.rate_sps.total_cmp(&b.rate_sps)));
    limits.dedup_by_key(|limit| (limit.format, limit.mode));
    limits
}

#[cfg(test)]
mod tests {
    use takt_host::core_stop::Cause;

    use super::super::testing::{judge_planned as judge, lossy, need, point, round, unclean};
    use super::super::{Format, RateRound, RoundState, StopSeen, rates, stops_of};
    use super::*;

    #[test]
    fn what_was_not_sent_is_not_known_and_says_what_measures_it() {
        let points = &[point(Mode::Rx, 25e6, vec![round(); 4])];
        let silent = Evidence { points, planned: 4, receive_only: Some("it is not ours"), ..Evidence::default() };
        let duplex = super::judge(&[need()], &silent);
        assert_eq!(duplex.answer, CheckAnswer::Unknown);
        let why = "takt did not measure transmitting: it is not ours; to measure it, give --transmit";
        assert_eq!(duplex.needs[0].why, why);
        let receive = Need { mode: Mode::Rx, ..need() };
        assert_eq!(super::judge(&[receive], &silent).answer, CheckAnswer::Holds, "what was received is known");
    }

    #[test]
    fn a_need_that_was_not_measured_is_unknown_and_one_that_fails_outweighs_it() {
        let elsewhere = point(Mode::Rx, 25e6, vec![lossy()]);
        let transmit = Need { mode: Mode::Tx, ..need() };
        let known = judge(std::slice::from_ref(&transmit), std::slice::from_ref(&elsewhere));
        assert_eq!((known.answer, known.needs[0].why.as_str()), (CheckAnswer::Unknown, "this rate was not measured"));
        let verdict = judge(&[transmit, Need { mode: Mode::Rx, ..need() }], &[elsewhere]);
        assert_eq!(verdict.answer, CheckAnswer::Fails);
        assert!(verdict.needs[1].lost_share.is_none(), "one round has no interval");
    }

    #[test]
    fn nothing_asked_is_nothing_known() {
        assert_eq!(judge(&[], &[point(Mode::Duplex, 25e6, vec![round(); 4])]).answer, CheckAnswer::Unknown);
        assert_eq!(judge(&[], &[]).answer, CheckAnswer::Unknown);
    }

    /// One lucky stream does not outweigh a part of it that fails.
    #[test]
    fn a_stream_holds_only_if_its_parts_do() {
        let clean = || point(Mode::Duplex, 25e6, vec![round(); 4]);
        let judged = |part: RatePoint| {
            let verdict = judge(&[need()], &[clean(), part]);
            (verdict.answer, verdict.needs[0].decided_by, verdict.needs[0].why.clone())
        };
        let part = (CheckAnswer::Fails, Ground::PartOfStream);
        let (answer, ground, why) = judged(point(Mode::Tx, 12.5e6, vec![round(), lossy()]));
        assert_eq!((answer, ground), part);
        assert!(why.starts_with("transmit at 12.5 MS/s fails: 1 of 2 rounds not clean: "), "{why}");
        let (answer, ground, _) = judged(point(Mode::Duplex, 5e6, vec![lossy()]));
        assert_eq!((answer, ground), part);
        let holds = (CheckAnswer::Holds, Ground::Rounds);
        for other in
            [point(Mode::Duplex, 50e6, vec![lossy()]), point(Mode::Rx, 5e6, vec![unclean(RoundState::EmulatorLate)])]
        {
            let (answer, ground, why) = judged(other);
            assert_eq!((answer, ground), holds, "{why}");
        }
        let eight_bits = rates::point(Mode::Rx, Format::Sc8, 5e6, vec![lossy()], None);
        assert_eq!(judged(eight_bits).0, CheckAnswer::Holds, "another format is another stream");
        let hidden = RateRound { excluded_share: 0.7, ..lossy() };
        assert_eq!(judged(point(Mode::Rx, 5e6, vec![hidden])).0, CheckAnswer::Unknown, "most of the part is excluded");
        let receive = Need { mode: Mode::Rx, ..need() };
        let points = [point(Mode::Rx, 25e6, vec![round(); 4]), point(Mode::Tx, 5e6, vec![lossy()])];
        assert_eq!(judge(&[receive], &points).answer, CheckAnswer::Holds, "who only receives does not transmit");
    }

    #[test]
    fn a_machine_that_stands_still_for_longer_than_the_buffers_hold_is_no_host_for_a_radio() {
        let stop = |ms| StopSeen { ms, by: Cause::Machine, radio_too: true };
        let stopped = |ms| RateRound { stops: Some(vec![stop(ms)]), tx_holds_ms: Some(10.0), ..round() };
        let judged = |ms: f64| {
            let points = [point(Mode::Duplex, 25e6, vec![stopped(ms); 4])];
            let stops = stops_of(&points);
            let evidence = Evidence { points: &points, planned: 4, stops: stops.as_ref(), ..Evidence::default() };
            super::judge(&[need()], &evidence)
        };
        assert_eq!(judged(6.0).answer, CheckAnswer::Holds);
        let verdict = judged(43.0);
        assert_eq!((verdict.answer, verdict.needs[0].decided_by), (CheckAnswer::Fails, Ground::Stops));
        assert_eq!(
            verdict.needs[0].why,
            "this machine stood still for up to 43 ms, 4 times in 4 s; the buffers hold 10 ms"
        );
        assert!(verdict.fixes[0].what.contains("hypervisor"), "{:?}", verdict.fixes);
    }

    #[test]
    fn a_host_too_busy_for_any_round_does_not_keep_up() {
        let busy = |rounds| {
            let points = [point(Mode::Duplex, 25e6, rounds)];
            let evidence = Evidence { points: &points, planned: 4, busy: Some("it is full"), ..Evidence::default() };
            let verdict = super::judge(&[need()], &evidence);
            let advised = verdict.fixes.first().is_some_and(|fix| fix.how.contains("top"));
            (verdict.answer, verdict.needs[0].decided_by, verdict.needs[0].why.clone(), advised)
        };
        assert_eq!(busy(Vec::new()), (CheckAnswer::Fails, Ground::BusyHost, "it is full".into(), true));
        assert_eq!(busy(vec![round(); 4]).0, CheckAnswer::Holds, "rounds that count say more");
    }
}
