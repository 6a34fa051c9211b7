//! Errors of opening an engine, and its words on what was granted.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortSpec, open};

use crate::support::{addr, any, nobody, soon, stranger, unconnected};

fn at(bind: SocketAddr) -> Config {
    Config::new(vec![PortSpec { bind, peer: None }])
}

/// An engine at a port that has just been let go. The newborn child of another test shares the socket until it is a program
/// of its own.
fn reopened(bind: SocketAddr) -> Box<dyn Engine> {
    takt_testing::wait_for("a port that nobody holds", || open(EngineKind::Mmsg, &at(bind)).ok())
}

fn refused(config: &Config) -> EngineError {
    match open(EngineKind::Mmsg, config) {
        Err(error) => error,
        Ok(engine) => panic!("{config:?} was opened: {:?}", engine.limits()),
    }
}

/// Runs `test` on a thread of its own that has given up all privileges. (Capabilities belong to threads.)
fn without_privileges(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let now = capabilities(None).expect("ours can be read");
            let none = CapabilitySet::empty();
            set_capabilities(None, CapabilitySets { effective: none, inheritable: none, ..now })
                .expect("to give up is free");
            test();
        });
        thread.join().expect("the claim holds");
    });
}

#[test]
fn a_port_in_use_is_told_apart() {
    let taken = nobody();
    let engine = open(EngineKind::Socket, &at(taken)).unwrap();
    let error = refused(&at(taken));
    assert!(matches!(error, EngineError::PortInUse { addr } if addr == taken), "{error:?}");
    assert_eq!(error.to_string(), format!("UDP port {} of {} is taken by another program", taken.port(), taken.ip()));
    drop(engine);
    reopened(taken);
}

#[test]
fn an_address_of_another_host_is_told_apart() {
    // 192.0.2.0/24 is set aside for documentation (RFC 5737): nobody has it.
    let error = refused(&at(([192, 0, 2, 1], 0).into()));
    assert!(matches!(error, EngineError::NotLocal { .. }), "{error:?}");
    assert_eq!(error.to_string(), "192.0.2.1 is not an address of this host");
}

#[test]
fn a_port_that_needs_a_privilege_is_told_apart() {
    let limit = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap_or_default();
    if limit.trim().parse::<u16>().is_ok_and(|limit| limit <= 1) {
        return takt_testing::skip("on this host no port needs a privilege   (net.ipv4.ip_unprivileged_port_start)");
    }
    without_privileges(|| {
        let error = refused(&at(([127, 0, 0, 1], 1).into()));
        assert!(matches!(error, EngineError::NotPermitted { .. }), "{error:?}");
        assert_eq!(error.to_string(), "this process may not use UDP port 1 of 127.0.0.1");
    });
}

#[test]
fn a_configuration_out_of_range_names_field_value_and_range() {
    let good = unconnected(1);
    for (config, text) in [
        (Config { ports: Vec::new(), ..good.clone() }, "number of ports can\'t be 0; expected: 1 to 16"),
        (unconnected(17), "number of ports can\'t be 17; expected: 1 to 16"),
        (Config { batch: 0, ..good.clone() }, "batch can\'t be 0; expected: 1 to 1024 datagrams"),
        (Config { batch: 1025, ..good.clone() }, "batch can\'t be 1025; expected: 1 to 1024 datagrams"),
        (Config { max_payload_bytes: 0, ..good.clone() }, "max_payload_bytes can\'t be 0; expected: 1 to 65507 bytes"),
        (
            Config { max_payload_bytes: 65_508, ..good.clone() },
            "max_payload_bytes can\'t be 65508; expected: 1 to 65507 bytes",
        ),
        (
            Config { recv_buffer_bytes: 2 << 30, ..good.clone() },
            "recv_buffer_bytes can\'t be 2147483648; expected: at most 1073741824 bytes",
        ),
    ] {
        assert_eq!(refused(&config).to_string(), text);
    }
}

fn sysctl(name: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).expect("Linux has it");
    text.trim().parse().expect("a number")
}

fn granted(engine: &dyn Engine) -> (usize, usize) {
    (engine.limits().recv_buffer_bytes, engine.limits().send_buffer_bytes)
}

