//! Processes to show: what they count is what a test decides.

use std::f64::consts::TAU;
use std::path::Path;
use std::sync::{Arc, Mutex};

use takt_host::sockets::SocketFolder;
use takt_host::trusted::{Trust, TrustedDir};
use takt_live::{
    Component, Constellation, Direction, Hello, Kind, LatenessBar, Letters, Link, Miss, Publisher, Radio, SetVariable,
    Slots, Snapshot, Source, Spectrum, Variable, VariableValue, hello,
};

/// State that a test may change while the page watches.
#[derive(Clone, Default)]
pub struct Faults {
    pub overflows: u64,
    pub lost_samples: u64,
    pub misses: Vec<Miss>,
    pub ebn0_db: f64,
}

/// A waveform on a radio with a link, a spectrum and a constellation.
pub struct Shown {
    pub faults: Arc<Mutex<Faults>>,
    turn: u64,
    /// Outputs that readers ask for.
    taps: Vec<String>,
}

/// Output of a component that can be tapped.
pub const OUTPUT: &str = "modulator.symbols";

impl Shown {
    pub fn new() -> Shown {
        Shown { faults: Arc::new(Mutex::new(Faults { ebn0_db: 12.5, ..Faults::default() })), turn: 0, taps: Vec::new() }
    }
}

impl Source for Shown {
    fn snapshot(&mut self) -> Snapshot {
        self.turn += 1;
        let faults = self.faults.lock().expect("no test panics with it").clone();
        let tapped: Vec<_> = self.taps.iter().filter(|name| *name == OUTPUT).collect();
        let spectra = tapped.iter().map(|&name| Spectrum { name: name.clone(), freq_hz: None, ..spectrum(self.turn) });
        let points = tapped.iter().map(|&name| Constellation { name: name.clone(), ..constellation(self.turn) });
        Snapshot {
            radios: radios(self.turn, &faults),
            slots: Some(slots(self.turn, &faults)),
            components: components(self.turn),
            links: vec![link()],
            variables: variables(&faults),
            outputs: vec![OUTPUT.to_owned()],
            spectra: [spectrum(self.turn)].into_iter().chain(spectra).collect(),
            constellations: [constellation(self.turn)].into_iter().chain(points).collect(),
            ..Snapshot::default()
        }
    }

    fn show(&mut self, outputs: &[String]) {
        self.taps = outputs.to_vec();
    }

    fn set(&mut self, variable: &SetVariable) -> Result<(), String> {
        let value = match variable.value {
            VariableValue::Int(value) => value as f64,
            VariableValue::Float(value) => value,
            _ => return Err("expected: a number".to_owned()),
        };
        self.faults.lock().expect("no test panics with it").ebn0_db = value;
        Ok(())
    }
}

/// Shows a process in a folder, under a number of its own.
pub fn show(folder: &Path, pid: u32, kind: Kind, title: &str, source: impl Source) -> Publisher {
    let folder = TrustedDir::open(folder, Trust::Own).map(SocketFolder::of).expect("a folder of one's own");
    let command = format!("takt {} {title}", kind.name());
    let hello = Hello { pid, ..hello(kind, title, &command) };
    Publisher::start_in(folder, hello, source).expect("it shows itself")
}

fn radios(turn: u64, faults: &Faults) -> Vec<Radio> {
    let radio = |direction, letters, lost_samples| Radio {
        name: "N200 at 192.168.10.2".into(),
        direction,
        rate_sps: Some(25e6),
        freq_hz: Some(915e6),
        channels: Some(1),
        samples: Some(turn * 400_000),
        lost_samples,
        letters,
    };
    let rx = Letters { overflows: Some(faults.overflows), late: Some(0), received_lost: Some(0), ..Letters::default() };
    let tx = Letters { underflows: Some(0), late: Some(0), sent_lost: Some(0), ..Letters::default() };
    vec![radio(Direction::Rx, rx, Some(faults.lost_samples)), radio(Direction::Tx, tx, None)]
}

