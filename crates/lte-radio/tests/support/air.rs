//! Both ends of a link and the air between them, sample by sample on a virtual clock.

use std::sync::Arc;

use num_complex::Complex32;
use takt_base::Tick;
use takt_lte::{Bandwidth, Cell, CellId, Numerology, PhichResource, Sampling, UplinkConfig, control_elements};
use takt_lte_link::{BaseStation, Identity, StationConfig, SystemInformation, Terminal, TerminalConfig};
use takt_lte_radio::{
    AirSettings, CellSizes, PacketPort, StationCore, StationTraffic, TerminalCore, TerminalSettings, TerminalTraffic,
    TrafficPlan, usual_cfi,
};

/// Channel between the ends.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    /// SNR of a full carrier.
    pub snr_db: f64,
    /// How much higher the terminal hears the base station, and is heard lower.
    pub frequency_hz: f64,
    /// Samples from one antenna to the other.
    pub delay: usize,
    /// The station's sample that is the terminal's sample 0.
    pub skew: u64,
    pub seed: u64,
}

impl Default for Between {
    fn default() -> Between {
        Between { snr_db: 25.0, frequency_hz: 0.0, delay: 7, skew: 777, seed: 1 }
    }
}

pub struct VirtualLink {
    pub station: StationCore,
    pub station_traffic: StationTraffic,
    pub terminal: TerminalCore,
    pub terminal_traffic: TerminalTraffic,
    between: Between,
    len: usize,
    down: Ring,
    up: Ring,
    now: u64,
    terminal_begin: u64,
    terminal_subframes: u64,
    bandwidth: Bandwidth,
    restarted_at: u64,
    rate_sps: f64,
    /// Points of the transform for each subcarrier in use.
    band: f64,
    pub ended: bool,
    /// Nobody hears anybody.
    pub muted: bool,
}

/// The last samples of an antenna, by number.
struct Ring(Vec<Complex32>);

impl Ring {
    fn add(&mut self, at: u64, samples: &[Complex32]) {
        let len = self.0.len() as u64;
        samples.iter().zip(at..).for_each(|(sample, at)| self.0[(at % len) as usize] += sample);
    }

    fn read(&self, at: u64, out: &mut [Complex32]) {
        let len = self.0.len() as u64;
        out.iter_mut().zip(at..).for_each(|(out, at)| *out = self.0[(at % len) as usize]);
    }

    fn clear(&mut self, at: u64, count: usize) {
        let len = self.0.len() as u64;
        (at..at + count as u64).for_each(|at| self.0[(at % len) as usize] = Complex32::default());
    }
}

const AMPLITUDE: f32 = 0.2;

impl VirtualLink {
    pub fn new(bandwidth: Bandwidth, between: Between, plan: TrafficPlan) -> VirtualLink {
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        let cell = cell(bandwidth);
        let sizes = Arc::new(CellSizes { cell, cfi: usual_cfi(&cell) });
        let station = station(bandwidth, between.seed);
        let terminal_settings =
            TerminalSettings { bandwidth, numerology, amplitude: AMPLITUDE, iterations: 8, frequency_ratio: 1.0 };
        let config = TerminalConfig::new(bandwidth, Identity::new(7).unwrap(), between.seed + 1);
        let terminal = TerminalCore::new(&terminal_settings, Terminal::new(config, sizes).unwrap());
        let len = numerology.subframe_len();
        let ring = || Ring(vec![Complex32::default(); 16 * len]);
        VirtualLink {
            station,
            station_traffic: StationTraffic::new(plan),
            terminal,
            terminal_traffic: TerminalTraffic::new(plan),
            between,
            len,
            down: ring(),
            up: ring(),
            now: 0,
            terminal_begin: 0,
            terminal_subframes: 0,
            bandwidth,
            restarted_at: 0,
            rate_sps: numerology.rate_sps(),
            band: numerology.fft_len as f64 / numerology.subcarriers as f64,
            ended: false,
            muted: false,
        }
    }

