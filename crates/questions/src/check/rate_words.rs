//! Sentences about rates: how far each mode goes, its limit, how sure that is.

use takt_base::shown::percent;
use takt_base::words::{list, plural};
use takt_load::Model;

use super::limit::mode_words;
use super::{CheckAnswer, Format, HighestClean, Limit, Verdict};

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

pub(super) fn rounds(count: usize) -> String {
    plural(count, "round")
}

pub(super) fn all_rounds(count: usize) -> String {
    match count {
        1 => "the one round that counts".into(),
        2 => "both rounds that count".into(),
        more => format!("all {more} rounds that count"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{judge_planned as judge, lossy, need, point, round};
    use super::super::{Mode, Need, RateRound};
    use super::*;

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