#[test]
fn limits_say_what_buffers_were_granted_and_not_what_was_requested() {
    let (rmem, wmem) = (sysctl("rmem_max"), sysctl("wmem_max"));
    let granted_of = |recv_buffer_bytes, send_buffer_bytes, force_buffers| {
        let config = Config { recv_buffer_bytes, send_buffer_bytes, force_buffers, ..unconnected(2) };
        granted(&*open(EngineKind::Mmsg, &config).unwrap())
    };
    let asked = |recv, send| granted_of(recv, send, true);
    assert_eq!(asked(100_000, 120_000), (100_000, 120_000));
    let ordinary = granted_of(rmem + 100_000, wmem + 100_000, false);
    assert_eq!(ordinary, (rmem, wmem), "who may do more does not, unless requested");
    without_privileges(|| assert_eq!(asked(rmem + 100_000, wmem + 100_000), (rmem, wmem)));
    let privileged = capabilities(None).unwrap().effective.contains(CapabilitySet::NET_ADMIN);
    if privileged {
        assert_eq!(asked(rmem + 100_000, wmem + 100_000), (rmem + 100_000, wmem + 100_000));
    } else {
        takt_testing::skip("no buffer goes beyond net.core.rmem_max without CAP_NET_ADMIN   (run it as root)");
    }
}

#[test]
fn limits_say_what_the_kernel_carries() {
    let plain = open(EngineKind::Mmsg, &unconnected(1)).unwrap().limits();
    assert_eq!((plain.batch, plain.max_payload_bytes, plain.stamps), (64, 1472, true));
    assert_eq!((plain.aggregates_sends, plain.aggregates_receives), (false, false));
    let config = Config { aggregate: true, ..unconnected(1) };
    let socket = open(EngineKind::Socket, &config).unwrap().limits();
    assert_eq!((socket.aggregates_sends, socket.aggregates_receives), (false, false), "one call a datagram, always");
    // UDP_SEGMENT is in every kernel since 4.18, UDP_GRO since 5.0.
    let limits = open(EngineKind::Mmsg, &config).unwrap().limits();
    assert_eq!((limits.aggregates_sends, limits.aggregates_receives), (true, true));
}

#[test]
fn what_a_failed_opening_had_taken_is_free_again() {
    let (free, taken) = (nobody(), stranger());
    let spec = |bind| PortSpec { bind, peer: None };
    refused(&Config::new(vec![spec(free), spec(taken.local_addr().unwrap())]));
    let engine = reopened(free);
    assert_eq!(addr(&*engine, 0), free);
    assert_ne!(free, any());
}

/// The kernel begins to stamp some time after the request, in a work queue of this CPU; what came before is stamped when it
/// is read. A real-time thread, where it is permitted, keeps that work queue waiting until it sleeps.
#[test]
fn the_first_datagram_after_opening_is_stamped_before_it_is_read() {
    let fifo = ["--fifo", "50"];
    let permitted = || Command::new("chrt").args(fifo).arg("true").output().is_ok_and(|out| out.status.success());
    if std::env::var_os("TAKT_PACKET_FIFO").is_some() || !permitted() {
        return (0..50).for_each(|_| first_datagram());
    }
    let test = "opening::the_first_datagram_after_opening_is_stamped_before_it_is_read";
    let exe = std::env::current_exe().expect("this binary");
    let out = Command::new("chrt").args(fifo).arg(exe).args(["--exact", test]).env("TAKT_PACKET_FIFO", "1").output();
    let out = out.expect("it ran a moment ago");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("1 passed"), "{said}");
}

fn first_datagram() {
    let from = stranger();
    let mut engine = open(EngineKind::Mmsg, &unconnected(1)).expect("loopback");
    from.send_to(b"first", addr(&*engine, 0)).expect("loopback");
    // The two clocks are related to about a microsecond at worst.
    let reading = WallClock.now() + Duration::from_micros(5);
    while WallClock.now() < reading {}
    let first = engine.recv(soon()).expect("the port lives").iter().next().and_then(|datagram| datagram.arrived);
    assert!(first.is_some_and(|at| at <= reading), "{first:?}, read from {reading:?} on");
    drop(engine);
    // The kernel stamps no longer, if nobody else of this machine wants it.
    std::thread::sleep(Duration::from_millis(2));
}

#[cfg(not(feature = "dpdk"))]
#[test]
fn a_program_without_dpdk_says_how_it_comes_to_have_it() {
    for name in ["dpdk", "dpdk:af_xdp", "dpdk:0000:03:00.0@192.168.10.1/24"] {
        let error = match open(name.parse().expect("it is known"), &unconnected(1)) {
            Err(error) => error.to_string(),
            Ok(engine) => panic!("{:?}", engine.limits()),
        };
        let says = format!(
            "engine {name} can't run here: this program was built without DPDK   \
             (run apt-get install libdpdk-dev and cargo build --release --features dpdk)"
        );
        assert_eq!(error, says);
    }
}
