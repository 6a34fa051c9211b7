//! While samples flow, streamers allocate nothing: neither when all is well, nor when datagrams are lost, damaged or
//! doubled. Counted by the global allocator of this binary, on real sockets against a software radio.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, Complex32};
use takt_emulator::emulate::{Emulator, EmulatorOptions};
use takt_packet::EngineKind;
use takt_radio::n200::{N200, OpenOptions, RxOptions, TxOptions};
use takt_radio::{Burst, RadioError, RxStream, TxStream, WallNet};
use takt_testing::{HANG, loopback, not_judged, wait_for};

use super::allocations;

/// Opens it, however often a busy radio does not answer in time.
fn opened(net: &Arc<WallNet>, addr: Ipv4Addr) -> N200 {
    let options = OpenOptions { force: true, ..OpenOptions::default() };
    wait_for("the radio", || N200::open(net.clone(), addr.into(), &options).ok())
}

#[test]
fn streaming_allocates_nothing() {
    let addr = loopback(9);
    let faults =
        ["lose:rx,every=50", "corrupt:rx,every=77,where=header", "duplicate:rx,every=90", "reorder:rx,every=110"];
    let faults = faults.map(str::to_owned).into();
    let emulator =
        Emulator::start(&EmulatorOptions { addrs: vec![addr], faults, ..EmulatorOptions::default() }).unwrap();
    let streamed = EngineKind::OVER_SOCKETS.into_iter().try_for_each(|engine| streams_allocate_nothing(addr, engine));
    if let Err(error) = streamed {
        not_judged(format!("the radio does not answer in time: {error}"));
    }
    emulator.stop().unwrap();
}

/// Streams both ways until enough has been received, lost and acknowledged.
fn streams_allocate_nothing(addr: Ipv4Addr, engine: EngineKind) -> Result<(), RadioError> {
    let net = Arc::new(WallNet::new(engine));
    let mut radio = opened(&net, addr);
    let mut rx = radio.rx_streamer(&RxOptions { channels: vec![0, 1], ..RxOptions::new(1e6) })?;
    let mut tx = radio.tx_streamer(&TxOptions::new(1e6))?;
    let (mut a, mut b) = (vec![Complex32::default(); 10_000], vec![Complex32::default(); 10_000]);
    let (mut c, mut d) = (vec![Complex::<i16>::default(); 1000], vec![Complex::<i16>::default(); 1000]);
    rx.start(None)?;

    let end = net.now() + HANG;
    let (mut counted, mut samples, mut rounds) = (0, 0, 0);
    while rounds < 60 || samples <= 50_000 || rx.stats().missing_datagrams == 0 || tx.stats().burst_acks == 0 {
        assert!(net.now() < end, "{samples} samples with {engine}: {:?} {:?}", rx.stats(), tx.stats());
        rounds += 1;
        let before = allocations::count();
        let until = net.now() + Duration::from_millis(200);
        let mut got = rx.recv(&mut [&mut a, &mut b], until)?.samples;
        got += rx.recv_integers(&mut [&mut c, &mut d], until)?.samples;
        tx.send(&[&a], Burst::GO_ON, until)?;
        tx.send_integers(&[&c], Burst::END, until)?;
        while tx.event(net.now())?.is_some() {}
        counted += allocations::count() - before;
        samples += got;
        if got == 0 {
            // A stream that overflowed has ended, and the word of it may be lost. To begin anew is not to stream.
            rx.stop()?;
            rx.start(None)?;
        }
    }
    assert_eq!(counted, 0, "with {engine}");
    Ok(())
}
