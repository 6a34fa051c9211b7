//! Packets handed from one core to another, by threads that spin with real-time priority where it is granted.

use takt_base::Stop;
use takt_load::interface::{InterfaceError, InterfaceOptions, Side, run};

#[test]
fn every_packet_is_counted_once_on_one_core_and_on_two() {
    for reader in [Side::SameCore, Side::OtherCore] {
        let options = InterfaceOptions { packet_bytes: 100, count: 500, reader };
        let outcome = match run(&options, &Stop::new()) {
            Err(InterfaceError::Cores(error)) => return takt_testing::skip(error),
            other => other.expect("measured"),
        };
        assert_eq!((outcome.latency.len(), outcome.floor.len()), (500, 500));
        assert!(outcome.complete && outcome.mean_ns > 0.0);
    }
}
