//! The driver's floats are as large as a file's: every integer of the wire is recorded as itself, and played as itself.

use std::sync::Arc;
use takt_base::Complex32;
use takt_dsp::file::SampleFormat;
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::source::Counter;
use takt_radio::n200::CLOCK;
use takt_radio::{Burst, RxStream, TxStream};

use crate::common::{Recorder, SimNet, ms, world_with};

/// How many integers there are.
const COUNT: usize = 1 << 16;
/// Rates at which an N200's integers are neither halved nor doubled.
const RATES: [f64; 2] = [1e6, 25e6];

/// A world whose radio receives a counter: 65536 samples in a row have every integer as I.
fn world(recorder: &Recorder) -> Arc<SimNet> {
    let signals = Signals { sources: [Box::new(Counter), Box::new(Counter)], sink: Box::new(recorder.clone()) };
    world_with(N200Options::default(), signals)
}

#[test]
fn what_is_received_is_recorded_as_the_integers_of_the_wire() {
    for rate_sps in RATES {
        let net = world(&Recorder::default());
        let (mut radio, mut rx) = net.receiver(rate_sps);
        rx.start(Some(radio.time().unwrap() + CLOCK.ticks_in(ms(20)))).unwrap();
        let mut samples = vec![Complex32::default(); COUNT];
        let received = rx.recv(&mut [&mut samples], net.after(ms(500))).unwrap();
        assert_eq!((received.samples, received.event), (COUNT, None), "at {rate_sps}");
        let mut bytes = vec![0; 4 * COUNT];
        assert_eq!(SampleFormat::Sc16.encode(&samples, &mut bytes), 0, "none is clipped at {rate_sps}");
        let numbers: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number)).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)), "at {rate_sps}");
    }
}

#[test]
fn what_a_file_has_is_played_as_the_same_integers() {
    let bytes: Vec<u8> = (i16::MIN..=i16::MAX).flat_map(|k| [k.to_le_bytes(), (!k).to_le_bytes()]).flatten().collect();
    let mut samples = vec![Complex32::default(); COUNT];
    SampleFormat::Sc16.decode(&bytes, &mut samples);
    for rate_sps in RATES {
        let recorder = Recorder::default();
        let net = world(&recorder);
        let (mut radio, mut tx) = net.transmitter(rate_sps);
        let at = radio.time().unwrap() + CLOCK.ticks_in(ms(5));
        assert_eq!(tx.send(&[&samples], Burst::at(at).ending(), net.after(ms(500))).unwrap(), COUNT);
        assert!(tx.event(net.after(ms(500))).unwrap().is_some(), "at {rate_sps}");
        let played: Vec<Complex32> = recorder.0.lock().unwrap().iter().flat_map(|(.., block)| block.clone()).collect();
        assert_eq!(played.len(), COUNT, "at {rate_sps}");
        let mut again = vec![0; bytes.len()];
        assert_eq!(SampleFormat::Sc16.encode(&played, &mut again), 0, "none is clipped at {rate_sps}");
        assert!(again == bytes, "at {rate_sps}");
    }
}
