//! Two halves make a way: pure.

use takt_stats::Quantiles;

use super::clock::Relation;
use super::error::UdpError;
use super::options::UdpOptions;
use super::place::{Observed, place};
use super::plan::Plan;
use super::report::{
    CrossedAs, FlowReceived, Histograms, Interval, LatencyKind, Lost, ReceivedFigures, Reordered, SCHEMA, SentFigures,
    UdpReport, Way, WayName,
};
use super::side::{Cpu, EndEvidence, Evidence, Received, Sent, Side};

/// The document from both halves.
pub(super) fn report(
    options: &UdpOptions,
    plan: &Plan,
    (mine, theirs): (Side, Side),
    clock: Relation,
    complete: bool,
) -> Result<UdpReport, UdpError> {
    // UDP over IP, without options.
    let headers_bytes = if options.server.is_ipv4() { 28 } else { 48 };
    let round = Round { plan, clock, headers_bytes };
    let way = |name, from: &Side, to: &Side| -> Option<Way> {
        let (sent, received) = (from.sent.as_ref()?, to.received.as_ref()?);
        let halves = Halves { sent, sender: &from.evidence, received, receiver: &to.evidence };
        Some(join(name, halves, &round))
    };
    let forward = way(WayName::ToServer, &mine, &theirs);
    let back = way(WayName::FromServer, &theirs, &mine);
    let (way, from_server) = match (forward, back) {
        (Some(forward), back) => (forward, back),
        (None, Some(back)) => (back, None),
        (None, None) => return Err(UdpError::Half { server: options.server }),
    };
    let received = way.received.datagrams + from_server.as_ref().map_or(0, |way| way.received.datagrams);
    let per_datagram = |seconds: f64| (received > 0).then(|| seconds * 1e9 / received as f64);
    let cpu = Cpu {
        client: mine.cpu,
        server: theirs.cpu,
        client_ns_per_datagram: per_datagram(mine.cpu.process_s),
        server_ns_per_datagram: per_datagram(theirs.cpu.process_s),
    };
    Ok(UdpReport {
        schema: SCHEMA,
        options: options.clone(),
        way,
        from_server,
        cpu,
        clock,
        evidence: Evidence { client: mine.evidence, server: theirs.evidence },
        complete,
    })
}

struct Round<'a> {
    plan: &'a Plan,
    clock: Relation,
    /// Headers of a datagram's packet.
    headers_bytes: u64,
}

/// The counts of both ends of a way, and the evidence of each.
#[derive(Clone, Copy)]
struct Halves<'a> {
    sent: &'a Sent,
    sender: &'a EndEvidence,
    received: &'a Received,
    receiver: &'a EndEvidence,
}

fn join(direction: WayName, halves: Halves<'_>, round: &Round<'_>) -> Way {
    let Halves { sent, sender, received, receiver } = halves;
    let total = sent.datagrams.saturating_sub(received.datagrams);
    let crossed_as = crossed(halves, round);
    let (plan, clock) = (round.plan, &round.clock);
    let mut observed = observed(halves);
    // Fragments are more than datagrams: how many datagrams a missing one stands for is not known.
    observed.between = observed.between.filter(|_| crossed_as != CrossedAs::Fragments);
    let (by_place, unplaced) = place(total, &observed);
    let planned_s = plan.duration().as_secs_f64();
    // A buffer that is still full when the sender ends is emptied after it; a sender that ends early sends for less.
    let seconds = received.span_s.max(sent.span_s.min(planned_s)).max(f64::MIN_POSITIVE);
    Way {
        direction,
        sent: SentFigures {
            datagrams: sent.datagrams,
            payload_bytes: sent.payload_bytes,
            calls: sender.send_calls,
            span_s: sent.span_s,
        },
        received: ReceivedFigures {
            datagrams: received.datagrams,
            payload_bytes: received.payload_bytes,
            calls: receiver.receive_calls,
            span_s: received.span_s,
        },
        lost: Lost {
            total,
            share: if sent.datagrams == 0 { 0.0 } else { total as f64 / sent.datagrams as f64 },
            by_place,
            unplaced,
        },
        duplicates: received.duplicates,
        reordered: received.reordered,
        reordering: reordering(received),
        too_old: received.too_old,
        too_far: received.too_far,
        unsent: sent.unsent,
        datagrams_per_s: received.datagrams as f64 / seconds,
        throughput_bps: received.payload_bytes as f64 * 8.0 / seconds,
        jitter_us: received.jitter_us,
        latency_kind: if clock.shared { LatencyKind::OneWay } else { LatencyKind::OneWayEstimated },
        latency_us: Quantiles::of(&received.latency_ns),
        pacing_error_us: Quantiles::of(&sent.pacing_error_ns),
        crossed_as,
        flows: flows(sent, received),
        intervals: intervals(sent, received, plan),
        histograms: Histograms {
            latency_ns: received.latency_ns.clone(),
            pacing_error_ns: sent.pacing_error_ns.clone(),
        },
    }
}

