//! Fixes for a machine that stands still: remove the cause, enlarge the buffer, or lower the rate. And one for a machine that is full.

use takt_base::shown::{significant, time};
use takt_base::words::sentence;
use takt_host::core_stop::Cause;

use super::judge::{Evidence, is_of};
use super::rate_words::msps;
use super::stops::wanted_ms;
use super::{Fix, FixKind, Ground, Mode, Need, NeedVerdict, RatePoint, Stops};

/// The most that UHD asks of a receive buffer for an N200: a higher limit gives such a program nothing.
const ASKED_BYTES: u64 = 50_000_000;

/// Remedies for the stops that decided.
pub(super) fn of_needs(needs: &[NeedVerdict], evidence: &Evidence<'_>) -> Vec<Fix> {
    if let Some(busy) = needs.iter().find(|need| need.decided_by == Ground::BusyHost) {
        return vec![of_busy_host(&busy.need)];
    }
    let Some(stops) = evidence.stops else { return Vec::new() };
    let deciding = needs.iter().filter(|need| need.decided_by == Ground::Stops).map(|need| &need.need);
    let held = deciding.filter_map(|need| Some((need, stops.at(need)?.holds_ms)));
    let Some((need, _)) = held.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
    let point = evidence.points.iter().find(|point| is_of(need, point));
    point.map(|point| of_stops(stops, need, point)).unwrap_or_default()
}

/// The changes that a need asks for which stops decided, the largest first. None was tried here.
fn of_stops(stops: &Stops, need: &Need, point: &RatePoint) -> Vec<Fix> {
    let longest_ms = stops.at(need).map_or(stops.longest_ms, |at| at.longest_ms);
    let longest = time(longest_ms * 1e-3);
    let (what, how) = cause_words(stops.worst().unwrap_or_default());
    let mut fixes = vec![Fix {
        id: None,
        what: format!("{what} for up to {longest}."),
        how: how.into(),
        kind: FixKind::Advice,
        gain: "Without stops, the stream loses nothing to them; takt has not tried it.".into(),
        gain_sps: need.rate_sps,
    }];
    fixes.extend(larger_buffer(stops, need, point));
    fixes.extend(lower_rate(stops, need));
    fixes
}

/// The change for a host that was too busy for rounds.
fn of_busy_host(need: &Need) -> Fix {
    Fix {
        id: None,
        what: "Others have the cores that a radio needs.".into(),
        how: "Find them (top), end them or keep them off the cores that stream (taskset), and check again.".into(),
        kind: FixKind::Advice,
        gain: "takt can then measure; it has not tried this.".into(),
        gain_sps: need.rate_sps,
    }
}

/// Names the cause of a stop, and its fix.
fn cause_words(by: Cause) -> (&'static str, &'static str) {
    match by {
        Cause::Machine => (
            "The hypervisor stopped this machine",
            "Pin each virtual CPU to its own core below the hypervisor and run nothing else there, or use a host \
             without a hypervisor. No setting inside this machine fixes it.",
        ),
        Cause::Interrupts => {
            ("Interrupts held a core", "Move interrupts to cores that do not stream (/proc/irq/N/smp_affinity_list).")
        }
        Cause::SoftInterrupts => (
            "Soft interrupts held a core",
            "Move the network card's receive queues to cores that do not stream (/proc/irq/N/smp_affinity_list).",
        ),
        Cause::Thread => (
            "Another thread held a core",
            "Give the streaming threads a higher real-time priority than other programs, or boot with preempt=full. A \
             kernel without preemption (preempt=none) also holds cores.",
        ),
        Cause::NotKnown => (
            "Something below this program stopped a core",
            "Run the check on another host, or without a hypervisor, and compare. The kernel does not name the cause: \
             a hypervisor, or a driver that disables interrupts.",
        ),
    }
}

