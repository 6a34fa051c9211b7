//! Opening, owning and commanding a radio when datagrams get lost, radios restart and others interfere.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::n200::{Board, N200Options};
use takt_radio::board::{BoardKind, Side};
use takt_radio::n200::{CLOCK, ClockSource, FrameBytes, N200, OpenOptions, RxOptions, TimeSource, TxOptions};
use takt_radio::{
    AnyIdentity, Burst, FoundRadio, FoundState, Net, RadioError, RxStream, TuneRequest, TxStream, find, probe,
};
use takt_wire::n200::registers::{firmware, settings};
use takt_wire::n200::{ControlAsk, ControlRequest, FifoAction, FifoCommand, RegisterAction, ports};

use crate::common::{ADDR, Action, OTHER, SimNet, Way, faulty, ms, ramps, world, world_faulty};

fn open(net: &Arc<SimNet>) -> Result<N200, RadioError> {
    N200::open(net.clone(), ADDR, &OpenOptions::default())
}

fn with(options: N200Options) -> Arc<SimNet> {
    world_faulty(options, ramps(), &[])
}

#[test]
fn a_radio_reports_what_it_is() {
    let net = with(N200Options { serial: "F5A1B2".into(), name: "roof".into(), ..N200Options::default() });
    let radio = open(&net).unwrap();
    let id = radio.identity();
    assert_eq!((id.model, id.serial.as_str(), id.name.as_str()), ("N200r4", "F5A1B2", "roof"));
    assert_eq!((id.firmware.as_str(), id.fpga.as_str()), ("12.4", "11.1"));
    assert_eq!(radio.board(), BoardKind::Sbx);
    assert_eq!(radio.frame_bytes(), FrameBytes::ETHERNET);
}

#[test]
fn nothing_at_an_address_is_reported_within_seconds() {
    let net = world();
    let before = net.now_ns();
    let gone = N200::open(net.clone(), OTHER, &OpenOptions::default());
    assert!(matches!(gone, Err(RadioError::NothingThere { .. } | RadioError::PortClosed { .. })), "{:?}", gone.err());
    assert!(net.now_ns() - before < 3_000_000_000);
}

#[test]
fn a_radio_that_swallows_everything_is_not_there() {
    let net = world();
    net.tamper(|_, _, _| Action::Lose);
    assert!(matches!(open(&net), Err(RadioError::NothingThere { .. })));
}

#[test]
fn versions_that_do_not_match_are_refused_with_both() {
    assert!(matches!(
        open(&with(N200Options { firmware: 13, ..N200Options::default() })),
        Err(RadioError::Firmware { got: 13, low: 10, high: 12, .. })
    ));
    for firmware in [10, 11] {
        assert!(open(&with(N200Options { firmware, ..N200Options::default() })).is_ok(), "{firmware}");
    }
    for major in [9, 10, 12] {
        assert!(matches!(
            open(&with(N200Options { fpga: major << 16 | 3, ..N200Options::default() })),
            Err(RadioError::Fpga { want_major: 11, minor: 3, .. })
        ));
    }
}

#[test]
fn other_radios_are_named() {
    assert!(matches!(
        open(&with(N200Options { hardware: 0x0400, fpga: 0x000A_0000, ..N200Options::default() })),
        Err(RadioError::OtherKind { found: "a USRP2", .. })
    ));
    // An X310 is silent to this hello and echoes its own.
    let net = world();
    net.tamper(|way, _, bytes| match way {
        Way::Out if bytes.len() == 16 => Action::Pass,
        Way::Out => Action::Lose,
        Way::In => Action::Become(vec![0, 0, 0, 1, b't', b'a', b'k', b't', 0, 0, 0, 0, 0, 0, 0, 0]),
    });
    assert!(matches!(open(&net), Err(RadioError::OtherKind { found: "an X300 or X310", .. })));
}

