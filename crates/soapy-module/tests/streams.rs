//! The driver as SoapySDR's programs use it, before an emulated N200. Its source numbers the samples, so nothing can be lost, doubled
//! or put at another time without being seen. A machine with other work may lose samples: then each loss has to be reported.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex, Complex32};
use takt_emulator::emulate::{EmulatorOptions, Radios};
use takt_emulator::n200::N200;
use takt_emulator::sink::Burst;
use takt_radio::board::Side;
use takt_soapy_module::{
    Args, Code, Device, ModuleError, Receiver, Room, RxReport, Samples, StreamArgs, Transmitter, find, flags,
};
use takt_testing::{loopback, wait_for};

/// A rate at which the radio scales by 1: integers of the wire are integers of the source.
const RATE_SPS: f64 = 781_250.0;
const STEP_NS: i64 = 1280;
const LONG: Duration = Duration::from_secs(10);

struct Rig {
    radio: Radios<N200>,
    device: Arc<Device>,
    addr: Ipv4Addr,
}

impl Rig {
    fn of(host: u8, change: impl FnOnce(&mut EmulatorOptions)) -> Rig {
        let addr = loopback(host);
        let mut options = EmulatorOptions {
            addrs: vec![addr],
            sources: vec!["counter".to_owned()],
            keep_samples: Some(1 << 20),
            ..EmulatorOptions::default()
        };
        change(&mut options);
        let radio = Radios::start(&options).expect("an emulated radio");
        let args = Args::read(&[("driver", "takt"), ("addr", &addr.to_string())]).expect("arguments");
        let device = Arc::new(Device::open(&args).expect("it is there"));
        for side in [Side::Rx, Side::Tx] {
            device.set_rate_sps(side, 0, RATE_SPS).expect("a rate that it has");
        }
        Rig { radio, device, addr }
    }

    fn receiver(&self, channels: &[u8], args: &[(&str, &str)]) -> Receiver {
        let args = StreamArgs::read(args).expect("arguments");
        Receiver::new(Arc::clone(&self.device), channels.to_vec(), args).expect("a stream")
    }

    fn transmitter(&self) -> Transmitter {
        Transmitter::new(Arc::clone(&self.device), vec![0], StreamArgs::read(&[]).unwrap()).expect("a stream")
    }

    /// The bursts that left, once there are as many.
    fn bursts(&self, count: usize) -> Vec<Burst> {
        let memory = &self.radio.memories()[0][0];
        wait_for("bursts", || (memory.complete_bursts() >= count).then(|| memory.read().bursts))
    }
}

fn integers(receiver: &Receiver, samples: usize) -> (Vec<u32>, RxReport) {
    let mut room = vec![Complex::new(0_i16, 0); samples];
    let report = receiver.read(&mut Room::Integers(&mut [&mut room[..]]), LONG);
    let count = report.result.unwrap_or(0);
    let number = |sample: &Complex<i16>| u32::from(sample.re as u16) | u32::from(sample.im as u16) << 16;
    (room[..count].iter().map(number).collect(), report)
}

#[test]
fn each_sample_is_there_in_its_order_and_at_its_time() {
    let rig = Rig::of(1, |_| {});
    let receiver = rig.receiver(&[0], &[]);
    receiver.activate(None, 0, false).unwrap();
    let mut origin = None;
    let (mut read, mut last) = (0, 0);
    while read < 100_000 {
        let (numbers, report) = integers(&receiver, 3000);
        assert!(report.error.is_none(), "{report:?}");
        let Some(&first) = numbers.first() else {
            assert_eq!(report.result.unwrap_err(), Code::Overflow, "a loss of this machine, and nothing else");
            continue;
        };
        assert!(numbers.iter().zip(first..).all(|(number, expected)| *number == expected), "a read has no gap");
        assert_eq!(report.flags, flags::HAS_TIME);
        let zero_ns = report.time_ns - i64::from(first) * STEP_NS;
        assert_eq!(*origin.get_or_insert(zero_ns), zero_ns, "the time stamp is that of the sample");
        read += numbers.len();
        last = *numbers.last().unwrap();
    }
    receiver.deactivate();
    assert_eq!(integers(&receiver, 100).1.result, Err(Code::Stream), "inactive");
    receiver.activate(None, 0, false).unwrap();
    assert!(integers(&receiver, 100).0[0] > last, "nothing of the older run");
}

