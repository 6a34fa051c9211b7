//! Stops of this machine, and what a radio would have lost by them that does not stop with it.
//!
//! The emulator is a process of this machine. What holds up its core (a hypervisor, the kernel's own work) makes it late, and a
//! radio that is late sends nothing meanwhile, so that nothing is lost. A real radio goes on: what a stop of that length makes
//! it send must fit into the receive buffer, and what it plays must lie in its own.

use serde::{Deserialize, Serialize};
use takt_base::shown::{duration, significant, time};
use takt_base::words::plural;

use super::{Format, Mode, Need, RatePoint, RateRound};

/// How often and how long the emulator was stopped while it streamed; stops shorter than its limit of 1 ms are not noticed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stops {
    /// Time in which they would have been noticed, seconds; rounds that do not count included.
    pub streamed_s: f64,
    pub count: usize,
    /// The longest, ms; 0 without one.
    pub longest_ms: f64,
    /// What they mean at each rate that was measured.
    pub at: Vec<StopsAt>,
}

/// What stops mean at a rate, if the reader's core stops as the emulator's does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsAt {
    pub mode: Mode,
    pub format: Format,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// What the smaller of the buffers in between holds of this stream, ms.
    pub holds_ms: f64,
    /// Stops that were longer: each would have cost a real radio samples.
    pub longer: usize,
    /// How much of the stream it would have lost by them, ms.
    #[serde(default)]
    pub lost_ms: f64,
    /// `holds_ms` over the longest stop; `None` without a stop.
    pub margin: Option<f64>,
}

/// The stops that all rounds of all rates saw; `None` with a radio that is not takt's.
pub(super) fn stops(points: &[RatePoint]) -> Option<Stops> {
    let rounds = || points.iter().flat_map(|point| &point.rounds);
    let lengths_ms: Vec<f64> = rounds().filter_map(|round| round.stops_ms.as_deref()).flatten().copied().collect();
    let watched = || rounds().filter(|round| round.stops_ms.is_some());
    watched().next()?;
    let longest_ms = lengths_ms.iter().copied().fold(0.0, f64::max);
    let at = |point: &RatePoint| {
        let holds_ms = point.rounds.iter().filter_map(holds_ms).reduce(f64::min)?;
        let over_ms: Vec<f64> = lengths_ms.iter().map(|length| length - holds_ms).filter(|over| *over > 0.0).collect();
        Some(StopsAt {
            mode: point.mode,
            format: point.format,
            rate_sps: point.rate_sps,
            holds_ms,
            longer: over_ms.len(),
            lost_ms: over_ms.iter().sum(),
            margin: (longest_ms > 0.0).then(|| holds_ms / longest_ms),
        })
    };
    Some(Stops {
        streamed_s: watched().map(|round| round.duration_s).sum(),
        count: lengths_ms.len(),
        longest_ms,
        at: points.iter().filter_map(at).collect(),
    })
}

/// The smaller of the buffers of a round's directions.
fn holds_ms(round: &RateRound) -> Option<f64> {
    [round.rx_holds_ms, round.tx_holds_ms].into_iter().flatten().reduce(f64::min)
}

/// What they mean for the needs, in one sentence.
pub(super) fn words(stops: &Stops, needs: &[Need]) -> String {
    let streamed = format!("{} of streaming", duration(stops.streamed_s));
    if stops.count == 0 {
        return format!("the emulator was held up for no more than a millisecond at a time in {streamed}");
    }
    let is = |at: &&StopsAt, need: &Need| (at.mode, at.format, at.rate_sps) == (need.mode, need.format, need.rate_sps);
    let part = |need: &Need| stops.at.iter().find(|at| is(at, need)).map(|at| need_part(at, need));
    let each: Vec<String> = needs.iter().filter_map(part).collect();
    let each = if each.is_empty() { String::new() } else { format!(": {}", each.join("; ")) };
    let (times, longest) = (plural(stops.count, "time"), time(stops.longest_ms * 1e-3));
    format!(
        "the emulator was held up {times} in {streamed}, for at most {longest}; a real radio goes on while this machine \
         stands still{each}"
    )
}

fn need_part(at: &StopsAt, need: &Need) -> String {
    let (what, holds) = (need.words(), time(at.holds_ms * 1e-3));
    match (at.longer, at.margin) {
        (0, Some(margin)) => {
            format!("the buffers hold {holds} of {what}, {} times the longest", significant(margin, 2))
        }
        (0, None) => format!("the buffers hold {holds} of {what}"),
        (longer, _) => {
            let lost = time(at.lost_ms * 1e-3);
            format!("the buffers hold {holds} of {what}, less than {longer} of them: {lost} of samples would be lost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{need, point, round};
    use super::*;

    fn stopped(lengths_ms: &[f64]) -> RatePoint {
        let round = RateRound {
            stops_ms: Some(lengths_ms.to_vec()),
            rx_holds_ms: Some(42.0),
            tx_holds_ms: Some(10.0),
            ..round()
        };
        point(Mode::Duplex, 25e6, vec![round])
    }

    #[test]
    fn a_stop_that_no_buffer_outlasts_foretells_loss() {
        let stops = stops(&[stopped(&[1.5, 12.0]), stopped(&[11.0])]).unwrap();
        assert_eq!((stops.count, stops.longest_ms, stops.streamed_s), (3, 12.0, 2.0));
        let at = &stops.at[0];
        assert_eq!((at.longer, at.holds_ms, at.lost_ms), (2, 10.0, 3.0), "the radio's buffer is the smaller");
        assert_eq!(
            words(&stops, &[need()]),
            "the emulator was held up 3 times in 2 s of streaming, for at most 12 ms; a real radio goes on while this \
             machine stands still: the buffers hold 10 ms of 25 + 25 MS/s sc16, less than 2 of them: 3 ms of samples would \
             be lost"
        );
    }

    #[test]
    fn the_margin_is_what_buffers_hold_over_the_longest_stop() {
        let stops = stops(&[stopped(&[2.5])]).unwrap();
        assert!(words(&stops, &[need()]).ends_with("hold 10 ms of 25 + 25 MS/s sc16, 4 times the longest"));
        let none = super::stops(&[stopped(&[])]).unwrap();
        assert_eq!((none.count, none.at[0].margin), (0, None));
        assert!(words(&none, &[need()]).starts_with("the emulator was held up for no more than a millisecond"));
    }

    #[test]
    fn a_radio_that_is_not_ours_reports_nothing_of_this_machine() {
        assert_eq!(stops(&[point(Mode::Rx, 1e6, vec![round()])]), None);
    }
}
