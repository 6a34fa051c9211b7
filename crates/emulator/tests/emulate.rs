//! Radios on this host's clock and loopback: what `takt emulate` runs. No time is asserted; only that things happen.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use takt_base::Stop;
use takt_emulator::emulate::{EmulateError, Emulator, Options, Summary, run};
use takt_packet::EngineError;
use takt_testing::{HANG, loopback, wait_for};
use takt_wire::n200::registers::i2c;
use takt_wire::n200::{ControlAnswer, ControlAsk, ControlReply, ControlRequest, I2cBytes, ports};

/// Addresses that nobody else uses.
fn addr(n: u8) -> Ipv4Addr {
    loopback(100 + n)
}

fn options(n: u8) -> Options {
    Options { addrs: vec![addr(n)], ..Options::default() }
}

fn ask(addr: Ipv4Addr, ask: ControlAsk) -> ControlReply {
    let socket = UdpSocket::bind((loopback(250), 0)).unwrap();
    socket.set_read_timeout(Some(HANG)).unwrap();
    let mut bytes = [0; 36];
    ControlRequest::new(1, ask).write(&mut bytes).unwrap();
    socket.send_to(&bytes, (addr, ports::CONTROL)).unwrap();
    let (len, from) = socket.recv_from(&mut bytes).unwrap();
    assert_eq!(from.ip(), addr, "answers come from where the question went");
    ControlReply::parse(&bytes[..len]).unwrap()
}

#[test]
fn a_radio_answers_and_its_summary_says_so() {
    let emulator = Emulator::start(&options(1)).unwrap();
    let answer = ask(addr(1), ControlAsk::Hello).answer;
    assert_eq!(answer, ControlAnswer::Hello { address: addr(1), software: true });
    let early = emulator.snapshot().unwrap();
    let summary = emulator.stop().unwrap();
    let radio = &summary.devices[0];
    assert_eq!((radio.addr, radio.serial.as_str()), (addr(1), "EMU001"));
    assert_eq!(radio.radio.control.requests, 1);
    assert_eq!(early.devices[0].radio, radio.radio);
    assert_eq!((radio.datagrams.received, radio.datagrams.sent), (1, 1));
    assert_eq!(summary.lag.datagrams, 1);
}

#[test]
fn a_summary_and_options_survive_json() {
    let emulator = Emulator::start(&options(2)).unwrap();
    ask(addr(2), ControlAsk::Hello);
    let summary = emulator.stop().unwrap();
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["/lag/over_limit", "/lag/limit_us", "/lag/max_us", "/devices/0/rx/0/packets", "/devices/0/tx/samples"] {
        assert!(document.pointer(key).is_some_and(serde_json::Value::is_u64), "{key}");
    }
    let options = Options { faults: vec!["lose:rx,every=3".into()], priority: Some(5), ..options(2) };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<Options>(&text).unwrap(), options);
}

#[test]
fn several_radios_have_their_own_serials_and_end_together() {
    let options = Options { addrs: vec![addr(3), addr(4)], ..Options::default() };
    let stop = Stop::new();
    let mut ready = Vec::new();
    let summary = run(
        &options,
        &mut |addr| {
            ask(addr, ControlAsk::Hello);
            ready.push(addr);
            stop.request();
        },
        &stop,
    )
    .unwrap();
    assert_eq!(ready, [addr(3), addr(4)]);
    let serials: Vec<_> = summary.devices.iter().map(|d| d.serial.as_str()).collect();
    assert_eq!(serials, ["EMU001", "EMU002"]);
    assert_eq!(summary.lag.datagrams, 2, "the lag of both together");
}

