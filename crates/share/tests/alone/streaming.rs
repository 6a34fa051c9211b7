//! Once radios stream, the core allocates nothing: received blocks, commands, sent samples, the policy, all of it.

use std::net::SocketAddr;
use std::time::Duration;

use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_emulator::{Outbox, Port, Sent};
use takt_radio::{Burst, RxOptions, RxStream, TuneRequest, TxOptions, TxStream};
use takt_share::{Outboxes, SharePlan, SharedFrontEnd, WideBurst};

use crate::allocations;
use crate::rig::{BLOCK, Logged, SharedWorld, addr, plan, settings};

const TRANSMITS: &str = "rate = 1e6\ntransmit = true";
const RECEIVES: &str = "rate = 1e6";
const LATENCY: Ticks = Ticks(100_000);
/// Samples of each stream, and those before which everything has begun.
const SAMPLES: usize = 20_000;
const BEGUN: Ticks = Ticks(500_000);

/// Takes what all radios send, into memory of its own.
struct Taken {
    frame: Box<[u8]>,
    datagrams: u64,
}

impl Outbox for Taken {
    fn send(&mut self, _: Tick, _: Port, _: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        assert!(fill(&mut self.frame) <= self.frame.len());
        self.datagrams += 1;
        Sent::Taken
    }
}

impl Outboxes for Taken {
    fn of(&mut self, _: usize) -> &mut dyn Outbox {
        self
    }
}

/// Datagrams of drivers that stream to each radio, the first both ways, and when they begin by the front end's clock.
fn sessions(plan: &SharePlan) -> (Vec<Vec<Logged>>, Tick) {
    let net = SharedWorld::new(plan, LATENCY, Box::new(|_| Complex32::default()));
    let mut ends = Vec::new();
    for n in 0..plan.radios.len() {
        let mut radio = net.radio(addr(n as u8));
        let tx = radio.tx_streamer(&TxOptions::new(1e6)).expect("a stream");
        let rx = radio.rx_streamer(&RxOptions::new(1e6)).expect("a stream");
        radio.tune_rx(0, TuneRequest::new(2398e6 + 1e6 * n as f64)).expect("tuned");
        radio.tune_tx(TuneRequest::new(2402e6)).expect("tuned");
        radio.flush().expect("an answer");
        ends.push((radio, rx, tx));
    }
    let begins = net.look(|rig| rig.core.now()) + Ticks(2_000_000);
    for (radio, rx, _) in &mut ends {
        let at = radio.time().expect("its time") + Ticks(2_000_000);
        rx.start(Some(at)).expect("it starts");
    }
    let (radio, _, tx) = &mut ends[0];
    let at = radio.time().expect("its time") + Ticks(2_000_000);
    let burst = vec![Complex32::new(0.3, 0.2); SAMPLES];
    assert_eq!(tx.send(&[&burst], Burst::at(at).ending(), net.now() + Duration::from_secs(1)).expect("sent"), SAMPLES);
    let mut samples = vec![Complex32::default(); SAMPLES];
    for (_, rx, _) in &mut ends {
        let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
        assert!(received.samples > 0, "{received:?}");
    }
    (net.look(|rig| rig.received.clone()), begins)
}

#[test]
fn streaming_allocates_nothing() {
    let plan = SharePlan {
        front_end: takt_share::FrontEndPlan {
            policy: takt_share::AnalogPolicy::HighestPriority,
            ..plan(&[RECEIVES]).front_end
        },
        ..plan(&[TRANSMITS, RECEIVES, RECEIVES, RECEIVES])
    };
    let (sessions, begins) = sessions(&plan);
    let mut core = SharedFrontEnd::new(&plan, &settings(LATENCY)).expect("a front end");
    let mut taken = Taken { frame: vec![0; 9000].into(), datagrams: 0 };
    let mut said = vec![0; sessions.len()];
    let wide = [Complex32::new(0.2, 0.1); BLOCK];
    let (mut counted, mut blocks, mut wide_samples) = (0, 0, 0);
    while core.now() < begins + Ticks(SAMPLES as u64 * 100) {
        let before = (allocations::count(), taken.datagrams);
        core.receive(core.now() + Ticks(10), &wide).expect("time goes on");
        core.advance(&mut taken);
        for (radio, session) in sessions.iter().enumerate() {
            while let Some(one) = session.get(said[radio]).filter(|one| one.at <= core.now()) {
                core.datagram(radio, one.port, one.peer, &one.bytes, &mut taken);
                said[radio] += 1;
            }
        }
        core.transmit(&mut |burst| {
            if let WideBurst::Samples { samples, .. } = burst {
                wide_samples += samples.len();
            }
        });
        let _ = core.wish();
        if core.now() > begins + BEGUN {
            counted += allocations::count() - before.0;
            blocks += taken.datagrams - before.1;
        }
    }
    assert!(blocks > 100 && wide_samples > 100_000, "{blocks} datagrams, {wide_samples} samples sent");
    assert_eq!(counted, 0);
}
