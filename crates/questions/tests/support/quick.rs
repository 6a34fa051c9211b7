//! A quick check that does not hold.

use serde_json::json;
use takt_lab::About;
use takt_questions::check::*;

use super::RATES;
use super::facts::{doctor, host, setup};
use super::maker::{Maker, estimate, from};

/// Quick, not holding: the receive buffer is too small for duplex at 25 MS/s.
pub fn quick_fails() -> CheckOutcome {
    let mut make = Maker::new(3);
    let rates = rates(&mut make);
    let verdict = verdict(&rates);
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
    CheckOutcome {
        schema: SCHEMA,
        about: About {
            run: "2026-11-21T100412-check".into(),
            question: "Will this host keep up with a radio?".into(),
            started: "2026-11-21T10:04:12Z".into(),
            duration_s: 112.0,
            depth: "quick".into(),
            complete: true,
            takt_version: "takt 0.1.0 (7331474)".into(),
            host: host(),
        },
        setup: setup(),
        radio_speed: Some(1.0),
        doctor: doctor(),
        udp,
        rates,
        engines: engines(),
        round_trips,
        waveforms: [(1000.0, 0.09), (500.0, 0.16), (250.0, 0.31), (100.0, 1.3)]
            .map(|(slot, used)| make.waveform(slot, used))
            .into(),
        loaded: None,
        stops: None,
        rounds: RoundsSummary { planned: 138, valid: 134, emulator_late: 1, skipped: 3, ..RoundsSummary::default() },
        verdict,
        left_out: vec!["Quick: 9 of 43 valid rates, one sc8 rate, 5 s a round.".into()],
    }
}

/// Two that were tried, the second cheaper, and one that can't be had.
fn engines() -> Vec<EnginePoint> {
    let round = |(n, cost): (i64, &f64)| EngineRound {
        round_id: n,
        state: RoundState::Valid,
        why: None,
        block: 0,
        clean: true,
        cpu_ms_per_msample: Some(*cost),
        lost_samples: 0,
    };
    let point = |engine: &str, costs: &[f64], over: &[f64]| EnginePoint {
        rounds: (9000 + 10 * engine.len() as i64..).zip(costs).map(round).collect(),
        engine: engine.into(),
        path: "kernel sockets".into(),
        rate_sps: 12.5e6,
        counted: costs.len(),
        clean: costs.len(),
        cpu_ms_per_msample: estimate(costs),
        over_first: estimate(over),
        missing: None,
    };
    let xdp = EnginePoint {
        path: String::new(),
        missing: Some("engine xdp can't run here: this process may not load XDP programs".into()),
        ..point("xdp", &[], &[])
    };
    vec![point("mmsg", &[2.1, 2.2, 2.0], &[]), point("uring", &[1.8, 1.9, 1.8], &[0.86, 0.87, 0.9]), xdp]
}

fn rates(make: &mut Maker) -> Vec<RatePoint> {
    let mut rates = Vec::new();
    for rate in RATES {
        rates.push(make.rate(Mode::Rx, Format::Sc16, rate, 0.0));
        rates.push(make.rate(Mode::Tx, Format::Sc16, rate, 0.0));
        let lost = match rate {
            24e6.. => 0.004,
            19e6.. => 0.0003,
            _ => 0.0,
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
    rates
}

fn verdict(rates: &[RatePoint]) -> Verdict {
    let point = |mode, rate| {
        rates
            .iter()
            .find(|p: &&RatePoint| p.mode == mode && p.rate_sps == rate && p.format == Format::Sc16)
            .unwrap()
            .clone()
    };
    let (failing, receive, transmit) = (point(Mode::Duplex, 25e6), point(Mode::Rx, 25e6), point(Mode::Tx, 25e6));
    let need = |mode, rate_sps| Need { model: Model::N200, mode, rate_sps, format: Format::Sc16 };
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
    Verdict {
        answer: CheckAnswer::Fails,
        needs: vec![
            NeedVerdict { need: need(Mode::Duplex, 25e6), answer: CheckAnswer::Fails, decided_by: Ground::Rounds, counted: 3, clean: 0, lost_share: failing.rx_lost_share, why: "samples were lost in every round".into() },
            NeedVerdict { need: need(Mode::Tx, 25e6), answer: CheckAnswer::Holds, decided_by: Ground::Rounds, counted: 3, clean: 3, lost_share: None, why: "clean in every round".into() },
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
        also: Vec::new(),
        summary: vec![
            "Receive alone and transmit alone keep up with an emulated N200 at its full rate over veth; both together do up to 14.29 MS/s.".into(),
            "What was lost was lost in the receive buffer of the host's socket, which is too small for the longest pause of the thread that reads it.".into(),
        ],
        caveats: vec![
            "Network card, driver and cable were not measured (--addr A does).".into(),
            "Three clean rounds leave up to 63 % of rounds unclean possible (95 %); --full (60 rounds) brings that to 5 %.".into(),
        ],
    }
}