/// Evidence of both ends' counters on losses of this way.
fn observed(halves: Halves<'_>) -> Observed {
    let Halves { sent, sender, received, receiver } = halves;
    let at_sender = lost_at_sender(sender);
    let inward = receiver.net.udp.unwrap_or_default();
    let device = receiver.net.device.as_ref().map_or(0, |d| d.counts.rx_dropped + d.counts.rx_errors);
    Observed {
        sender: at_sender,
        between: between(sent.datagrams.saturating_sub(at_sender), sender, receiver),
        receiver_device: device
            + receiver.softnet_dropped.unwrap_or(0)
            + inward.in_errors.saturating_sub(inward.rcvbuf_errors)
            + inward.ip_in_discards,
        receiver_buffer: receiver.receive_buffer_drops,
        application: received.foreign + received.too_old + received.too_far,
    }
}

fn lost_at_sender(sender: &EndEvidence) -> u64 {
    let udp = sender.net.udp.unwrap_or_default();
    let device = sender.net.device.as_ref().map_or(0, |d| d.counts.tx_dropped + d.counts.tx_errors);
    // Datagrams that a queue dropped and reported were offered again.
    let queue = sender.net.queue_drops.unwrap_or(0).saturating_sub(sender.congested);
    sender.undeliverable + udp.sndbuf_errors + udp.ip_out_discards + udp.ip_out_no_routes + device + queue
}

/// Frames of load that left one device and did not reach the other; control messages are known and taken off. `None`
/// where fewer frames left than the `expected`: aggregates leave as one.
fn between(expected: u64, sender: &EndEvidence, receiver: &EndEvidence) -> Option<u64> {
    let (out, into) = sender.net.device.as_ref().zip(receiver.net.device.as_ref())?;
    let left = out.counts.tx_frames.saturating_sub(sender.control_sent);
    let came = into.counts.rx_frames.saturating_sub(receiver.control_received);
    (left >= expected).then(|| left.saturating_sub(came))
}

fn crossed(halves: Halves<'_>, round: &Round<'_>) -> CrossedAs {
    let Halves { sender, received, receiver, .. } = halves;
    let packet_bytes = round.plan.largest_payload_bytes() as u64 + round.headers_bytes;
    let fits = |end: &EndEvidence| end.net.mtu_bytes.is_none_or(|mtu| packet_bytes <= u64::from(mtu));
    match &receiver.net.device {
        _ if !(fits(sender) && fits(receiver)) => CrossedAs::Fragments,
        None => CrossedAs::Unknown,
        Some(device) if device.counts.rx_frames >= received.datagrams + received.duplicates => CrossedAs::Datagrams,
        Some(_) => CrossedAs::Aggregates,
    }
}

fn reordering(received: &Received) -> Reordered {
    let (reordered, extents) = (received.reordered as f64, received.extents);
    Reordered {
        share: if received.datagrams == 0 { 0.0 } else { reordered / received.datagrams as f64 },
        extent_mean: (received.reordered > 0).then(|| extents.extent_sum as f64 / reordered),
        extent_max: extents.extent_max,
        late_max_us: extents.late_max_ns as f64 / 1e3,
        three_reordered: extents.three_reordered,
        beyond_memory: extents.beyond_memory,
    }
}

fn flows(sent: &Sent, received: &Received) -> Vec<FlowReceived> {
    let sent = sent.by_flow.iter().copied().chain(std::iter::repeat(0));
    received.flows.iter().zip(sent).map(|(flow, sent)| FlowReceived { sent, ..*flow }).collect()
}

/// Datagrams sent in intervals of the schedule beside those that arrived in intervals since the first arrival. An
/// interval in which nothing arrived any more is there if something was sent in it.
fn intervals(sent: &Sent, received: &Received, plan: &Plan) -> Vec<Interval> {
    let used = sent.by_interval.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    let length_s = plan.interval_ns as f64 / 1e9;
    let at = |n: usize| {
        let (start_s, end_s) = (n as f64 * length_s, (n + 1) as f64 * length_s);
        let arrived = received.intervals.get(n).copied().unwrap_or(Interval { start_s, end_s, ..Interval::default() });
        Interval { sent: sent.by_interval.get(n).copied().unwrap_or(0), ..arrived }
    };
    (0..used.max(received.intervals.len())).map(at).collect()
}

#[cfg(test)]
mod tests {
    use takt_host::proc::net::InterfaceCounts;

    use super::super::evidence::{DeviceCounts, NetCounts};
    use super::*;

    fn sent(datagrams: u64) -> Sent {
        Sent {
            datagrams,
            payload_bytes: datagrams * 100,
            unsent: 3,
            span_s: 2.0,
            by_flow: vec![datagrams],
            by_interval: vec![600, 400, 0],
            ..Sent::default()
        }
    }