#[test]
fn a_loss_is_an_overflow_of_its_length() {
    let rig = Rig::of(2, |options| options.faults = vec!["lose:rx,after=20,every=50,limit=3".to_owned()]);
    let receiver = rig.receiver(&[0], &[("packet_samples", "100")]);
    receiver.activate(None, 0, false).unwrap();
    let (mut next, mut losses, mut told) = (None, Vec::new(), 0);
    while losses.len() < 3 {
        let (numbers, report) = integers(&receiver, 1000);
        told += usize::from(report.result == Err(Code::Overflow));
        let Some(&first) = numbers.first() else { continue };
        let expected = next.unwrap_or(first);
        if first != expected {
            losses.push(first - expected);
            assert!(told >= losses.len(), "it was told before the samples behind it");
        }
        next = numbers.last().map(|last| last + 1);
    }
    assert!(losses.contains(&100), "a datagram: {losses:?}");
}

#[test]
fn a_burst_begins_at_its_time_and_says_its_end() {
    let rig = Rig::of(3, |_| {});
    let receiver = rig.receiver(&[0], &[]);
    rig.device.set_time_ns(5_000_000_000, false).unwrap();
    receiver.activate(Some(5_500_000_000), 2500, true).unwrap();
    let (mut read, mut ended, mut first_ns) = (0, false, None);
    while !ended {
        let (numbers, report) = integers(&receiver, 1000);
        assert!(report.result.is_ok(), "{report:?}");
        first_ns = first_ns.or((!numbers.is_empty()).then_some(report.time_ns));
        read += numbers.len();
        ended = report.flags & flags::END_BURST != 0;
    }
    assert_eq!((read, first_ns), (2500, Some(5_500_000_000)));
    let mut room = [Complex32::default(); 10];
    let nothing = receiver.read(&mut Room::Floats(&mut [&mut room[..]]), Duration::ZERO);
    assert_eq!(nothing.result, Err(Code::Timeout));
    receiver.activate(Some(1_000_000_000), 100, true).unwrap();
    assert_eq!(integers(&receiver, 100).1.result, Err(Code::Time), "its time had passed");
}

#[test]
fn two_channels_begin_together() {
    let rig = Rig::of(4, |_| {});
    rig.device.set_rate_sps(Side::Rx, 1, RATE_SPS).unwrap();
    let receiver = rig.receiver(&[0, 1], &[]);
    receiver.activate(None, 2000, true).unwrap();
    let (mut a, mut b) = ([Complex32::default(); 2000], [Complex32::default(); 2000]);
    let report = receiver.read(&mut Room::Floats(&mut [&mut a[..], &mut b[..]]), LONG);
    assert_eq!(report.result, Ok(2000));
    assert!(a == b && a[1] != a[2], "both DSPs see the source from the same tick");
    rig.device.set_rate_sps(Side::Rx, 1, 1e6).expect_err("its stream is active");
    receiver.deactivate();
    rig.device.set_rate_sps(Side::Rx, 1, 1e6).unwrap();
    assert!(matches!(receiver.activate(None, 0, false), Err(ModuleError::Rates { .. })));
}

#[test]
fn what_is_written_leaves_at_its_time_as_it_is() {
    let rig = Rig::of(5, |_| {});
    let transmitter = rig.transmitter();
    transmitter.activate().unwrap();
    rig.device.set_time_ns(1_000_000_000, false).unwrap();
    let sent: Vec<Complex<i16>> = (0..3000).map(|n| Complex::new(n, -n)).collect();
    let write = |from: usize, at_ns| {
        transmitter.write(Samples::Integers(&[&sent[from..]]), at_ns, true, LONG).unwrap().expect("room")
    };
    let mut taken = 0;
    while taken < sent.len() {
        taken += write(taken, (taken == 0).then_some(1_500_000_000));
    }
    let report = transmitter.report(LONG);
    assert_eq!((report.result, report.flags), (Ok(()), flags::HAS_TIME | flags::END_BURST), "{report:?}");
    let bursts = rig.bursts(1);
    let integer =
        |sample: &Complex32| Complex::new((sample.re * 32_767.0).round() as i16, (sample.im * 32_767.0).round() as i16);
    assert_eq!(bursts[0].device_tick, 150_000_000);
    assert_eq!(bursts[0].samples.iter().map(integer).collect::<Vec<_>>(), sent);

    transmitter.write(Samples::Integers(&[&sent[..100]]), Some(1_100_000_000), true, LONG).unwrap();
    assert_eq!(wait_until_told(&transmitter), Code::Time, "its time had passed");
}

