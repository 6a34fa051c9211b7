//! Radios on this host's clock and loopback: what `takt emulate` runs. No time is asserted; only that things happen.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use takt_base::Stop;
use takt_emulator::air::{ModelName, Radio, Scene};
use takt_emulator::emulate::{
    Board, EmulateError, Emulator, EmulatorOptions, InAir, ModelDevice, Notice, Radios, Summary, run_model,
};
use takt_emulator::n200::N200;
use takt_emulator::x310::X310;
use takt_packet::EngineError;
use takt_testing::{HANG, loopback, wait_for};
use takt_wire::n200::eeprom::Daughterboard;
use takt_wire::n200::registers::i2c;
use takt_wire::n200::{ControlAnswer, ControlAsk, ControlReply, ControlRequest, I2cBytes, ports};
use takt_wire::x310::registers as wide;
use takt_wire::x310::{Firmware, FirmwareAction};

/// Addresses that nobody else uses.
fn addr(n: u8) -> Ipv4Addr {
    loopback(100 + n)
}

fn options(n: u8) -> EmulatorOptions {
    EmulatorOptions { addrs: vec![addr(n)], ..EmulatorOptions::default() }
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
    let options = EmulatorOptions { faults: vec!["lose:rx,every=3".into()], priority: Some(5), ..options(2) };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<EmulatorOptions>(&text).unwrap(), options);
}

#[test]
fn several_radios_have_their_own_serials_and_end_together() {
    let options = EmulatorOptions { addrs: vec![addr(3), addr(4)], ..EmulatorOptions::default() };
    let stop = Stop::new();
    let mut ready = Vec::new();
    let mut notify = |notice| {
        let Notice::Ready { addr, .. } = notice else { panic!("{notice:?}") };
        ask(addr, ControlAsk::Hello);
        ready.push(addr);
        stop.request();
    };
    let summary = run_model::<N200>(&options, &mut notify, &mut |_| {}, &stop).unwrap();
    assert_eq!(ready, [addr(3), addr(4)]);
    let serials: Vec<_> = summary.devices.iter().map(|d| d.serial.as_str()).collect();
    assert_eq!(serials, ["EMU001", "EMU002"]);
    assert_eq!(summary.lag.datagrams, 2, "the lag of both together");
}

/// Its PPS edges and its lag port are tested where they are; here that all of an emulator get the speed and say so.
#[test]
fn a_slow_radio_says_so_and_what_passes_for_hardware_is_never_slow() {
    let slow = EmulatorOptions { addrs: vec![addr(13), addr(14)], speed: "0.1".parse().unwrap(), ..options(13) };
    let summary = Emulator::start(&slow).unwrap().stop().unwrap();
    let speeds: Vec<f64> = summary.devices.iter().map(|device| device.speed).collect();
    assert_eq!((summary.speed, speeds.as_slice()), (0.1, &[0.1, 0.1][..]));
    assert!(summary.devices.iter().all(|device| device.clock_hz == 100_000_000));
    let text = serde_json::to_string(&slow).unwrap();
    assert_eq!(serde_json::from_str::<EmulatorOptions>(&text).unwrap(), slow);
    let older = text.replace(",\"speed\":\"0.1\"", "");
    assert_ne!(older, text);
    assert_eq!(serde_json::from_str::<EmulatorOptions>(&older).unwrap().speed.to_string(), "1");
    let error = Emulator::start(&EmulatorOptions { as_hardware: true, ..slow }).err().unwrap();
    assert!(matches!(error, EmulateError::HardwareSpeed { .. }), "{error}");
}

#[test]
fn all_radios_of_an_air_have_the_speed_that_the_command_line_names() {
    let radios = vec![Radio::new("a", ModelName::N200, addr(17)), Radio::new("b", ModelName::X310, addr(18))];
    let mut scene = Scene { radios, ..Scene::default() };
    scene.apply(&EmulatorOptions { speed: "0.5".parse().unwrap(), ..EmulatorOptions::default() }).unwrap();
    let summary = InAir::start(&scene).unwrap().stop().unwrap();
    let speed = |device: &ModelDevice| match device {
        ModelDevice::N200(device) => device.speed,
        ModelDevice::X310(device) => device.speed,
    };
    let speeds: Vec<f64> = summary.devices.iter().map(|device| speed(&device.device)).collect();
    assert_eq!((summary.speed, speeds.as_slice()), (0.5, &[0.5, 0.5][..]));
}

