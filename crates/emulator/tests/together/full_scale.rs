//! Integers pass through a radio as they are: from a file to the wire, from the wire to a file, and through a cable. All that sc16
//! has, on both models; none of them counts as clipped.

use takt_emulator::air::ModelName;
use takt_emulator::n200::N200Options;
use takt_emulator::signals::{Setting, Signals, Watch};
use takt_emulator::x310::X310Options;
use takt_wire::n200::StreamAction;
use takt_wire::sample::Format;

use crate::support as n200;
use crate::x310::host as x310;

/// How many integers there are.
const COUNT: usize = 1 << 16;
/// Samples that are sent at once, at 1 MS/s; the radio then has a little less time than they last.
const AT_ONCE: usize = 4096;

/// Every integer as I, and another one as Q.
fn all() -> Vec<(i16, i16)> {
    (i16::MIN..=i16::MAX).map(|k| (k, !k)).collect()
}

fn little_endian(samples: &[(i16, i16)]) -> Vec<u8> {
    samples.iter().flat_map(|(i, q)| [i.to_le_bytes(), q.to_le_bytes()]).flatten().collect()
}

fn big_endian(samples: &[(i16, i16)]) -> Vec<u8> {
    samples.iter().flat_map(|(i, q)| [i.to_be_bytes(), q.to_be_bytes()]).flatten().collect()
}

fn open(model: ModelName, source: &str, sink: &str) -> (Signals, Watch) {
    let clock = match model {
        ModelName::N200 => takt_emulator::n200::CLOCK,
        ModelName::X310 => takt_emulator::x310::MASTER_CLOCK,
    };
    let setting = Setting { clock, hw: "EMU001".to_owned(), utc_at_tick_0_ns: None };
    takt_emulator::signals::open(&source.parse().unwrap(), &sink.parse().unwrap(), &setting).unwrap()
}

/// The samples that a host receives at 1 MS/s, as many as there are integers.
fn received(model: ModelName, signals: Signals) -> Vec<(i16, i16)> {
    match model {
        ModelName::N200 => {
            let mut host = n200::Host::with(N200Options::default(), signals, &[]);
            host.open_rx(0, 100, Format::Sc16, 363);
            host.stream(0, StreamAction::Samples(COUNT as u32), None);
            host.run(n200::ms(80));
            host.samples(0)
        }
        ModelName::X310 => {
            let mut host = x310::Host::with(X310Options::default(), [signals, n200::ramps()], &[]);
            host.prepare();
            host.open_rx(0, 200, 1000);
            host.stream(0, 1, COUNT as u64, None);
            host.run(x310::ms(80));
            host.rx[0].iter().flat_map(|packet| packet.samples.clone()).collect()
        }
    }
}

/// Sends these at 1 MS/s; what is received from the first on.
fn through(model: ModelName, signals: Signals, samples: &[(i16, i16)]) -> Vec<(i16, i16)> {
    const PACKET: usize = 256;
    let is_last = |n: usize| PACKET * (n + 1) == samples.len();
    let is_enough = |n: usize| (PACKET * (n + 1)).is_multiple_of(AT_ONCE);
    match model {
        ModelName::N200 => {
            let mut host = n200::Host::with(N200Options::default(), signals, &[]);
            host.open_tx(100, Format::Sc16);
            host.open_rx(0, 100, Format::Sc16, 363);
            let start = host.time() + n200::SECOND / 100;
            host.stream(0, StreamAction::Samples(samples.len() as u32), Some(start));
            for (n, packet) in samples.chunks(PACKET).enumerate() {
                host.payload(&big_endian(packet), (n == 0).then_some(start), is_last(n));
                if is_enough(n) {
                    host.run(n200::ms(4));
                }
            }
            host.run(n200::ms(30));
            host.samples(0)
        }
        ModelName::X310 => {
            let mut host = x310::Host::with(X310Options::default(), [signals, n200::ramps()], &[]);
            host.prepare();
            host.open_tx(0, 200, 100_000);
            host.open_rx(0, 200, 1000);
            let start = host.time() + x310::SECOND / 100;
            host.stream(0, 1, samples.len() as u64, Some(start));
            for (n, packet) in samples.chunks(PACKET).enumerate() {
                host.transmit(0, (n == 0).then_some(start), is_last(n), packet);
                if is_enough(n) {
                    host.run(x310::ms(4));
                }
            }
            host.run(x310::ms(30));
            host.rx[0].iter().flat_map(|packet| packet.samples.clone()).collect()
        }
    }
}

#[test]
fn integers_of_a_file_are_those_of_the_wire() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("all.sc16", little_endian(&all())), ("all.ci16_be", big_endian(&all()))] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        for model in ModelName::ALL {
            for past in ["", ",raw"] {
                let source = format!("file:{}{past}", path.display());
                let (signals, _watch) = open(model, &source, "null");
                assert!(received(model, signals) == all(), "{model:?} {source}");
            }
        }
    }
}

#[test]
fn integers_of_the_wire_are_those_of_a_file_and_come_back_through_a_cable() {
    let dir = tempfile::tempdir().unwrap();
    for model in ModelName::ALL {
        let path = dir.path().join(format!("{model:?}.sc16"));
        let (signals, watch) = open(model, "loopback", &format!("file:{}", path.display()));
        assert!(through(model, signals, &all()) == all(), "{model:?}: received");
        let sink = watch.finish().sink;
        let counts = (sink.samples, sink.dropped_samples, sink.clipped_samples);
        assert_eq!(counts, (COUNT as u64, 0, 0), "{model:?}");
        assert!(std::fs::read(&path).unwrap() == little_endian(&all()), "{model:?}: recorded");
    }
}