#[test]
fn a_radio_in_use_is_left_alone_unless_forced() {
    let net = world();
    let first = open(&net).unwrap();
    let Err(RadioError::InUse { age, .. }) = open(&net) else { panic!("opened twice") };
    assert!(age.is_some_and(|age| age < Duration::from_secs(3)));
    let force = OpenOptions { force: true, ..OpenOptions::default() };
    let _second = N200::open(net.clone(), ADDR, &force).unwrap();
    net.world.run_for(ms(1600));
    assert!(matches!(first.check(), Err(RadioError::TakenOver { .. }) | Ok(())));
    assert!(matches!(first.check(), Err(RadioError::TakenOver { .. })));
}

#[test]
fn a_radio_given_back_is_free_at_once() {
    let net = world();
    drop(open(&net).unwrap());
    assert!(open(&net).is_ok());
}

#[test]
fn a_radio_whose_host_died_is_free_after_three_seconds() {
    let net = world();
    std::mem::forget(open(&net).unwrap());
    assert!(matches!(open(&net), Err(RadioError::InUse { .. })));
    net.world.run_for(ms(3100));
    assert!(open(&net).is_ok());
}

#[test]
fn a_stream_stays_alive_while_only_the_streamer_is_used() {
    let net = world();
    let (_radio, mut rx) = net.receiver(195_312.5);
    rx.start(None).unwrap();
    let mut buffer = vec![Complex32::default(); 100_000];
    for _ in 0..20 {
        let received = rx.recv(&mut [&mut buffer], net.after(ms(1000))).unwrap();
        assert_eq!((received.samples, received.event), (100_000, None));
    }
    assert_eq!(net.report().hosts.lost, 0);
}

#[test]
fn lost_requests_and_replies_are_repeated() {
    for (stream, every) in [("requests", 5), ("control", 7), ("control", 3)] {
        let net = faulty(&[&format!("lose:{stream},every={every}")]);
        let radio = open(&net).unwrap_or_else(|error| panic!("{stream} {every}: {error}"));
        assert_eq!(radio.identity().serial, "EMU001", "an EEPROM read that was repeated read the wrong bytes");
        assert!(radio.repeats() > 0 && net.injected() > 0);
    }
}

#[test]
fn lost_commands_and_acks_leave_the_same_registers() {
    let pins = |net: &SimNet| net.report().tuning;
    let good = world();
    let tune = |net: &Arc<SimNet>| {
        let mut radio = net.radio();
        radio.tune_rx(0, TuneRequest::new(900e6)).unwrap();
        radio.tune_tx(TuneRequest::new(2.45e9)).unwrap();
        radio.set_gain_db(Side::Rx, 20.5).unwrap();
        radio.set_gain_db(Side::Tx, 3.0).unwrap();
        radio.flush().unwrap();
        let repeats = radio.repeats();
        (pins(net), repeats)
    };
    let (want, none) = tune(&good);
    assert_eq!(none, 0);
    for (stream, chance) in [("commands", 0.02), ("commands", 0.2), ("acks", 0.02), ("acks", 0.2)] {
        let net = faulty(&[&format!("lose:{stream},p={chance},seed=5")]);
        let (got, repeats) = tune(&net);
        assert_eq!(got, want, "{stream} {chance}");
        assert!(repeats > 0, "{stream} {chance}");
    }
}

#[test]
fn the_clock_is_set_right_whatever_gets_lost() {
    for seed in 0..20 {
        let faults = [format!("lose:commands,p=0.05,seed={seed}"), format!("lose:acks,p=0.05,seed={seed}")];
        let net = faulty(&[&faults[0], &faults[1]]);
        let mut radio = net.radio();
        let Ok(()) = radio.set_time_now(Tick(5_000_000_000_000)) else {
            continue; // three tries in a row were unlucky; it says so
        };
        let set = net.now_ns();
        let now = radio.time().unwrap();
        let since = (net.now_ns() - set) / 10;
        let shown = now.0 - 5_000_000_000_000;
        // Lost acks cost half a second each before the last latch.
        assert!(shown <= since + 400_000_000, "seed {seed}: {shown} after {since}");
    }
}

