//! A radio over devices of DPDK's: two streams and, where the kernel has no way to the radio, control too share one of them, an
//! engine each. Every sample is accounted for. Each end is threads in a network namespace of its own, which ends with them.
#![cfg(feature = "dpdk")]

use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use takt_base::Stop;
use takt_emulator::emulate::{Emulator, EmulatorOptions, Summary};
use takt_host::namespace::unshare_network;
use takt_load::rate::{RateOptions, RateOutcome, run};
use takt_packet::{Config, EngineKind, PortSpec, open};
use takt_testing::{not_judged, skip};

/// A shell command in the namespace of the calling thread; it has to succeed.
fn shell(command: &str) {
    let out = Command::new("sh").args(["-ec", command]).output().expect("a shell");
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Runs `job` in a namespace of its own, unless that is not permitted.
fn inside(job: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| match unshare_network() {
            Ok(()) => {
                shell("ip link set lo up");
                job();
            }
            Err(error) => skip(error),
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn radio(addr: &str, network: &str) -> Emulator {
    let options = EmulatorOptions {
        addrs: vec![addr.parse().unwrap()],
        allow: vec![network.to_owned()],
        ..EmulatorOptions::default()
    };
    Emulator::start(&options).unwrap()
}

fn stream(engine: EngineKind, addr: &str, rx: bool, tx: bool) -> RateOutcome {
    let rate = |wanted: bool| wanted.then_some(500e3);
    let options = RateOptions {
        addr: addr.parse().unwrap(),
        rx_sps: rate(rx),
        tx_sps: rate(tx),
        engine,
        warm_up: Duration::from_millis(100),
        duration: Duration::from_millis(700),
        ..RateOptions::default()
    };
    run(&options, &mut |_| {}, &Stop::new()).unwrap_or_else(|error| panic!("{error} {error:?}"))
}

/// Whatever the machine did meanwhile, each sample is received or counted as lost, and those sent reached the radio.
fn judge(outcome: &RateOutcome, rx: bool, tx: bool) {
    assert!(outcome.engine.path.starts_with("DPDK"), "{:?}", outcome.engine);
    assert_eq!((outcome.rx.samples > 0, outcome.tx.samples > 0), (rx, tx), "{outcome:?}");
    let received = &outcome.rx;
    assert_eq!(received.samples + received.dropped + received.unsent_samples, received.expected_samples, "{outcome:?}");
    let nameless = received.bad_datagrams + received.unknown_messages + outcome.tx.unknown_reports;
    assert_eq!((nameless, received.stale_datagrams, outcome.complete), (0, 0, true), "{outcome:?}");
    if !outcome.clean {
        not_judged(format!("a busy machine lost some, each with its letter: {:?} {:?}", outcome.rx, outcome.tx));
    }
}

/// The radio's counts agree with what the host says was lost.
fn judge_radio(outcomes: &[RateOutcome], summary: &Summary) {
    let device = &summary.devices[0];
    assert_eq!((device.datagrams.undeliverable, device.radio.control.malformed_datagrams), (0, 0), "{device:?}");
    if outcomes.iter().all(|outcome| outcome.clean) {
        let sent: u64 = outcomes.iter().map(|outcome| outcome.tx.datagrams).sum();
        assert!(device.datagrams.received >= sent, "{sent} {device:?}");
        assert_eq!(device.datagrams.receive_buffer_drops, Some(0));
    }
}

#[test]
fn both_streams_of_a_radio_share_an_interface_over_a_cable() {
    inside(|| {
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            let (end, ends) = channel();
            let far = scope.spawn(move || radio_at_the_far_end(&tell, &ends));
            let thread: u32 = told.recv().expect("it says who it is");
            shell(&format!(
                "ip link add near type veth peer name far; ip link set far netns {thread}; \
                 ip addr add 10.99.1.1/24 dev near; ip link set near up; ethtool -K near tx off >/dev/null"
            ));
            end.send(()).unwrap();
            told.recv().expect("the radio runs");
            // Beside the kernel, and without it.
            let outcomes = ["dpdk:af_packet", "dpdk:af_xdp"].map(|engine| {
                let outcome = stream(engine.parse().unwrap(), "10.99.1.2", true, true);
                judge(&outcome, true, true);
                outcome
            });
            end.send(()).unwrap();
            judge_radio(&outcomes, &far.join().unwrap());
        });
    });
}

fn radio_at_the_far_end(tell: &Sender<u32>, told: &Receiver<()>) -> Summary {
    unshare_network().expect("permitted a moment ago");
    tell.send(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()).unwrap();
    told.recv().expect("the cable lies");
    shell("ip link set lo up; ip addr add 10.99.1.2/24 dev far; ip link set far up; ethtool -K far tx off >/dev/null");
    let radio = radio("10.99.1.2", "10.99.1.0/24");
    tell.send(0).unwrap();
    told.recv().expect("the streams have ended");
    radio.stop().unwrap()
}

#[test]
fn a_radio_that_the_kernel_has_no_way_to_is_driven_over_its_device_alone() {
    inside(|| {
        // The kernel's end of a tap stands for the radio's of a cable. An engine over it keeps it while that end is set up.
        let engine: EngineKind = "dpdk:tap@10.99.2.2/24".parse().unwrap();
        let any = PortSpec { bind: "0.0.0.0:0".parse().unwrap(), peer: None };
        let keeper = open(engine, &Config::new(vec![any])).unwrap_or_else(|error| panic!("{error} {error:?}"));
        shell(
            "tap=$(ip -o link | grep -o 'dtap[0-9]*' | head -1); ip addr add 10.99.2.1/24 dev $tap; \
             ip link set $tap up; ethtool -K $tap tx off >/dev/null 2>&1 || true",
        );
        let radio = radio("10.99.2.1", "10.99.2.0/24");
        let ways = [(true, false), (false, true), (true, true)];
        let outcomes = ways.map(|(rx, tx)| stream(engine, "10.99.2.1", rx, tx));
        for ((rx, tx), outcome) in ways.into_iter().zip(&outcomes) {
            judge(outcome, rx, tx);
        }
        judge_radio(&outcomes, &radio.stop().unwrap());
        drop(keeper);
        let left = Command::new("ip").args(["-o", "link"]).output().unwrap();
        assert!(!String::from_utf8_lossy(&left.stdout).contains("dtap"), "the last engine takes the tap with it");
    });
}
