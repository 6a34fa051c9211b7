//! The traps that cost the prototype a day each: one test a trap, named by its number in the list of
//! `docs/internals/n200.md`, section 14.

use takt_emulator::n200::{N200Options, OverflowPolicy};
use takt_wire::n200::StreamAction::{Samples, SamplesAndMore, Start, Stop};
use takt_wire::n200::TxEvent::{BurstAck, TimeError};
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{readback, rx_control, settings};
use takt_wire::n200::{ControlAsk, ControlRequest, RxEvent, ports};
use takt_wire::sample::Format;

use crate::support::{self, Host, LATENCY, Rx, SECOND, constant, ms, ramps, us};

#[test]
fn trap_01_an_overflow_ends_the_stream_until_it_is_commanded_again() {
    let mut host = Host::receiving(&["overflow:rx,at=20ms,for=1ms"]);
    host.stream(0, Start, None);
    host.run(ms(100));
    assert_eq!(host.messages(0), [RxEvent::Overflow], "one O");
    let Some(&Rx::Message { time, arrived, .. }) = host.rx[0].last() else { panic!("stopped means stopped") };
    assert!(arrived >= support::START + ms(21), "reported when the wire is free again");
    assert!((2_000_000..2_010_100).contains(&time), "stamped when it happened: {time}");
    host.stream(0, Start, None);
    host.run(ms(10));
    assert!(host.packets(0).len() > 100, "a new command starts it again");
    assert_eq!(host.report().rx[0].overflows, 1);
}

#[test]
fn trap_01_an_overflow_may_knowingly_be_survived() {
    let options = N200Options { on_overflow: OverflowPolicy::Continue, ..N200Options::default() };
    let mut host = Host::with(options, ramps(), &["overflow:rx,at=20ms,for=1ms"]);
    host.open_rx(0, 100, Format::Sc16, 100);
    host.stream(0, Start, None);
    host.run(ms(100));
    assert_eq!(host.messages(0), [RxEvent::Overflow]);
    let packets = host.packets(0);
    let gaps: Vec<_> = packets.windows(2).map(|w| w[1].0 - w[0].0).filter(|&gap| gap != 10_000).collect();
    assert_eq!(gaps.len(), 1, "one gap in time");
    let lost = host.report().rx[0].overflow_lost_samples;
    assert_eq!(lost, (gaps[0] - 10_000) / 100, "of exactly what was lost");
    assert!((900..=1200).contains(&lost), "about a millisecond: {lost}");
    let counts: Vec<u8> = host.rx[0].iter().filter(|rx| rx.is_data()).map(Rx::count).collect();
    assert!(counts.windows(2).all(|w| w[1] == (w[0] + 1) % 16), "lost packets do not count: one O and no D");
}

#[test]
fn trap_02_the_scale_word_is_obeyed_where_the_host_halves_it() {
    let mut host = Host::with(N200Options::default(), constant(0.488, 0.0), &[]);
    host.open_rx(0, 28, Format::Sc16, 10);
    host.stream(0, Samples(10), None);
    host.run(ms(1));
    let scaling = Factor::new(28).unwrap().scaling(Direction::Rx, Format::Sc16);
    assert_eq!(scaling.word, 0x108AE);
    let received = f64::from(host.samples(0)[0].0) * scaling.host_factor;
    assert!((received - 0.488).abs() < 1e-4, "not 0.976: {received}");
}

#[test]
fn trap_03_commands_that_arrived_before_samples_act_before_them() {
    let mut host = Host::transmitting(&[]);
    // A flush and its end, and at once the first packet of the new stream.
    host.poke(settings::TX_CLEAR, 1);
    host.poke(settings::TX_CLEAR, 0);
    host.poke(settings::TX_REPORT_STREAM_ID, 2);
    host.packet(10, None, true);
    host.run(ms(1));
    assert_eq!(host.event_kinds(), [BurstAck]);
    assert_eq!(host.report().tx.flushed_packets, 0);
    // And the order of the ports says so to a driver.
    let ports = host.world.device(support::DEVICE, |radio: &mut takt_emulator::fault::Faulty<_>| {
        let radio: &takt_emulator::fault::Faulty<takt_emulator::n200::N200> = radio;
        takt_emulator::Device::ports(radio).to_vec()
    });
    let place = |port| ports.iter().position(|p| p.0 == port).unwrap();
    assert!(place(ports::FIFO) < place(ports::TX) && place(ports::CONTROL) < place(ports::TX));
}

#[test]
fn trap_04_late_is_decided_by_arrival_never_by_when_the_driver_came_round() {
    use std::net::SocketAddr;
    use takt_base::Tick;
    use takt_emulator::{Device, Outbox, Port, Sent};
    use takt_wire::n200::TxHead;

    struct Nothing;
    impl Outbox for Nothing {
        fn send(&mut self, _: Tick, _: Port, _: SocketAddr, _: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
            Sent::Taken
        }
    }
    let (signals, recorder) = support::recorded();
    let mut device = takt_emulator::n200::N200::new(N200Options::default(), signals).unwrap();
    let from = "127.0.0.1:9".parse().unwrap();
    let head = TxHead { sequence: 0, count: 0, tick: Some(5000), start_of_burst: true, end_of_burst: true, odd: false };
    let mut bytes = [0; 64];
    let len = head.frame(40, &mut bytes).unwrap();
    device.datagram(Tick(1000), Port(ports::TX), from, &bytes[..len], &mut Nothing);
    // The driver sleeps for ten seconds.
    device.advance(Tick(10 * SECOND), &mut Nothing);
    assert_eq!(device.report().tx.late, 0);
    assert_eq!(recorder.blocks()[0].first, Tick(5000));
}

