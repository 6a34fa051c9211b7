//! Transmitting to a software radio on a virtual clock.

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::n200::{N200Options, Signals};
use takt_radio::n200::CLOCK;
use takt_radio::{Burst, TxEventKind, TxStream};

use crate::common::{Ramp, Recorder, ms, world_with};

#[test]
fn a_timed_burst_leaves_at_its_tick_and_is_acknowledged() {
    let recorder = Recorder::default();
    let net = world_with(
        N200Options::default(),
        Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(recorder.clone()) },
    );
    let (mut radio, mut tx) = net.transmitter(1e6);
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    let samples = vec![Complex32::new(0.5, -0.25); 10_000];
    let sent = tx.send(&[&samples], Burst::at(start).ending(), net.after(ms(100))).unwrap();
    assert_eq!(sent, 10_000);
    let event = tx.event(net.after(ms(100))).unwrap().unwrap();
    assert_eq!(event.kind, TxEventKind::BurstAck);
    assert_eq!(event.tick, start + Ticks(10_000 * 100));
    let played = recorder.0.lock().unwrap();
    assert_eq!(played.iter().map(|(_, _, samples)| samples.len()).sum::<usize>(), 10_000);
    let _ = Tick(0);
}
