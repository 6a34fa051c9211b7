//! Packets of a receive DSP: sizes, formats, counters, scaling.

use takt_emulator::n200::{N200Options, Signals};
use takt_wire::n200::StreamAction::{Samples, SamplesAndMore, Start, Stop};
use takt_wire::n200::rate::Factor;
use takt_wire::n200::registers::{rx_control, settings};
use takt_wire::n200::{Destination, RxEvent, ports};
use takt_wire::sample::Format;

use crate::support::{Host, Rx, constant, ms, us};

fn host(signals: Signals) -> Host {
    Host::with(N200Options::default(), signals, &[])
}

/// So many samples of DSP 0, received through a stream opened with this step, format and packet size.
fn burst(host: &mut Host, step: u32, format: Format, size: u32, samples: u32) {
    host.open_rx(0, step, format, size);
    host.rx[0].clear();
    host.stream(0, Samples(samples), None);
    host.run(ms(1));
}

#[test]
fn samples_belong_to_their_ticks() {
    let mut host = Host::new();
    host.open_rx(0, 100, Format::Sc16, 363);
    host.stream(0, Samples(2000), None);
    host.run(ms(3));
    let samples = host.samples(0);
    assert_eq!(samples.len(), 2000);
    for pair in samples.windows(2) {
        assert_eq!(pair[1].0, pair[0].0.wrapping_add(1), "no sample missing, none twice");
    }
    // The ramp counts the free-running counter, which stood at 525 000 000 when device time was 0.
    let first = host.packets(0)[0].0;
    assert_eq!(samples[0].0, ((first + 525_000_000) / 100) as u16 as i16);
}

#[test]
fn a_full_frame_holds_363_samples_of_sc16_and_726_of_sc8() {
    let mut host = Host::new();
    for (format, samples) in [(Format::Sc16, 363), (Format::Sc8, 726)] {
        burst(&mut host, 4, format, samples, 2 * samples);
        assert_eq!(host.sizes(0), [(samples as usize, false), (samples as usize, true)]);
    }
}

#[test]
fn an_odd_number_of_sc8_samples_is_kept() {
    let mut host = host(constant(0.5, -0.25));
    burst(&mut host, 4, Format::Sc8, 727, 727);
    let samples = host.samples(0);
    assert_eq!(samples.len(), 727);
    assert!(samples.iter().all(|&s| s == (64, -32)), "{:?}", samples[726]);
}

#[test]
fn sc8_clips_and_sc16_clips() {
    let mut host = host(constant(1.5, -1.5));
    for (format, want) in [(Format::Sc16, (32767, -32768)), (Format::Sc8, (127, -128))] {
        burst(&mut host, 4, format, 100, 100);
        assert!(host.samples(0).iter().all(|&s| s == want));
    }
}

#[test] // a device that ignores the scale word is wrong by 2 at 57 of the 255 rates
fn what_a_host_computes_from_a_full_scale_signal_is_right_at_every_rate() {
    let mut host = host(constant(0.5, -0.5));
    for factor in Factor::all() {
        for format in [Format::Sc16, Format::Sc8] {
            burst(&mut host, factor.get(), format, 100, 10);
            let scaling = factor.scaling(takt_wire::n200::rate::Direction::Rx, format);
            let (i, q) = host.samples(0)[0];
            let step = if format == Format::Sc8 { 1.0 / 64.0 } else { 1.0 / 16_384.0 };
            let (re, im) = (f64::from(i) * scaling.host_factor, f64::from(q) * scaling.host_factor);
            assert!((re - 0.5).abs() < step && (im + 0.5).abs() < step, "{factor:?} {format:?}: {re} {im}");
        }
    }
}

#[test]
fn messages_do_not_count_and_packets_count_to_fifteen() {
    let mut host = Host::new();
    host.open_rx(0, 100, Format::Sc16, 10);
    for _ in 0..20 {
        host.stream(0, Samples(30), None);
        host.run(us(400));
        host.stream(0, Stop, None);
        host.run(us(10));
        host.stream(0, SamplesAndMore(5), None);
        host.run(us(100));
    }
    assert_eq!(host.messages(0).len(), 40);
    let mut next = 0;
    for received in &host.rx[0] {
        assert_eq!(received.count(), next, "a message repeats the count of the next packet: {received:?}");
        next = (next + u8::from(received.is_data())) % 16;
    }
}