#[test]
fn trap_05_a_burst_ack_leaves_when_it_is_due() {
    let mut host = Host::transmitting(&[]);
    let at = host.time() + 3 * SECOND / 2;
    host.packet(363, Some(at), true);
    host.run(ms(1600));
    let ack = host.tx.iter().find(|tx| tx.report.event == BurstAck).unwrap();
    assert_eq!(ack.arrived, support::instant_of(at + 36_300) + LATENCY);
}

#[test]
fn trap_06_an_echo_is_answered_at_once() {
    let mut host = Host::new();
    let sent = host.world.now();
    let mut bytes = [0; 36];
    ControlRequest::new(1, ControlAsk::Echo { reply_bytes: 1472 }).write(&mut bytes).unwrap();
    host.send(ports::CONTROL, &bytes);
    while host.replies.is_empty() {
        host.run(us(1));
    }
    assert_eq!(host.world.now().saturating_since(sent), 2 * LATENCY);
}

#[test]
fn trap_07_all_ports_answer_or_take_in_silence_none_is_refused() {
    use takt_packet::{Config, Engine, PortIndex, PortSpec, Wait};
    let host = Host::new();
    for port in [49152, 49156, 49157, 49158, 49159, 49172] {
        let peer = Some(std::net::SocketAddr::new(support::DEVICE, port));
        let bind = "127.0.0.1:0".parse().unwrap();
        let mut engine = host.world.engine(&Config::new(vec![PortSpec { bind, peer }])).unwrap();
        let mut batch = engine.reserve(1);
        batch.push(PortIndex(0), None, |frame| {
            frame[..8].fill(0);
            8
        });
        batch.send(Wait::Poll).unwrap();
        host.world.run_for(ms(1));
        engine.recv(Wait::Poll).unwrap();
        assert_eq!(engine.refused(), None, "{port}");
    }
}

#[test]
fn trap_08_what_looks_idle_still_speaks() {
    let mut host = Host::receiving(&[]);
    host.open_tx(100, Format::Sc16);
    host.stream(0, Stop, None);
    host.run(ms(120));
    assert_eq!(host.messages(0), [RxEvent::StopWhileIdle]);
    assert!(host.updates().len() >= 2, "flow control runs while idle");
    let at = host.time() + SECOND / 100;
    host.poke_at(at, settings::USER_DATA, 0);
    assert_eq!(u64::from(host.peek(readback::TIME_LOW)), at, "a peek blocks behind a timed poke");
}

#[test]
fn trap_09_an_old_number_never_reaches_a_new_stream() {
    let mut host = Host::transmitting(&[]);
    for _ in 0..100 {
        host.packet(1, None, true);
    }
    host.run(ms(1));
    host.open_tx(100, Format::Sc16);
    host.run(ms(200));
    assert!(host.updates().iter().all(|u| u.report.sequence == u32::MAX));
}

#[test]
fn trap_10_messages_do_not_count() {
    let mut host = Host::new();
    host.open_rx(0, 100, Format::Sc16, 10);
    host.stream(0, SamplesAndMore(5), None);
    host.run(ms(1));
    host.stream(0, Samples(5), None);
    host.run(ms(1));
    let counts: Vec<_> = host.rx[0].iter().map(Rx::count).collect();
    assert_eq!(counts, [0, 1, 1]);
}

#[test]
fn trap_11_a_lost_packet_is_a_hole_in_count_and_time() {
    let mut host = Host::receiving(&["lose:rx,at=5"]);
    host.stream(0, Samples(1000), None);
    host.run(ms(20));
    let packets = host.packets(0);
    assert_eq!(packets.len(), 9);
    assert_eq!(packets[4].0 - packets[3].0, 20_000);
    assert_eq!(host.injected("lose:rx,at=5"), 1);
}

#[test]
fn trap_12_the_hardware_word_is_that_of_an_n200() {
    let host = Host::new();
    assert_eq!(host.look(|device| device.eeproms().motherboard().hardware), 0x0A10);
}

#[test]
fn trap_13_a_packet_size_of_zero_is_harmless() {
    let mut host = Host::receiving(&[]);
    host.poke(settings::RX_CONTROL[0] + rx_control::SAMPLES_PER_PACKET, 0);
    host.stream(0, Samples(5), None);
    host.run(ms(1));
    assert_eq!(host.packets(0).len(), 5, "one sample a packet");
}

#[test]
fn trap_14_control_sockets_change_within_a_session() {
    let mut first = Host::new();
    let world = first.world.clone();
    for _ in 0..4 {
        let mut socket = Host::in_world(&world);
        assert!(socket.ask(ControlAsk::Hello).is_some());
    }
    assert!(first.ask(ControlAsk::Hello).is_some());
}

#[test]
fn trap_15_a_whole_window_at_once_fits() {
    let mut host = Host::new();
    host.open_tx(4, Format::Sc16);
    let at = host.time() + SECOND / 10;
    for n in 0..712u64 {
        host.packet(363, Some(at + 1452 * n), n == 711);
    }
    host.run(ms(200));
    assert_eq!(host.report().tx.overrun_packets, 0);
    assert_eq!(host.events(), [(BurstAck, at + 1452 * 712, 711)]);
    assert!(host.events().iter().all(|e| e.0 != TimeError));
}
