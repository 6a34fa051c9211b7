//! Seven radios stream. Whatever the eighth's program does to its own, their datagrams stay the same, bit for bit.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

use proptest::prelude::*;
use takt_base::{Clock, Complex32, Ticks};
use takt_emulator::Port;
use takt_radio::{Burst, RxOptions, RxStream, TuneRequest, TxOptions, TxStream};
use takt_share::SharedFrontEnd;

use crate::rig::{BLOCK, Kept, KeptAll, Logged, SharedWorld, addr, plan, settings};

/// The first is the hostile one's.
const PLAN: [&str; 8] = ["rate = 1e6\ntransmit = true\noverlap = true"; 8];
const LATENCY: Ticks = Ticks(100_000);
/// Datagrams that takt takes of a radio's hosts in a block.
const MOST_A_BLOCK: usize = 64;

/// Datagrams of drivers that receive, and half of which transmit, to each radio.
static SESSIONS: LazyLock<Vec<Vec<Logged>>> = LazyLock::new(|| {
    let net = SharedWorld::new(&plan(&PLAN), LATENCY, Box::new(|_| Complex32::default()));
    let mut ends = Vec::new();
    for n in 0..PLAN.len() {
        let mut radio = net.radio(addr(n as u8));
        let tx = radio.tx_streamer(&TxOptions::new(1e6)).expect("a stream");
        let rx = radio.rx_streamer(&RxOptions::new(1e6)).expect("a stream");
        let target_hz = 2396.5e6 + 1e6 * n as f64;
        radio.tune_rx(0, TuneRequest::new(target_hz)).expect("tuned");
        radio.tune_tx(TuneRequest::new(target_hz)).expect("tuned");
        radio.flush().expect("an answer");
        ends.push((radio, rx, tx));
    }
    let burst = vec![Complex32::new(0.05, 0.02); 500];
    for (n, (radio, rx, tx)) in ends.iter_mut().enumerate() {
        let at = radio.time().expect("its time") + Ticks(1_000_000);
        rx.start(Some(at)).expect("it starts");
        if n % 2 == 0 {
            tx.send(&[&burst], Burst::at(at).ending(), net.now() + Duration::from_secs(1)).expect("a stream");
        }
    }
    let mut samples = vec![Complex32::default(); 1500];
    for (_, rx, _) in &mut ends {
        let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
        assert_eq!(received.samples, 1500);
    }
    net.look(|rig| rig.received.clone())
});

/// Behaviour of the eighth's program.
#[derive(Clone, Debug)]
enum Hostile {
    /// Speaks as a driver does, with bytes changed: datagram, place, value.
    Fuzzes(Vec<(prop::sample::Index, prop::sample::Index, u8)>),
    /// Sends these bytes to this port, as many as takt takes, in every block.
    Floods(u16, Vec<u8>),
    /// Speaks as a driver does and ends there; its host says that the ports are closed.
    IsKilled(prop::sample::Index),
    /// Begins to stream and takes nothing.
    Freezes,
    /// Begins anew after so many blocks, each time from another port.
    Restarts(usize),
}

fn hostile() -> impl Strategy<Value = Hostile> {
    use prop::collection::vec;
    let any_place = any::<prop::sample::Index>;
    let ports = prop::sample::select(vec![49152, 49156, 49157, 49158, 49159, 49172, 7]);
    prop_oneof![
        vec((any_place(), any_place(), any::<u8>()), 1..40).prop_map(Hostile::Fuzzes),
        (ports, vec(any::<u8>(), 0..1500)).prop_map(|(port, bytes)| Hostile::Floods(port, bytes)),
        any_place().prop_map(Hostile::IsKilled),
        Just(Hostile::Freezes),
        (20..2000usize).prop_map(Hostile::Restarts),
    ]
}

