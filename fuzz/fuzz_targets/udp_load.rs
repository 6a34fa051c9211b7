#![no_main]
//! Messages between a load generator and its server, and the plan a server is asked to follow.

use takt_base::MonoNs;
use takt_udp::Plan;
use takt_udp::protocol::{data::Data, message::Message};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut frame = [0; 2048];
    if let Some(message) = Message::parse(bytes) {
        let written = message.write(&mut frame);
        assert!(written > 0 && written <= bytes.len());
        assert_eq!(Message::parse(&frame[..written]), Some(message));
    }
    if let Some(data) = Data::parse(bytes) {
        assert!(data.write(&mut frame));
        assert_eq!(Data::parse(&frame), Some(data));
    }
    if let Ok(plan) = Plan::parse(bytes) {
        follow(&plan);
    }
});

/// A plan that was accepted can be followed: what is due never shrinks, and each datagram has an instant and a size.
fn follow(plan: &Plan) {
    let start = MonoNs(1 << 40);
    let schedule = plan.schedule(start);
    // Flat out as many are due as go.
    let most = |count: Option<u64>| count.unwrap_or(u64::MAX);
    let (mut due, total) = (0, most(schedule.total()));
    for shift in 0..48 {
        let now = MonoNs(start.0 + (1 << shift));
        let later = most(schedule.due(now));
        assert!(later >= due && later <= total, "{plan:?} {now:?} {due} {later} {total}");
        if let Some(number) = later.min(total).checked_sub(1) {
            assert!(schedule.intended(number, now) <= now, "{plan:?} {number}");
        }
        due = later;
    }
    for number in [0, 1, u64::from(u32::MAX), u64::MAX] {
        assert!((16..=9000).contains(&plan.payload_of(number)));
        assert!(schedule.intended(number, start) >= start);
    }
}
