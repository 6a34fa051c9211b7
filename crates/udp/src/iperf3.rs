//! The report in the keys of iperf3's JSON (`iperf3 -u -J`), for scripts that read those.
//!
//! Bytes are payload, as iperf3 counts them. A key is absent where takt does not know what iperf3 would say: sockets' buffers,
//! the host's name in `system_info`, MSS. `docs/reference/udp.md` has the table.

use serde_json::{Value as Json, json};
use takt_base::utc_ns_now;

use super::options::Direction;
use super::report::{FlowReceived, Interval, UdpReport, WayName};
use super::side::EndCpu;

/// A report that iperf3's document has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoIperf3 {
    /// Each stream of iperf3 has one size.
    #[error("iperf3's document has one size of datagrams, but this load has {0}")]
    Sizes(usize),
    /// iperf3 runs two tests at once for that.
    #[error("iperf3's document has one direction, but this load has two")]
    Bidirectional,
}

/// A span of a stream or of all of them, before it has keys.
struct Span {
    start_s: f64,
    end_s: f64,
    bytes: u64,
    packets: u64,
}

impl Span {
    fn json(&self) -> Json {
        let seconds = self.end_s - self.start_s;
        let bits_per_second = if seconds > 0.0 { self.bytes as f64 * 8.0 / seconds } else { 0.0 };
        json!({
            "start": self.start_s,
            "end": self.end_s,
            "seconds": seconds,
            "bytes": self.bytes,
            "bits_per_second": bits_per_second,
            "packets": self.packets,
        })
    }
}

impl UdpReport {
    /// As iperf3's client prints it.
    ///
    /// # Errors
    /// iperf3's document has no place for such a load.
    pub fn to_iperf3(&self) -> Result<Json, NoIperf3> {
        if self.options.sizes.len() > 1 {
            return Err(NoIperf3::Sizes(self.options.sizes.len()));
        }
        if self.options.direction == Direction::Both {
            return Err(NoIperf3::Bidirectional);
        }
        Ok(json!({ "start": self.start(), "intervals": self.intervals(), "end": self.end() }))
    }

    /// Whether the client was the sender.
    fn sends(&self) -> bool {
        self.way.direction == WayName::ToServer
    }

    fn start(&self) -> Json {
        let options = &self.options;
        let began_s = utc_ns_now().map(|ns| (ns as f64 / 1e9 - self.cpu.client.wall_s).floor() as u64);
        let target = options.datagrams_per_s.map_or(0.0, |rate| rate * 8.0 * options.mean_payload_bytes());
        json!({
            "connected": (0..options.flows).map(|flow| json!({
                "socket": flow + 1,
                "remote_host": options.server.ip(),
                "remote_port": options.server.port(),
            })).collect::<Vec<_>>(),
            "version": concat!("takt ", env!("CARGO_PKG_VERSION")),
            "timestamp": began_s.map(|timesecs| json!({ "timesecs": timesecs })),
            "connecting_to": { "host": options.server.ip(), "port": options.server.port() },
            "target_bitrate": target.round() as u64,
            "sock_bufsize": options.buffer_bytes,
            "test_start": {
                "protocol": "UDP",
                "num_streams": options.flows,
                "blksize": options.payload_bytes,
                "omit": options.warm_up.as_secs(),
                "duration": options.duration.as_secs(),
                "bytes": 0,
                "blocks": options.datagrams.unwrap_or(0),
                "reverse": u8::from(!self.sends()),
                "target_bitrate": target.round() as u64,
                "bidir": 0,
            },
        })
    }

    /// One for each interval: takt counts those of all flows together.
    fn intervals(&self) -> Vec<Json> {
        let payload = self.options.payload_bytes as u64;
        let of = |interval: &Interval| {
            let (bytes, packets) = if self.sends() {
                (interval.sent * payload, interval.sent)
            } else {
                (interval.payload_bytes, interval.datagrams)
            };
            let mut sum = Span { start_s: interval.start_s, end_s: interval.end_s, bytes, packets }.json();
            merge(&mut sum, json!({ "omitted": false, "sender": self.sends() }));
            if !self.sends() {
                let due = interval.datagrams + interval.lost;
                merge(&mut sum, json!({ "lost_packets": interval.lost, "lost_percent": percent(interval.lost, due) }));
            }
            let mut stream = sum.clone();
            merge(&mut stream, json!({ "socket": 1 }));
            let streams = if self.options.flows == 1 { vec![stream] } else { Vec::new() };
            json!({ "streams": streams, "sum": sum })
        };
        self.way.intervals.iter().map(of).collect()
    }

    fn end(&self) -> Json {
        let way = &self.way;
        let sent =
            Span { start_s: 0.0, end_s: way.sent.span_s, bytes: way.sent.payload_bytes, packets: way.sent.datagrams };
        let received = Span {
            start_s: 0.0,
            end_s: way.received.span_s,
            bytes: way.received.payload_bytes,
            packets: way.received.datagrams,
        };
        let losses = json!({
            "jitter_ms": way.jitter_us.unwrap_or(0.0) / 1e3,
            "lost_packets": way.lost.total,
            "lost_percent": percent(way.lost.total, way.sent.datagrams),
        });
        let with = |span: &Span, is_sender: bool, losses: &Json| {
            let mut json = span.json();
            merge(&mut json, losses.clone());
            merge(&mut json, json!({ "sender": is_sender }));
            json
        };
        let none = json!({ "jitter_ms": 0.0, "lost_packets": 0, "lost_percent": 0.0 });
        json!({
            "streams": way.flows.iter().enumerate().map(|(n, flow)| json!({ "udp": self.stream(n, flow) })).collect::<Vec<_>>(),
            "sum": with(&sent, self.sends(), &losses),
            "sum_sent": with(&sent, true, &none),
            "sum_received": with(&received, false, &losses),
            "cpu_utilization_percent": self.utilization(),
        })
    }

    fn stream(&self, number: usize, flow: &FlowReceived) -> Json {
        let lost = flow.sent.saturating_sub(flow.datagrams);
        let bytes = flow.sent * self.options.payload_bytes as u64;
        let mut stream = Span { start_s: 0.0, end_s: self.way.sent.span_s, bytes, packets: flow.sent }.json();
        merge(
            &mut stream,
            json!({
                "socket": number + 1,
                "jitter_ms": flow.jitter_us.unwrap_or(0.0) / 1e3,
                "lost_packets": lost,
                "lost_percent": percent(lost, flow.sent),
                "out_of_order": flow.reordered,
                "sender": self.sends(),
            }),
        );
        stream
    }

    fn utilization(&self) -> Json {
        let total = |cpu: &EndCpu| if cpu.wall_s > 0.0 { 100.0 * cpu.process_s / cpu.wall_s } else { 0.0 };
        let (host, remote) = (total(&self.cpu.client), total(&self.cpu.server));
        json!({ "host_total": host, "remote_total": remote })
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Adds the keys of one object to another.
fn merge(into: &mut Json, more: Json) {
    if let (Json::Object(into), Json::Object(more)) = (into, more) {
        into.extend(more);
    }
}
