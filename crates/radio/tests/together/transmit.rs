//! Permission to send samples to a radio: one that is not takt's own, only if the user has stated so. And what a driver
//! does not take on trust: boards it has no model of, oscillators and references that do not lock.

use std::sync::Arc;

use takt_base::Complex32;
use takt_emulator::n200::{EepromImages, N200 as Device, N200Options};
use takt_radio::board::{BoardKind, Side};
use takt_radio::n200::{CLOCK, ClockSource, N200, OpenOptions, RxOptions, TxOptions, TxWish};
use takt_radio::{Burst, RadioError, RxStream, TuneRequest, TxStream};
use takt_wire::n200::eeprom::{Daughterboard, Text};
use takt_wire::n200::ports;
use takt_wire::n200::registers::readback;

use crate::common::{ADDR, Action, SimNet, Way, ms, ramps, world, world_faulty};

const RATE: f64 = 1e6;

/// A world whose radio does not say that it is software, as a real one.
fn hardware() -> Arc<SimNet> {
    world_faulty(N200Options { marked: false, ..N200Options::default() }, ramps(), &[])
}

fn open(net: &Arc<SimNet>, options: OpenOptions) -> Result<N200, RadioError> {
    N200::open(net.clone(), ADDR, &options)
}

fn receives(net: &SimNet, radio: &mut N200) {
    let mut rx = radio.rx_streamer(&RxOptions::new(RATE)).unwrap();
    rx.start(None).unwrap();
    let mut buffer = vec![Complex32::default(); 1000];
    assert_eq!(rx.recv(&mut [&mut buffer], net.after(ms(100))).unwrap().samples, 1000);
}

#[test]
fn takt_knows_its_own_radios_and_is_not_fooled_by_names() {
    assert!(world().radio().identity().software);
    assert!(!hardware().radio().identity().software);
    let alike = N200Options { name: "takt software radio".into(), marked: false, ..N200Options::default() };
    assert!(!world_faulty(alike, ramps(), &[]).radio().identity().software);
}

#[test]
fn a_radio_that_is_not_takts_own_is_sent_nothing_unasked() {
    let net = hardware();
    let mut radio = net.radio();
    let Err(refused) = radio.tx_streamer(&TxOptions::new(RATE)) else { panic!("it would transmit") };
    assert_eq!(
        refused.to_string(),
        "N200r4 serial EMU001 at 127.0.4.1 is not takt's emulator: it would transmit at 2400 MHz, gain 0 dB, \
         antenna TX/RX; boards: SBX (0x0054, 0x0055)"
    );
    assert!(refused.fix().is_some_and(|fix| fix.contains("--transmit")), "{:?}", refused.fix());
    receives(&net, &mut radio);
    assert_eq!(net.report().tx.packets, 0);
}

#[test]
fn a_refusal_names_what_was_wished() {
    let net = hardware();
    let radio = net.radio();
    let wish = TxWish { frequency_hz: Some(900e6), gain_db: Some(10.0), antenna: Some("CAL") };
    let Err(refused) = radio.may_transmit(wish) else { panic!("it would transmit") };
    assert!(refused.to_string().contains("at 900 MHz, gain 10 dB, antenna CAL;"), "{refused}");
}

#[test]
fn a_radio_that_may_transmit_does_and_says_with_what() {
    let net = hardware();
    let mut radio = open(&net, OpenOptions { transmit: true, ..OpenOptions::default() }).unwrap();
    let mut tx = radio.tx_streamer(&TxOptions::new(RATE)).unwrap();
    radio.tune_tx(TuneRequest::new(900e6)).unwrap();
    radio.set_gain_db(Side::Tx, 10.5).unwrap();
    radio.set_antenna(Side::Tx, "CAL").unwrap();
    let said = radio.may_transmit(TxWish::default()).unwrap().expect("it is not takt's own").to_string();
    assert!(said.starts_with("at 900 MHz, gain 10.5 dB, antenna CAL;"), "{said}");
    let samples = vec![Complex32::default(); 363];
    tx.send(&[&samples], Burst::END, net.after(ms(100))).unwrap();
    net.world.run_for(ms(10));
    assert_eq!(net.report().tx.packets, 1);
}

#[test]
fn takts_own_radio_may_be_sent_anything() {
    let net = world();
    let mut radio = net.radio();
    assert_eq!(radio.may_transmit(TxWish::default()).unwrap(), None);
    assert!(radio.tx_streamer(&TxOptions::new(RATE)).is_ok());
}

