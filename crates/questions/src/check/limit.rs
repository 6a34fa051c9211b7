//! Which layer limits a mode: a table over what a round that was not clean counted.

use takt_base::shown::{percent, time, time_ns};

use super::{Format, Layer, Limit, Mode, RatePoint, RateRound, RoundState};

/// The layer at fault at a rate that failed: the one that most of its unclean rounds point at, with the evidence of the
/// worst of them. `None` if all counted rounds were clean.
#[must_use]
pub fn limit(point: &RatePoint) -> Option<Limit> {
    let unclean = point.rounds.iter().filter(|round| round.state == RoundState::Valid && !round.own_clean);
    let blamed: Vec<(Layer, String, f64)> = unclean
        .map(|round| {
            let (layer, evidence) = blame(round, point.format, point.rate_sps);
            (layer, evidence, lost_share(round))
        })
        .collect();
    let votes = |layer: Layer| blamed.iter().filter(|(other, ..)| *other == layer).count();
    let (layer, ..) = blamed.iter().max_by_key(|(layer, ..)| votes(*layer))?;
    let of_layer = blamed.iter().filter(|(other, ..)| other == layer);
    let (layer, evidence, _) = of_layer.max_by(|a, b| a.2.total_cmp(&b.2))?.clone();
    let evidence = match (votes(layer), blamed.len()) {
        (all, of) if all == of => evidence,
        (some, of) => format!("{evidence} ({some} of {of} unclean rounds show this)"),
    };
    Some(Limit { mode: point.mode, format: point.format, rate_sps: point.rate_sps, layer, evidence })
}

/// A thread this busy has nothing left; the last per cent go to what the scheduler and interrupts take.
const FULL_CORE: f64 = 0.95;
/// A machine this busy has nothing left anywhere.
const FULL_MACHINE: f64 = 0.97;
/// A reader that waits so much for a CPU is kept from reading by others.
const WAITS: f64 = 0.02;
/// A reader that waits this much is kept from its core, however busy the others are.
const WAITS_MOST: f64 = 0.5;
/// A buffer that holds less than this is short for a thread at normal priority: such threads wait that long for a core
/// now and then on any busy machine.
const SHORT_BUFFER_MS: f64 = 20.0;

/// Layer that one unclean round points at, and the sentence that says why. First a full core, since it explains
/// everything below it; then a reader that fell behind all the time or was kept from its core; then where datagrams
/// were lost; then what the radio reported.
#[must_use]
pub fn blame(round: &RateRound, format: Format, rate_sps: f64) -> (Layer, String) {
    if let Some((name, share)) = round.busiest_thread.as_ref().filter(|(_, share)| *share >= FULL_CORE) {
        return (Layer::Cpu, format!("thread {name} used {} of a core", percent(*share)));
    }
    if let Some(evidence) = falls_behind(round) {
        return (Layer::ReaderThread, evidence);
    }
    if let Some(evidence) = kept_from_its_core(round) {
        return (Layer::ReaderThread, evidence);
    }
    if let Some(share) = round.machine_busy_share.filter(|share| *share >= FULL_MACHINE) {
        return (Layer::Cpu, format!("all cores of the machine were {} busy", percent(share)));
    }
    if let Some(drops @ 1..) = round.lost_by_place.receive_buffer {
        return receive_buffer(round, drops, format, rate_sps);
    }
    if let Some(drops @ 1..) = round.lost_by_place.path {
        return (Layer::KernelPath, format!("{drops} datagrams were dropped between the two sockets"));
    }
    if let Some(drops @ 1..) = round.lost_by_place.sender {
        return (Layer::KernelPath, format!("the sending kernel dropped {drops} datagrams"));
    }
    let count = |letter: &str| round.events.get(letter).copied().flatten().unwrap_or(0);
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let busy = round.busiest_thread.as_ref().map_or(String::new(), |(name, share)| {
        format!("; thread {name} used {} of a core, so it ran too late, not too slowly", percent(*share))
    });
    if let (Some(None), overflows @ 1..) = (round.events.get("D"), count("O")) {
        let evidence = format!("the driver reported an overflow {}, and does not tell where", times(overflows));
        return (Layer::Unknown, evidence);
    }
    match (count("O"), count("U"), count("L"), count("S") + count("D")) {
        (overflows @ 1.., ..) => (Layer::Radio, format!("the radio's own buffer overflowed {}", times(overflows))),
        (_, dry @ 1.., ..) => (Layer::Sender, format!("the radio's transmit buffer ran empty {}{busy}", times(dry))),
        (_, _, late @ 1.., _) => (Layer::Sender, format!("{late} bursts arrived late{busy}")),
        (.., gaps @ 1..) => (Layer::Unknown, format!("{gaps} gaps in the sequence; no counter shows where")),
        _ => (Layer::Unknown, "samples were lost; no counter shows where".into()),
    }
}