impl Hostile {
    /// Acts in a block of the core.
    fn act(&self, block: usize, core: &mut SharedFrontEnd) {
        let driver = &SESSIONS[0];
        let mut say = |port: Port, peer: SocketAddr, bytes: &[u8]| {
            core.datagram(0, port, peer, bytes, &mut Kept(&mut Vec::new()));
        };
        match self {
            Hostile::Fuzzes(changes) => {
                let Some(one) = driver.get(block) else { return };
                let mut bytes = one.bytes.clone();
                for (_, place, value) in changes.iter().filter(|(which, ..)| which.index(driver.len()) == block) {
                    let place = place.index(bytes.len().max(1));
                    bytes.get_mut(place).into_iter().for_each(|byte| *byte = *value);
                }
                say(one.port, one.peer, &bytes);
            }
            Hostile::Floods(port, bytes) => {
                let peer = "127.0.0.9:4000".parse().expect("an address");
                (0..MOST_A_BLOCK).for_each(|_| say(Port(*port), peer, bytes));
            }
            Hostile::IsKilled(when) => match driver.get(block) {
                Some(one) if block < when.index(driver.len()) => say(one.port, one.peer, &one.bytes),
                Some(one) => core.refused(0, one.port, one.peer),
                None => {}
            },
            Hostile::Freezes => driver.get(block).into_iter().for_each(|one| say(one.port, one.peer, &one.bytes)),
            Hostile::Restarts(period) => {
                let Some(one) = driver.get(block % period) else { return };
                let mut peer = one.peer;
                peer.set_port(peer.port().wrapping_add((block / period) as u16).max(1));
                say(one.port, peer, &one.bytes);
            }
        }
    }
}

/// Datagrams of the seven others; how many datagrams the eighth's radio has seen.
fn replay(hostile: Option<&Hostile>) -> (Vec<Vec<Logged>>, u64) {
    let sessions = &*SESSIONS;
    let mut core = SharedFrontEnd::new(&plan(&PLAN), &settings(LATENCY)).expect("a front end");
    let (mut kept, mut wide) = (KeptAll::new(PLAN.len()), [Complex32::default(); BLOCK]);
    let mut said = vec![0; sessions.len()];
    let last = sessions.iter().filter_map(|session| session.last()).map(|one| one.at).max().expect("sessions");
    let mut block = 0;
    while core.now() < last + Ticks(4_000_000) {
        let at = core.now() + Ticks(10);
        for (n, wide) in wide.iter_mut().enumerate() {
            *wide = Complex32::from_polar(0.3, ((at.0 / 10 + n as u64) % 97) as f32);
        }
        core.receive(at, &wide).expect("time goes on");
        core.advance(&mut kept);
        // A frozen program takes nothing: the kernel drops it.
        kept.0[0].clear();
        hostile.into_iter().for_each(|hostile| hostile.act(block, &mut core));
        for radio in 1..sessions.len() {
            while let Some(one) = sessions[radio].get(said[radio]).filter(|one| one.at <= core.now()) {
                core.datagram(radio, one.port, one.peer, &one.bytes, &mut Kept(&mut kept.0[radio]));
                said[radio] += 1;
            }
        }
        core.transmit(&mut |_| ());
        block += 1;
    }
    let seen = core.device(0).expect("a radio").report();
    let malformed = seen.control.malformed_datagrams + seen.control.not_understood;
    (kept.0.split_off(1), seen.control.requests + seen.control.commands + seen.tx.packets + malformed)
}

#[test]
fn seven_radios_stream_as_if_the_eighth_were_not_there() {
    let (alone, none) = replay(None);
    for sent in &alone {
        assert!(sent.iter().filter(|sent| sent.port == Port(49156)).count() > 3, "each receives");
    }
    assert_eq!((alone.len(), none), (7, 0));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 12, ..ProptestConfig::default() });
    runner
        .run(&hostile(), |hostile| {
            let (beside, seen) = replay(Some(&hostile));
            let may_be_unseen = matches!(&hostile, Hostile::Floods(..) | Hostile::IsKilled(_));
            prop_assert!(seen > 0 || may_be_unseen, "its radio saw it");
            prop_assert!(beside == alone, "datagrams differ");
            Ok(())
        })
        .expect("isolated");
}