/// A receive buffer that would hold the longest stop, where only that is too small.
fn larger_buffer(stops: &Stops, need: &Need, point: &RatePoint) -> Option<Fix> {
    let holds = |of: fn(&super::RateRound) -> Option<f64>| point.rounds.iter().filter_map(of).reduce(f64::min);
    let wanted_ms = wanted_ms(stops.at(need)?.longest_ms);
    let sends_in_time = holds(|round| round.tx_holds_ms).is_none_or(|holds_ms| holds_ms >= wanted_ms);
    let holds_ms = holds(|round| round.rx_holds_ms).filter(|holds_ms| *holds_ms < wanted_ms)?;
    let bytes = point.rounds.iter().filter_map(|round| round.receive_buffer_bytes).min()?;
    let wanted_bytes = (bytes as f64 * wanted_ms / holds_ms).ceil() as u64;
    (need.mode != Mode::Tx && sends_in_time && wanted_bytes <= ASKED_BYTES).then(|| Fix {
        id: None,
        what: format!("The receive buffer holds {} of the stream.", time(holds_ms * 1e-3)),
        how: format!("sysctl -w net.core.rmem_max={wanted_bytes}"),
        kind: FixKind::Consent,
        gain: format!(
            "It then holds {}, the longest stop plus a margin; takt has not tried it.",
            time(wanted_ms * 1e-3)
        ),
        gain_sps: need.rate_sps,
    })
}

/// The rate up to which the buffers hold the longest stop: what they hold in time grows as the rate falls.
fn lower_rate(stops: &Stops, need: &Need) -> Option<Fix> {
    let at = stops.at(need).filter(|at| at.longest_ms > 0.0)?;
    let rate_sps = need.rate_sps * at.holds_ms / wanted_ms(at.longest_ms);
    let what = format!("the buffers would hold the longest stop up to {} MS/s", msps(rate_sps));
    Some(Fix {
        id: None,
        what: sentence(&what),
        how: format!("Stream at {} MS/s or less.", significant(rate_sps / 1e6, 2)),
        kind: FixKind::Advice,
        gain: "By arithmetic; takt has not tried it.".into(),
        gain_sps: rate_sps,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{need, point, round};
    use super::super::{RateRound, StopsAt, StopsBy};
    use super::*;

    fn stops(longest_ms: f64, holds_ms: f64) -> Stops {
        let at = StopsAt {
            mode: Mode::Duplex,
            format: need().format,
            rate_sps: 25e6,
            holds_ms,
            longest_ms,
            longer: 1,
            lost_ms: longest_ms - holds_ms,
            margin: Some(holds_ms / longest_ms),
        };
        let by = vec![StopsBy { by: Cause::Machine, count: 1, longest_ms }];
        Stops { count: 1, longest_ms, by, at: vec![at], ..Stops::default() }
    }

    fn holding(rx_ms: f64, tx_ms: f64) -> RatePoint {
        let holds = RateRound {
            rx_holds_ms: Some(rx_ms),
            tx_holds_ms: Some(tx_ms),
            receive_buffer_bytes: Some(212_992),
            ..round()
        };
        point(Mode::Duplex, 25e6, vec![holds])
    }

    #[test]
    fn a_receive_buffer_that_alone_is_too_small_gets_its_size_as_a_command() {
        let fixes = of_stops(&stops(4.0, 2.0), &need(), &holding(2.0, 10.0));
        assert_eq!(fixes[1].how, "sysctl -w net.core.rmem_max=596378", "2.8 times the size, for 5.6 ms");
        assert!(fixes[0].what.starts_with("The hypervisor stopped this machine for up to 4 ms"));
        assert_eq!(fixes[2].how, "Stream at 8.9 MS/s or less.");
    }

    #[test]
    fn where_the_radios_own_buffer_is_too_small_no_setting_of_this_host_helps() {
        let fixes = of_stops(&stops(43.0, 10.0), &need(), &holding(42.0, 10.0));
        assert_eq!(fixes.len(), 2, "{fixes:?}");
        let fixes = of_stops(&stops(2000.0, 2.0), &need(), &holding(2.0, 10_000.0));
        assert_eq!(fixes.len(), 2, "more than programs ask for: {fixes:?}");
    }
}
