//! Receiving from a software radio on a virtual clock: what is lost is known to the sample.

mod common;

use common::{Action, Ramp, Way, ms, world};
use takt_base::{Complex32, Tick};
use takt_radio::n200::RxOptions;
use takt_radio::{RxEvent, RxStream};
use takt_wire::n200::ports;

#[test]
fn a_stream_starts_at_its_tick_and_carries_what_the_radio_hears() {
    let net = world();
    let mut radio = net.radio();
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
    let start = radio.time().unwrap() + takt_radio::n200::CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).unwrap();
    let mut buffer = vec![Complex32::default(); 10_000];
    let mut at = start;
    for _ in 0..10 {
        let received = rx.recv(&mut [&mut buffer], net.after(ms(100))).unwrap();
        assert_eq!((received.samples, received.first, received.event), (10_000, at, None));
        at += takt_base::Ticks(10_000 * 100);
    }
    assert_eq!(rx.stats().bad_datagrams, 0);
    let _ = (Ramp::at(0), Action::Pass, Way::In, ports::RX0, Tick(0), RxEvent::EndOfBurst);
}
