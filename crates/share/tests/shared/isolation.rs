//! Whatever a client sends to its radio, the others' datagrams stay the same, bit for bit.

use std::time::Duration;

use proptest::prelude::*;
use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_emulator::Port;
use takt_radio::{Burst, RxOptions, RxStream, TuneRequest, TxOptions, TxStream};
use takt_share::SharedFrontEnd;

use crate::rig::{BLOCK, Kept, KeptAll, Logged, SharedWorld, addr, plan, settings};

const PLAN: [&str; 2] = ["transmit = true\noverlap = true", "transmit = true\noverlap = true"];
const LATENCY: Ticks = Ticks(100_000);

/// Datagrams of a driver to its radio while it receives and transmits.
fn session() -> Vec<Logged> {
    let net = SharedWorld::new(&plan(&PLAN), LATENCY, Box::new(|_| Complex32::default()));
    let mut radio = net.radio(addr(1));
    let mut tx = radio.tx_streamer(&TxOptions::new(1e6)).expect("a stream");
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).expect("a stream");
    radio.tune_rx(0, TuneRequest::new(2401e6)).expect("tuned");
    radio.tune_tx(TuneRequest::new(2399e6)).expect("tuned");
    let at = radio.time().expect("its time") + Ticks(1_000_000);
    rx.start(Some(at)).expect("it starts");
    let burst = vec![Complex32::new(0.1, 0.2); 500];
    tx.send(&[&burst], Burst::at(at).ending(), net.now() + Duration::from_secs(1)).expect("a stream");
    let mut samples = vec![Complex32::default(); 3000];
    let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
    assert_eq!(received.samples, 3000);
    net.look(|rig| rig.received[1].clone())
}

/// A datagram of the hostile client: in which block, to which port, what.
type Attack = (usize, u16, Vec<u8>);

/// Datagrams of the second radio when its session is replayed and the first is attacked.
fn replay(session: &[Logged], attacks: &[Attack]) -> Vec<Logged> {
    let mut core = SharedFrontEnd::new(&plan(&PLAN), &settings(LATENCY)).expect("a front end");
    let mut kept = KeptAll::new(2);
    let mut wide = [Complex32::default(); BLOCK];
    let (mut session, last) = (session.iter().peekable(), session.last().expect("a session").at + Ticks(4_000_000));
    let mut block = 0;
    while core.now() < last {
        let first = core.now() + Ticks(10);
        for (n, wide) in wide.iter_mut().enumerate() {
            *wide = Complex32::from_polar(0.3, ((first.0 / 10 + n as u64) % 97) as f32);
        }
        core.receive(first, &wide).expect("time goes on");
        core.advance(&mut kept);
        for (_, port, bytes) in attacks.iter().filter(|(at, ..)| block % 500 == *at) {
            let from = "127.0.0.9:4000".parse().expect("an address");
            core.datagram(0, Port(*port), from, bytes, &mut Kept(&mut Vec::new()));
        }
        while let Some(one) = session.next_if(|one| one.at <= core.now()) {
            core.datagram(1, one.port, one.peer, &one.bytes, &mut Kept(&mut kept.0[1]));
        }
        core.transmit(&mut |_| ());
        block += 1;
    }
    kept.0.swap_remove(1)
}

/// Noise, and what a driver sends with a few bytes changed: that reaches further.
fn attacks(session: &[Logged]) -> impl Strategy<Value = Vec<Attack>> + use<> {
    let session = session.to_vec();
    let ports = prop::sample::select(vec![49152, 49156, 49157, 49158, 49159, 49172, 7]);
    let noise = (0..500usize, ports, prop::collection::vec(any::<u8>(), 0..200));
    let damaged =
        (0..500usize, 0..session.len(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4))
            .prop_map(move |(block, n, changes)| {
                let Logged { port, mut bytes, .. } = session[n].clone();
                for (at, byte) in changes.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
                (block, port.0, bytes)
            });
    prop::collection::vec(prop_oneof![noise, damaged], 0..200)
}

#[test]
fn a_hostile_client_changes_no_bit_of_anothers_datagrams() {
    let session = session();
    let alone = replay(&session, &[]);
    assert!(alone.iter().filter(|sent| sent.port == Port(49156)).count() > 8, "it receives");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 12, ..ProptestConfig::default() });
    runner
        .run(&attacks(&session), |attacks| {
            prop_assert!(replay(&session, &attacks) == alone, "datagrams differ");
            Ok(())
        })
        .expect("isolated");
    assert!(alone.iter().any(|sent| sent.at > Tick(0)));
}