#[test]
fn the_stream_id_register_names_the_stream_and_resets_the_count() {
    let mut host = Host::new();
    host.open_rx(0, 100, Format::Sc16, 10);
    host.stream(0, Samples(30), None);
    host.run(ms(1));
    host.poke(settings::RX_CONTROL[0] + rx_control::STREAM_ID, 77);
    host.stream(0, Samples(10), None);
    host.run(ms(1));
    let Some(Rx::Data { count, stream, .. }) = host.rx[0].last() else { panic!() };
    assert_eq!((*count, *stream), (0, 77));
}

#[test] // as UHD does when it opens a device: before size, rate and template are set
fn single_samples_before_the_stream_is_set_up_do_no_harm() {
    let mut host = Host::new();
    for n in [0, 1] {
        host.stream(n, Samples(1), None);
    }
    host.run(ms(10));
    assert_eq!(host.rx, [vec![], vec![]], "no sample packet a host would take for one");
    assert_eq!(host.replies.len(), 2);
    assert!(host.replies.iter().all(|bytes| bytes[..4] == [0, 0, 0, 6]), "header template 0: {:?}", host.replies);
}

#[test]
fn more_packets_than_the_wire_carries_are_an_overflow() {
    let mut host = Host::new();
    host.open_rx(0, 2, Format::Sc16, 1);
    host.stream(0, Start, None);
    host.run(ms(1));
    assert_eq!((host.packets(0), host.messages(0)), (vec![], vec![RxEvent::Overflow]));
    // 40 samples last 80 ticks: longer than the shortest frame.
    host.open_rx(0, 2, Format::Sc16, 40);
    host.rx[0].clear();
    host.stream(0, Start, None);
    host.run(ms(1));
    assert!(host.packets(0).len() > 1000);
    assert_eq!(host.messages(0), []);
}

#[test] // a packet has one rate: that of before ends with the last sample of before
fn a_new_rate_holds_from_its_sample_on() {
    let mut host = Host::receiving(&[]);
    let at = host.time() + 10_000;
    host.stream(0, Start, Some(at));
    host.run(us(10));
    let factor = Factor::new(10).unwrap();
    let word = factor.rate_word(takt_wire::n200::rate::Direction::Rx).0;
    host.poke_at(at + 25_001, settings::RX_DSP[0] + 2, word);
    host.run(us(600));
    let packets: Vec<_> = host.packets(0).iter().map(|packet| (packet.0 - at, packet.1)).collect();
    // Sample 251 is the first of the new rate; it comes when it was to come anyway.
    let meant = [(0, 100), (10_000, 100), (20_000, 51), (25_100, 100), (26_100, 100)];
    assert_eq!(packets[..5], meant);
}

#[test]
fn samples_go_where_they_were_set_to_last() {
    let mut host = Host::receiving(&[]);
    host.stream(0, Start, None);
    host.run(ms(1));
    let mut other = Host::in_world(&host.world);
    other.direct(ports::RX0, Destination::Sender);
    other.run(ms(1));
    host.run(ms(0));
    assert!(host.packets(0).len() <= 11);
    assert!(other.packets(0).len() >= 9);
}

#[test]
fn a_third_address_can_be_named_and_is_acknowledged() {
    let mut host = Host::receiving(&[]);
    let mut other = Host::in_world(&host.world);
    // The other host's port for DSP 0 is connected to the same device port.
    let std::net::SocketAddr::V4(to) = other.local(ports::RX0) else { panic!() };
    host.replies.clear();
    host.direct(ports::RX0, Destination::Named { address: *to.ip(), port: to.port() });
    host.run(us(10));
    assert_eq!(host.replies, [vec![0, 0, 0, 0]], "resolved");
    host.stream(0, Samples(300), None);
    other.run(ms(5));
    host.run(ms(0));
    assert_eq!((host.packets(0).len(), other.packets(0).len()), (0, 3));
}
