//! The threads of a round of `rate`, of which none outlives it.

use std::time::Duration;

use takt_base::Stop;
use takt_emulator::emulate::{Emulator, EmulatorOptions};
use takt_host::affinity::own_cpus;
use takt_load::rate::{RateError, RateOptions, run};
use takt_testing::loopback;

/// Threads of this process by the name of a round's.
fn streaming() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).filter(|name| ["takt-rx", "takt-tx"].contains(&name.as_str())).collect()
}

#[test] // it went on to the end of the round, which nobody waited for any more
fn a_thread_that_streams_ends_when_the_other_is_refused_its_cpu() {
    let addr = loopback(8);
    let radio = Emulator::start(&EmulatorOptions { addrs: vec![addr], ..EmulatorOptions::default() }).unwrap();
    let options = RateOptions {
        addr: addr.into(),
        rx_sps: Some(1e6),
        tx_sps: Some(1e6),
        cpus: vec![own_cpus()[0], 1023],
        duration: Duration::from_secs(20),
        ..RateOptions::default()
    };
    let error = run(&options, &mut |_| (), &Stop::new()).unwrap_err();
    assert!(matches!(error, RateError::Affinity(_)), "{error}");
    assert_eq!(streaming(), [""; 0]);
    radio.stop().unwrap();
}