#[test]
fn a_trigger_is_never_repeated_blindly() {
    let net = world();
    let mut radio = net.radio();
    radio.flush().unwrap();
    let mut latches = 0;
    let count = Arc::new(std::sync::Mutex::new(0));
    let seen = Arc::clone(&count);
    net.tamper(move |way, port, bytes| {
        if port != ports::FIFO {
            return Action::Pass;
        }
        let latch = matches!(
            FifoCommand::parse(bytes),
            Ok(FifoCommand { action: FifoAction::Poke { register: settings::TIME_HIGH, .. }, .. })
        );
        if way == Way::Out && latch {
            latches += 1;
            *seen.lock().unwrap() = latches;
        }
        // The ack of the first latch is lost.
        let ack_of_latch = way == Way::In && bytes.get(10..12) == Some(&[0x01, settings::TIME_HIGH]);
        if ack_of_latch && latches == 1 { Action::Lose } else { Action::Pass }
    });
    radio.set_time_now(Tick(1_000_000)).unwrap();
    assert_eq!(*count.lock().unwrap(), 2, "once, and once afresh with all its registers");
    assert!(radio.time().unwrap().0 < 1_000_000 + 10_000_000);
}

#[test]
fn a_timed_command_waits_for_its_tick() {
    let net = world();
    let mut radio = net.radio();
    let before = net.report().tuning;
    let at = radio.time().unwrap() + CLOCK.ticks_in(ms(200));
    radio.set_command_time(Some(at)).unwrap();
    radio.tune_rx(0, TuneRequest::new(1.5e9)).unwrap();
    radio.set_command_time(None).unwrap();
    net.world.run_for(ms(100));
    assert_eq!(net.report().tuning, before, "too early");
    // Reading waits behind it.
    let now = radio.time().unwrap();
    assert!(now >= at);
    assert!((net.report().tuning.rx_hz[0] - 1.5e9).abs() < 1.0);
}

#[test]
fn tuning_lands_on_the_target() {
    let net = world();
    let mut radio = net.radio();
    let _rx = radio.rx_streamer(&RxOptions::new(5e6)).unwrap();
    for target_hz in [400e6, 900e6, 1.234_567e9, 2.4e9, 3.9e9, 4.4e9] {
        let tuned = radio.tune_rx(0, TuneRequest::new(target_hz)).unwrap();
        radio.flush().unwrap();
        assert!((tuned.actual_hz - target_hz).abs() < 0.02, "{tuned:?}");
        let device_hz = net.report().tuning.rx_hz[0];
        assert!((device_hz - target_hz).abs() < 1.0, "the radio receives {device_hz}, not {target_hz}");
        let tuned = radio.tune_tx(TuneRequest::new(target_hz)).unwrap();
        radio.flush().unwrap();
        let device_hz = net.report().tuning.tx_hz;
        assert!((device_hz - target_hz).abs() < 1.0, "the radio plays at {device_hz}, not {tuned:?}");
    }
    for target_hz in [399e6, 4.5e9, f64::NAN] {
        assert!(matches!(radio.tune_rx(0, TuneRequest::new(target_hz)), Err(RadioError::Range { .. })));
    }
}

#[test]
fn gains_reach_the_attenuators() {
    let net = world();
    let mut radio = net.radio();
    for gain_db in [0.0, 0.5, 10.5, 31.5] {
        assert_eq!(radio.set_gain_db(Side::Rx, gain_db).unwrap(), gain_db);
        assert_eq!(radio.set_gain_db(Side::Tx, gain_db).unwrap(), gain_db);
        radio.flush().unwrap();
        let tuning = net.report().tuning;
        assert_eq!((tuning.rx_gain_db, tuning.tx_gain_db), (Some(gain_db), Some(gain_db)));
    }
    assert!(matches!(radio.set_gain_db(Side::Rx, 32.0), Err(RadioError::Range { high: 31.5, .. })));
    assert!(matches!(radio.set_antenna(Side::Rx, "RX9"), Err(RadioError::Name { .. })));
    radio.set_antenna(Side::Rx, "tx/rx").unwrap();
}

