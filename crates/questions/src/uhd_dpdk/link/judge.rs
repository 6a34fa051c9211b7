//! Evidence on the paper's claims on the link, case by case. A case is judged where the radios kept up in real time,
//! and at least one of the two engines did; otherwise it is this machine that does not hold it.

use super::LinkCase;
use crate::check::CheckAnswer;
use crate::study::Figure;
use crate::study::claim::Judged;
use crate::sweep::{Compared, Measure, SweepOutcome, value};

/// Stands for UHD: one call a datagram.
const SOCKETS: &str = "socket";
/// Bypasses the kernel's sockets.
const BYPASS: &str = "xdp";
/// Threads that are not the base station's: those of the terminal, whose engine is always the same, and the one that waits.
const NOT_OF_STATION: [&str; 2] = ["ue", "takt"];

const EVERY: &str = "every bandwidth of the link";
/// Claim 7 has a part for each engine.
const WIDEST_PRB: u32 = 100;

/// The parts of a claim: cases of the run, in which either was to be measured.
pub(in crate::uhd_dpdk) fn points(outcome: &SweepOutcome) -> Vec<String> {
    let is_of_both = |case: &&LinkCase| [SOCKETS, BYPASS].contains(&case.engine.as_str());
    let mut places: Vec<String> = Vec::new();
    for place in outcome.link.iter().filter(is_of_both).map(LinkCase::place) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if places.is_empty() { vec![EVERY.to_owned()] } else { places }
}

pub(in crate::uhd_dpdk) fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    let judged = match number {
        5 => pair(outcome, part).map(|pair| pair.more(Measure::Seconds, |case| &case.real_time.jitter_s)),
        6 => pair(outcome, part).map(|pair| pair.more(Measure::Share, |case| &case.real_time.lost_share)),
        7 => widest(outcome).map(|pair| widest_connects(&pair, part, outcome)),
        8 => pair(outcome, part).map(|pair| nearly_all(pair.bypass, outcome.paper.number("near_all_share"))),
        9 => pair(outcome, part).map(|pair| threads(&pair, outcome.paper.number("shown_thread_share"))),
        10 => pair(outcome, part).map(|pair| pair.more(Measure::Count, |case| &case.real_time.losses)),
        _ => Err(Judged::not_here("nothing judges this claim", "")),
    };
    judged.unwrap_or_else(|not_here| not_here)
}

/// One case with both engines.
struct Pair<'a> {
    sockets: &'a LinkCase,
    bypass: &'a LinkCase,
}

fn pair<'a>(outcome: &'a SweepOutcome, place: &str) -> Result<Pair<'a>, Judged> {
    let of = |engine: &str| {
        let found = outcome.link.iter().find(|case| case.engine == engine && case.place() == place);
        let measured = found.filter(|case| case.rounds > 0);
        measured.ok_or_else(|| {
            Judged::without(engine, found.is_some_and(|case| case.skipped.is_none()))
                .skipped(found.and_then(|case| case.skipped.as_ref()))
        })
    };
    let pair = Pair { sockets: of(SOCKETS)?, bypass: of(BYPASS)? };
    let both = [pair.sockets, pair.bypass];
    if let Some(late) = both.iter().find(|case| case.real_time.rounds == 0) {
        let what = format!("{} of {} rounds with {}", late.radios_late, late.rounds, late.engine);
        return Err(Judged::not_here("the emulators did not keep up in real time", what));
    }
    if !both.iter().any(|case| case.keeps_up()) {
        return Err(Judged::not_here("this machine did not hold the link in real time, with either engine", ""));
    }
    Ok(pair)
}

/// The widest carrier, on the loaded host where it was measured there, else on the quiet one.
fn widest(outcome: &SweepOutcome) -> Result<Pair<'_>, Judged> {
    let places: Vec<&LinkCase> = outcome.link.iter().filter(|case| case.prb == WIDEST_PRB).collect();
    let mut found = Err(Judged::not_here("not measured here: 100 PRB", ""));
    for host in ["loaded", "quiet"] {
        if let Some(case) = places.iter().find(|case| case.host == host) {
            found = pair(outcome, &case.place());
        }
        if found.is_ok() {
            return found;
        }
    }
    found
}

impl Pair<'_> {
    /// Whether sockets surely have more of it. A link that did not come up has no load to compare.
    fn more(&self, measure: Measure, of: fn(&LinkCase) -> &Figure) -> Judged {
        let (sockets, bypass) = (of(self.sockets), of(self.bypass));
        let measured = format!("{SOCKETS} {}, {BYPASS} {}", value(measure, sockets), value(measure, bypass));
        if sockets.value.is_none() || bypass.value.is_none() {
            return Judged::not_here("not carried by both, so that they do not compare", measured);
        }
        let what = format!("{SOCKETS} and {BYPASS} at {}", self.sockets.place());
        Judged::by(&[Compared::more(what, measure, sockets, bypass)], vec![measured])
    }
}

/// `30 of 30 attempts connected, 100 % [88, 100]`.
fn connects(case: &LinkCase) -> String {
    let figures = &case.real_time;
    let share = figures.connected_share.map_or_else(String::new, |share| {
        let [at, low, high] = [share.point(), share.low(), share.high()].map(|share| share * 100.0);
        format!(", {at:.0} % [{low:.0}, {high:.0}]")
    });
    format!("{}: {} of {} attempts connected{share}", case.engine, figures.connected, figures.attempts)
}

/// By the interval of the share that connects: surely above the limit, surely below it, or open.
fn above(case: &LinkCase, limit: f64) -> CheckAnswer {
    match case.real_time.connected_share {
        Some(share) if share.low() > limit => CheckAnswer::Holds,
        Some(share) if share.high() < limit => CheckAnswer::Fails,
        _ => CheckAnswer::Unknown,
    }
}

fn nearly_all(case: &LinkCase, least: f64) -> Judged {
    Judged::new(above(case, least), connects(case))
}

fn widest_connects(pair: &Pair<'_>, part: &str, outcome: &SweepOutcome) -> Judged {
    if part.ends_with(BYPASS) {
        return nearly_all(pair.bypass, outcome.paper.number("near_all_share"));
    }
    let answer = match above(pair.sockets, outcome.paper.number("seldom_share")) {
        CheckAnswer::Holds => CheckAnswer::Fails,
        CheckAnswer::Fails => CheckAnswer::Holds,
        CheckAnswer::Unknown => CheckAnswer::Unknown,
    };
    Judged::new(answer, connects(pair.sockets))
}

/// Each thread of the base station that both have, and that takes a share worth showing with sockets.
fn threads(pair: &Pair<'_>, least: f64) -> Judged {
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for thread in &pair.sockets.real_time.threads {
        let is_station = !NOT_OF_STATION.iter().any(|name| thread.name.starts_with(name));
        let shown = thread.core_share.value.is_some_and(|share| share > least);
        let Some(other) = pair.bypass.real_time.thread(&thread.name).filter(|_| is_station && shown) else { continue };
        let what = format!("{} at {}", thread.name, pair.sockets.place());
        comparisons.push(Compared::more(what, Measure::Share, &thread.core_share, other));
        let [with, without] = [&thread.core_share, other].map(|figure| value(Measure::Share, figure));
        measured.push(format!("{}: {SOCKETS} {with}, {BYPASS} {without}", thread.name));
    }
    if comparisons.is_empty() {
        return Judged::not_here("no thread of the base station was seen with both engines", "");
    }
    Judged::by(&comparisons, measured)
}