#[test]
fn a_taken_port_is_named_and_nothing_is_left_behind() {
    let taken = UdpSocket::bind((addr(6), ports::FIFO)).unwrap();
    let options = EmulatorOptions { addrs: vec![addr(5), addr(6)], ..EmulatorOptions::default() };
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
        EmulatorOptions { addrs: vec![], ..EmulatorOptions::default() },
        EmulatorOptions { addrs: vec![addr(7), addr(7)], ..EmulatorOptions::default() },
        EmulatorOptions { serials: vec!["A".into(), "B".into()], ..options(7) },
        EmulatorOptions { serials: vec!["0123456789".into()], ..options(7) },
        EmulatorOptions { faults: vec!["lose:rx".into()], ..options(7) },
        EmulatorOptions { allow: vec!["everybody".into()], ..options(7) },
        EmulatorOptions { engine: "netmap".into(), ..options(7) },
        EmulatorOptions { cores: vec![100_000], ..options(7) },
        EmulatorOptions { eeproms: vec!["/proc/version".into()], ..options(7) },
        EmulatorOptions { sources: vec!["tnoe".into()], ..options(7) },
        EmulatorOptions { sinks: vec!["file:/nowhere/at/all.sc16".into()], ..options(7) },
        EmulatorOptions { sources: vec!["sigmf:/nowhere/at/all".into()], ..options(7) },
        EmulatorOptions {
            sinks: vec!["sigmf:/tmp/takt-shared".into()],
            addrs: vec![addr(7), addr(11)],
            ..EmulatorOptions::default()
        },
        EmulatorOptions { addrs: vec![Ipv4Addr::new(203, 0, 113, 1)], ..EmulatorOptions::default() },
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
    let options = EmulatorOptions { eeproms: vec![file.clone()], names: vec!["first".into()], ..options(8) };
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

#[test] // the front end was that of the option, and the EEPROM that of the file
fn an_eeprom_file_says_which_board_it_is_and_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("radio.eeprom");
    let with = |board: Option<Board>| EmulatorOptions { eeproms: vec![file.clone()], board, ..options(15) };
    let emulator = Emulator::start(&with(Some(Board::Wbx))).unwrap();
    let data = I2cBytes::new(&[0x21, b'W']).unwrap();
    ask(addr(15), ControlAsk::I2cWrite { address: i2c::MOTHERBOARD, data });
    emulator.stop().unwrap();
    let refused = || Emulator::start(&with(Some(Board::Sbx))).err().unwrap().to_string();
    let said = refused();
    assert!(said.starts_with(&file.display().to_string()), "{said}");
    assert!(said.ends_with("holds the EEPROM of a radio with board wbx, and --board is sbx"), "{said}");
    for board in [None, Some(Board::Wbx)] {
        let summary = Emulator::start(&with(board)).unwrap().stop().unwrap();
        assert_eq!(summary.devices[0].radio.tuning.rx_gain_db, None, "an SBX has a gain");
    }
    // As a host burns it: a CBX, which is not emulated.
    let mut bytes = std::fs::read(&file).unwrap();
    for (half, id) in [(256, 0x0066), (512, 0x0067)] {
        let image = &mut bytes[half..half + Daughterboard::IMAGE_BYTES];
        let board = Daughterboard { id, ..Daughterboard::parse(image).unwrap() };
        image.copy_from_slice(&board.image());
    }
    std::fs::write(&file, bytes).unwrap();
    let said = refused();
    assert!(said.contains("with board 0x0067/0x0066, and"), "{said}");
    Emulator::start(&with(None)).unwrap().stop().unwrap();
}

