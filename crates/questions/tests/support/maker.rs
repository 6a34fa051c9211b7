//! Points whose figures are estimated from invented rounds.

use std::collections::BTreeMap;

use serde_json::json;
use takt_questions::check::*;
use takt_stats::{Estimate, clean_rounds, mean};

/// Noise between -1 and 1, the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

pub(super) struct Maker {
    noise: Noise,
    next_round: i64,
    rounds: usize,
}

/// From JSON, so that fields these tests do not care about may be missing.
pub(super) fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

pub(super) fn estimate(values: &[f64]) -> Option<Estimate> {
    mean(values, 0.95)
}

impl Maker {
    pub(super) fn new(rounds: usize) -> Self {
        Self { noise: Noise(20_130_501), next_round: 1, rounds }
    }

    fn id(&mut self) -> i64 {
        self.next_round += 1;
        self.next_round - 1
    }

    /// A rate at which a share of `lost` goes missing on receive (and half of it on transmit).
    pub(super) fn rate(&mut self, mode: Mode, format: Format, rate_sps: f64, lost: f64) -> RatePoint {
        let mut rounds: Vec<RateRound> = Vec::new();
        for k in 0..self.rounds {
            let lost = (lost * (1.0 + 0.4 * self.noise.next())).max(0.0);
            let samples = |on: bool, lost: f64| if on { (rate_sps * 5.0 * (1.0 - lost)) as u64 } else { 0 };
            let gone = |on: bool, lost: f64| if on { (rate_sps * 5.0 * lost) as u64 } else { 0 };
            let (rx, tx) = (mode != Mode::Tx, mode != Mode::Rx);
            let dropped = gone(rx, lost) / 363;
            let late = k == 1 && rate_sps > 24e6 && mode == Mode::Rx;
            let cost = 0.009 * rate_sps / 1e6 * if mode == Mode::Duplex { 1.9 } else { 1.0 };
            let cpu_host = cost * (1.0 + 0.03 * self.noise.next()) + 0.01;
            let letters = ["O", "U", "L", "S", "D", "T"];
            let mut events: BTreeMap<String, u64> = letters.iter().map(|l| ((*l).to_owned(), 0)).collect();
            events.insert("D".into(), dropped.min(400));
            events.insert("U".into(), if tx { gone(tx, lost / 2.0) / 9000 } else { 0 });
            let thread = (if rx { "rx-0" } else { "tx-0" }, cpu_host / if mode == Mode::Duplex { 1.7 } else { 1.1 });
            rounds.push(from(json!({
                "round_id": self.id(),
                "state": if late { RoundState::EmulatorLate } else { RoundState::Valid },
                "why": late.then_some("emulator 640 µs behind its own schedule, limit 200 µs"),
                "clean": lost == 0.0,
                "duration_s": 5.0,
                "rx_lost_share": if rx { lost } else { 0.0 },
                "tx_lost_share": if tx { lost / 2.0 } else { 0.0 },
                "rx_samples": samples(rx, lost),
                "rx_lost_samples": gone(rx, lost),
                "tx_samples": samples(tx, lost / 2.0),
                "tx_lost_samples": gone(tx, lost / 2.0),
                "events": events,
                "lost_by_place": { "sender": 0, "path": 0, "receive_buffer": dropped, "application": 0, "unplaced": 0 },
                "cpu_host": cpu_host,
                "busiest_thread": thread,
                "reader_pause_max_ms": rx.then_some(0.4 + 300.0 * lost),
                "receive_buffer_bytes": rx.then_some(212_992),
                "machine_busy_share": 0.12 + cpu_host / 4.0,
                "emulator_lag_max_us": if late { 640.0 } else { 38.0 + 20.0 * self.noise.next() },
            })));
        }
        let valid: Vec<&RateRound> = rounds.iter().filter(|r| r.state == RoundState::Valid).collect();
        let over = |f: &dyn Fn(&RateRound) -> f64| estimate(&valid.iter().map(|r| f(r)).collect::<Vec<_>>());
        let (counted, clean) = (valid.len(), valid.iter().filter(|r| r.clean).count());
        RatePoint {
            mode,
            format,
            rate_sps,
            counted,
            clean,
            unclean_share_upper: clean_rounds(counted, counted - clean, 0.95).map_or(1.0, |c| c.up_to),
            rx_lost_share: over(&|r| r.rx_lost_share.unwrap_or_default()).filter(|_| mode != Mode::Tx),
            tx_lost_share: over(&|r| r.tx_lost_share.unwrap_or_default()).filter(|_| mode != Mode::Rx),
            cpu_host: over(&|r| r.cpu_host),
            busiest_thread: over(&|r| r.busiest_thread.as_ref().map_or(0.0, |b| b.1)),
            skipped: None,
            rounds,
        }
    }