#[test]
fn a_radio_without_a_front_end_streams_all_the_same() {
    for board in [Board::None, Board::Basic, Board::Lf, Board::Wbx] {
        let net = with(N200Options { board, ..N200Options::default() });
        let (mut radio, mut rx) = net.receiver(1e6);
        rx.start(None).unwrap();
        let mut buffer = vec![Complex32::default(); 1000];
        assert_eq!(rx.recv(&mut [&mut buffer], net.after(ms(100))).unwrap().samples, 1000);
        if board == Board::None {
            assert!(matches!(radio.tune_rx(0, TuneRequest::new(1e9)), Err(RadioError::NoModel { .. })));
        }
        if board == Board::Wbx {
            radio.tune_rx(0, TuneRequest::new(900e6)).unwrap();
            radio.flush().unwrap();
            assert!((net.report().tuning.rx_hz[0] - 900e6).abs() < 1.0);
        }
    }
}

#[test]
fn clocks_set_at_the_same_edge_are_one() {
    let net = world();
    net.add(OTHER, N200Options { serial: "EMU002".into(), ..N200Options::default() }, ramps(), &[]);
    net.world.run_for(ms(300));
    let mut a = net.radio();
    let mut b = N200::open(net.clone(), OTHER, &OpenOptions::default()).unwrap();
    for radio in [&mut a, &mut b] {
        radio.set_clock_source(ClockSource::External).unwrap();
        radio.set_time_source(TimeSource::External).unwrap();
    }
    a.await_pps().unwrap();
    a.set_time_at_next_pps(Tick(0)).unwrap();
    b.set_time_at_next_pps(Tick(0)).unwrap();
    net.world.run_for(ms(1100));
    assert_eq!(a.time_at_last_pps().unwrap(), b.time_at_last_pps().unwrap());

    // They receive the same from the same tick on.
    let start = a.time().unwrap() + CLOCK.ticks_in(ms(50));
    let mut streams: Vec<_> = [&mut a, &mut b].map(|r| r.rx_streamer(&RxOptions::new(1e6)).unwrap()).into();
    for stream in &mut streams {
        stream.start(Some(start)).unwrap();
    }
    let mut heard = Vec::new();
    for stream in &mut streams {
        let mut buffer = vec![Complex32::default(); 5000];
        let received = stream.recv(&mut [&mut buffer], net.after(ms(500))).unwrap();
        assert_eq!((received.samples, received.first, received.event), (5000, start, None));
        heard.push(buffer);
    }
    assert_eq!(heard[0], heard[1]);
}

#[test]
fn a_restarted_radio_is_noticed_by_whoever_uses_it() {
    let net = faulty(&["reboot:at=500ms,for=100ms"]);
    let (mut radio, mut rx) = net.receiver(1e6);
    let mut tx = radio.tx_streamer(&TxOptions::new(1e6)).unwrap();
    rx.start(None).unwrap();
    let mut buffer = vec![Complex32::default(); 100_000];
    let lost = loop {
        if let Err(error) = rx.recv(&mut [&mut buffer], net.after(ms(100))) {
            break error;
        }
        assert!(net.now_ns() < 10_000_000_000);
    };
    assert!(matches!(lost, RadioError::Restarted { .. }), "{lost}");
    let samples = vec![Complex32::default(); 1_000_000];
    let refused = loop {
        match tx.send(&[&samples], Burst::GO_ON, net.after(ms(100))) {
            Err(error) => break error,
            Ok(_) => assert!(net.now_ns() < 20_000_000_000),
        }
    };
    assert!(matches!(refused, RadioError::Restarted { .. }), "{refused}");
    drop((radio, rx, tx));
    assert!(open(&net).is_ok(), "it can be opened again");
}

#[test]
fn a_radio_that_vanishes_is_noticed() {
    let net = world();
    let (mut radio, mut rx) = net.receiver(1e6);
    rx.start(None).unwrap();
    net.tamper(|_, _, _| Action::Lose);
    let mut buffer = vec![Complex32::default(); 100_000];
    let lost = loop {
        if let Err(error) = rx.recv(&mut [&mut buffer], net.after(ms(100))) {
            break error;
        }
        assert!(net.now_ns() < 10_000_000_000);
    };
    assert!(matches!(lost, RadioError::Gone { .. }), "{lost}");
    assert!(matches!(radio.time(), Err(RadioError::Silent { .. })));
}