/// The larger share of both directions, as far as it is known.
pub(super) fn lost_share(round: &RateRound) -> f64 {
    [round.rx_lost_share, round.tx_lost_share].into_iter().flatten().fold(0.0, f64::max)
}

/// The receiving thread is too slow by a share of the stream, and what becomes of that.
fn falls_behind(round: &RateRound) -> Option<String> {
    let backlog = round.backlog.as_ref()?;
    if backlog.stuck && !backlog.growing && round.rx_lost_samples == Some(0) {
        let behind = time_ns(backlog.at_end_ns);
        return Some(format!("the receiving thread was {behind} behind the radio when the round ended"));
    }
    let backlog = Some(backlog).filter(|backlog| backlog.growing)?;
    let waits = round.reader_waits_share.filter(|share| *share >= WAITS);
    let waits = waits.map_or(String::new(), |share| format!(", waiting {} of the time for a core", percent(share)));
    let loss = match (round.rx_lost_samples, backlog.time_to_loss_s) {
        (Some(0), Some(after_s)) => {
            format!("; the receive buffer is full after {}, and then samples are lost", time(after_s))
        }
        _ => String::new(),
    };
    // A buffer that is full lets the backlog grow no further: then the loss says it.
    let lacks = backlog.slope?.max(round.rx_lost_share.unwrap_or(0.0));
    Some(format!("the receiving thread falls behind by {} of the stream{waits}{loss}", percent(lacks)))
}

/// The receiving thread lost samples, and waited most of the time. A buffer that is full from the beginning to the end has no
/// backlog that grows, so this says what [`falls_behind`] can't.
fn kept_from_its_core(round: &RateRound) -> Option<String> {
    let waits = round.reader_waits_share.filter(|share| *share >= WAITS_MOST && round.rx_lost_samples > Some(0))?;
    let lost = percent(round.rx_lost_share?);
    Some(format!(
        "the receiving thread waited {} of the time for a core, and lost {lost} of the stream",
        percent(waits)
    ))
}

fn receive_buffer(round: &RateRound, drops: u64, format: Format, rate_sps: f64) -> (Layer, String) {
    let Some(buffer_bytes) = round.receive_buffer_bytes else {
        let evidence = format!("the receiving socket dropped {drops} datagrams because its buffer was full");
        return (Layer::ReceiveBuffer, evidence);
    };
    let holds_ms = buffer_bytes as f64 / (rate_sps * format.bytes() as f64) * 1e3;
    let holds = time(holds_ms * 1e-3);
    let buffer = format!("the receive buffer ({} KiB) holds {holds} of this stream", buffer_bytes / 1024);
    let pause = |ms: f64| time(ms * 1e-3);
    match round.reader_pause_max_ms {
        Some(pause_ms) if pause_ms > holds_ms && holds_ms < SHORT_BUFFER_MS => {
            (Layer::ReceiveBuffer, format!("{buffer}; the reader's longest pause was {}", pause(pause_ms)))
        }
        Some(pause_ms) if pause_ms > holds_ms => {
            (Layer::ReaderThread, format!("the receiving thread did not run for {}; {buffer}", pause(pause_ms)))
        }
        Some(pause_ms) => {
            let evidence = format!(
                "{buffer}, the reader's longest pause was {}: the receiving thread reads too slowly",
                pause(pause_ms)
            );
            (Layer::ReaderThread, evidence)
        }
        None => (Layer::ReceiveBuffer, format!("{buffer}; it was full {drops} times")),
    }
}

