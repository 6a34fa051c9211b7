//! The answer for one rate, from its rounds.

use takt_base::shown::percent;

use super::judge::Evidence;
use super::limit::{limit, lost_share};
use super::rate_words::{all_rounds, rounds};
use super::rates::{holds, open_speed, own_clean, set_aside_share};
use super::{CheckAnswer, RatePoint, RateRound, RoundState};

/// The answer for one rate. Nothing is known if most of it is excluded, or the radio's clock was not locked.
///
/// A round that counts and that this host itself spoilt decides. Clean rounds decide if at least half
/// of those planned count, the run was not interrupted before the rest, and they are clean on both accounts: where only
/// what may be the radio's doing went wrong, the two accounts differ, and nothing is known.
pub(super) fn answer(point: &RatePoint, evidence: &Evidence<'_>) -> (CheckAnswer, String) {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{excluded, judge_planned as judge, lossy, need, point, round, unclean};
    use super::super::{Mode, judge as judge_by};
    use super::*;

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
            judge_by(&[need()], &evidence).answer
        };
        assert_eq!(judged(0.5, vec![round(), round()]), CheckAnswer::Holds, "what is clean is clean");
        assert_eq!(judged(0.5, vec![round(), lossy()]), CheckAnswer::Unknown);
        assert_eq!(judged(0.9, vec![lossy(), lossy()]), CheckAnswer::Fails, "0.9 of a core for 80 % of the stream");
    }

    #[test]
    fn a_run_that_was_interrupted_never_says_yes_but_may_say_no() {
        let judged = |rounds| {
            let points = &[point(Mode::Duplex, 25e6, rounds)];
            judge_by(&[need()], &Evidence { points, planned: 4, interrupted: true, ..Evidence::default() })
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
}
