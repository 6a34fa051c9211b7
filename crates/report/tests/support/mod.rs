//! Outcomes of checks that never ran, in which every kind of answer occurs. Figures are invented, but consistent:
//! points are estimated from their rounds.
#![allow(dead_code)]

use std::collections::BTreeMap;

use serde_json::json;
use takt_lab::check::*;
use takt_stats::{Estimate, clean_rounds, mean};

/// Noise between -1 and 1, the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

struct Maker {
    noise: Noise,
    next_round: i64,
    rounds: usize,
}

const RATES: [f64; 9] = [1e6, 2e6, 4e6, 5e6, 10e6, 12.5e6, 100e6 / 7.0, 20e6, 25e6];

/// From JSON, so that fields these tests do not care about may be missing.
fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    mean(values, 0.95)
}

impl Maker {
    fn new(rounds: usize) -> Self {
        Self { noise: Noise(20_130_501), next_round: 1, rounds }
    }

    fn id(&mut self) -> i64 {
        self.next_round += 1;
        self.next_round - 1
    }

    /// A rate at which a share of `lost` goes missing on receive (and half of it on transmit).
    fn rate(&mut self, mode: Mode, format: Format, rate_sps: f64, lost: f64) -> RatePoint {
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
            rx_lost_share: over(&|r| r.rx_lost_share).filter(|_| mode != Mode::Tx),
            tx_lost_share: over(&|r| r.tx_lost_share).filter(|_| mode != Mode::Rx),
            cpu_host: over(&|r| r.cpu_host),
            busiest_thread: over(&|r| r.busiest_thread.as_ref().map_or(0.0, |b| b.1)),
            skipped: None,
            rounds,
        }
    }

    /// A slot of which a share is in use; beyond the whole of it, it is missed.
    fn waveform(&mut self, slot_us: f64, used: f64) -> WaveformPoint {
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

    fn udp(&mut self, payload_bytes: u32, direction: &str, per_s: f64) -> UdpPoint {
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

    fn round_trip(&mut self, delay_us: f64, late_share: f64) -> RoundTripPoint {
        let rounds: Vec<RoundTripRound> = (0..self.rounds)
            .map(|k| RoundTripRound {
                round_id: self.id(),
                state: RoundState::Valid,
                why: None,
                answers: 3000,
                late: if late_share > 0.0 { (3000.0 * late_share * (k as f64 + 0.5)) as u64 } else { 0 },
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

fn setup() -> Setup {
    Setup {
        radio: RadioSetup::Emulated { model: "n200".into() },
        path: "veth".into(),
        environment: "native".into(),
        engine: "mmsg".into(),
        host_cores: vec![2, 3],
        radio_cores: vec![0, 1],
        notes: Vec::new(),
    }
}

fn host() -> HostFacts {
    HostFacts {
        hostname: "lab-7".into(),
        kernel: "Linux 6.18".into(),
        cpu_model: "AMD EPYC 9R45".into(),
        cores: 4,
        memory_bytes: 24 << 30,
        virtualisation: Some("kvm".into()),
        more: [
            ("clock source", "tsc"),
            ("frequency governor", "not visible"),
            ("net.core.rmem_max", "4 194 304 B"),
            ("preemption", "none"),
        ]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into(),
    }
}

fn doctor() -> Vec<DoctorFinding> {
    let finding =
        |id: &str, finding: &str, seen: &str, wanted: Option<&str>, mechanism: &str, fix: Option<&str>| DoctorFinding {
            id: id.into(),
            title: String::new(),
            finding: finding.into(),
            seen: seen.into(),
            wanted: wanted.map(Into::into),
            mechanism: mechanism.into(),
            cost: None,
            fix: fix.map(Into::into),
            fix_kind: None,
        };
    vec![
        finding(
            "socket-buffer-small",
            "stands",
            "net.core.rmem_max is 212 992 B",
            Some("50 000 000 B"),
            "A reader that pauses for longer than the buffer holds loses datagrams.",
            Some("takt doctor --fix --only socket-buffer-small"),
        ),
        finding(
            "rt-throttling",
            "fine",
            "sched_rt_runtime_us is 950 000",
            None,
            "A spinning real-time thread is stopped for the rest of each second.",
            None,
        ),
        finding(
            "governor",
            "not_visible",
            "no cpufreq in this virtual machine",
            None,
            "A core that was slowed down needs time to become fast.",
            None,
        ),
    ]
}

/// Quick, not holding: the receive buffer is too small for duplex at 25 MS/s.
pub fn quick_fails() -> Outcome {
    let mut make = Maker::new(3);
    let mut rates = Vec::new();
    for rate in RATES {
        rates.push(make.rate(Mode::Rx, Format::Sc16, rate, 0.0));
        rates.push(make.rate(Mode::Tx, Format::Sc16, rate, 0.0));
        let lost = if rate > 24e6 {
            0.004
        } else if rate > 19e6 {
            0.0003
        } else {
            0.0
        };
        rates.push(make.rate(Mode::Duplex, Format::Sc16, rate, lost));
    }
    rates.push(make.rate(Mode::Rx, Format::Sc8, 50e6, 0.02));
    rates.push(RatePoint {
        rounds: Vec::new(),
        counted: 0,
        clean: 0,
        skipped: Some("receive at 50 MS/s had failed clearly".into()),
        ..make.rate(Mode::Duplex, Format::Sc8, 50e6, 0.0)
    });
    let point = |mode, rate| {
        rates
            .iter()
            .find(|p: &&RatePoint| p.mode == mode && p.rate_sps == rate && p.format == Format::Sc16)
            .unwrap()
            .clone()
    };
    let (failing, receive, transmit) = (point(Mode::Duplex, 25e6), point(Mode::Rx, 25e6), point(Mode::Tx, 25e6));
    let need = |mode, rate_sps| Need { model: "n200".into(), mode, rate_sps, format: Format::Sc16 };
    let headroom = |p: &RatePoint| p.busiest_thread.and_then(|e| e.map(|share| 1.0 / share));
    let highest = |mode, p: &RatePoint, rate, first| HighestClean {
        mode,
        format: Format::Sc16,
        rate_sps: Some(rate),
        counted: 3,
        unclean_share_upper: 0.6316,
        first_failing_sps: first,
        open_above: false,
        headroom: headroom(p),
    };
    let clean_duplex = point(Mode::Duplex, 100e6 / 7.0);
    let verdict = Verdict {
        answer: Answer::Fails,
        needs: vec![
            NeedVerdict { need: need(Mode::Duplex, 25e6), answer: Answer::Fails, counted: 3, clean: 0, lost_share: failing.rx_lost_share, why: "samples were lost in every round".into() },
            NeedVerdict { need: need(Mode::Tx, 25e6), answer: Answer::Holds, counted: 3, clean: 3, lost_share: None, why: "clean in every round".into() },
        ],
        highest: vec![
            highest(Mode::Rx, &receive, 25e6, None),
            highest(Mode::Tx, &transmit, 25e6, None),
            highest(Mode::Duplex, &clean_duplex, 100e6 / 7.0, Some(20e6)),
        ],
        limits: vec![Limit {
            mode: Mode::Duplex,
            format: Format::Sc16,
            rate_sps: 25e6,
            layer: Layer::ReceiveBuffer,
            evidence: "The buffer (208 KiB) holds 92 datagrams = 1.3 ms of this stream; the reader's longest pause was 1.9 ms (core 3).".into(),
        }],
        waveform: Some(from(json!({
            "waveform": "bpsk",
            "packet": "5M/s",
            "shortest_held_us": 250.0,
            "counted": 3,
            "missed_share_upper": 0.63,
            "margin": estimate(&[0.68, 0.69, 0.7]),
            "first_failing_us": 100.0,
            "slowest": ["channel", 31.0],
            "blamed": [HOST, 130],
            "real_time": true,
            "why": "slots of 0.25 ms and longer are held",
        }))),
        fixes: vec![
            Fix { id: Some("socket-buffer-small".into()), what: "Raise the limit of socket buffers to 50 MB: 300 ms of this stream instead of 1.3 ms.".into(), how: "takt doctor --fix --only socket-buffer-small".into(), kind: FixKind::Safe, gain: "Would cover every pause seen here; not measured.".into(), gain_sps: 1e7 },
            Fix { id: Some("rt-priority".into()), what: "The receiver runs at normal priority. FIFO 50 ends pauses made by other tasks.".into(), how: "takt doctor --fix --only rt-priority".into(), kind: FixKind::Consent, gain: "Not measured.".into(), gain_sps: 5e6 },
            Fix { id: None, what: "Leave two cores to the host side.".into(), how: "Run the radio's software on another machine, or on one with six cores.".into(), kind: FixKind::Advice, gain: "".into(), gain_sps: 1e6 },
        ],
        says: vec![
            "Receive alone and transmit alone keep up with an emulated N200 at its full rate over veth; both together do up to 14.29 MS/s.".into(),
            "What was lost was lost in the receive buffer of the host's socket, which is too small for the longest pause of the thread that reads it.".into(),
        ],
        does_not_say: vec![
            "Network card, driver and cable were not measured (--addr A does).".into(),
            "Three clean rounds leave up to 63 % of rounds unclean possible (95 %); --full (60 rounds) brings that to 5 %.".into(),
        ],
    };
    let mut udp = Vec::new();
    for (bytes, to, from) in [
        (16, 306e3, 281e3),
        (64, 307e3, 280e3),
        (256, 303e3, 279e3),
        (512, 301e3, 274e3),
        (1024, 300e3, 271e3),
        (1472, 296e3, 268e3),
    ] {
        udp.push(make.udp(bytes, "to_host", to));
        udp.push(make.udp(bytes, "from_host", from));
    }
    let round_trips = [(250.0, 0.31), (500.0, 0.008), (1000.0, 0.0004), (2000.0, 0.0), (5000.0, 0.0)]
        .map(|(d, l)| make.round_trip(d, l))
        .into();
    Outcome {
        schema: SCHEMA,
        run: "2026-11-21T100412-check".into(),
        question: "Will this host keep up with a radio?".into(),
        started: "2026-11-21T10:04:12Z".into(),
        duration_s: 112.0,
        depth: "quick".into(),
        complete: true,
        takt_version: "takt 0.1.0 (7331474)".into(),
        host: host(),
        setup: setup(),
        doctor: doctor(),
        udp,
        rates,
        round_trips,
        waveforms: [(1000.0, 0.09), (500.0, 0.16), (250.0, 0.31), (100.0, 1.3)]
            .map(|(slot, used)| make.waveform(slot, used))
            .into(),
        loaded: None,
        rounds: RoundsSummary {
            planned: 138,
            valid: 134,
            disturbed: 0,
            emulator_late: 1,
            failed: 0,
            skipped: 3,
            repeated: 0,
        },
        verdict,
        left_out: vec!["Quick: 9 of 43 valid rates, one sc8 rate, 5 s a round.".into()],
    }
}

/// Ten rounds, a radio at an address, everything holds.
pub fn full_holds() -> Outcome {
    let mut make = Maker::new(10);
    let rates: Vec<RatePoint> = RATES
        .into_iter()
        .flat_map(|rate| [Mode::Rx, Mode::Tx, Mode::Duplex].map(|mode| (mode, rate)))
        .map(|(mode, rate)| make.rate(mode, Format::Sc16, rate, 0.0))
        .collect();
    let top = rates.last().unwrap().clone();
    let verdict = Verdict {
        answer: Answer::Holds,
        needs: vec![NeedVerdict {
            need: Need { model: "n200".into(), mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 },
            answer: Answer::Holds,
            counted: 10,
            clean: 10,
            lost_share: None,
            why: "clean in every round".into(),
        }],
        highest: vec![HighestClean {
            mode: Mode::Duplex,
            format: Format::Sc16,
            rate_sps: Some(25e6),
            counted: 10,
            unclean_share_upper: 0.2589,
            first_failing_sps: None,
            open_above: false,
            headroom: top.busiest_thread.and_then(|e| e.map(|share| 1.0 / share)),
        }],
        limits: Vec::new(),
        waveform: None,
        fixes: Vec::new(),
        says: vec!["Host, card and cable keep up with this N200 at its full rate in both directions.".into()],
        does_not_say: vec!["Ten clean rounds leave up to 26 % of rounds unclean possible (95 %).".into()],
    };
    let given = RadioSetup::Given { model: "n200".into(), addr: "192.168.10.2".into(), serial: Some("F5A1B2".into()) };
    Outcome {
        depth: "full".into(),
        duration_s: 4210.0,
        setup: Setup { radio: given, path: "network".into(), radio_cores: Vec::new(), ..setup() },
        doctor: Vec::new(),
        udp: Vec::new(),
        rates,
        round_trips: vec![make.round_trip(2000.0, 0.0)],
        waveforms: Vec::new(),
        loaded: None,
        rounds: RoundsSummary { planned: 280, valid: 280, ..RoundsSummary::default() },
        verdict,
        left_out: Vec::new(),
        ..quick_fails()
    }
}

/// The emulator was late itself in nearly every round; interrupted; nothing to show but that.
pub fn unknown() -> Outcome {
    let mut outcome = quick_fails();
    for p in &mut outcome.rates {
        p.rounds.iter_mut().for_each(|r| r.state = RoundState::EmulatorLate);
        (p.counted, p.clean, p.unclean_share_upper) = (0, 0, 1.0);
        (p.rx_lost_share, p.tx_lost_share, p.cpu_host, p.busiest_thread) = (None, None, None, None);
    }
    let need = Need { model: "n200".into(), mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 };
    outcome.verdict = Verdict {
        answer: Answer::Unknown,
        needs: vec![NeedVerdict {
            need,
            answer: Answer::Unknown,
            counted: 0,
            clean: 0,
            lost_share: None,
            why: "in 3 of 3 rounds the emulator was late itself".into(),
        }],
        highest: Vec::new(),
        limits: Vec::new(),
        waveform: None,
        fixes: Vec::new(),
        says: vec!["The emulator shares its cores with other load, so it says nothing about the host.".into()],
        does_not_say: Vec::new(),
    };
    (outcome.udp, outcome.round_trips, outcome.complete) = (Vec::new(), Vec::new(), false);
    outcome.waveforms.clear();
    outcome
}

/// What an attacker would like to be called.
pub const HOSTILE: &str = "</style><script>alert(1)</script>\u{1b}]0;owned\u{7}\u{202e}\"'=cmd|' /C calc'!A0";

/// Every text that comes from outside is hostile.
pub fn hostile() -> Outcome {
    let mut outcome = quick_fails();
    let bad = || HOSTILE.to_owned();
    outcome.run = bad();
    outcome.host.hostname = bad();
    outcome.host.kernel = bad();
    outcome.host.more.insert(bad(), bad());
    outcome.takt_version = bad();
    outcome.left_out.push(bad());
    outcome.verdict.says.push(bad());
    outcome.verdict.fixes[0].how = bad();
    outcome.doctor[0].seen = bad();
    outcome.udp[0].direction = bad();
    outcome.rates[0].rounds[0].why = Some(bad());
    outcome.rates[0].rounds[0].busiest_thread = Some((bad(), 0.5));
    outcome.setup.radio = RadioSetup::Given { model: bad(), addr: bad(), serial: Some(bad()) };
    outcome
}
