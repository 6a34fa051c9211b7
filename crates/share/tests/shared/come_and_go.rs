//! Radios that are added and removed while others stream.

use std::time::Duration;

use proptest::prelude::*;
use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_emulator::Port;
use takt_radio::{Burst, RxOptions, RxStream, TuneRequest, TxOptions, TxStream};
use takt_share::SharedFrontEnd;

use crate::receive::{received, two_tones};
use crate::rig::{BLOCK, Kept, KeptAll, Logged, SharedWorld, addr, plan, settings};

const TRANSMITS: &str = "rate = 1e6\ntransmit = true\noverlap = true";
const LATENCY: Ticks = Ticks(100_000);

#[test]
fn an_added_radio_receives_its_part_and_its_place_is_free_again() {
    let net = SharedWorld::new(&plan(&["", ""]), Ticks(0), two_tones());
    let whole = plan(&["", "", "rate = 1e6"]);
    assert!((received(&net, 1, 0.5e6, 2398.5e6) - 0.1).abs() < 1e-3);
    net.add(&whole.radios[2]);
    assert!((received(&net, 2, 1e6, 2402e6) - 0.25).abs() < 1e-3);
    let (left, again, numbers) = net.look(|rig| {
        let left = rig.core.remove(2).map(|radio| radio.number());
        (left, rig.core.remove(2).is_none(), rig.core.numbers().collect::<Vec<_>>())
    });
    assert_eq!((left, again, numbers), (Some(2), true, vec![0, 1]));
    assert_eq!(net.look(|rig| rig.core.report().len()), 2);
    // The others go on.
    assert!((received(&net, 0, 1e6, 2402e6) - 0.25).abs() < 1e-3);
}

#[test]
fn a_radio_has_no_place_that_another_has() {
    let net = SharedWorld::new(&plan(&[""]), Ticks(0), two_tones());
    let whole = plan(&["", ""]);
    let refused = net.look(|rig| {
        let radio = rig.core.maker().make(0, &whole.radios[1], rig.core.now()).expect("a radio");
        rig.core.put(Box::new(radio))
    });
    assert_eq!(refused.map(|radio| radio.number()), Some(0));
}

/// Datagrams of two drivers that receive and transmit, each to its radio.
fn sessions() -> [Vec<Logged>; 2] {
    let net = SharedWorld::new(&plan(&[TRANSMITS, TRANSMITS]), LATENCY, Box::new(|_| Complex32::default()));
    let mut ends = Vec::new();
    for n in 0..2 {
        let mut radio = net.radio(addr(n));
        let tx = radio.tx_streamer(&TxOptions::new(1e6)).expect("a stream");
        let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).expect("a stream");
        radio.tune_rx(0, TuneRequest::new(2401e6)).expect("tuned");
        radio.tune_tx(TuneRequest::new(2399e6)).expect("tuned");
        let at = radio.time().expect("its time") + Ticks(3_000_000);
        rx.start(Some(at)).expect("it starts");
        ends.push((radio, rx, tx, at));
    }
    let burst = vec![Complex32::new(0.1, 0.2); 2000];
    for (_, _, tx, at) in &mut ends {
        tx.send(&[&burst], Burst::at(*at).ending(), net.now() + Duration::from_secs(1)).expect("a stream");
    }
    let mut samples = vec![Complex32::default(); 3000];
    for (_, rx, ..) in &mut ends {
        let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
        assert_eq!(received.samples, 3000);
    }
    net.look(|rig| [rig.received[0].clone(), rig.received[1].clone()])
}

/// Blocks at which a second radio comes, its program speaks to it, and it goes.
type Visit = (usize, usize);

/// Datagrams of the first radio while a second one comes and goes.
fn replay([first, second]: &[Vec<Logged>; 2], visits: &[Visit]) -> (Vec<Logged>, u64) {
    let whole = plan(&[TRANSMITS, TRANSMITS]);
    // With the plan of both: the shared transform is made once.
    let mut core = SharedFrontEnd::new(&whole, &settings(LATENCY)).expect("a front end");
    drop(core.remove(1).expect("it was there"));
    let (maker, mut kept, mut wide) = (core.maker(), KeptAll::new(2), [Complex32::default(); BLOCK]);
    let mut firsts = first.iter().peekable();
    let last = first.last().expect("a session").at + Ticks(4_000_000);
    let mut said = None;
    let (mut block, mut visited) = (0, 0);
    while core.now() < last {
        let at = core.now() + Ticks(10);
        for (n, wide) in wide.iter_mut().enumerate() {
            *wide = Complex32::from_polar(0.3, ((at.0 / 10 + n as u64) % 97) as f32);
        }
        core.receive(at, &wide).expect("time goes on");
        core.advance(&mut kept);
        for (_, goes) in visits.iter().filter(|(comes, _)| *comes == block) {
            if core.numbers().all(|number| number != 1) {
                let radio = maker.make(1, &whole.radios[1], core.now()).expect("a radio");
                assert!(core.put(Box::new(radio)).is_none());
                said = Some((second.iter(), *goes));
            }
        }
        if let Some((datagrams, goes)) = &mut said {
            if block >= *goes {
                let radio = core.remove(1).expect("it is there");
                visited += radio.device().report().control.requests + radio.device().report().control.commands;
                said = None;
            } else if let Some(one) = datagrams.next() {
                core.datagram(1, one.port, one.peer, &one.bytes, &mut Kept(&mut Vec::new()));
            }
        }
        while let Some(one) = firsts.next_if(|one| one.at <= core.now()) {
            core.datagram(0, one.port, one.peer, &one.bytes, &mut Kept(&mut kept.0[0]));
        }
        core.transmit(&mut |_| ());
        block += 1;
    }
    (kept.0.swap_remove(0), visited)
}

#[test]
fn one_that_comes_and_goes_changes_no_bit_of_anothers_datagrams() {
    let sessions = sessions();
    let (alone, none) = replay(&sessions, &[]);
    assert!(alone.iter().filter(|sent| sent.port == Port(49156)).count() > 8 && none == 0, "it receives");
    assert!(alone.iter().any(|sent| sent.at > Tick(0)));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 8, ..ProptestConfig::default() });
    let visit = (0..1500usize, 100..1500usize).prop_map(|(comes, stays)| (comes, comes + stays));
    runner
        .run(&prop::collection::vec(visit, 1..6), |visits| {
            let (beside, visited) = replay(&sessions, &visits);
            prop_assert!(visited > 0, "its program spoke to it");
            prop_assert!(beside == alone, "datagrams differ");
            Ok(())
        })
        .expect("isolated");
}
