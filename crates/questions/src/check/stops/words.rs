//! Sentences about stops and their meaning.

use takt_base::shown::{duration, significant, time};
use takt_base::words::{list, plural};
use takt_host::call;
use takt_host::core_stop::Cause;
use takt_host::core_watch::ORDINARY_QUEUE;

use super::{Stops, StopsAt, StopsBy, wanted_ms};
use crate::check::Need;

/// A rate of an event that was not seen for a time `t` is below this over `t`, 95 % sure: -ln 0.05.
const NONE_SEEN: f64 = 2.996;

/// Says which stops were seen and what they mean for the needs, a sentence each.
pub(in crate::check) fn words(stops: &Stops, needs: &[Need]) -> Vec<String> {
    let mut words = vec![seen(stops)];
    words.extend(of_needs(stops, needs));
    let sure = how_sure(stops, needs);
    if !sure.is_empty() {
        words.push(format!("{sure}; {}", advice()));
    }
    words
}

/// Says what the stops mean for the needs, a sentence each.
pub(in crate::check) fn of_needs(stops: &Stops, needs: &[Need]) -> Vec<String> {
    needs.iter().filter_map(|need| stops.at(need).map(|at| need_part(stops, at, need))).collect()
}

/// Names the command that looks longer.
fn advice() -> String {
    format!("to look longer, run `{} --duration 10min`", call::takt("stops"))
}

fn seen(stops: &Stops) -> String {
    let where_seen = match stops.cores.as_slice() {
        [] => "on the emulator's core".to_owned(),
        [one] => format!("on core {one} and the emulator's core"),
        cores => {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            format!("on cores {} and the emulator's core", list(&cores))
        }
    };
    let streamed = duration(stops.streamed_s);
    if stops.count == 0 {
        return format!("takt saw no stop of 1 ms or more {where_seen} in {streamed} of streaming");
    }
    let by: Vec<String> = stops.by.iter().map(by_words).collect();
    let (times, longest) = (plural(stops.count, "time"), time(stops.longest_ms * 1e-3));
    let by = if by.is_empty() { String::new() } else { format!(": {}", list(&by)) };
    format!("this machine stood still {times} in {streamed} of streaming, for up to {longest}{by}")
}

fn by_words(by: &StopsBy) -> String {
    let times = match by.count {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    let longest = time(by.longest_ms * 1e-3);
    format!("{times} by {} (up to {longest})", who(by.by))
}

/// Names the cause of a stop: `stopped by` it.
#[must_use]
pub fn who(by: Cause) -> &'static str {
    match by {
        Cause::Machine => "the hypervisor",
        Cause::Interrupts => "interrupts",
        Cause::SoftInterrupts => "soft interrupts",
        Cause::Thread => "another thread",
        Cause::NotKnown => "an unknown cause",
    }
}

fn need_part(stops: &Stops, at: &StopsAt, need: &Need) -> String {
    let (what, holds, longest) = (need.words(), time(at.holds_ms * 1e-3), time(at.longest_ms * 1e-3));
    // Longer stops hit only the host side while this stream went on, and its rounds show what they cost.
    let the_longest = if at.longest_ms < stops.longest_ms {
        format!("the longest stop that stopped the radio too ({longest})")
    } else {
        "the longest stop".to_owned()
    };
    match (at.fits(), at.margin) {
        (true, Some(margin)) => {
            format!("the buffers hold {holds} of {what}, {} times {the_longest}", significant(margin, 2))
        }
        (true, None) => format!("the buffers hold {holds} of {what}"),
        (false, _) if at.longer == 0 => {
            let wanted = time(wanted_ms(at.longest_ms) * 1e-3);
            format!(
                "the buffers hold {holds} of {what}, less than {wanted}: the longest stop of {longest} plus a margin"
            )
        }
        (false, _) => {
            let (lost, longer) = (time(at.lost_ms * 1e-3), plural(at.longer, "stop"));
            format!(
                "a real radio does not stop: the buffers hold {holds} of {what}, so {longer} would lose {lost} of samples"
            )
        }
    }
}

