//! A hop in steady state allocates nothing, whatever it does to frames. Counted by the global allocator of this binary over all
//! its threads, so it holds this one test and needs its process for itself. Needs root and ip(8); skipped without.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use support::{between_two_cables, frame, options, port};
use takt_packet::link::{LinkPort, NOTE_BYTES, Span};
use takt_path::hop::Hop;
use takt_path::model::{HopSpec, Impairments, Processor};

const IPV4: [u8; 2] = [8, 0];

/// Everything that a hop can do, and so much traffic that each of its places overflows now and then.
fn busy() -> HopSpec {
    let impairments = Impairments {
        delay_ns: 200_000,
        jitter_ns: 100_000,
        loss: 0.01,
        duplicate: 0.01,
        reorder: 0.01,
        hold_ns: 300_000,
    };
    let processor = Processor { per_frame_ns: 2_000, per_byte_ps: 10, ring_frames: 64, spread: 0.1 };
    let rate_bps = Some(1_000_000_000);
    HopSpec { rate_bps, buffer_bytes: 64 << 10, processor: Some(processor), impairments, seed: 7 }
}

/// Sends a batch by each port and takes what has come, until `count` frames have come; `false` if they never do.
fn pump(ports: &mut [LinkPort; 2], frames: &[u8], spans: &[Span], count: u64) -> bool {
    let (mut got, begun) = (0, Instant::now());
    while got < count && begun.elapsed() < takt_testing::HANG {
        for port in ports.iter_mut() {
            // Frames that a full queue refuses are offered again with the next batch.
            let _refused = port.send(frames, spans);
            got += port.recv(&mut |_| {}).expect("a port that is up") as u64;
        }
    }
    got >= count
}

#[test]
fn a_hop_in_steady_state_allocates_nothing() {
    between_two_cables(|| {
        let mut ports = [port("a0"), port("b0")];
        let hop = Hop::start(&options(busy())).expect("a hop");
        let mut one = frame(1, 200);
        // Chance is for what carries data.
        one[NOTE_BYTES + 12..NOTE_BYTES + 14].copy_from_slice(&IPV4);
        let frames: Vec<u8> = one.iter().copied().cycle().take(32 * one.len()).collect();
        let spans: Vec<Span> = (0..32).map(|n| Span { offset: n * one.len(), len: one.len() }).collect();
        assert_eq!(one.len(), NOTE_BYTES + 200);
        assert!(pump(&mut ports, &frames, &spans, 2_000), "frames cross");
        let before = allocations::count_everywhere();
        let crossed = pump(&mut ports, &frames, &spans, 50_000);
        let during = allocations::count_everywhere() - before;
        assert!(crossed, "frames cross");
        assert_eq!(during, 0);
        let flows = hop.finish().counters.flows;
        for flow in flows {
            assert!(flow.doubled > 0 && flow.held_back > 0 && flow.dropped_by_chance > 0, "{flow:?}");
        }
        let before = allocations::count_everywhere();
        drop(vec![1_u8; 9]);
        assert!(allocations::count_everywhere() - before >= 2, "the count counts");
    });
}