    /// A slot of which a share is in use; beyond the whole of it, it is missed.
    pub(super) fn waveform(&mut self, slot_us: f64, used: f64) -> WaveformPoint {
        let rounds: Vec<WaveformRound> = (0..self.rounds)
            .map(|_| {
                let used = used * (1.0 + 0.1 * self.noise.next());
                let misses = if used > 1.0 { (used * 100.0) as u64 } else { 0 };
                from(json!({
                    "round_id": self.id(),
                    "state": RoundState::Valid,
                    "slots": (5e5 / slot_us) as u64,
                    "misses": misses,
                    "used_share": used,
                    "busy_p99_9_us": 0.6 * used * slot_us,
                    "lateness_p99_9_us": 0.4 * used * slot_us,
                    "lateness_max_us": 0.5 * used * slot_us,
                    "slowest": if used > 1.0 { HOST } else { "channel" },
                    "slowest_us": 0.4 * used * slot_us,
                    "blamed": if misses > 0 { vec![(HOST, misses)] } else { Vec::new() },
                    "real_time": true,
                }))
            })
            .collect();
        let used: Vec<f64> = rounds.iter().filter_map(|r| r.used_share).collect();
        let (counted, held) = (rounds.len(), rounds.iter().filter(|r| r.misses == 0).count());
        WaveformPoint {
            waveform: "bpsk".into(),
            packet: "5M/s".into(),
            slot_us,
            workers: 1,
            counted,
            held,
            missed_share_upper: clean_rounds(counted, counted - held, 0.95).map_or(1.0, |c| c.up_to),
            used_share: estimate(&used),
            rounds,
            skipped: None,
        }
    }

    pub(super) fn udp(&mut self, payload_bytes: u32, direction: &str, per_s: f64) -> UdpPoint {
        let rounds: Vec<UdpRound> = (0..self.rounds)
            .map(|_| {
                let datagrams_per_s = per_s * (1.0 + 0.02 * self.noise.next());
                let sent = (datagrams_per_s * 2.0 * 1.003) as u64;
                let lost = (sent as f64 * 0.003 * (1.0 + 0.5 * self.noise.next())) as u64;
                from(json!({
                    "round_id": self.id(),
                    "state": RoundState::Valid,
                    "datagrams_per_s": datagrams_per_s,
                    "throughput_bps": datagrams_per_s * f64::from(payload_bytes) * 8.0,
                    "sent_datagrams": sent,
                    "lost_datagrams": lost,
                    "lost_by_place": { "sender": 0, "path": 0, "receive_buffer": lost, "unplaced": 0 },
                    "cpu_ns_per_datagram": 1.3e9 / per_s * (1.0 + 0.02 * self.noise.next()),
                    "jitter_us": 1.2,
                    "latency_p50_us": 61.0,
                    "latency_p99_9_us": 410.0,
                }))
            })
            .collect();
        let over = |f: &dyn Fn(&UdpRound) -> f64| estimate(&rounds.iter().map(f).collect::<Vec<_>>());
        UdpPoint {
            payload_bytes,
            direction: direction.to_owned(),
            datagrams_per_s: over(&|r| r.datagrams_per_s),
            throughput_bps: over(&|r| r.throughput_bps),
            lost_share: over(&|r| r.lost_datagrams as f64 / r.sent_datagrams as f64),
            cpu_ns_per_datagram: over(&|r| r.cpu_ns_per_datagram.unwrap_or(0.0)),
            skipped: None,
            rounds,
        }
    }

    pub(super) fn round_trip(&mut self, delay_us: f64, late_share: f64) -> RoundTripPoint {
        let rounds: Vec<RoundTripRound> = (0..self.rounds)
            .map(|k| RoundTripRound {
                round_id: self.id(),
                state: RoundState::Valid,
                why: None,
                answers: 3000,
                late: if late_share > 0.0 { (3000.0 * late_share * (k as f64 + 0.5)) as u64 } else { 0 },
                lost: 0,
                excluded_share: 0.0,
                excluded_late: 0,
                p50_us: 171.0 + 4.0 * self.noise.next(),
                p99_us: 262.0 + 9.0 * self.noise.next(),
                p99_9_us: 610.0 + 120.0 * self.noise.next(),
                max_us: 1240.0 + 300.0 * self.noise.next(),
            })
            .collect();
        let ecdf_us = (1..=120)
            .map(|i| {
                let nines = f64::from(i) / 30.0;
                let share = if i == 120 { 1.0 } else { 1.0 - 10_f64.powf(-nines) };
                (150.0 * (1.0 + 0.11 * nines + 0.016 * nines.powi(4)) + delay_us * 0.004, share)
            })
            .collect();
        let shares: Vec<f64> = rounds.iter().map(|r| r.late as f64 / r.answers as f64).collect();
        RoundTripPoint { delay_us, rate_sps: 5e6, late_share: estimate(&shares), rounds, ecdf_us, skipped: None }
    }
}