/// EEPROM contents of a radio with these daughterboards.
fn with_boards(rx: u16, tx: u16) -> EepromImages {
    let mut bytes = Device::new(N200Options::default(), ramps()).unwrap().eeproms().to_bytes();
    for (at, id) in [(256, tx), (512, rx)] {
        let board = Daughterboard { id, revision: 0, serial: Text::default() };
        bytes[at..at + Daughterboard::IMAGE_BYTES].copy_from_slice(&board.image());
    }
    EepromImages::from_bytes(&bytes).unwrap()
}

#[test]
fn boards_without_a_model_stream_and_are_not_set() {
    let options = N200Options { eeproms: Some(with_boards(0x0069, 0x0068)), ..N200Options::default() };
    let net = world_faulty(options, ramps(), &[]);
    let mut radio = net.radio();
    assert_eq!(radio.board(), BoardKind::Unknown);
    receives(&net, &mut radio);
    let refused = [
        radio.tune_rx(0, TuneRequest::new(900e6)).err(),
        radio.tune_tx(TuneRequest::new(900e6)).err(),
        radio.set_gain_db(Side::Rx, 10.0).err(),
        radio.set_antenna(Side::Tx, "TX/RX").err(),
    ];
    for (refused, what) in refused.into_iter().zip(["frequency", "frequency", "gain", "antenna"]) {
        let refused = refused.expect("takt does not know how");
        assert_eq!(
            refused.to_string(),
            format!("takt does not know these daughterboards and can't set their {what}: SBX v5 (0x0069, 0x0068)")
        );
        assert!(refused.fix().is_some_and(|fix| fix.contains("bring-up.md")), "{:?}", refused.fix());
    }
    let spi = net.device(|device| device.device().spi_log().filter(|write| write.slaves & (16 | 128) != 0).count());
    assert_eq!(spi, 0, "nothing is written to a board that takt does not know");
}

/// The radio's answers to peeks of this word lack these bits.
fn lacks(net: &SimNet, word: u8, bits: u32) {
    net.tamper(move |way, port, bytes| {
        // An ack holds the command it answers in its third word, and what was read in its fourth.
        let mut ack = bytes.to_vec();
        match ack.get_mut(10..16) {
            Some([0, peeked, data @ ..]) if way == Way::In && port == ports::FIFO && *peeked == word => {
                data.iter_mut().zip(bits.to_be_bytes()).for_each(|(byte, bits)| *byte &= !bits);
                Action::Become(ack)
            }
            _ => Action::Pass,
        }
    });
}

#[test]
fn an_oscillator_that_does_not_lock_is_an_error_with_its_frequency() {
    let net = world();
    let mut radio = net.radio();
    lacks(&net, readback::GPIO, 1);
    let Err(refused) = radio.tune_rx(0, TuneRequest::new(900e6)) else { panic!("it is not locked") };
    let said = refused.to_string();
    assert!(said.starts_with("the receive oscillator of 127.0.4.1 does not lock at 900"), "{said}");
    radio.tune_tx(TuneRequest::new(900e6)).expect("the other one is");
    // One that is to be tuned later can't be locked yet.
    let at = radio.time().unwrap() + CLOCK.ticks_in(ms(200));
    radio.set_command_time(Some(at)).unwrap();
    radio.tune_rx(0, TuneRequest::new(1.5e9)).unwrap();
}

#[test]
fn a_reference_that_was_requested_and_is_not_there_is_refused() {
    let net = world();
    lacks(&net, readback::STATUS, 1 << 11);
    for reference in [ClockSource::External, ClockSource::Mimo] {
        let Err(refused) = open(&net, OpenOptions { reference, ..OpenOptions::default() }) else { panic!("unlocked") };
        let said = refused.to_string();
        assert!(said.contains(&format!("does not lock to its {} reference", reference.name())), "{said}");
        assert!(refused.fix().is_some_and(|fix| fix.contains("--reference internal")), "{:?}", refused.fix());
    }
    let mut radio = open(&net, OpenOptions::default()).expect("its own oscillator needs no lock");
    assert!(!radio.reference_locked().unwrap());
    net.stop_tampering();
    drop(radio);
    assert!(open(&net, OpenOptions { reference: ClockSource::External, ..OpenOptions::default() }).is_ok());
}
