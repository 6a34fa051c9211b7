//! A front end that leaks from the transmitter to the receiver, both out of balance: around an emulated N200, which has the
//! correction registers.

use std::sync::{Arc, Mutex};

use num_complex::Complex64;
use takt_base::{Complex32, Tick};
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;

use crate::common::{SimNet, world_with};

/// The faults of a board, and how loud it hears itself.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    pub rx: (f64, f64),
    pub tx: (f64, f64),
    pub tx_dc: Complex64,
    pub leak: f64,
}

/// Q by amplitude (dB) and phase (degrees), which is how a mixer is out of balance.
fn mixed((gain_db, phase_deg): (f64, f64), x: Complex64) -> Complex64 {
    let (sin, cos) = phase_deg.to_radians().sin_cos();
    Complex64::new(x.re, 10f64.powf(gain_db / 20.0) * (x.im * cos + x.re * sin))
}

#[derive(Debug, Default)]
struct Cable {
    /// First tick, ticks a sample, samples.
    played: Vec<(u64, u64, Vec<Complex32>)>,
    rx_hz: f64,
    tx_hz: f64,
}

struct Leak(Arc<Mutex<Cable>>, Wrong);

impl Sink for Leak {
    fn oscillator(&mut self, _from: Tick, hz: f64) {
        self.0.lock().unwrap().tx_hz = hz;
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], _edges: BurstEdges) {
        let mut cable = self.0.lock().unwrap();
        let from = cable.played.len().saturating_sub(200);
        cable.played.drain(..from);
        cable.played.push((first.0, step.into(), samples.to_vec()));
    }
}

impl Source for Leak {
    fn oscillator(&mut self, _from: Tick, hz: f64) {
        self.0.lock().unwrap().rx_hz = hz;
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        let Leak(cable, wrong) = self;
        let cable = cable.lock().unwrap();
        for (n, sample) in (0..).zip(out) {
            let tick = first.0 + n * u64::from(step);
            let at = |(from, step, samples): &(u64, u64, Vec<Complex32>)| {
                samples.get(usize::try_from(tick.checked_sub(*from)? / step).unwrap()).copied()
            };
            let played = cable.played.iter().rev().find_map(at).unwrap_or_default();
            let played = mixed(wrong.tx, Complex64::new(played.re.into(), played.im.into())) + wrong.tx_dc;
            let turns = (cable.tx_hz - cable.rx_hz) / 100e6 * tick as f64;
            let on_air = wrong.leak * played * Complex64::from_polar(1.0, std::f64::consts::TAU * turns.fract());
            let heard = mixed(wrong.rx, on_air);
            *sample = Complex32::new(heard.re as f32, heard.im as f32);
        }
    }
}

/// A world with one N200 whose front end is wrong.
pub fn world(wrong: Wrong) -> Arc<SimNet> {
    let cable = Arc::new(Mutex::new(Cable::default()));
    let end = || Box::new(Leak(cable.clone(), wrong));
    world_with(N200Options::default(), Signals { sources: [end(), end()], sink: end() })
}
