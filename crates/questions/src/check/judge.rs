//! The verdict: needs met or not, from figures alone.

use takt_base::shown::{percent, time};
use takt_base::words::{list, plural};
use takt_load::Model;

use super::fixes::fixes;
use super::limit::{limit, lost_share, mode_words};
use super::rates::{highest, holds, open_speed, own_clean, set_aside_share};
use super::{
    CheckAnswer, DoctorFinding, Fix, Format, Ground, HighestClean, Limit, Mode, Need, NeedVerdict, RatePoint,
    RateRound, RoundState, RoundsSummary, Stops, Verdict, remedy,
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
    let mut all_fixes = remedies(&needs, evidence);
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

fn is_of(need: &Need, point: &RatePoint) -> bool {
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

/// Remedies for the stops that decided.
fn remedies(needs: &[NeedVerdict], evidence: &Evidence<'_>) -> Vec<Fix> {
    if let Some(busy) = needs.iter().find(|need| need.decided_by == Ground::BusyHost) {
        return vec![remedy::of_busy_host(&busy.need)];
    }
    let Some(stops) = evidence.stops else { return Vec::new() };
    let deciding = needs.iter().filter(|need| need.decided_by == Ground::Stops).map(|need| &need.need);
    let held = deciding.filter_map(|need| Some((need, stops.at(need)?.holds_ms)));
    let Some((need, _)) = held.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
    let point = evidence.points.iter().find(|point| is_of(need, point));
    point.map(|point| remedy::of_stops(stops, need, point)).unwrap_or_default()
}

/// The answer for one rate. Nothing is known if most of it is excluded, or the radio's clock was not locked.
///
/// A round that counts and that this host itself spoilt decides. Clean rounds decide if at least half
/// of those planned count, the run was not interrupted before the rest, and they are clean on both accounts: where only
/// what may be the radio's doing went wrong, the two accounts differ, and nothing is known.
fn answer(point: &RatePoint, evidence: &Evidence<'_>) -> (CheckAnswer, String) {
    let (counted, clean, planned) = (point.counted, point.clean, evidence.planned);
    let own_clean = own_clean(point);
    if let Some(why) = unknowable(point).filter(|_| counted > 0) {
        return (CheckAnswer::Unknown, why);
    }
    if counted > own_clean && evidence.shared_core && !needs_more_than_a_core(point) {
        let why = "the emulator has priority on the core that it shares with the host side; to tell, run the emulator on \
                   a second machine and give --addr";
        return (CheckAnswer::Unknown, format!("{} of {} not clean, but {why}", counted - own_clean, rounds(counted)));
    }
    if counted > own_clean {
        let evidence = limit(point).map_or(String::new(), |limit| format!(": {}", limit.evidence));
        return (CheckAnswer::Fails, format!("{} of {} not clean{evidence}", counted - own_clean, rounds(counted)));
    }
    if counted > clean && counted * 2 >= planned {
        let why = "samples were lost, but only while the emulator itself was late";
        return (CheckAnswer::Unknown, format!("{} of {} not clean: {why}", counted - clean, rounds(counted)));
    }
    if holds(point) && counted < planned && evidence.interrupted {
        let so_far = format!("clean in {} so far, of {planned} planned", all_rounds(counted));
        return (CheckAnswer::Unknown, format!("{so_far}; the run was interrupted"));
    }
    if holds(point) && counted * 2 >= planned {
        return (CheckAnswer::Holds, format!("clean in {}", all_rounds(counted)));
    }
    if let Some(skipped) = &point.skipped {
        return (CheckAnswer::Fails, format!("not run, because {skipped}"));
    }
    let with = |state| point.rounds.iter().filter(|round| round.state == state).count();
    let causes = [
        (with(RoundState::EmulatorLate), "the emulator itself was late in"),
        (with(RoundState::Disturbed), "other load disturbed"),
        (with(RoundState::Failed), "takt could not run the workload in"),
        (with(RoundState::HostBusy), "this host was too busy for"),
    ];
    let causes = causes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {}", rounds(*n)));
    let causes: Vec<String> = causes.collect();
    let causes = if causes.is_empty() { "no round was run".into() } else { causes.join(", ") };
    let count = if counted == 1 { "counts" } else { "count" };
    (CheckAnswer::Unknown, format!("{counted} of {} {count}, too few to tell: {causes}", rounds(planned)))
}

/// Share of what was streamed at a rate that a verdict may exclude: not more than it counts.
const SET_ASIDE_MAX: f64 = 0.5;

/// Why rounds say nothing of a host, however they ended.
fn unknowable(point: &RatePoint) -> Option<String> {
    let set_aside = set_aside_share(point);
    if set_aside > SET_ASIDE_MAX {
        let most = percent(SET_ASIDE_MAX);
        return Some(format!("{} of its streaming time is excluded, more than {most}", percent(set_aside)));
    }
    let counted = point.rounds.iter().filter(|round| round.state == RoundState::Valid);
    let unlocked = counted.filter(|round| round.reference_locked == Some(false)).count();
    let of = rounds(point.counted);
    if unlocked > 0 {
        let locked = "the radio's clock was not locked to its reference in";
        return Some(format!("{locked} {unlocked} of {of}, so its rate is not known"));
    }
    if let Some(why) = not_shown(point) {
        return Some(why);
    }
    open_speed(point).map(|speed| {
        format!(
            "{} of {of} clean, but at {speed} of real time, which does not show what holds in real time",
            point.clean
        )
    })
}

/// Why nothing that was seen to go wrong in a round is not yet a clean round, if that is all that can be said.
fn not_shown(point: &RatePoint) -> Option<String> {
    let counted = || point.rounds.iter().filter(|round| round.state == RoundState::Valid);
    let why = counted().find_map(|round| round.not_shown.as_deref())?;
    let blind = counted().filter(|round| round.not_shown.is_some()).count();
    let is_all = own_clean(point) == point.counted;
    is_all.then(|| format!("nothing was seen to go wrong in {blind} of {}, but {why}", rounds(point.counted)))
}

/// Whether the host side alone, without an emulator beside it, would fill a core: what a round used, brought to the whole of
/// the stream.
fn needs_more_than_a_core(point: &RatePoint) -> bool {
    let unclean = point.rounds.iter().filter(|round| round.state == RoundState::Valid && !round.own_clean);
    let need = |round: &RateRound| round.cpu_host / (1.0 - lost_share(round)).max(0.01);
    let needs: Vec<f64> = unclean.map(need).collect();
    !needs.is_empty() && needs.iter().all(|need| *need >= 1.0)
}

fn rounds(count: usize) -> String {
    plural(count, "round")
}

fn all_rounds(count: usize) -> String {
    match count {
        1 => "the one round that counts".into(),
        2 => "both rounds that count".into(),
        more => format!("all {more} rounds that count"),
    }
}

/// For each mode and format the lowest rate that failed, and its layer.
fn limits(points: &[RatePoint]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = points.iter().filter_map(limit).collect();
    limits.sort_by(|a, b| (a.format, a.mode).cmp(&(b.format, b.mode)).then(a.rate_sps.total_cmp(&b.rate_sps)));
    limits.dedup_by_key(|limit| (limit.format, limit.mode));
    limits
}

/// Mega-samples a second with at most two decimals.
pub(super) fn msps(rate_sps: f64) -> String {
    format!("{}", (rate_sps / 1e4).round() / 100.0)
}

/// How far each mode goes and how sure that is; modes that go equally far share a sentence.
pub(super) fn highest_words(verdict: &Verdict) -> Vec<String> {
    let model = verdict.needs.first().map_or(Model::default(), |judged| judged.need.model);
    let mut sentences: Vec<(Format, String, Vec<&HighestClean>)> = Vec::new();
    for one in &verdict.highest {
        let far = far_words(one, model);
        match sentences.iter_mut().find(|(format, other, _)| (*format, other) == (one.format, &far)) {
            Some((.., modes)) => modes.push(one),
            None => sentences.push((one.format, far, vec![one])),
        }
    }
    let words = |(format, far, modes): &(Format, String, Vec<&HighestClean>)| {
        let names: Vec<&str> = modes.iter().map(|one| mode_words(one.mode)).collect();
        let busy: Vec<String> = modes.iter().filter_map(|one| Some(percent(1.0 / one.headroom?.point()))).collect();
        let busy = match busy.as_slice() {
            [] => String::new(),
            shares => format!("; the busiest thread then takes {} of a core", list(shares)),
        };
        format!("{} {}: {far}{busy}", list(&names), format.name())
    };
    sentences.iter().map(words).collect()
}

fn far_words(one: &HighestClean, model: Model) -> String {
    let Some(rate) = one.rate_sps else {
        return match one.first_failing_sps {
            Some(failing) => format!("not clean at {} MS/s, the lowest rate measured", msps(failing)),
            None => "no rate could be judged".into(),
        };
    };
    let next = match (one.first_failing_sps, one.open_above) {
        (Some(failing), false) => format!(", not at {}", msps(failing)),
        (Some(failing), true) => format!(", not at {}; takt could judge no rate between them", msps(failing)),
        (None, true) => "; takt could not judge higher rates".into(),
        (None, false) if is_fastest(model, one.format, rate) => format!(", the highest rate of an {model}"),
        (None, false) => ", the highest rate measured".into(),
    };
    let (rounds, sure) = (all_rounds(one.counted), percent(one.unclean_share_upper));
    let sure = format!("with 95 % confidence, at most {sure} of rounds are not clean");
    format!("clean up to {} MS/s{next} (clean in {rounds}; {sure})", msps(rate))
}

fn is_fastest(model: Model, format: Format, rate_sps: f64) -> bool {
    model.fastest_sps(format).is_some_and(|fastest| rate_sps >= fastest * (1.0 - 1e-6))
}

/// The limit and its reason, a sentence each.
pub(super) fn limit_words(verdict: &Verdict) -> Vec<String> {
    let sentence = |limit: &Limit| {
        let what = format!("{} {} at {} MS/s", mode_words(limit.mode), limit.format.name(), msps(limit.rate_sps));
        format!("{what}: {}", limit.evidence)
    };
    verdict.limits.iter().map(sentence).collect()
}

/// The share of rounds that may be unclean in truth, for the needs that hold.
pub(super) fn confidence_words(verdict: &Verdict) -> Option<String> {
    let weakest =
        verdict.needs.iter().filter(|need| need.answer == CheckAnswer::Holds).map(|need| need.counted).min()?;
    let bound = takt_stats::clean_rounds(weakest, 0, super::rates::LEVEL)?;
    let enough = takt_stats::rounds_to_show(0.05, super::rates::LEVEL)?;
    Some(format!("{bound}; {enough} clean rounds bring that to {}", percent(0.05)))
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use takt_host::core_stop::Cause;

    use super::super::testing::{lossy, need, point, round, unclean};
    use super::super::{StopSeen, rates, stops_of};
    use super::*;

    /// Judges by these points alone, four rounds of each being planned.
    fn judge(needs: &[Need], points: &[RatePoint]) -> Verdict {
        super::judge(needs, &Evidence { points, planned: 4, ..Evidence::default() })
    }

    /// Something was lost, but only while the emulator was late.
    fn excluded() -> RateRound {
        RateRound { own_clean: true, excluded_faults: 1, excluded_share: 0.04, ..lossy() }
    }

    /// The whole table of answers: rounds of the needed rate, what is answered, and why.
    #[test]
    fn rounds_decide_the_answer() {
        use CheckAnswer::{Fails, Holds, Unknown};
        let late = || unclean(RoundState::EmulatorLate);
        let unlocked = || RateRound { reference_locked: Some(false), ..round() };
        let disturbed = || RateRound { state: RoundState::Disturbed, ..round() };
        let lost = "not clean: the receiving socket dropped 36 datagrams because its buffer was full";
        let few = "of 4 rounds count, too few to tell";
        let table: [(Vec<RateRound>, CheckAnswer, String); 14] = [
            (vec![round(), round(), round(), round()], Holds, "clean in all 4 rounds that count".into()),
            (vec![round(), lossy(), round()], Fails, format!("1 of 3 rounds {lost}")),
            (vec![round(), round(), late(), late()], Holds, "clean in both rounds that count".into()),
            (
                vec![round(), round(), excluded(), round()],
                Unknown,
                "1 of 4 rounds not clean: samples were lost, but only while the emulator itself was late".into(),
            ),
            (vec![excluded(), excluded(), excluded(), lossy()], Fails, format!("1 of 4 rounds {lost}")),
            (
                vec![round(), late()],
                Unknown,
                "1 of 4 rounds counts, too few to tell: the emulator itself was late in 1 round".into(),
            ),
            (
                vec![lossy(), late(), late(), late()],
                Unknown,
                "75 % of its streaming time is excluded, more than 50 %".into(),
            ),
            (vec![lossy(), late()], Fails, format!("1 of 1 round {lost}")),
            (
                vec![RateRound { excluded_share: 0.7, ..round() }; 4],
                Unknown,
                "70 % of its streaming time is excluded, more than 50 %".into(),
            ),
            (
                vec![round(), round(), unlocked(), lossy()],
                Unknown,
                "the radio's clock was not locked to its reference in 1 of 4 rounds, so its rate is not known".into(),
            ),
            (
                vec![late(), disturbed()],
                Unknown,
                format!("0 {few}: the emulator itself was late in 1 round, other load disturbed 1 round"),
            ),
            (vec![disturbed()], Unknown, format!("0 {few}: other load disturbed 1 round")),
            (
                vec![unclean(RoundState::Failed)],
                Unknown,
                format!("0 {few}: takt could not run the workload in 1 round"),
            ),
            (vec![], Unknown, format!("0 {few}: no round was run")),
        ];
        for (rounds, answer, why) in table {
            let verdict = judge(&[need()], &[point(Mode::Duplex, 25e6, rounds)]);
            assert_eq!((verdict.answer, &verdict.needs[0].why), (answer, &why));
        }
    }

    #[test]
    fn what_a_driver_does_not_show_is_neither_held_nor_failed() {
        let blind = || RateRound {
            clean: false,
            rx_lost_share: None,
            rx_lost_samples: None,
            not_shown: Some("its driver gives no time stamps".into()),
            ..round()
        };
        let judged = |rounds: Vec<RateRound>| {
            let points = [point(Mode::Duplex, 25e6, rounds)];
            let verdict = judge(&[need()], &points);
            (verdict.answer, verdict.needs[0].why.clone(), points[0].rx_lost_share)
        };
        let (answer, why, lost) = judged(vec![blind(), round(), blind(), round()]);
        assert_eq!((answer, lost), (CheckAnswer::Unknown, None), "a share that one round hides is not known");
        assert_eq!(why, "nothing was seen to go wrong in 2 of 4 rounds, but its driver gives no time stamps");
        let (answer, why, _) = judged(vec![blind(), lossy(), blind(), round()]);
        assert_eq!(answer, CheckAnswer::Fails, "one thing that was seen decides: {why}");
    }

    #[test]
    fn a_rate_at_another_speed_is_never_called_held() {
        let at = |speed, of: RateRound| RateRound { radio_speed: Some(speed), ..of };
        for speed in [0.1, 2.0] {
            let verdict = judge(&[need()], &[point(Mode::Duplex, 25e6, vec![at(speed, round()); 4])]);
            assert_eq!(verdict.answer, CheckAnswer::Unknown);
            let why = format!(
                "4 of 4 rounds clean, but at {speed} of real time, which does not show what holds in real time"
            );
            assert_eq!(verdict.needs[0].why, why);
            assert_eq!(verdict.highest[0].rate_sps, None);
        }
        let lost = |speed| judge(&[need()], &[point(Mode::Duplex, 25e6, vec![at(speed, lossy()); 4])]).answer;
        assert_eq!([lost(0.1), lost(2.0)], [CheckAnswer::Fails, CheckAnswer::Unknown]);
    }

    /// On a core that host side and emulator share, what went wrong may be the emulator's doing, unless the host side alone
    /// needs more than the core.
    #[test]
    fn a_shared_core_says_no_only_where_the_host_side_alone_would_fill_it() {
        let judged = |cpu_host: f64, rounds: Vec<RateRound>| {
            let rounds = rounds.into_iter().map(|round| RateRound { cpu_host, ..round }).collect();
            let points = &[point(Mode::Duplex, 25e6, rounds)];
            let evidence = Evidence { points, planned: 2, shared_core: true, ..Evidence::default() };
            super::judge(&[need()], &evidence).answer
        };
        assert_eq!(judged(0.5, vec![round(), round()]), CheckAnswer::Holds, "what is clean is clean");
        assert_eq!(judged(0.5, vec![round(), lossy()]), CheckAnswer::Unknown);
        assert_eq!(judged(0.9, vec![lossy(), lossy()]), CheckAnswer::Fails, "0.9 of a core for 80 % of the stream");
    }

    #[test]
    fn a_run_that_was_interrupted_never_says_yes_but_may_say_no() {
        let judged = |rounds| {
            let points = &[point(Mode::Duplex, 25e6, rounds)];
            super::judge(&[need()], &Evidence { points, planned: 4, interrupted: true, ..Evidence::default() })
        };
        let clean = judged(vec![round(), round(), round()]);
        assert_eq!(clean.answer, CheckAnswer::Unknown);
        let why = "clean in all 3 rounds that count so far, of 4 planned; the run was interrupted";
        assert_eq!(clean.needs[0].why, why);
        assert_eq!(judged(vec![round(), lossy()]).answer, CheckAnswer::Fails);
        let all = judged(vec![round(), round(), round(), round()]);
        assert_eq!(all.answer, CheckAnswer::Holds, "what was interrupted was something else");
    }

    #[test]
    fn a_rate_skipped_as_hopeless_fails_with_the_reason() {
        let skipped = RatePoint {
            skipped: Some("lower rate_sps lost 20.0 % at 5M and 60.0 % at 10M".into()),
            ..point(Mode::Duplex, 25e6, vec![])
        };
        let verdict = judge(&[need()], &[skipped]);
        assert_eq!(verdict.answer, CheckAnswer::Fails);
        assert!(verdict.needs[0].why.starts_with("not run, because lower rate_sps lost"));
    }

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

    #[test]
    fn each_mode_has_the_limit_of_its_lowest_failing_rate() {
        let points = [
            point(Mode::Duplex, 25e6, vec![lossy()]),
            point(Mode::Duplex, 20e6, vec![lossy()]),
            point(Mode::Duplex, 10e6, vec![round()]),
            point(Mode::Tx, 25e6, vec![round()]),
        ];
        let verdict = judge(&[need()], &points);
        let limits: Vec<(Mode, f64)> = verdict.limits.iter().map(|limit| (limit.mode, limit.rate_sps)).collect();
        assert_eq!(limits, [(Mode::Duplex, 20e6)]);
        assert_eq!(
            highest_words(&verdict),
            [
                "transmit sc16: clean up to 25 MS/s, the highest rate of an N200 (clean in the one round that counts; \
                 with 95 % confidence, at most 95 % of rounds are not clean)",
                "full duplex sc16: clean up to 10 MS/s, not at 20 (clean in the one round that counts; with 95 % \
                 confidence, at most 95 % of rounds are not clean)",
            ]
        );
        let said = "full duplex sc16 at 20 MS/s: the receiving socket dropped 36 datagrams because its buffer was full";
        assert_eq!(limit_words(&verdict), [said]);
    }

    #[test]
    fn modes_that_go_equally_far_share_a_sentence() {
        let busy = |share| vec![RateRound { busiest_thread: Some(("rx".into(), share)), ..round() }; 2];
        let points = [point(Mode::Rx, 25e6, busy(0.08)), point(Mode::Tx, 25e6, busy(0.21))];
        assert_eq!(
            highest_words(&judge(&[need()], &points)),
            ["receive and transmit sc16: clean up to 25 MS/s, the highest rate of an N200 (clean in both rounds that \
                 count; with 95 % confidence, at most 78 % of rounds are not clean); the busiest thread then takes 8 % and \
                 21 % of a core"]
        );
    }

    #[test]
    fn clean_rounds_never_prove_more_than_they_do() {
        let verdict = judge(&[need()], &[point(Mode::Duplex, 25e6, vec![round(), round(), round()])]);
        assert_eq!(
            confidence_words(&verdict).unwrap(),
            "three clean rounds leave up to 63 % of rounds unclean possible (95 %); 59 clean rounds bring that to 5 %"
        );
        let fails = judge(&[need()], &[point(Mode::Duplex, 25e6, vec![lossy()])]);
        assert_eq!(confidence_words(&fails), None);
    }

    #[test]
    fn needs_read_as_people_say_them() {
        assert_eq!(need().words(), "25 + 25 MS/s sc16");
        let rx = Need { mode: Mode::Rx, rate_sps: 1e8 / 3.0, format: Format::Sc8, ..need() };
        assert_eq!(rx.words(), "33.33 MS/s sc8 receive");
    }
}
