//! A hop between two interfaces, in a network namespace of the test's own. Needs root and ip(8); skipped aloud without.

mod support;

use std::thread;
use std::time::{Duration, Instant};

use support::{between_two_cables, frame, options, port};
use takt_packet::link::{LinkPort, NOTE_BYTES, Span};
use takt_path::hop::{Hop, HopError, Options};
use takt_path::model::{HopSpec, Impairments};

fn send(port: &mut LinkPort, frame: &[u8]) {
    assert_eq!(port.send(frame, &[Span { offset: 0, len: frame.len() }]), Ok(1));
}

/// Numbers and lengths of what arrives until `count` have, or nothing does for a second.
fn receive(port: &mut LinkPort, count: usize) -> Vec<(u32, usize)> {
    let mut seen = Vec::new();
    let mut last = Instant::now();
    while seen.len() < count && last.elapsed() < Duration::from_secs(1) {
        let got = port
            .recv(&mut |arrived| {
                let bytes = &arrived.bytes[NOTE_BYTES..];
                seen.push((u32::from_be_bytes(*bytes[14..].first_chunk().unwrap()), bytes.len()));
            })
            .unwrap();
        match got {
            0 => thread::sleep(Duration::from_millis(1)),
            _ => last = Instant::now(),
        }
    }
    seen
}

#[test]
fn frames_cross_both_ways_unchanged_and_are_counted() {
    between_two_cables(|| {
        let (mut a, mut b) = (port("a0"), port("b0"));
        let hop = Hop::start(&options(HopSpec::default())).unwrap();
        let lengths = [60, 61, 1000, 1514];
        for (number, bytes) in (0..).zip(lengths) {
            send(&mut a, &frame(number, bytes));
        }
        assert_eq!(receive(&mut b, 4), [(0, 60), (1, 61), (2, 1000), (3, 1514)]);
        send(&mut b, &frame(9, 100));
        assert_eq!(receive(&mut a, 1), [(9, 100)]);
        let [forth, back] = hop.finish().counters.flows;
        let total = lengths.iter().sum::<usize>() as u64;
        assert_eq!((forth.in_frames, forth.out_frames, forth.in_bytes, forth.out_bytes), (4, 4, total, total));
        assert_eq!((back.in_frames, back.out_frames, back.dropped()), (1, 1, 0));
    });
}

#[test]
fn a_burst_leaves_at_the_cables_rate_and_what_does_not_fit_is_counted() {
    between_two_cables(|| {
        let (mut a, mut b) = (port("a0"), port("b0"));
        // 1538 bytes on the wire at 10 Mb/s: 1.23 ms each. Room for ten, and one that is on the wire.
        let spec = HopSpec { rate_bps: Some(10_000_000), buffer_bytes: 10 * 1538, ..HopSpec::default() };
        let hop = Hop::start(&options(spec)).unwrap();
        let begun = Instant::now();
        for number in 0..40 {
            send(&mut a, &frame(number, 1514));
        }
        let seen = receive(&mut b, 40);
        let flow = hop.finish().counters.flows[0];
        assert_eq!(flow.in_frames, 40, "{flow:?}");
        assert_eq!(seen.len() as u64, flow.out_frames);
        assert_eq!(flow.dropped_at_queue + flow.out_frames, 40, "{flow:?}");
        // How many fit depends on how fast this test could send.
        assert!(flow.dropped_at_queue > 0 || begun.elapsed() > Duration::from_millis(30), "{flow:?}");
        assert!(begun.elapsed() >= Duration::from_micros(1230) * u32::try_from(seen.len()).unwrap());
    });
}

#[test]
fn a_delay_is_never_shorter_than_asked_for() {
    between_two_cables(|| {
        let (mut a, mut b) = (port("a0"), port("b0"));
        let impairments = Impairments { delay_ns: 30_000_000, ..Impairments::default() };
        let _hop = Hop::start(&options(HopSpec { impairments, ..HopSpec::default() })).unwrap();
        let begun = Instant::now();
        send(&mut a, &frame(1, 60));
        assert_eq!(receive(&mut b, 1), [(1, 60)]);
        assert!(begun.elapsed() >= Duration::from_millis(30));
    });
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    between_two_cables(|| {
        let error =
            Hop::start(&Options { ports: ["a1".into(), "c1".into()], ..options(HopSpec::default()) }).unwrap_err();
        assert!(matches!(&error, HopError::Port { name, .. } if name == "c1"), "{error}");
    });
}