    fn received(datagrams: u64) -> Received {
        Received {
            datagrams,
            payload_bytes: datagrams * 100,
            span_s: 1.9,
            flows: vec![FlowReceived::default()],
            intervals: vec![Interval { datagrams, end_s: 1.0, ..Interval::default() }],
            ..Received::default()
        }
    }

    fn evidence(counts: InterfaceCounts) -> EndEvidence {
        let device = DeviceCounts { counts, ..DeviceCounts::default() };
        EndEvidence { net: NetCounts { device: Some(device), ..NetCounts::default() }, ..EndEvidence::default() }
    }

    fn joined(sender: &EndEvidence, receiver: &EndEvidence) -> Way {
        let mut plan = Plan::of(&UdpOptions::to(([127, 0, 0, 1], 1).into()), 0, None);
        (plan.payload_bytes, plan.duration_ns) = (100, 2_000_000_000);
        let clock = Relation { shared: true, ..Relation::default() };
        let round = Round { plan: &plan, clock, headers_bytes: 28 };
        let halves = Halves { sent: &sent(1000), sender, received: &received(900), receiver };
        join(WayName::ToServer, halves, &round)
    }

    #[test]
    fn datagrams_longer_than_the_paths_frames_are_fragments_and_missing_frames_place_none() {
        let mut sender = evidence(InterfaceCounts { tx_frames: 7000, ..InterfaceCounts::default() });
        let mut receiver = evidence(InterfaceCounts { rx_frames: 6900, ..InterfaceCounts::default() });
        (sender.net.mtu_bytes, receiver.net.mtu_bytes) = (Some(127), Some(9000));
        let way = joined(&sender, &receiver);
        assert_eq!((way.crossed_as, way.lost.by_place.path, way.lost.unplaced), (CrossedAs::Fragments, 0, 100));
        sender.net.mtu_bytes = Some(128);
        assert_eq!(joined(&sender, &receiver).crossed_as, CrossedAs::Datagrams);
    }

    #[test]
    fn what_came_with_a_number_of_no_use_was_lost_in_the_application() {
        let received = Received { foreign: 1, too_old: 20, too_far: 300, ..received(600) };
        let nothing = EndEvidence::default();
        let halves = Halves { sent: &sent(1000), sender: &nothing, received: &received, receiver: &nothing };
        assert_eq!(observed(halves).application, 321);
    }

    #[test]
    fn what_was_sent_stands_beside_what_arrived() {
        let way = joined(&EndEvidence::default(), &EndEvidence::default());
        assert_eq!(way.flows[0].sent, 1000);
        let rows: Vec<_> = way.intervals.iter().map(|i| (i.start_s, i.sent, i.datagrams)).collect();
        assert_eq!(rows, [(0.0, 600, 900), (1.0, 400, 0)]);
        assert_eq!(way.reordering.share, 0.0);
    }

    #[test]
    fn frames_that_left_and_did_not_arrive_were_lost_on_the_path() {
        let mut sender = evidence(InterfaceCounts { tx_frames: 1004, ..InterfaceCounts::default() });
        let mut receiver = evidence(InterfaceCounts { rx_frames: 943, ..InterfaceCounts::default() });
        (sender.control_sent, receiver.control_received) = (4, 3);
        receiver.receive_buffer_drops = Some(40);
        let way = joined(&sender, &receiver);
        assert_eq!((way.lost.total, way.lost.share), (100, 0.1));
        assert_eq!((way.lost.by_place.path, way.lost.by_place.receiver_buffer, way.lost.unplaced), (60, 40, 0));
        assert_eq!((way.datagrams_per_s, way.throughput_bps, way.unsent), (450.0, 360_000.0, 3));
        assert_eq!(way.crossed_as, CrossedAs::Datagrams);
    }

    #[test]
    fn aggregates_say_nothing_about_the_path_and_are_called_so() {
        let sender = evidence(InterfaceCounts { tx_frames: 16, ..InterfaceCounts::default() });
        let receiver = evidence(InterfaceCounts { rx_frames: 15, ..InterfaceCounts::default() });
        let way = joined(&sender, &receiver);
        assert_eq!((way.lost.by_place.path, way.lost.unplaced, way.crossed_as), (0, 100, CrossedAs::Aggregates));
    }

    #[test]
    fn a_drop_that_was_reported_and_sent_again_is_no_loss_of_the_senders() {
        let mut sender = evidence(InterfaceCounts { tx_frames: 980, ..InterfaceCounts::default() });
        sender.net.queue_drops = Some(70);
        sender.congested = 50;
        let receiver = evidence(InterfaceCounts { rx_frames: 900, ..InterfaceCounts::default() });
        let places = joined(&sender, &receiver).lost;
        assert_eq!((places.by_place.sender, places.by_place.path, places.unplaced), (20, 80, 0));
    }
}
