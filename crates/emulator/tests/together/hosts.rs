//! Locks, hosts that go away, destinations that are refused, and the GPSDO.

use takt_emulator::n200::N200Options;
use takt_emulator::policy::Destinations;
use takt_wire::n200::StreamAction::{Samples, Start};
use takt_wire::n200::registers::{firmware, settings};
use takt_wire::n200::{ControlAnswer, ControlAsk, Destination, RegisterAction, ports};
use takt_wire::sample::Format;

use crate::support::{Host, SECOND, ms, ramps, us};

fn lock(host: &mut Host) {
    let time = host.time() as u32;
    host.register(RegisterAction::FirmwarePoke, firmware::LOCK_OWNER, 4711);
    host.register(RegisterAction::FirmwarePoke, firmware::LOCK_TIME, time | 1);
}

fn locked(host: &mut Host) -> bool {
    host.register(RegisterAction::FirmwarePeek, firmware::LOCK_TIME, 0) != 0
}

#[test]
fn a_host_whose_port_is_closed_ends_its_stream_and_its_lock() {
    let mut world_host = Host::new();
    let mut dying = Host::in_world(&world_host.world);
    dying.direct(ports::FIFO, Destination::Sender);
    dying.open_rx(0, 100, Format::Sc16, 100);
    lock(&mut dying);
    dying.stream(0, Start, None);
    dying.run(ms(10));
    assert!(!dying.packets(0).is_empty());
    drop(dying); // kill -9: its ports close, the kernel answers "unreachable"
    world_host.run(ms(1));
    let after = world_host.report().rx[0].packets;
    world_host.run(ms(100));
    assert_eq!(world_host.report().rx[0].packets, after, "the stream has stopped");
    assert_eq!(world_host.report().hosts.lost, 1);
    assert!(!locked(&mut world_host));
}

#[test]
fn a_host_whose_transmit_port_is_closed_gets_no_more_updates() {
    let mut host = Host::new();
    let mut dying = Host::in_world(&host.world);
    dying.direct(ports::FIFO, Destination::Sender);
    dying.open_tx(100, Format::Sc16);
    dying.run(ms(60));
    assert!(!dying.updates().is_empty());
    drop(dying);
    host.run(ms(100));
    let updates = host.report().tx.updates;
    host.run(ms(1000));
    assert_eq!(host.report().tx.updates, updates);
    assert_eq!(host.report().hosts.lost, 1);
}

#[test]
fn a_stream_ends_three_seconds_after_the_last_sign_of_its_host() {
    let mut host = Host::receiving(&[]);
    lock(&mut host);
    let told = host.time();
    host.stream(0, Start, None);
    host.run(ms(4000));
    let (last, ..) = *host.packets(0).last().unwrap();
    let silence = last - told;
    assert!((299 * SECOND / 100..=300 * SECOND / 100).contains(&silence), "stopped after {silence} ticks");
    assert_eq!(host.report().hosts.lost, 1);
    assert!(!locked(&mut host));
}

#[test]
fn a_lock_refreshed_every_second_and_a_half_keeps_a_stream_alive() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    for _ in 0..5 {
        lock(&mut host);
        host.run(ms(1500));
    }
    assert_eq!(host.report().hosts.lost, 0);
    assert!(host.contiguous(0, 100) > 7_000_000);
}

#[test]
fn the_next_session_after_a_killed_host_works_at_once() {
    let mut host = Host::new();
    let mut dying = Host::in_world(&host.world);
    dying.direct(ports::FIFO, Destination::Sender);
    dying.open_rx(0, 100, Format::Sc16, 100);
    dying.open_tx(100, Format::Sc16);
    dying.stream(0, Start, None);
    dying.packet(100, Some(dying.time() + 5 * SECOND), false);
    dying.run(ms(10));
    drop(dying);
    host.direct(ports::FIFO, Destination::Sender);
    host.open_rx(0, 4, Format::Sc16, 363);
    host.open_tx(4, Format::Sc16);
    host.stream(0, Start, None);
    host.packet(100, None, true);
    host.run(ms(10));
    assert!(host.contiguous(0, 4) > 200_000);
    assert_eq!(host.events().len(), 1);
    assert_eq!(host.messages(0), []);
}

#[test]
fn a_foreign_destination_is_refused_and_counted() {
    let mut host = Host::receiving(&[]);
    host.replies.clear();
    host.direct(ports::RX0, Destination::Named { address: "203.0.113.5".parse().unwrap(), port: 5000 });
    host.run(us(10));
    assert_eq!(host.replies, [vec![0xFF; 4]], "not resolved");
    host.stream(0, Start, None);
    host.run(ms(5));
    assert!(!host.packets(0).is_empty(), "the old destination stands");
    let report = host.report().hosts;
    assert_eq!(report.refused_destinations, 1);
    assert_eq!(report.refused_addresses, ["203.0.113.5".parse::<std::net::IpAddr>().unwrap()]);
}