/// Answers of the processor of an X310.
fn firmware(addr: Ipv4Addr, action: FirmwareAction, address: u32, data: u32) -> u32 {
    let socket = UdpSocket::bind((loopback(250), 0)).unwrap();
    socket.set_read_timeout(Some(HANG)).unwrap();
    let mut bytes = [0; Firmware::BYTES];
    Firmware { action, ack: true, error: false, sequence: 1, address, data }.write(&mut bytes).unwrap();
    socket.send_to(&bytes, (addr, takt_wire::x310::ports::FIRMWARE)).unwrap();
    let (len, _) = socket.recv_from(&mut bytes).unwrap();
    Firmware::parse(&bytes[..len]).unwrap().data
}

#[test]
fn an_x310_reads_its_name_from_the_file_of_the_run_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("radio.eeprom");
    let options = EmulatorOptions { eeproms: vec![file.clone()], ..options(12) };
    // The word of the mirror where the name begins.
    let name = |addr| {
        let word = wide::shared::BASE + 4 * (wide::shared::EEPROM + 19);
        firmware(addr, FirmwareAction::Peek, word, 0).to_be_bytes()
    };
    let radios = Radios::<X310>::start(&options).unwrap();
    let (start, send) = (wide::i2c::START | wide::i2c::WRITE, wide::i2c::WRITE);
    for (byte, command) in [(wide::i2c::MOTHERBOARD << 1, start), (0, send), (76, send), (b'X', send)] {
        for (register, word) in [(wide::i2c::DATA, byte.into()), (wide::i2c::COMMAND, command)] {
            firmware(addr(12), FirmwareAction::Poke, wide::i2c::BASE + 4 * register, word);
        }
    }
    assert_eq!(&name(addr(12)), b"x310");
    radios.stop().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 5120);
    let radios = Radios::<X310>::start(&options).unwrap();
    assert_eq!(&name(addr(12)), b"X310");
    radios.stop().unwrap();

    std::fs::write(&file, [0_u8; 1024]).unwrap();
    let error = Radios::<X310>::start(&options).err().unwrap();
    assert!(matches!(error, EmulateError::ForeignEeprom { bytes: 1024, want: 5120, .. }), "an N200's: {error:?}");
}

#[test]
fn a_host_that_another_release_of_uhd_would_serve_is_told_of_while_the_radio_runs() {
    let options = EmulatorOptions { uhd: Some("4.10".parse().unwrap()), ..options(16) };
    let claim = |time| {
        let address = wide::shared::BASE + 4 * wide::shared::CLAIM_TIME;
        firmware(addr(16), FirmwareAction::Poke, address, time);
    };
    let (stop, mut told) = (Stop::new(), Vec::new());
    let mut notify = |notice| match notice {
        Notice::Ready { addr, .. } => {
            claim(1);
            let address = wide::board::BASE + 4 * wide::board::RFNOC_INFO;
            assert_eq!(firmware(addr, FirmwareAction::Peek, address, 0), 0x0040_0100);
            claim(0);
        }
        Notice::Unserved { addr, advice } => {
            told.push((addr, advice));
            stop.request();
        }
        Notice::Speed(_) => {}
    };
    let summary = run_model::<X310>(&options, &mut notify, &mut |_| {}, &stop).unwrap();
    assert!(told.len() == 1 && told[0].0 == addr(16) && told[0].1.contains("--uhd 4.11"), "{told:?}");
    assert_eq!(summary.devices[0].radio.control.unserved_hosts, 1);
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<EmulatorOptions>(&text).unwrap(), options);
    let error = Emulator::start(&options).err().unwrap();
    assert!(matches!(&error, EmulateError::Unfit { model: "n200", option } if option == "--uhd 4.10"), "{error}");
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
        let options = EmulatorOptions { engine: engine.into(), aggregate, ..options(10) };
        let emulator = Emulator::start(&options).unwrap();
        ask(addr(10), ControlAsk::Hello);
        emulator.stop().unwrap();
    }
}
