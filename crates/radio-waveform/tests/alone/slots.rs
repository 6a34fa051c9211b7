//! A waveform on a radio's clock allocates nothing in a slot, done by hand on one thread: receive it, answer it, read
//! what the radio reports of the answers. Neither when all is well, nor when datagrams are lost, damaged or doubled. Counted by
//! the global allocator of this binary, on real sockets against a software radio.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, Ticks};
use takt_emulator::emulate::{Emulator, EmulatorOptions};
use takt_packet::EngineKind;
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions, TxOptions};
use takt_radio::{RadioError, WallNet};
use takt_radio_waveform::{ReplyBursts, Slicer, SlotGrid};
use takt_testing::{HANG, loopback, not_judged, wait_for};

use super::{allocations, turn};

#[test]
fn slots_and_answers_allocate_nothing() {
    let _turn = turn();
    let addr = loopback(9);
    let faults =
        ["lose:rx,every=50", "corrupt:rx,every=77,where=header", "duplicate:rx,every=90", "reorder:rx,every=110"];
    let faults = faults.map(str::to_owned).into();
    let emulator =
        Emulator::start(&EmulatorOptions { addrs: vec![addr], faults, ..EmulatorOptions::default() }).unwrap();
    if let Err(error) = receive_and_answer(addr) {
        not_judged(format!("the radio does not answer in time: {error}"));
    }
    emulator.stop().unwrap();
}

/// A hundred slots, however often the stream ends.
fn receive_and_answer(addr: Ipv4Addr) -> Result<(), RadioError> {
    let net = Arc::new(WallNet::new(EngineKind::Mmsg));
    // However often a busy radio does not answer in time.
    let options = OpenOptions { force: true, ..OpenOptions::default() };
    let mut radio = wait_for("the radio", || N200::open(net.clone(), addr.into(), &options).ok());
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6))?;
    let mut answers = ReplyBursts::new(radio.tx_streamer(&TxOptions::new(1e6))?);
    let mut cell = vec![Complex32::default(); 2000];

    let (mut counted, mut slots, end) = (0, 0, net.now() + HANG);
    while slots < 100 {
        // A stream that overflowed has ended, and the word of it may be lost. To begin anew is not to stream.
        assert!(net.now() < end, "{slots} slots");
        let start = radio.time()? + CLOCK.ticks_in(Duration::from_millis(50));
        rx.start(Some(start))?;
        let grid = SlotGrid { start, step: Ticks(100), samples: 2000 };
        let (mut slicer, mut silent) = (Slicer::new(grid), 0);
        let before = allocations::count();
        while slots < 100 && silent < 5 {
            let until = net.now() + Duration::from_millis(200);
            silent += 1;
            let Some(end) = slicer.step(&mut rx, std::iter::once(&mut cell[..]), until)? else { continue };
            // Some in time, some late.
            let at = grid.begin(end.slot + end.slot % 2 * 4);
            answers.send(end.slot, at, &cell[..1000], until)?;
            answers.receive(net.now())?;
            (slots, silent) = (slots + 1, 0);
        }
        counted += allocations::count() - before;
        rx.stop()?;
    }
    assert_eq!(counted, 0);
    assert!(answers.bursts() > 0);
    Ok(())
}
