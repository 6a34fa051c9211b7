//! Device time, PPS and timed commands.

use takt_base::{MonoNs, Ticks};
use takt_emulator::n200::CLOCK;
use takt_wire::n200::registers::{readback, settings};
use takt_wire::n200::{FifoAction, RegisterAction, registers};

use crate::support::{self, Host, LATENCY, SECOND, START, ms, us};

fn read(host: &mut Host, [high, low]: [u8; 2]) -> u64 {
    u64::from(host.peek(high)) << 32 | u64::from(host.peek(low))
}

/// Time now, as a host reads it.
fn now(host: &mut Host) -> u64 {
    read(host, [readback::TIME_HIGH, readback::TIME_LOW])
}

fn last_pps(host: &mut Host) -> u64 {
    read(host, [readback::PPS_HIGH, readback::PPS_LOW])
}

#[test]
fn time_runs_from_power_up() {
    let mut host = Host::new();
    let elapsed = CLOCK.ticks_in(host.world.now().saturating_since(START) + LATENCY);
    assert_eq!(Ticks(host.peek(readback::TIME_LOW).into()), elapsed);
    assert_eq!(host.peek(readback::TIME_HIGH), 0);
}

#[test]
fn time_set_now_holds_now() {
    let mut host = Host::new();
    let sent = host.world.now();
    let new = (7 * SECOND) << 8;
    host.set_time(new, true);
    host.run(ms(3));
    let elapsed = CLOCK.ticks_in(host.world.now().saturating_since(sent)).0;
    let (read, flight) = (now(&mut host), 100);
    // Set one flight after it was sent; read one flight later than now, after a round trip for the high word.
    assert!(read - new >= elapsed - flight, "{read}");
    assert!(read - new < elapsed + 30_000, "{read}");
    host.look(|device| assert_eq!(device.device_time(support::tick_at(sent + LATENCY)), new));
}

#[test]
fn time_set_at_the_next_pps_holds_from_exactly_the_edge() {
    let mut host = Host::new();
    // The world starts at 5.25 s: the next edge is at 6 s.
    host.set_time(1000 * SECOND, false);
    host.run(ms(1));
    assert!(now(&mut host) < SECOND, "not yet");
    host.run_until(MonoNs(6_000_000_000) + us(500));
    host.look(|device| {
        let edge = support::tick_at(MonoNs(6_000_000_000));
        assert_eq!(device.device_time(edge), 1000 * SECOND);
    });
    assert_eq!(last_pps(&mut host), 3 * SECOND / 4, "the last PPS still latched the old time");
    host.run_until(MonoNs(7_000_000_000) + us(500));
    assert_eq!(last_pps(&mut host), 1001 * SECOND);
}

#[test]
fn the_last_pps_is_an_exact_multiple_of_a_second_later_each_second() {
    let mut host = Host::new();
    host.run_until(MonoNs(6_000_000_000) + us(10));
    let first = last_pps(&mut host);
    assert_eq!(first, 3 * SECOND / 4);
    for n in 1..=3 {
        host.run(ms(1000));
        assert_eq!(last_pps(&mut host), first + n * SECOND);
    }
}

#[test]
fn a_timed_command_blocks_all_behind_it_peeks_too() {
    let mut host = Host::new();
    let at = host.time() + SECOND / 5;
    host.poke_at(at, settings::USER_DATA, 1);
    let asked = host.world.now();
    let read = host.peek(readback::TIME_LOW);
    let waited = host.world.now().saturating_since(asked);
    assert!(waited >= ms(199) && waited <= ms(201), "{waited:?}");
    assert_eq!(u64::from(read), at, "executed at exactly the time of the command before it");
}

#[test]
fn a_timed_peek_waits_too() {
    let mut host = Host::new();
    let at = host.time() + 777_777;
    host.command(Some(at), FifoAction::Peek { word: readback::TIME_LOW });
    host.run(ms(20));
    assert_eq!(host.acks.last().map(|ack| u64::from(ack.data)), Some(at));
}

#[test]
fn a_timed_command_in_the_past_executes_at_once_without_an_error() {
    let mut host = Host::new();
    host.run(ms(1));
    host.poke_at(1, settings::USER_DATA, 1);
    host.run(us(10));
    assert_eq!(host.acks.len(), 1);
}

#[test]
fn sixty_four_commands_wait_and_are_acked_once_each_in_order() {
    let mut host = Host::new();
    let at = host.time() + SECOND / 10;
    let mut sent = vec![];
    for n in 0..64 {
        sent.push(host.command(Some(at), FifoAction::Poke { register: settings::USER_DATA, data: n }).control());
    }
    host.run(ms(50));
    assert_eq!(host.acks, []);
    host.run(ms(60));
    let acked: Vec<_> = host.acks.iter().map(|ack| ack.control).collect();
    assert_eq!(acked, sent);
    assert_eq!(host.report().control.dropped_commands, 0);
}

#[test]
fn what_does_not_fit_the_queue_is_lost_and_counted() {
    let mut host = Host::new();
    let at = host.time() + SECOND / 10;
    for _ in 0..70 {
        host.command(Some(at), FifoAction::Peek { word: 0 });
    }
    host.run(ms(200));
    assert_eq!(host.acks.len(), 64);
    assert_eq!(host.report().control.dropped_commands, 6);
}

#[test] // the FPGA drives one settings bus from both paths
fn the_slow_path_goes_past_a_blocked_fifo() {
    let mut host = Host::new();
    let at = host.time() + SECOND / 10;
    host.poke_at(at, settings::USER_DATA, 1);
    let time = 42 * SECOND;
    host.slow_poke(settings::TIME_LOW, time as u32);
    host.slow_poke(settings::TIME_IMMEDIATE, 1);
    host.slow_poke(settings::TIME_HIGH, (time >> 32) as u32);
    host.run(ms(1));
    assert!((42 * SECOND..43 * SECOND).contains(&host.time()));
}

#[test]
fn each_path_reads_its_own_words() {
    let mut host = Host::new();
    let absent = readback::ABSENT;
    for (word, fifo, slow) in [
        (readback::ROUTER, absent, 0),
        (readback::COMPAT, absent, 0x000B_0001),
        (readback::STATUS, 0x1800, 0x1800),
        (1, absent, absent),
        (200, absent, absent),
    ] {
        assert_eq!(host.peek(word), fifo, "word {word}");
        if word < 16 {
            let address = registers::readback_address(word);
            assert_eq!(host.register(RegisterAction::Peek32, address, 0), slow, "word {word}");
        }
    }
    for word in [readback::GPIO, readback::TIME_HIGH, readback::PPS_HIGH, readback::PPS_LOW] {
        let address = registers::readback_address(word);
        assert_eq!(host.register(RegisterAction::Peek32, address, 0), absent, "slow path, word {word}");
        assert_ne!(host.peek(word), absent, "fifo, word {word}");
    }
    let low = registers::readback_address(readback::TIME_LOW);
    let (slow, fifo) = (host.register(RegisterAction::Peek32, low, 0), host.peek(readback::TIME_LOW));
    assert!(fifo > slow && fifo - slow < 1_000_000, "both paths read one clock");
}

#[test]
fn an_ack_echoes_the_control_word_exactly() {
    let mut host = Host::new();
    let poke = host.command(None, FifoAction::Poke { register: 20, data: 4 }).control();
    let peek = host.command(None, FifoAction::Peek { word: 11 }).control();
    host.run(us(10));
    assert_eq!(host.acks.iter().map(|ack| ack.control).collect::<Vec<_>>(), [poke, peek]);
    assert_eq!(poke, 0x0001_0114);
}