/// How long was looked is part of the answer; empty where a stop was longer than the buffers hold.
pub(in crate::check) fn how_sure(stops: &Stops, needs: &[Need]) -> String {
    let least = needs.iter().filter_map(|need| stops.at(need)).min_by(|a, b| a.holds_ms.total_cmp(&b.holds_ms));
    let Some(holds_ms) = least.filter(|at| at.fits() && at.holds_ms > stops.longest_ms).map(|at| at.holds_ms) else {
        return String::new();
    };
    let (streamed, holds, every) =
        (duration(stops.streamed_s), time(holds_ms * 1e-3), duration(stops.streamed_s / NONE_SEEN));
    format!(
        "no stop in {streamed} exceeded the {holds} that the buffers hold. Longer ones could still occur up to every {every} \
         (95 % confidence)"
    )
}

/// Says what an ordinary user can't see, and which cores nobody looked at, a sentence each.
pub(in crate::check) fn blind(stops: &Stops) -> Vec<String> {
    let mut words = stops.unseen.clone();
    if !stops.real_time && !stops.cores.is_empty() {
        words.push(format!(
            "without real-time priority takt does not see threads that wait less than {} for a core; to see them, run it as root",
            time(ORDINARY_QUEUE.as_secs_f64())
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::{Looked, stops};
    use super::*;
    use crate::check::testing::{need, stopped, stopped_by};

    #[test]
    fn a_stop_that_no_buffer_outlasts_foretells_loss() {
        let stops = stops(&[stopped(&[1.5, 12.0]), stopped_by(Cause::NotKnown, &[11.0])], &[]).unwrap();
        assert_eq!((stops.count, stops.longest_ms, stops.streamed_s), (3, 12.0, 2.0));
        let at = &stops.at[0];
        assert_eq!((at.longer, at.holds_ms, at.lost_ms), (2, 10.0, 3.0), "the radio's buffer is the smaller");
        assert!(!at.fits() && stops.worst() == Some(Cause::Machine));
        assert_eq!(
            words(&stops, &[need()])[..2],
            [
                "this machine stood still 3 times in 2 s of streaming, for up to 12 ms: 2 times by the hypervisor (up to \
                 12 ms) and once by an unknown cause (up to 11 ms)",
                "a real radio does not stop: the buffers hold 10 ms of 25 + 25 MS/s sc16, so 2 stops would lose 3 ms of \
                 samples",
            ]
        );
    }

    #[test]
    fn room_to_spare_is_part_of_what_must_fit() {
        assert_eq!([0.0, 5.0, 7.5, 20.0].map(wanted_ms), [0.0, 7.0, 10.5, 23.0]);
        let at = |lengths: &[f64]| stops(&[stopped(lengths)], &[]).unwrap().at[0].clone();
        assert_eq!([&[7.1][..], &[7.2], &[]].map(|lengths| at(lengths).fits()), [true, false, true]);
        let tight = stops(&[stopped(&[9.0])], &[]).unwrap();
        assert_eq!(
            words(&tight, &[need()])[1],
            "the buffers hold 10 ms of 25 + 25 MS/s sc16, less than 12 ms: the longest stop of 9 ms plus a margin"
        );
    }

    #[test]
    fn how_long_was_looked_is_part_of_the_answer() {
        let others = Looked { seconds: 35.0, stops: Vec::new() };
        let none = stops(&[stopped(&[])], std::slice::from_ref(&others)).unwrap();
        assert_eq!((none.count, none.at[0].margin), (0, None));
        let said = words(&none, &[need()]);
        assert_eq!(said[0], "takt saw no stop of 1 ms or more on core 0 and the emulator's core in 36 s of streaming");
        assert!(
            said[2].starts_with(
                "no stop in 36 s exceeded the 10 ms that the buffers hold. Longer ones could still occur up to every 12 s \
                 (95 % confidence); to look longer, run"
            ),
            "{said:?}"
        );
        let fits = words(&stops(&[stopped(&[2.5])], &[others]).unwrap(), &[need()]);
        assert!(fits[1].ends_with("hold 10 ms of 25 + 25 MS/s sc16, 4 times the longest stop"), "{fits:?}");
    }

    #[test]
    fn an_ordinary_user_is_told_what_stays_unseen() {
        let mut seen = stops(&[stopped(&[])], &[]).unwrap();
        assert!(blind(&seen).is_empty());
        seen.real_time = false;
        assert!(blind(&seen)[0].contains("less than 5 ms for a core"));
    }
}
