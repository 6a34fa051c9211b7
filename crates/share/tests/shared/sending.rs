//! The shared transform sends what a filter for each radio sends, whatever bursts there are, and it is used.

use std::collections::HashMap;
use std::time::Duration;

use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_radio::{Burst, TuneRequest, TxOptions, TxStream};

use crate::rig::{SharedWorld, addr, plan};

const BEGIN: Tick = Tick(50_000_000);

/// Bursts of one radio: rate, frequency, ticks behind the beginning, samples.
struct Bursts(Vec<(f64, f64, Ticks, usize)>);

/// All that the front end sends, by tick, while the first radio of so many sends these.
fn sent(bursts: &Bursts, radios: usize) -> HashMap<u64, Complex32> {
    let radios = vec!["rate = 1e6\ntransmit = true"; radios];
    let net = SharedWorld::new(&plan(&radios), Ticks(100_000), Box::new(|_| Complex32::default()));
    let mut radio = net.radio(addr(0));
    let (mut open, mut ends) = (None, Tick(0));
    for &(rate_sps, target_hz, after, samples) in &bursts.0 {
        if open.as_ref().is_none_or(|(known, _)| *known != (rate_sps, target_hz)) {
            while radio.time().expect("its time") < ends {
                net.world.run_for(Duration::from_millis(1));
            }
            drop(open.take());
            radio.tune_tx(TuneRequest::new(target_hz)).expect("tuned");
            radio.flush().expect("an answer");
            open = Some(((rate_sps, target_hz), radio.tx_streamer(&TxOptions::new(rate_sps)).expect("a stream")));
        }
        let Some((_, tx)) = &mut open else { unreachable!("it was opened") };
        // Noise that is the same each time: all of the band.
        let noise = (0..samples as u64).map(|n| (n * 7_919 + 13) % 1009);
        let burst: Vec<Complex32> = noise.map(|n| Complex32::from_polar(0.3, n as f32)).collect();
        ends = BEGIN + after + Ticks((1e8 / rate_sps) as u64 * samples as u64);
        let until = net.now() + Duration::from_secs(1);
        assert_eq!(tx.send(&[&burst], Burst::at(BEGIN + after).ending(), until).expect("a stream"), samples);
    }
    net.world.run_for(Duration::from_secs(1));
    net.look(|rig| {
        let report = rig.core.report().swap_remove(0);
        assert_eq!((report.radio.tx.late, report.tx_overlapping_samples, report.tx_forbidden_samples), (0, 0, 0));
        std::mem::take(&mut rig.sent)
    })
}

/// The largest difference between what the two ways send, and the strongest sample.
fn compared(filtered: &HashMap<u64, Complex32>, transformed: &HashMap<u64, Complex32>) -> (f32, f32) {
    let at = |sent: &HashMap<u64, Complex32>, tick: &u64| sent.get(tick).copied().unwrap_or_default();
    let ticks = filtered.keys().chain(transformed.keys());
    let difference = ticks.clone().map(|tick| (at(filtered, tick) - at(transformed, tick)).norm());
    let strength = ticks.map(|tick| at(filtered, tick).norm());
    (difference.fold(0.0, f32::max), strength.fold(0.0, f32::max))
}

#[test]
fn both_ways_send_the_same() {
    let of = |rate_sps, target_hz, after: u64, samples| (rate_sps, target_hz, Ticks(after), samples);
    let one = |rate_sps, target_hz| Bursts(vec![of(rate_sps, target_hz, 0, 4000)]);
    // Bursts with gaps that are shorter than a filter, as long, and longer.
    let gaps = [0, 1_000, 5_400, 30_000].into_iter().scan(33, |at, gap| {
        let first = *at + gap;
        *at = first + 300 * 100;
        Some(of(1e6, 2401e6, first, 300))
    });
    // More bursts than a channel holds, of a sample each.
    let storm = (0..200).map(|n| of(1e6, 2401e6, n * 300, 1));
    let rates = [1e6, 500e3, 1e6].into_iter().zip(0..).map(|(rate_sps, n)| of(rate_sps, 2401e6, n * 8_000_000, 1000));
    let [shared, direct] = [Some(true), Some(false)];
    for (what, bursts, way, is_heard) in [
        ("one burst", one(1e6, 2401e6), shared, true),
        ("gaps", Bursts(gaps.collect()), shared, true),
        // It begins in the transform.
        ("a storm", Bursts(storm.collect()), None, true),
        ("a rate for which there is no transform", one(200e3, 2401e6), direct, true),
        ("several rates", Bursts(rates.collect()), shared, true),
        ("at the edge", one(1e6, 2404.4e6), shared, true),
        ("partly outside", one(1e6, 2404.8e6), direct, true),
        ("outside", one(1e6, 2430e6), direct, false),
        ("a whole turn outside", one(1e6, 2500e6), direct, false),
    ] {
        let [alone, among] = [1, 16].map(|radios| sent(&bursts, radios));
        let (worst, strongest) = compared(&alone, &among);
        assert!(worst < 3e-4, "{what}: {worst}");
        assert_eq!(strongest > 0.1, is_heard, "{what}: {strongest}");
        // A filter gives the same bits whatever the blocks.
        assert!(way.is_none_or(|is_shared| is_shared == (worst > 0.0)), "{what}: {worst}");
    }
}