fn slots(turn: u64, faults: &Faults) -> Slots {
    let shape = [220, 900, 4100, 5200, 1300, 260, 61, 18, 5, 2, 1, 0];
    let bar = |(n, count): (usize, &u64)| LatenessBar { upper_ns: 2000 << n, count: count * turn / 40 };
    Slots {
        count: turn * 16,
        slot_ns: Some(1_000_000),
        misses: Some(faults.misses.len() as u64),
        lateness: shape.iter().enumerate().map(bar).collect(),
        recent_misses: faults.misses.clone(),
    }
}

fn components(turn: u64) -> Vec<Component> {
    let wave = 0.02 * (turn as f64 / 40.0).sin();
    let one = |name: &str, core, load: f64, worst_us: u64, edges: &[&str]| Component {
        name: name.into(),
        core: Some(core),
        load_share: Some(load + wave),
        worst_ns: Some(worst_us * 1000),
        edges: edges.iter().map(|&edge| edge.to_owned()).collect(),
        ..Component::default()
    };
    vec![
        one("source", 0, 0.08, 110, &["encoder"]),
        one("encoder", 0, 0.21, 320, &["modulator"]),
        one("modulator", 0, 0.17, 260, &["channel"]),
        one("channel", 1, 0.31, 420, &["equaliser", "estimator"]),
        one("estimator", 1, 0.12, 190, &["equaliser"]),
        one("equaliser", 1, 0.24, 340, &["turbo decoder"]),
        one("turbo decoder", 2, 0.93, 1240, &["sink"]),
        one("sink", 2, 0.03, 60, &[]),
    ]
}

fn link() -> Link {
    Link {
        name: "downlink".into(),
        state: Some("attached".into()),
        snr_db: Some(21.4),
        mcs: Some(22),
        bler: Some(0.013),
        throughput_bps: Some(18.3e6),
        ..Link::default()
    }
}

fn variables(faults: &Faults) -> Vec<Variable> {
    let ebn0 = Variable {
        name: "channel.ebn0_db".into(),
        value: Some(VariableValue::Float(faults.ebn0_db)),
        unit: Some("dB".into()),
        range: Some([-20.0, 60.0]),
        expected: None,
        settable: true,
    };
    let iterations = Variable {
        name: "turbo decoder.iterations".into(),
        value: Some(VariableValue::Int(6)),
        unit: None,
        range: None,
        expected: None,
        settable: false,
    };
    vec![ebn0, iterations]
}

/// Numbers that look like noise, 0 to 1, the same in each run.
fn noise(seed: u64) -> f64 {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
}

fn spectrum(turn: u64) -> Spectrum {
    let bins = 1024_u64;
    let level = |n: u64| {
        let x = (n as f64 - 512.0) / 512.0;
        let carrier = |at: f64, width: f64, power: f64| power - 60.0 * ((x - at).abs() / width).powi(8).min(1.0);
        let tone = 0.55 + 0.02 * (turn as f64 / 25.0).sin();
        let signal = carrier(-0.15, 0.3, -48.0).max(carrier(tone, 0.006, -31.0)).max(-104.0);
        (signal + 9.0 * noise(turn * bins + n) - 6.0) as f32
    };
    Spectrum { name: "receive".into(), freq_hz: Some(915e6), span_hz: 25e6, dbfs: (0..bins).map(level).collect() }
}

fn constellation(turn: u64) -> Constellation {
    let point = |n: u64| {
        let seed = turn * 1000 + n * 4;
        let axis = |k: u64| (((noise(seed + k) * 4.0).floor() * 2.0) - 3.0) / 10_f64.sqrt();
        let (far, angle) = (0.09 * noise(seed + 2), TAU * noise(seed + 3));
        [(axis(0) + far * angle.cos()) as f32, (axis(1) + far * angle.sin()) as f32]
    };
    Constellation { name: "data".into(), modulation: Some("16-QAM".into()), points: (0..256).map(point).collect() }
}
