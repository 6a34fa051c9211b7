//! Points and rounds for tests of the verdict.

use super::{Evidence, Format, LostByPlace, Mode, Need, RatePoint, RateRound, RoundState, StopSeen, Verdict, judge};
use crate::check::rates;
use takt_host::core_stop::Cause;
use takt_host::core_watch::Watched;
use takt_load::Model;

/// A clean round of a second.
pub(crate) fn round() -> RateRound {
    RateRound {
        round_id: 1,
        clean: true,
        own_clean: true,
        duration_s: 1.0,
        rx_lost_share: Some(0.0),
        tx_lost_share: Some(0.0),
        rx_samples: 1_000_000,
        rx_lost_samples: Some(0),
        tx_samples: 1_000_000,
        tx_lost_samples: Some(0),
        cpu_host: 0.3,
        emulator_lag_max_us: Some(80.0),
        reference_locked: Some(true),
        ..RateRound::default()
    }
}

/// A round of which a fifth was lost on receive, in the receive buffer.
pub(crate) fn lossy() -> RateRound {
    let lost_by_place = LostByPlace { receive_buffer: Some(36), ..LostByPlace::default() };
    RateRound { rx_lost_share: Some(0.2), lost_by_place, ..unclean(RoundState::Valid) }
}

/// A round in which something went wrong.
pub(crate) fn unclean(state: RoundState) -> RateRound {
    RateRound { state, clean: false, own_clean: false, ..round() }
}

/// The check's need.
pub(crate) fn need() -> Need {
    Need { model: Model::N200, mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 }
}

/// A point made of rounds, its figures computed as for a real one.
pub(crate) fn point(mode: Mode, rate_sps: f64, rounds: Vec<RateRound>) -> RatePoint {
    rates::point(mode, Format::Sc16, rate_sps, rounds, None)
}

/// Something was lost, but only while the emulator was late.
pub(crate) fn excluded() -> RateRound {
    RateRound { own_clean: true, excluded_faults: 1, excluded_share: 0.04, ..lossy() }
}

/// Judges by these points alone, four rounds of each being planned.
pub(crate) fn judge_planned(needs: &[Need], points: &[RatePoint]) -> Verdict {
    judge(needs, &Evidence { points, planned: 4, ..Evidence::default() })
}

/// A rate whose one round saw stops of one cause, the radio stopped as well.
pub(crate) fn stopped_by(by: Cause, lengths_ms: &[f64]) -> RatePoint {
    let stops = lengths_ms.iter().map(|&ms| StopSeen { ms, by, radio_too: true }).collect();
    let watched = Watched { cores: vec![0], real_time: true, ..Watched::default() };
    let round = RateRound {
        stops: Some(stops),
        watched: Some(watched),
        rx_holds_ms: Some(42.0),
        tx_holds_ms: Some(10.0),
        ..round()
    };
    point(Mode::Duplex, 25e6, vec![round])
}

/// The same, by the hypervisor.
pub(crate) fn stopped(lengths_ms: &[f64]) -> RatePoint {
    stopped_by(Cause::Machine, lengths_ms)
}
