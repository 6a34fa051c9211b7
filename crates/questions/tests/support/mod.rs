//! Outcomes of checks that never ran, in which every kind of answer occurs. Figures are invented, but consistent:
//! points are estimated from their rounds.
#![allow(dead_code)]

mod facts;
mod maker;
mod quick;

use takt_lab::About;
use takt_questions::check::*;

use maker::Maker;
pub use quick::quick_fails;

const RATES: [f64; 9] = [1e6, 2e6, 4e6, 5e6, 10e6, 12.5e6, 100e6 / 7.0, 20e6, 25e6];

pub fn all() -> [(&'static str, CheckOutcome); 4] {
    [("fails", quick_fails()), ("holds", full_holds()), ("unknown", unknown()), ("hostile", hostile())]
}

/// The need of 25 MS/s both ways, and so many clean rounds.
fn duplex(answer: CheckAnswer, clean: usize, why: &str) -> NeedVerdict {
    let need = Need { model: Model::N200, mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 };
    NeedVerdict { need, answer, decided_by: Ground::Rounds, counted: clean, clean, lost_share: None, why: why.into() }
}

/// Ten rounds, a radio at an address, everything holds.
pub fn full_holds() -> CheckOutcome {
    let mut make = Maker::new(10);
    let rates: Vec<RatePoint> = RATES
        .into_iter()
        .flat_map(|rate| [Mode::Rx, Mode::Tx, Mode::Duplex].map(|mode| (mode, rate)))
        .map(|(mode, rate)| make.rate(mode, Format::Sc16, rate, 0.0))
        .collect();
    let top = rates.last().unwrap().clone();
    let verdict = Verdict {
        answer: CheckAnswer::Holds,
        needs: vec![duplex(CheckAnswer::Holds, 10, "clean in every round")],
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
        summary: vec!["Host, card and cable keep up with this N200 at its full rate in both directions.".into()],
        also: Vec::new(),
        caveats: vec!["Ten clean rounds leave up to 26 % of rounds unclean possible (95 %).".into()],
    };
    let given = RadioSetup::Given {
        model: Model::N200,
        addr: "192.168.10.2".into(),
        device: false,
        serial: Some("F5A1B2".into()),
        emulator: false,
    };
    let quick = quick_fails();
    CheckOutcome {
        about: About { depth: "full".into(), duration_s: 4210.0, ..quick.about },
        setup: Setup { radio: given, path: "network".into(), radio_cores: Vec::new(), ..quick.setup },
        doctor: Vec::new(),
        udp: Vec::new(),
        rates,
        round_trips: vec![make.round_trip(2000.0, 0.0)],
        waveforms: Vec::new(),
        loaded: None,
        rounds: RoundsSummary { planned: 280, valid: 280, ..RoundsSummary::default() },
        verdict,
        left_out: Vec::new(),
        ..quick
    }
}

/// The emulator was late itself in nearly every round; interrupted; nothing to show but that.
pub fn unknown() -> CheckOutcome {
    let mut outcome = quick_fails();
    for p in &mut outcome.rates {
        p.rounds.iter_mut().for_each(|r| r.state = RoundState::EmulatorLate);
        (p.counted, p.clean, p.unclean_share_upper) = (0, 0, 1.0);
        (p.rx_lost_share, p.tx_lost_share, p.cpu_host, p.busiest_thread) = (None, None, None, None);
    }
    outcome.verdict = Verdict {
        answer: CheckAnswer::Unknown,
        needs: vec![duplex(CheckAnswer::Unknown, 0, "in 3 of 3 rounds the emulator was late itself")],
        highest: Vec::new(),
        limits: Vec::new(),
        waveform: None,
        fixes: Vec::new(),
        summary: vec!["The emulator shares its cores with other load, so it says nothing about the host.".into()],
        also: Vec::new(),
        caveats: Vec::new(),
    };
    (outcome.udp, outcome.round_trips, outcome.about.complete) = (Vec::new(), Vec::new(), false);
    outcome.waveforms.clear();
    outcome
}

/// Name that an attacker would like to have.
pub const HOSTILE: &str = "</style><script>alert(1)</script>\u{1b}]0;owned\u{7}\u{202e}\"'=cmd|' /C calc'!A0";

/// Every text that comes from outside is hostile.
pub fn hostile() -> CheckOutcome {
    let mut outcome = quick_fails();
    let bad = || HOSTILE.to_owned();
    outcome.about.run = bad();
    outcome.about.host.hostname = bad();
    outcome.about.host.kernel = bad();
    outcome.about.host.more.insert(bad(), bad());
    outcome.about.takt_version = bad();
    outcome.left_out.push(bad());
    outcome.verdict.summary.push(bad());
    outcome.verdict.fixes[0].how = bad();
    outcome.doctor[0].observed = bad();
    outcome.udp[0].direction = bad();
    outcome.rates[0].rounds[0].why = Some(bad());
    outcome.rates[0].rounds[0].busiest_thread = Some((bad(), 0.5));
    outcome.setup.radio =
        RadioSetup::Given { model: Model::N200, addr: bad(), device: false, serial: Some(bad()), emulator: false };
    outcome
}
