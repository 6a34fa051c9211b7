//! The air: what the radios of one process receive of each other.
//!
//! Each transmitting channel writes what it sends into a bounded ring, stamped by ticks that count from where the driver's clock
//! stood at 0. Each receiving channel reads from the rings of its links, at its own instants. Nobody waits, nobody locks, and
//! nothing is allocated once an air is built.
//!
//! ```text
//!   transmitter A ── ring ──┬── link: gain, delay, offset, taps ──┐
//!                           └── link ──┐                          ├── sum ── noise ── board ── receiver C
//!   transmitter B ── ring ─────────────┼── link ──────────────────┘
//!                                      └── ... receiver D
//! ```
//!
//! **What is received.** A transmitter whose 0 Hz leaves at `f` and a receiver whose 0 Hz is at `g`, a path of amplitude `a`, phase `p`
//! and delay `d`, and a frequency offset `o` of the link: at instant t
//!
//! ```text
//!   y(t) = a exp(j p) x(t - d) exp(-j 2 pi f d) exp(j 2 pi (f - g + o) t)
//! ```
//!
//! with x band-limited to both bands ([`takt_dsp::Interpolator`]: within two fifths of the lower rate 80 dB right, outside of the
//! common band 80 dB down). The instant is the driver's, which counts from 0 as the host's monotonic clock does: setting a
//! radio's time, another rate or another packet size change nothing. At equal rates, whole samples of delay and equal
//! frequencies samples go over one by one, times the amplitude. Samples that nobody sends are silence. Samples beyond
//! full scale are cut off, and counted.
//!
//! **Fading.** A link that fades has the paths of its channel ([`takt_dsp::Fading`]), each times its gain, a function of the receiver's
//! instant, the scene's seed and the two ends.
//!
//! **When.** A packet leaves [`Scene::latency`] after its last sample; its time stamp does not move. By then what was sent for that
//! time is in, unless the emulator itself was later than that, which is counted (`late_samples`). On the virtual clock it never is.
//!
//! **A clock that is off** is the radio's: its driver counts faster or slower ([`Radio::driver_clock`]), so its samples, its
//! frequencies and its own clock follow, as with one oscillator. The offset of a pair is the difference of the two.
//!
//! ```
//! use takt_emulator::air::{Air, Delay, End, Link, ModelName, Radio, Scene};
//! use takt_emulator::{sink, source};
//! let radio = |name: &str| Radio::new(name, ModelName::N200, "127.0.0.1".parse().unwrap());
//! let (base, phone) = (End { radio: 0, channel: 0 }, End { radio: 1, channel: 0 });
//! let link = Link { gain_db: -20.0, delay: Delay::Ns(125.0), ..Link::new(base, phone) };
//! let scene = Scene { radios: vec![radio("base"), radio("phone")], links: vec![link], ..Scene::default() };
//! let mut air = Air::new(&scene);
//! let silence = || Box::new(source::Silence) as Box<dyn source::Source>;
//! let (signals, _counts) = air.join(base, [silence(), silence()], Box::new(sink::Null));
//! assert!(signals.sink.wants_samples());
//! ```

mod clockwork;
mod error;
mod fading;
mod file;
mod path;
mod receiver;
mod scene;
mod transmitter;

use std::sync::Arc;

use crate::front_end::Imbalance as BoardImbalance;
use crate::sample_ring::{self, Reader, Writer};
use crate::signals::{AirCounts, Signals};
use crate::sink::Sink;
use crate::source::Source;
use clockwork::Clockwork;
use fading::LinkFading;
use path::Path;
use receiver::{AirSource, Incoming, Setting};
use transmitter::AirSink;

pub use error::{AirError, Problem};
pub use scene::{
    Delay, End, Imbalance, LATENCY_US, LONGEST_DELAY_NS, LONGEST_DELAY_SAMPLES, Link, MOST_CLOCK_OFFSET_PPM,
    MOST_LINKS, MOST_LINKS_TO_ONE, MOST_RADIOS, MOST_TAPS, ModelName, Noise, Radio, Receive, Scene, Tap,
};

/// The air of a scene, whose radios join one after the other.
pub struct Air {
    scene: Scene,
    /// The channels from which a link leaves.
    transmitters: Vec<Transmitter>,
}

struct Transmitter {
    end: End,
    /// Taken by the radio.
    writer: Option<Writer>,
    reader: Reader,
    clockwork: Arc<Clockwork>,
}

