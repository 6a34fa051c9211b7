//! While samples flow through an air nothing is allocated: another rate, a fraction of a sample, further paths, noise, imbalance.

use takt_base::{Complex32, Tick};
use takt_emulator::air::{Air, Delay, End, Imbalance, Link, ModelName, Noise, Radio, Scene, Tap};
use takt_emulator::sink::{BurstEdges, Null};
use takt_emulator::source::Silence;

use crate::allocations;

#[test]
fn what_is_sent_and_received_allocates_nothing() {
    let ends = [0, 1, 2].map(|radio| End { radio, channel: 0 });
    let radio = |name: &str, model| Radio::new(name, model, "127.0.0.1".parse().unwrap());
    let imbalance = Imbalance { dc_offset_i: 0.01, iq_gain_db: 0.5, ..Imbalance::default() };
    let mut radios = vec![radio("a", ModelName::N200), radio("b", ModelName::X310), radio("c", ModelName::N200)];
    radios[0].transmit = imbalance;
    radios[1].receive.imbalance = imbalance;
    radios[2].clock_offset_hundredths_ppm = 123;
    let tap = Tap { delay_ns: 260.4, gain_db: -6.0, phase_deg: 90.0 };
    let links = vec![
        Link {
            delay: Delay::Ns(33.3),
            noise: Some(Noise::Dbfs(-60.0)),
            taps: vec![tap],
            ..Link::new(ends[0], ends[1])
        },
        Link { frequency_offset_hz: 500.0, fading: "EVA 300".parse().ok(), ..Link::new(ends[2], ends[1]) },
    ];
    let mut air = Air::new(&Scene { radios, links, ..Scene::default() });
    let mut signals = ends.map(|end| air.join(end, [Box::new(Silence), Box::new(Silence)], Box::new(Null)).0);
    let sent = [Complex32::new(0.3, -0.2); 363];
    let mut received = [Complex32::default(); 1000];
    let [a, b, c] = &mut signals;

    let before = allocations::count();
    for n in 0..800u64 {
        // Bursts, and now and then another rate and frequency on either side.
        let step = if n % 500 < 250 { 4 } else { 5 };
        let edges = BurstEdges { start: n % 10 == 0, end: n % 10 == 9 };
        let at = 1_000_000 + n * 363 * 5;
        for transmitter in [&mut *a, &mut *c] {
            if n % 700 == 0 {
                transmitter.sink.tuned(Tick(at), 900e6 + n as f64);
            }
            transmitter.sink.take(Tick(at), step, &sent, edges);
        }
        if n % 300 == 0 {
            b.sources[0].tuned(Tick(2 * at), 900e6);
        }
        let samples = 363 * 10 / 10;
        b.sources[0].fill(Tick(2 * at), 10, &mut received[..samples]);
    }
    assert_eq!(allocations::count() - before, 0);
    assert!(received.iter().any(|x| x.norm() > 0.1));
}