#[test]
fn larger_datagrams_are_used_where_the_path_carries_them() {
    let net = world();
    let wish = FrameBytes { receive: 4000, send: 4000 };
    let options = OpenOptions { frame_bytes: wish, ..OpenOptions::default() };
    let mut radio = N200::open(net.clone(), ADDR, &options).unwrap();
    assert_eq!(radio.frame_bytes(), wish);
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
    assert_eq!(rx.samples_per_datagram(), 995);
    rx.start(None).unwrap();
    let mut buffer = vec![Complex32::default(); 5000];
    assert_eq!(rx.recv(&mut [&mut buffer], net.after(ms(100))).unwrap().samples, 5000);
    drop((rx, radio));

    net.tamper(|_, port, bytes| if port == ports::CONTROL && bytes.len() > 1400 { Action::Lose } else { Action::Pass });
    let radio = open(&net).unwrap();
    assert_eq!(radio.frame_bytes(), FrameBytes { receive: 1400, send: 1400 });
}

#[test]
fn what_is_found_is_described_and_not_disturbed() {
    let net = world();
    let shared: Arc<dyn Net> = net.clone();
    let look = || find(&shared, Some(ADDR)).unwrap();
    let [FoundRadio { identity: Some(id), state: FoundState::Free, .. }] = &look()[..] else { panic!("{:?}", look()) };
    assert_eq!(id.about().serial, "EMU001");
    let radio = net.radio();
    assert!(matches!(look()[..], [FoundRadio { state: FoundState::InUse { .. }, .. }]));
    assert!(radio.check().is_ok());
    assert!(find(&shared, Some(OTHER)).unwrap().is_empty());
    let old = with(N200Options { fpga: 0x000A_0000, ..N200Options::default() });
    let shared: Arc<dyn Net> = old;
    assert!(matches!(
        find(&shared, Some(ADDR)).unwrap()[..],
        [FoundRadio { state: FoundState::Unsuitable { .. }, .. }]
    ));
}

#[test]
fn a_radio_that_does_not_say_who_has_it_spoils_no_search() {
    let net = world();
    net.tamper(|way, port, bytes| {
        let asks_whose = |ask: ControlAsk| {
            let ControlAsk::Register { action, address, .. } = ask else { return false };
            (action, address) == (RegisterAction::FirmwarePeek, firmware::LOCK_TIME)
        };
        match ControlRequest::parse(bytes) {
            Ok(request) if way == Way::Out && port == ports::CONTROL && asks_whose(request.ask) => Action::Lose,
            _ => Action::Pass,
        }
    });
    let shared: Arc<dyn Net> = net;
    let found = find(&shared, Some(ADDR)).unwrap();
    let [FoundRadio { addr: ADDR, identity: Some(AnyIdentity::N200(_)), state: FoundState::Unsuitable { why } }] =
        &found[..]
    else {
        panic!("{found:?}")
    };
    assert!(why.contains("no longer answers (a firmware peek"), "{why}");
}

#[test]
fn a_probe_describes_board_clock_and_gps() {
    for gpsdo in [false, true] {
        let net = with(N200Options { gpsdo, ..N200Options::default() });
        let mut radio = net.radio();
        let probe = probe(&mut radio).unwrap();
        assert!(probe.reference_locked && !probe.mimo_link);
        assert_eq!((probe.rx.lo_locked, probe.tx.lo_locked), (Some(true), Some(true)));
        assert_eq!(probe.rates.count, 255);
        assert_eq!(probe.gps.is_some(), gpsdo);
        if let Some(gps) = probe.gps {
            assert_eq!(gps.locked, Some(true), "{gps:?}");
            assert!(gps.utc.is_some() && gps.servo.is_some(), "{gps:?}");
        }
    }
}

#[test]
fn reading_the_time_twice_gives_the_time_between() {
    let net = world();
    let mut radio = net.radio();
    let first = radio.time().unwrap();
    net.world.run_for(ms(10));
    let second = radio.time().unwrap();
    let between = second.since(first).unwrap();
    assert!(between >= CLOCK.ticks_in(ms(10)) && between < CLOCK.ticks_in(ms(11)), "{between}");
    let _ = Ticks(0);
}