impl Air {
    /// With all the memory it will ever need. Links to or from radios that there are not are left out.
    #[must_use]
    pub fn new(scene: &Scene) -> Air {
        let mut air = Air { scene: scene.clone(), transmitters: Vec::new() };
        for link in &scene.links {
            let known = air.transmitters.iter().any(|transmitter| transmitter.end == link.from);
            let Some(radio) = scene.radios.get(link.from.radio).filter(|_| !known) else { continue };
            let (writer, reader) = sample_ring::ring(radio.model.kept_samples(scene.latency));
            let base = radio.model.timebase().faster(radio.clock_offset_hundredths_ppm);
            let clockwork = Arc::new(Clockwork::new(base));
            air.transmitters.push(Transmitter { end: link.from, writer: Some(writer), reader, clockwork });
        }
        air
    }

    /// Connects an antenna of a radio. Its receivers receive the links that lead to it, or these sources where there
    /// are none. Its transmission goes into the air, and to this sink.
    ///
    /// # Panics
    /// There is no such radio.
    pub fn join(&mut self, end: End, alone: [Box<dyn Source>; 2], sink: Box<dyn Sink>) -> (Signals, AirCounts) {
        let radio = self.scene.radios.get(end.radio).expect("a radio of the scene");
        let (nominal, hundredths_ppm) = (radio.model.timebase(), radio.clock_offset_hundredths_ppm);
        let mut counts = AirCounts::default();
        let sink: Box<dyn Sink> = match self.transmitters.iter_mut().find(|transmitter| transmitter.end == end) {
            None => sink,
            Some(Transmitter { writer, clockwork, .. }) => {
                counts.late = Arc::clone(&clockwork.late);
                let imbalance = BoardImbalance::of(radio.transmit);
                let writer = writer.take().expect("a radio joins once");
                Box::new(AirSink::new(writer, Arc::clone(clockwork), nominal, hundredths_ppm, imbalance, sink))
            }
        };
        let setting = Setting {
            noise: self.noise(end),
            imbalance: BoardImbalance::of(radio.receive.imbalance),
            latency: self.scene.latency,
            lost: Arc::clone(&counts.lost),
            clipped: Arc::clone(&counts.clipped),
        };
        let sources = alone.map(|alone| {
            let links = self.incoming_at(end);
            if links.is_empty() && setting.noise.is_none() && setting.imbalance.is_none() {
                return alone;
            }
            let alone: Box<dyn Source> = if links.is_empty() { alone } else { Box::new(crate::source::Silence) };
            Box::new(AirSource::new(nominal, hundredths_ppm, setting.clone(), links, alone)) as Box<dyn Source>
        });
        (Signals { sources, sink }, counts)
    }

    fn links_to(&self, end: End) -> impl Iterator<Item = &Link> {
        self.scene.links.iter().filter(move |link| link.to == end)
    }

    fn incoming_at(&self, end: End) -> Vec<Incoming> {
        let received = self.links_to(end).filter_map(|link| {
            let transmitter = self.transmitters.iter().find(|transmitter| transmitter.end == link.from)?;
            let direct = Path::direct(link.gain_db, link.delay);
            let paths = match link.fading {
                Some(model) => model.profile.taps().iter().map(|tap| Path::fading(direct, tap)).collect(),
                None => std::iter::once(direct).chain(link.taps.iter().map(|tap| Path::beside(direct, tap))).collect(),
            };
            let fading = link.fading.map(|model| LinkFading::new(model, self.fading_seed(link)));
            let (reader, clockwork) = (transmitter.reader.clone(), Arc::clone(&transmitter.clockwork));
            Some(Incoming::new(reader, clockwork, paths, link.frequency_offset_hz, fading))
        });
        received.collect()
    }

    /// Seed and mean power of all noise at a receiver: its own, and that of its links.
    fn noise(&self, end: End) -> Option<(u64, f32)> {
        let own = self.scene.radios.get(end.radio)?.receive.noise_dbfs;
        let of_links = self.links_to(end).filter_map(|link| match link.noise? {
            Noise::Dbfs(dbfs) => Some(dbfs),
            Noise::SnrDb(snr_db) => Some(link.gain_db - snr_db),
        });
        let power: f64 = own.into_iter().chain(of_links).map(|dbfs| 10f64.powf(dbfs / 10.0)).sum();
        (power > 0.0).then(|| (mixed(self.scene.seed, place(end)), power as f32))
    }

    /// The two directions between two radios fade apart, as do bands so far apart as those of FDD.
    fn fading_seed(&self, link: &Link) -> u64 {
        mixed(self.scene.seed, (place(link.from) + 1) << 32 | place(link.to))
    }
}

/// A number of its own for each antenna, below 2^16.
fn place(end: End) -> u64 {
    (end.radio as u64) << 8 | end.channel as u64
}

/// A seed of its own for each place (splitmix64 of Steele, Lea and Flood).
fn mixed(seed: u64, place: u64) -> u64 {
    let mut z = seed.wrapping_add((place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