#[test]
fn a_burst_without_an_end_runs_dry_and_one_that_is_deactivated_ends() {
    let rig = Rig::of(6, |_| {});
    let transmitter = rig.transmitter();
    transmitter.activate().unwrap();
    let samples = [Complex32::new(0.5, 0.0); 1000];
    assert_eq!(transmitter.write(Samples::Floats(&[&samples[..]]), None, false, LONG).unwrap(), Some(1000));
    assert_eq!(wait_until_told(&transmitter), Code::Underflow);
    transmitter.write(Samples::Floats(&[&samples[..]]), None, false, LONG).unwrap();
    transmitter.deactivate().unwrap();
    let refused = transmitter.write(Samples::Floats(&[&samples[..]]), None, false, LONG);
    assert!(matches!(refused, Err(ModuleError::Inactive)));
    wait_for("the end of the burst", || {
        let report = transmitter.report(Duration::ZERO);
        (report.flags & flags::END_BURST != 0).then_some(())
    });
}

/// The first report of a fault.
fn wait_until_told(transmitter: &Transmitter) -> Code {
    wait_for("a report", || {
        transmitter.report(Duration::from_millis(100)).result.err().filter(|code| *code != Code::Timeout)
    })
}

#[test]
fn a_read_makes_way_for_the_thread_that_ends_its_stream() {
    let rig = Rig::of(7, |_| {});
    let receiver = rig.receiver(&[0], &[]);
    let far_ns = rig.device.time_ns().unwrap() + 3_600_000_000_000;
    receiver.activate(Some(far_ns), 0, false).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| integers(&receiver, 100).1);
        receiver.deactivate();
        let report = reader.join().expect("it returns");
        assert!(matches!(report.result, Err(Code::Timeout | Code::Stream)), "{report:?}");
    });
}

#[test]
fn settings_are_those_of_the_radio_and_refused_beyond() {
    let rig = Rig::of(8, |_| {});
    let device = &rig.device;
    let side = device.side(Side::Rx);
    assert_eq!((side.channels, device.side(Side::Tx).channels, device.rates_sps().len()), (2, 1, 255));
    assert_eq!(side.antennas, ["RX2", "TX/RX", "CAL"]);
    device.tune(Side::Rx, 0, 915e6, None).unwrap();
    assert!((device.frequency_hz(Side::Rx, 0).unwrap() - 915e6).abs() < 1.0);
    device.set_gain_db(Side::Rx, 12.3).unwrap();
    assert_eq!(device.gain_db(Side::Rx), 12.5);
    device.set_antenna(Side::Rx, "RX2").unwrap();
    assert_eq!(device.antenna(Side::Rx), "RX2");
    assert_eq!(device.lo_locked(Side::Rx).unwrap(), Some(true));
    let said = |result: Result<(), ModuleError>| result.unwrap_err().words();
    assert!(said(device.set_rate_sps(Side::Rx, 0, 22e6)).contains("set 20000000 or 25000000"));
    assert!(said(device.tune(Side::Rx, 0, 9e9, None)).contains("frequency in Hz"));
    assert!(said(device.set_antenna(Side::Rx, "roof")).contains("it has RX2, TX/RX"));
    assert!(said(device.set_rate_sps(Side::Tx, 1, 1e6)).contains("no transmit channel 1: it has 1"));
    assert!(said(device.set_time_ns(-1, false)).contains("before the zero"));
    let found = find(&[("driver", "takt"), ("addr", &rig.addr.to_string())]).unwrap();
    assert!(found[0].contains(&("state", "in use".to_owned())), "{found:?}");
    assert_eq!(find(&[("addr", &rig.addr.to_string()), ("serial", "nobody's")]).unwrap().len(), 0);
}
