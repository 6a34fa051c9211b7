//! While samples flow, streamers allocate nothing: neither when all is well, nor when datagrams are lost, damaged or
//! doubled. Counted by the global allocator of this binary, on real sockets against a software radio.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, Complex32, Ticks};
use takt_emulator::emulate::{Emulator, Options};
use takt_packet::EngineKind;
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions, TxOptions};
use takt_radio::waveform::{Answers, Slicer, SlotGrid};
use takt_radio::{Burst, RxStream, TxStream, WallNet};

const ADDR: Ipv4Addr = Ipv4Addr::new(127, 0, 4, 9);

#[test]
fn streaming_allocates_nothing() {
    let faults =
        ["lose:rx,every=50", "corrupt:rx,every=77,where=header", "duplicate:rx,every=90", "reorder:rx,every=110"];
    let faults = faults.map(str::to_owned).into();
    let emulator = Emulator::start(&Options { addrs: vec![ADDR], faults, ..Options::default() }).unwrap();
    for engine in EngineKind::ALL {
        let net = Arc::new(WallNet::new(engine));
        let mut radio = N200::open(net.clone(), ADDR.into(), &OpenOptions::default()).unwrap();
        let mut rx = radio.rx_streamer(&RxOptions { channels: vec![0, 1], ..RxOptions::new(1e6) }).unwrap();
        let mut tx = radio.tx_streamer(&TxOptions::new(1e6)).unwrap();
        let (mut a, mut b) = (vec![Complex32::default(); 10_000], vec![Complex32::default(); 10_000]);
        let (mut c, mut d) = (vec![Complex::<i16>::default(); 1000], vec![Complex::<i16>::default(); 1000]);
        rx.start(None).unwrap();

        let before = allocations::count();
        let mut samples = 0;
        for _ in 0..60 {
            let until = net.now() + Duration::from_millis(200);
            samples += rx.recv(&mut [&mut a, &mut b], until).unwrap().samples;
            samples += rx.recv_integers(&mut [&mut c, &mut d], until).unwrap().samples;
            tx.send(&[&a], Burst::GO_ON, until).unwrap();
            tx.send_integers(&c, Burst::END, until).unwrap();
            while tx.event(net.now()).unwrap().is_some() {}
        }
        let counted = allocations::count() - before;
        assert!(samples > 50_000, "{samples} samples with {engine}");
        assert!(rx.stats().missing_datagrams > 0 && tx.stats().burst_acks > 0, "{:?} {:?}", rx.stats(), tx.stats());
        assert_eq!(counted, 0, "with {engine}");
    }
    slots_and_answers_allocate_nothing();
    emulator.stop().unwrap();
}

/// What a waveform on a radio's clock does in a slot: receive it, answer it, hear what the radio says of the answers.
fn slots_and_answers_allocate_nothing() {
    let net = Arc::new(WallNet::new(EngineKind::Mmsg));
    let mut radio = N200::open(net.clone(), ADDR.into(), &OpenOptions::default()).unwrap();
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
    let mut answers = Answers::new(radio.tx_streamer(&TxOptions::new(1e6)).unwrap());
    let start = radio.time().unwrap() + CLOCK.ticks_in(Duration::from_millis(50));
    rx.start(Some(start)).unwrap();
    let grid = SlotGrid { start, step: Ticks(100), samples: 2000 };
    let (mut slicer, mut cell) = (Slicer::new(grid), vec![Complex32::default(); 2000]);

    let before = allocations::count();
    let mut slots = 0;
    while slots < 100 {
        let until = net.now() + Duration::from_millis(200);
        let Some(end) = slicer.step(&mut rx, std::iter::once(&mut cell[..]), until).unwrap() else { continue };
        // Some in time, some late.
        let at = grid.begin(end.slot + end.slot % 2 * 4);
        answers.send(end.slot, at, &cell[..1000], until).unwrap();
        answers.hear(net.now()).unwrap();
        slots += 1;
    }
    assert_eq!(allocations::count() - before, 0);
    assert!(answers.bursts() > 0);
}
