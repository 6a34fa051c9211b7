//! A hop between two interfaces, in a network namespace of the test's own. Needs root and ip(8); skipped without.

mod support;

use std::time::{Duration, Instant};

use support::{between_two_cables, frame, options, port};
use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::link::{Arrived, LinkPort, NOTE_BYTES, Span};
use takt_path::hop::{Hop, HopError, HopOptions};
use takt_path::model::{HopSpec, Impairments};
use takt_testing::{not_judged, wait_for};

fn send(port: &mut LinkPort, frame: &[u8]) {
    assert_eq!(port.send(frame, &[Span { offset: 0, len: frame.len() }]), Ok(1));
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u32,
    len: usize,
    /// When it was taken: at its arrival or later.
    at: MonoNs,
}

fn arrived(port: &mut LinkPort, frames: &mut Vec<Frame>) {
    let each = &mut |arrived: Arrived<'_>| {
        let bytes = &arrived.bytes[NOTE_BYTES..];
        let number = u32::from_be_bytes(*bytes[14..].first_chunk().unwrap());
        frames.push(Frame { number, len: bytes.len(), at: WallClock.now() });
    };
    port.recv(each).unwrap();
}

/// Numbers and lengths of what arrives until `count` have.
fn receive(port: &mut LinkPort, count: usize) -> Vec<(u32, usize)> {
    let mut frames = Vec::new();
    wait_for("frames", || {
        arrived(port, &mut frames);
        (frames.len() >= count).then_some(())
    });
    frames.iter().map(|frame| (frame.number, frame.len)).collect()
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

/// 1538 bytes at 10 Mb/s.
const WIRE_NS: u128 = 1_230_400;

#[test]
fn a_burst_leaves_at_the_cables_rate_and_what_does_not_fit_is_counted() {
    between_two_cables(|| {
        let (mut a, mut b) = (port("a0"), port("b0"));
        // 1538 bytes on the wire at 10 Mb/s: 1.23 ms each. Room for ten, and one that is on the wire.
        let spec = HopSpec { rate_bps: Some(10_000_000), buffer_bytes: 10 * 1538, ..HopSpec::default() };
        let hop = Hop::start(&options(spec)).unwrap();
        let begun = WallClock.now();
        // In one call, so that nothing leaves the hop's queue for long between the first and the last.
        let burst: Vec<u8> = (0..40).flat_map(|number| frame(number, 1514)).collect();
        let one = burst.len() / 40;
        let spans: Vec<Span> = (0..40).map(|n| Span { offset: n * one, len: one }).collect();
        assert_eq!(a.send(&burst, &spans), Ok(40));
        let (mut received, mut all_in) = (Vec::new(), None);
        wait_for("every frame to leave or to be dropped", || {
            arrived(&mut b, &mut received);
            let flow = hop.report().counters.flows[0];
            if flow.in_frames == 40 {
                all_in.get_or_insert(WallClock.now());
            }
            (flow.dropped_at_queue + received.len() as u64 == 40).then_some(())
        });
        let flow = hop.finish().counters.flows[0];
        assert_eq!((flow.in_frames, flow.out_frames), (40, received.len() as u64), "{flow:?}");
        // While they came in so many left at most; eleven were inside when the last came.
        let came_in = all_in.expect("all came in").saturating_since(begun);
        let could_leave = 11 + (came_in.as_nanos() / WIRE_NS) as u64;
        assert!(flow.out_frames <= could_leave, "{flow:?}, not above {could_leave}");
        if could_leave >= 40 {
            not_judged(format_args!("the burst took {came_in:?}, in which all of it could leave"));
        }
        // Each has left when those before it and itself have been on the wire; however late, never sooner.
        for (ahead, frame) in (1..).zip(&received) {
            let on_the_wire = Duration::from_nanos(ahead * WIRE_NS as u64);
            assert!(frame.at.saturating_since(begun) >= on_the_wire, "frame {} of {received:?}", frame.number);
        }
    });
}

#[test]
fn a_delay_is_never_shorter_than_requested() {
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
            Hop::start(&HopOptions { ports: ["a1".into(), "c1".into()], ..options(HopSpec::default()) }).unwrap_err();
        assert!(matches!(&error, HopError::Port { name, .. } if name == "c1"), "{error}");
    });
}