#[test]
fn a_taken_port_is_named_and_nothing_is_left_behind() {
    let taken = UdpSocket::bind((addr(6), ports::FIFO)).unwrap();
    let options = Options { addrs: vec![addr(5), addr(6)], ..Options::default() };
    let error = Emulator::start(&options).err().unwrap();
    assert!(
        matches!(&error, EmulateError::Ports { addr: at, source: EngineError::PortInUse { addr: port } }
            if *at == addr(6) && port.port() == ports::FIFO),
        "{error:?}"
    );
    // The first radio, already running, was stopped: its ports are free.
    drop(taken);
    Emulator::start(&options).unwrap().stop().unwrap();
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    let wrong = [
        Options { addrs: vec![], ..Options::default() },
        Options { addrs: vec![addr(7), addr(7)], ..Options::default() },
        Options { serials: vec!["A".into(), "B".into()], ..options(7) },
        Options { serials: vec!["0123456789".into()], ..options(7) },
        Options { faults: vec!["lose:rx".into()], ..options(7) },
        Options { allow: vec!["everybody".into()], ..options(7) },
        Options { engine: "netmap".into(), ..options(7) },
        Options { cores: vec![100_000], ..options(7) },
        Options { eeproms: vec!["/proc/version".into()], ..options(7) },
        Options { sources: vec!["tnoe".into()], ..options(7) },
        Options { sinks: vec!["file:/nowhere/at/all.sc16".into()], ..options(7) },
        Options { sources: vec!["sigmf:/nowhere/at/all".into()], ..options(7) },
        Options { sinks: vec!["sigmf:/tmp/takt-shared".into()], addrs: vec![addr(7), addr(11)], ..Options::default() },
        Options { addrs: vec![Ipv4Addr::new(203, 0, 113, 1)], ..Options::default() },
    ];
    for options in wrong {
        assert!(Emulator::start(&options).is_err(), "{options:?}");
    }
    Emulator::start(&options(7)).unwrap().stop().unwrap();
}

#[test]
fn an_eeprom_file_is_kept_between_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("radio.eeprom");
    // Others who may write the folder may lay links beside it.
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    for beside in ["radio.partial", "radio.eeprom.tmp", ".radio.eeprom.tmp"] {
        std::os::unix::fs::symlink(&victim, folder.path().join(beside)).unwrap();
    }
    let options = Options { eeproms: vec![file.clone()], names: vec!["first".into()], ..options(8) };
    let emulator = Emulator::start(&options).unwrap();
    let data = I2cBytes::new(&[0x21, b'F']).unwrap();
    ask(addr(8), ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data });
    emulator.stop().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 1024);
    let emulator = Emulator::start(&options).unwrap();
    let data = I2cBytes::new(&[0x21]).unwrap();
    ask(addr(8), ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data });
    let read = ask(addr(8), ControlAsk::I2cRead { address: i2c::MOTHERBOARD, count: 5 }).answer;
    let ControlAnswer::I2cRead { data } = read else { panic!("{read:?}") };
    assert_eq!(data.as_slice(), b"First");
    emulator.stop().unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5, "nothing is left beside it");
}

#[test]
fn garbage_at_full_rate_ends_nothing() {
    let emulator = Emulator::start(&options(9)).unwrap();
    let socket = UdpSocket::bind((loopback(251), 0)).unwrap();
    let mut noise = 1u64;
    for n in 0..20_000u32 {
        let mut bytes = [0; 64];
        for byte in &mut bytes {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (noise >> 56) as u8;
        }
        let port = [49152, 49156, 49157, 49158, 49159, 49170, 49172][n as usize % 7];
        // The radio refuses nothing; a full buffer of this host may.
        let _ = socket.send_to(&bytes[..n as usize % 64], (addr(9), port));
    }
    // The question may find the buffer full as well.
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut hello = [0; 36];
    ControlRequest::new(1, ControlAsk::Hello).write(&mut hello).unwrap();
    wait_for("an answer", || {
        let _ = socket.send_to(&hello, (addr(9), ports::CONTROL));
        let mut bytes = [0; 2000];
        let (len, _) = socket.recv_from(&mut bytes).ok()?;
        let reply = ControlReply::parse(&bytes[..len]).ok()?;
        matches!(reply.answer, ControlAnswer::Hello { .. }).then_some(())
    });
    let summary = emulator.stop().unwrap();
    assert!(summary.devices[0].radio.control.malformed_datagrams > 0);
}

#[test]
fn both_engines_run_a_radio_aggregated_or_not() {
    for (engine, aggregate) in [("socket", false), ("mmsg", false), ("mmsg", true)] {
        let options = Options { engine: engine.into(), aggregate, ..options(10) };
        let emulator = Emulator::start(&options).unwrap();
        ask(addr(10), ControlAsk::Hello);
        emulator.stop().unwrap();
    }
}