    /// Starts the base station anew: it remembers nothing, and counts its frames from 0 at this subframe.
    pub fn restart_station(&mut self) {
        self.between.seed += 100;
        self.station = station(self.bandwidth, self.between.seed);
        self.restarted_at = self.now;
    }

    /// One subframe of the station, and those of the terminal that are over by then.
    pub fn step(&mut self) {
        let (len, now) = (self.len, self.now);
        let mut samples = vec![Complex32::default(); len];
        self.up.read(now * len as u64, &mut samples);
        self.up.clear(now * len as u64, len);
        self.mute(&mut samples);
        self.shift(-self.between.frequency_hz, now * len as u64, &mut samples);
        self.noise(0, now * len as u64, &mut samples);
        let out = self.station.subframe(now - self.restarted_at, Some(&samples));
        let at = (now + 4) * len as u64 + self.between.delay as u64;
        self.down.add(at, out);
        self.station_traffic.exchange(now, &mut self.station).unwrap();
        while self.terminal_begin + self.between.skew + len as u64 <= (now + 1) * len as u64 {
            self.step_terminal();
        }
        // Nobody reads these any more.
        if let Some(old) = now.checked_sub(8) {
            self.down.clear(old * len as u64, len);
        }
        self.now += 1;
    }

    fn step_terminal(&mut self) {
        let begin = self.terminal_begin;
        let mut samples = vec![Complex32::default(); self.len];
        self.down.read(begin + self.between.skew, &mut samples);
        self.mute(&mut samples);
        self.shift(self.between.frequency_hz, begin + self.between.skew, &mut samples);
        self.noise(1, begin, &mut samples);
        let step = self.terminal.subframe(begin, Some(&mut samples)).unwrap();
        if let Some(at) = step.send_at {
            self.up.add(at + self.between.skew + self.between.delay as u64, self.terminal.samples());
        }
        let more = self.terminal_traffic.exchange(self.terminal_subframes, &mut self.terminal).unwrap();
        self.ended |= !more;
        self.terminal_subframes += 1;
        self.terminal_begin = step.next_begin;
    }

    fn mute(&self, samples: &mut [Complex32]) {
        if self.muted {
            samples.fill(Complex32::default());
        }
    }

    fn shift(&self, frequency_hz: f64, at: u64, samples: &mut [Complex32]) {
        let turns = frequency_hz / self.rate_sps;
        for (sample, at) in samples.iter_mut().zip(at..) {
            let phase = std::f64::consts::TAU * (turns * at as f64).fract();
            *sample *= Complex32::from_polar(1.0, phase as f32);
        }
    }

    /// Noise over the whole sampled band, so that elements have the ratio that is asked for.
    fn noise(&self, stream: u64, at: u64, samples: &mut [Complex32]) {
        let of_element = f64::from(AMPLITUDE * AMPLITUDE) / 10f64.powf(self.between.snr_db / 10.0);
        let mut noise = vec![Complex32::default(); samples.len()];
        let power = (of_element * self.band) as f32;
        takt_dsp::noise(self.between.seed * 2 + stream, power, Tick(at), 1, &mut noise);
        samples.iter_mut().zip(noise).for_each(|(sample, noise)| *sample += noise);
    }
}

fn cell(bandwidth: Bandwidth) -> Cell {
    Cell { id: CellId::new(101).unwrap(), bandwidth, phich: PhichResource::One }
}

fn station(bandwidth: Bandwidth, seed: u64) -> StationCore {
    let cell = cell(bandwidth);
    let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
    let cfi = usual_cfi(&cell);
    let sizes = Arc::new(CellSizes { cell, cfi });
    let settings = AirSettings {
        cell,
        numerology,
        cfi,
        uplink: UplinkConfig::new(cell),
        prach: SystemInformation::for_bandwidth(bandwidth).prach,
        amplitude: AMPLITUDE,
        iterations: 8,
    };
    let config =
        StationConfig { control_elements: control_elements(&cell, cfi) as u8, ..StationConfig::new(bandwidth, seed) };
    StationCore::new(&settings, BaseStation::new(config, sizes).unwrap()).unwrap()
}