#[test]
fn another_address_of_an_allowed_network_is_refused_and_counted() {
    let allowed = Destinations::allowing(["203.0.113.0/24".parse().unwrap()]);
    let mut host = Host::with(N200Options { destinations: allowed, ..N200Options::default() }, ramps(), &[]);
    let victim = "203.0.113.5".parse().unwrap();
    for port in [ports::RX0, ports::RX1, ports::TX] {
        host.replies.clear();
        host.direct(port, Destination::Named { address: victim, port: 5000 });
        host.run(us(10));
        assert_eq!(host.replies, [vec![0xFF; 4]], "not resolved, port {port}");
    }
    let report = host.report().hosts;
    assert_eq!((report.refused_destinations, report.refused_addresses), (3, vec![victim.into()]));
}

#[test]
fn another_address_of_an_allowed_network_is_a_destination_where_redirects_are() {
    let allowed = Destinations::allowing(["203.0.113.0/24".parse().unwrap()]).with_redirects(true);
    let mut host = Host::with(N200Options { destinations: allowed, ..N200Options::default() }, ramps(), &[]);
    host.replies.clear();
    host.direct(ports::RX0, Destination::Named { address: "203.0.113.5".parse().unwrap(), port: 5000 });
    host.run(us(10));
    assert_eq!(host.replies, [vec![0; 4]]);
}

#[test]
fn memory_of_refused_addresses_is_bounded() {
    let mut host = Host::new();
    for n in 0..=255 {
        host.direct(ports::RX1, Destination::Named { address: [203, 0, 113, n].into(), port: 1 });
    }
    host.run(us(100));
    assert_eq!(host.report().hosts.refused_destinations, 256);
    assert_eq!(host.report().hosts.refused_addresses.len(), 16);
}

#[test] // register 3 is how a host remembers that it found no GPSDO
fn the_gpsdo_memory_is_a_cell_like_any_other() {
    let mut host = Host::new();
    assert_eq!(host.register(RegisterAction::FirmwarePeek, firmware::GPSDO_MEMORY, 0), 0);
    host.register(RegisterAction::FirmwarePoke, firmware::GPSDO_MEMORY, firmware::NO_GPSDO);
    assert_eq!(host.register(RegisterAction::FirmwarePeek, firmware::GPSDO_MEMORY, 0), firmware::NO_GPSDO);
}

fn with_gpsdo() -> Host {
    Host::with(N200Options { gpsdo: true, utc_at_tick_0_s: 1_700_000_000, ..N200Options::default() }, ramps(), &[])
}

#[test]
fn a_gpsdo_names_itself_on_request() {
    let mut host = with_gpsdo();
    host.send(ports::GPSDO, b"");
    host.run(us(10));
    assert!(host.gps.is_empty());
    host.send(ports::GPSDO, b"*IDN?\r\n");
    host.run(us(10));
    let text = String::from_utf8(host.gps.clone()).unwrap();
    assert!(text.contains("FireFly") && text.ends_with('\n'), "{text}");
    for command in ["SYST:COMM:SER:ECHO OFF\r\n", "GPS:GPGGA 1\r\n", "SERV:TRAC 1\r\n"] {
        host.gps.clear();
        host.send(ports::GPSDO, command.as_bytes());
        host.run(us(10));
        assert!(host.gps.is_empty(), "{command} wants no reply");
    }
}

#[test]
fn a_gpsdo_says_the_time_of_each_pps_after_it() {
    let mut host = with_gpsdo();
    host.send(ports::GPSDO, b"\r\n");
    host.run(us(10));
    for second in 6..9u64 {
        host.gps.clear();
        // The world starts at 5.25 s.
        host.run_until(takt_base::MonoNs(second * 1_000_000_000 + 100_000_000));
        let text = String::from_utf8(host.gps.clone()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        // 1 700 000 000 is 22:13:20.
        let time = format!("2213{:02}.00", 20 + second);
        assert!(lines[0].starts_with(&format!("$GPGGA,{time},")), "{text}");
        assert!(lines[1].starts_with(&format!("$GPRMC,{time},A,")), "{text}");
        assert!(lines[2].starts_with("23-11-14 "), "{text}");
        for line in &lines[..2] {
            let (body, sum) = line[1..].split_once('*').unwrap();
            assert!(body.ends_with(','), "UHD wants a comma before the asterisk");
            assert_eq!(u8::from_str_radix(sum, 16).unwrap(), body.bytes().fold(0, |a, b| a ^ b));
        }
        // A sign of life, or the sentences end after three seconds.
        assert!(matches!(host.ask(ControlAsk::Hello).unwrap().answer, ControlAnswer::Hello { .. }));
    }
    host.run(ms(4000));
    host.gps.clear();
    host.run(ms(3000));
    assert!(host.gps.is_empty(), "nobody has been received for three seconds");
}

#[test]
fn without_a_destination_samples_go_nowhere_and_are_counted() {
    let mut host = Host::with_faults(&["reboot:at=1ms,for=1ms"]);
    host.run(ms(10));
    // After power-up no host has set where samples go.
    host.direct(ports::FIFO, Destination::Sender);
    host.poke(settings::RX_CONTROL[0] + 7, 10);
    host.poke(settings::RX_DSP[0] + 2, 100);
    host.stream(0, Samples(100), None);
    host.run(ms(10));
    assert_eq!(host.report().rx[0].undirected_packets, 10);
    assert_eq!(host.rx[0], []);
}