pub(super) fn mode_words(mode: Mode) -> &'static str {
    match mode {
        Mode::Rx => "receive",
        Mode::Tx => "transmit",
        Mode::Duplex => "full duplex",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::testing::{point, round, unclean};
    use super::super::{LostByPlace, Mode};
    use super::*;
    use takt_load::rate::Backlog;

    const NONE: LostByPlace =
        LostByPlace { sender: None, path: None, receive_buffer: None, application: None, radio: None, unplaced: 0 };

    /// Pairs a round's counts with the layer that must be blamed.
    #[test]
    fn each_kind_of_evidence_points_at_its_layer() {
        use Layer::{Cpu, KernelPath, Radio, ReaderThread, ReceiveBuffer, Sender, Unknown};
        let unclean = || RateRound { rx_lost_share: Some(0.01), ..unclean(RoundState::Valid) };
        let lost = |place: LostByPlace| RateRound { lost_by_place: place, ..unclean() };
        let buffer = LostByPlace { receive_buffer: Some(36), ..NONE };
        let drops = |receive_buffer_bytes, reader_pause_max_ms| RateRound {
            receive_buffer_bytes,
            reader_pause_max_ms,
            ..lost(buffer)
        };
        let thread = |name: &str, share, of| RateRound { busiest_thread: Some((name.to_owned(), share)), ..of };
        let event = |letter: &str, times: u64| RateRound {
            events: BTreeMap::from([(letter.to_owned(), Some(times))]),
            ..unclean()
        };
        let behind = |slope: f64| {
            let backlog =
                Backlog { slope: Some(slope), growing: true, time_to_loss_s: Some(4.0), ..Backlog::default() };
            RateRound { backlog: Some(backlog), ..unclean() }
        };
        let table = [
            (thread("rx", 0.97, lost(buffer)), Cpu, "thread rx used 97 % of a core"),
            (
                RateRound { machine_busy_share: Some(0.99), ..lost(buffer) },
                Cpu,
                "all cores of the machine were 99 % busy",
            ),
            (
                RateRound {
                    rx_lost_share: Some(0.0),
                    reader_waits_share: Some(0.12),
                    machine_busy_share: Some(1.0),
                    ..behind(0.1)
                },
                ReaderThread,
                "the receiving thread falls behind by 10 % of the stream, waiting 12 % of the time for a core; the receive \
                 buffer is full after 4 s, and then samples are lost",
            ),
            (
                RateRound { rx_lost_samples: Some(9), reader_waits_share: Some(0.001), ..behind(0.36) },
                ReaderThread,
                "the receiving thread falls behind by 36 % of the stream",
            ),
            (
                RateRound {
                    rx_lost_share: Some(0.26),
                    rx_lost_samples: Some(9),
                    reader_waits_share: Some(0.93),
                    machine_busy_share: Some(0.99),
                    ..lost(buffer)
                },
                ReaderThread,
                "the receiving thread waited 93 % of the time for a core, and lost 26 % of the stream",
            ),
            (
                drops(Some(208 << 10), Some(2.9)),
                ReceiveBuffer,
                "the receive buffer (208 KiB) holds 2.13 ms of this stream; the reader's longest pause was 2.9 ms",
            ),
            (
                drops(Some(4 << 20), Some(51.0)),
                ReaderThread,
                "the receiving thread did not run for 51 ms; the receive buffer (4096 KiB) holds 41.9 ms of this stream",
            ),
            (
                drops(Some(4 << 20), Some(3.0)),
                ReaderThread,
                "the receive buffer (4096 KiB) holds 41.9 ms of this stream, the reader's longest pause was 3 ms: \
                 the receiving thread reads too slowly",
            ),
            (drops(None, None), ReceiveBuffer, "the receiving socket dropped 36 datagrams because its buffer was full"),
            (
                lost(LostByPlace { path: Some(3), ..NONE }),
                KernelPath,
                "3 datagrams were dropped between the two sockets",
            ),
            (lost(LostByPlace { sender: Some(3), ..NONE }), KernelPath, "the sending kernel dropped 3 datagrams"),
            (event("O", 1), Radio, "the radio's own buffer overflowed once"),
            (
                thread("tx", 0.31, event("U", 4)),
                Sender,
                "the radio's transmit buffer ran empty 4 times; thread tx used 31 % of a core, so it ran too late, not too \
                 slowly",
            ),
            (event("L", 2), Sender, "2 bursts arrived late"),
            (event("D", 2), Unknown, "2 gaps in the sequence; no counter shows where"),
            (unclean(), Unknown, "samples were lost; no counter shows where"),
        ];
        for (round, layer, evidence) in table {
            assert_eq!(blame(&round, Format::Sc16, 25e6), (layer, evidence.to_owned()));
        }
    }

    #[test]
    fn the_layer_that_most_rounds_point_at_is_named_with_its_worst_round() {
        let lost = |rx_lost_share: f64, lost_by_place| RateRound {
            rx_lost_share: Some(rx_lost_share),
            lost_by_place,
            ..unclean(RoundState::Valid)
        };
        let buffer = |drops, share| lost(share, LostByPlace { receive_buffer: Some(drops), ..NONE });
        let path = lost(0.9, LostByPlace { path: Some(9), ..NONE });
        let late = RateRound { state: RoundState::EmulatorLate, ..path.clone() };
        let rounds = vec![round(), buffer(1, 0.1), path, buffer(7, 0.3), late.clone(), late.clone(), late];
        let limit = limit(&point(Mode::Rx, 25e6, rounds)).unwrap();
        assert_eq!(limit.layer, Layer::ReceiveBuffer);
        let evidence =
            "the receiving socket dropped 7 datagrams because its buffer was full (2 of 3 unclean rounds show this)";
        assert_eq!(limit.evidence, evidence);
    }

    #[test]
    fn where_every_counted_round_is_clean_nothing_limits() {
        let late = unclean(RoundState::EmulatorLate);
        assert_eq!(limit(&point(Mode::Rx, 25e6, vec![round(), late])), None);
    }
}
