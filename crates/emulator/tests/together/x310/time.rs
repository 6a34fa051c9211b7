//! The timekeeper (2.2), PPS, two devices, and the master clock (8.6 and 11).

use std::net::{IpAddr, Ipv4Addr};

use takt_base::Tick;
use takt_emulator::x310::{CLOCK, X310, X310Options};
use takt_wire::x310::registers::{board, radio, timekeeper};

use super::host::{Host, MS, RADIO, SECOND, START, ms};
use crate::support::ramps;

fn word(n: u32) -> u32 {
    board::BASE + 4 * (board::TIMEKEEPER + n)
}

fn set(host: &mut Host, time: u64, when: u32) {
    host.poke(word(timekeeper::NEW_LOW), time as u32);
    host.poke(word(timekeeper::NEW_HIGH), (time >> 32) as u32);
    host.poke(word(timekeeper::CONTROL), when);
}

fn read(host: &mut Host, low: u32, high: u32) -> u64 {
    let low = u64::from(host.peek(word(low)));
    u64::from(host.peek(word(high))) << 32 | low
}

fn now(host: &mut Host) -> u64 {
    read(host, timekeeper::NOW_LOW, timekeeper::NOW_HIGH)
}

fn last_pps(host: &mut Host) -> u64 {
    read(host, timekeeper::PPS_LOW, timekeeper::PPS_HIGH)
}

#[test]
fn the_high_word_belongs_to_the_low_word_that_was_read_before() {
    let mut host = Host::new();
    set(&mut host, 0x2_FFFF_FF00, timekeeper::SET_NOW);
    // 2 us, 400 ticks, pass from one read to the next, and the low word overflows.
    let low = host.peek(word(timekeeper::NOW_LOW));
    let high = host.peek(word(timekeeper::NOW_HIGH));
    let next = host.peek(word(timekeeper::NOW_LOW));
    assert!(next < low || low < 1000, "the low word wraps within this test: {low:#x} {next:#x}");
    assert_eq!(high, if low > 0x8000_0000 { 2 } else { 3 });
}

#[test]
fn time_is_set_now_or_at_the_next_pps() {
    let mut host = Host::new();
    set(&mut host, 10 * SECOND, timekeeper::SET_NOW);
    assert!((10 * SECOND..10 * SECOND + MS).contains(&now(&mut host)));
    set(&mut host, 50 * SECOND, timekeeper::SET_AT_PPS);
    assert!(now(&mut host) < 11 * SECOND, "not yet");
    host.run(ms(800)); // the edge is 750 ms after the start
    let time = now(&mut host);
    assert!((50 * SECOND..50 * SECOND + 60 * MS).contains(&time), "{time}");
    host.run(ms(1000));
    assert_eq!(last_pps(&mut host), 51 * SECOND, "latched once a second");
}

#[test] // 11: the radio's time and the timekeeper's are the same counter
fn a_radio_reads_the_same_time() {
    let mut host = Host::ready();
    set(&mut host, 7 * SECOND, timekeeper::SET_NOW);
    let low = host.read(RADIO[1], radio::TIME_LOW);
    let high = host.read(RADIO[1], radio::TIME_HIGH);
    let time = u64::from(high) << 32 | u64::from(low);
    assert!((7 * SECOND..7 * SECOND + MS).contains(&time), "{time}");
}

#[test] // 11
fn two_devices_set_at_the_same_pps_agree_to_the_tick() {
    let host = Host::new();
    let second = IpAddr::V4(Ipv4Addr::new(192, 168, 10, 3));
    // Switched on at another moment, so that its clock shows something else.
    host.world.run_for(ms(33));
    let born = Tick(host.world.now().0);
    let device = X310::new(X310Options { born, ..X310Options::default() }, [ramps(), ramps()]).unwrap();
    host.world.add(second, CLOCK, device);
    let mut first = host;
    set(&mut first, 100 * SECOND, timekeeper::SET_AT_PPS);
    let theirs = |host: &Host| {
        let now = Tick(host.world.now().0);
        host.world.device(second, |radio: &mut X310| radio.device_time(now))
    };
    assert_ne!(first.time(), theirs(&first), "before");
    let mut other = super::host::Host::at(&first.world, second);
    set(&mut other, 100 * SECOND, timekeeper::SET_AT_PPS);
    first.world.run_for(ms(1500));
    assert_eq!(first.time(), theirs(&first));
    assert!(theirs(&first) > 100 * SECOND);
}

/// Shifts a word into the clock chip.
fn chip(host: &mut Host, data: u32) {
    let [_, control, shift] = board::SPI.map(|n| board::BASE + 4 * n);
    host.poke(control, 0x6000_0001);
    host.poke(shift, data);
}

#[test] // 8.6 and 15, trap 7
fn trap_07_the_master_clock_is_what_the_clock_chip_was_set_to() {
    let mut host = Host::ready();
    assert_eq!(host.report().master_clock_hz, 200e6);
    for data in [0x0014_01C0, 0x0190_0C1C, 0x0200_151E] {
        chip(&mut host, data);
    }
    assert_eq!(host.report().master_clock_hz, 184.32e6);
    set(&mut host, 0, timekeeper::SET_NOW);
    let from = host.world.now();
    host.run(ms(1000));
    let expected = u128::from(host.world.now().0 - from.0) * 184_320_000 / 1_000_000_000;
    let time = u128::from(host.time());
    // The poke took effect one microsecond before its reply came.
    assert!((expected..expected + 400).contains(&time), "{time} {expected}");
    host.run(ms(1000));
    let pps = last_pps(&mut host);
    host.run(ms(1000));
    assert_eq!(last_pps(&mut host) - pps, 184_320_000, "a second is a second");

    // LTE's rate of 30.72 MS/s: a sixth.
    host.open_rx(0, 6, 1996);
    let start = host.time() + MS;
    host.stream(0, 1, 307_200, Some(start));
    let begun = host.world.now();
    host.run(ms(30));
    let last = host.rx[0].last().unwrap();
    assert_eq!(host.rx[0].iter().map(|packet| packet.samples.len()).sum::<usize>(), 307_200);
    let took = last.arrived.0 - begun.0;
    assert!((10_900_000..11_200_000).contains(&took), "10 ms, and 1.085 ms before: {took}");
}

#[test]
fn a_clock_chip_that_does_not_lock_says_so_and_leaves_the_clock_alone() {
    let mut host = Host::new();
    chip(&mut host, 0x0200_151E);
    let status = host.peek(board::BASE + 4 * board::CLOCK_STATUS);
    assert_eq!(status & (board::LMK_LOCKED | board::RADIO_CLOCK_LOCKED), 0);
    assert_eq!(host.report().master_clock_hz, 200e6);
    assert!(START.0 < host.world.now().0);
}
