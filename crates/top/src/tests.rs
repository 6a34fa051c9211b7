//! Frames, compared with those in `frames/`. `TAKT_BLESS=1` writes them.

use std::fs;
use std::path::Path;

use takt_live::{
    Component, Constellation, Direction, Hello, Kind, Letters, Line, Link, Miss, Node, Radio, Running, SetAnswer,
    Slots, Snapshot, Spectrum, Variable, VariableValue, hello,
};

use super::*;
use crate::edit::Edit;
use crate::page::{Look, draw, drawn};

fn is_as_in(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/frames").join(format!("{name}.txt"));
    if std::env::var_os("TAKT_BLESS").is_some() {
        fs::write(&path, text).expect("the folder of frames");
    }
    let kept = fs::read_to_string(&path).expect("a frame; write it with TAKT_BLESS=1");
    assert!(kept == text, "{name} is\n{text}\nand was\n{kept}");
}

fn who(kind: Kind, title: &str) -> Hello {
    Hello { pid: 4711, ..hello(kind, title, "takt") }
}

fn radio(direction: Direction, samples: u64, letters: Letters) -> Radio {
    Radio {
        name: "N200 at 192.168.10.2".into(),
        direction,
        rate_sps: Some(25e6),
        freq_hz: Some(900e6),
        channels: Some(1),
        samples: Some(samples),
        lost_samples: (direction == Direction::Rx).then_some(726),
        letters,
    }
}

fn received(overflows: u64, lost: u64) -> Letters {
    Letters { overflows: Some(overflows), received_lost: Some(lost), late: Some(0), ..Letters::default() }
}

/// Two seconds of `takt rate`, in which two overflows and twelve lost datagrams came.
fn rate() -> Followed {
    let mut followed = Followed::new(who(Kind::Rate, "N200 at 192.168.10.2"));
    let sent = Letters { underflows: Some(0), sent_lost: Some(0), late: Some(0), ..Letters::default() };
    let dbfs = (0..1024).map(|bin: i32| -100.0 + 90.0 * (-f64::from((bin - 600) * (bin - 600)) / 900.0).exp() as f32);
    for (t_s, overflows, lost) in [(60, 1, 0), (61, 2, 0), (62, 3, 12)] {
        let samples = 25_000_000 * t_s;
        followed.take(Snapshot {
            t_ns: t_s * 1_000_000_000,
            speed: Some(1.0),
            radios: vec![radio(Direction::Rx, samples, received(overflows, lost)), radio(Direction::Tx, samples, sent)],
            spectra: vec![Spectrum {
                name: "rx".into(),
                freq_hz: Some(900e6),
                span_hz: 25e6,
                dbfs: dbfs.clone().collect(),
            }],
            ..Snapshot::default()
        });
    }
    followed
}

/// A waveform on two cores, with a component that is too slow.
fn run() -> Followed {
    let mut followed = Followed::new(who(Kind::Run, "td-scdma"));
    let component = |name: &str, core, load_share, misses| Component {
        name: name.into(),
        kind: Some(name.into()),
        core: Some(core),
        executions: Some(12_000),
        misses: Some(misses),
        load_share: Some(load_share),
        worst_ns: Some((load_share * 2e7) as u64),
        edges: vec!["next".into()],
    };
    let miss = |slot| Miss {
        slot,
        component: Some("turbo_decoder".into()),
        stage: Some("execution of turbo_decoder on core 1".into()),
        late_ns: Some(1_234_567),
    };
    let names = ["crc_source", "turbo_encoder", "rate_match", "modulator", "channel", "demodulator", "equalizer"];
    let mut components: Vec<_> = names.iter().map(|name| component(name, 0, 0.05, 0)).collect();
    components.push(component("turbo_decoder", 1, 0.93, 3));
    components.extend((0..12).map(|n| component(&format!("sink_{n}"), 1, 0.001, 0)));
    let lateness = (0..24_u64).map(|n| (1_000 << (n / 2), 12_000 / (n * n + 1)).into()).collect();
    let slots = Slots {
        count: 12_000,
        slot_ns: Some(10_000_000),
        misses: Some(3),
        lateness,
        recent_misses: vec![miss(300), miss(301), miss(9_000)],
    };
    let variable = Variable {
        name: "channel.ebn0_db".into(),
        value: Some(VariableValue::Float(3.5)),
        unit: Some("dB".into()),
        range: Some([-20.0, 60.0]),
        expected: None,
        settable: true,
    };
    followed.take(Snapshot {
        t_ns: 120_000_000_000,
        slots: Some(slots),
        components,
        variables: vec![variable],
        ..Snapshot::default()
    });
    followed
}

/// Both ends of a link, one lost, on a node whose neighbour is silent.
fn link() -> Followed {
    let mut followed = Followed::new(who(Kind::Link, "station and terminal"));
    let up = Link {
        name: "terminal 1, uplink".into(),
        state: Some("connected".into()),
        snr_db: Some(17.25),
        mcs: Some(20),
        bler: Some(0.0123),
        throughput_bps: Some(11.4e6),
        ..Link::default()
    };
    let down = Link {
        name: "terminal 2, downlink".into(),
        state: Some("searching".into()),
        loss_reason: Some("no synchronisation for 200 ms".into()),
        ..Link::default()
    };
    let node = |name: &str, alive, load| Node { name: name.into(), alive, waveforms: vec!["lte".into()], load };
    followed.take(Snapshot {
        t_ns: 5_000_000_000,
        speed: Some(0.25),
        links: vec![up, down],
        nodes: vec![node("a", true, Some(0.31)), node("b", false, None)],
        left_out: 2,
        ..Snapshot::default()
    });
    followed
}

#[test]
fn frames_of_both_sizes_are_as_they_were() {
    for (name, followed) in [("rate", rate()), ("run", run()), ("link", link())] {
        for (width, height) in [(80, 24), (160, 50)] {
            is_as_in(&format!("{name}-{width}x{height}"), &frame_text(&followed, width, height));
        }
    }
}

#[test]
fn a_list_has_a_line_for_each_process() {
    let one = |pid, kind| Listed {
        process: Running { pid, kind },
        hello: Hello { pid, begun_unix_ns: None, ..hello(kind, "N200 at 127.0.0.1", "takt") },
    };
    is_as_in("list", &list_text(&[one(12, Kind::Rate), one(1_234_567, Kind::Emulate)], 80));
    assert!(list_text(&[], 80).contains("No process of this user can be watched."));
}

#[test]
fn letters_come_in_order_and_those_from_before_the_first_look_do_not() {
    assert_eq!(rate().letters(), "OODDDDDDDD+");
    let text = frame_text(&rate(), 80, 24);
    assert!(text.contains("O    U    L    S    D\n"), "all letters fit 80 columns: {text}");
}

#[test]
fn a_rate_is_that_of_the_last_second_in_the_radios_time() {
    let mut followed = rate();
    let rx = followed.newest().expect("some").radios[0].clone();
    assert_eq!(followed.rate_sps(&rx), Some(25e6));
    let slow = Snapshot { speed: Some(0.5), ..followed.newest().expect("some").clone() };
    followed.take(slow);
    assert_eq!(followed.rate_sps(&rx), Some(50e6), "half of a second of the radio's");
    let other = Radio { direction: Direction::Tx, name: "another".into(), ..rx };
    assert_eq!(followed.rate_sps(&other), None);
    assert_eq!(Followed::new(who(Kind::Rate, "")).rate_sps(&other), None, "nothing came");
}

#[test]
fn what_is_not_known_is_no_zero() {
    let mut followed = Followed::new(who(Kind::Record, "x"));
    let radio =
        Radio { samples: None, lost_samples: None, rate_sps: None, ..radio(Direction::Rx, 0, Letters::default()) };
    followed.take(Snapshot { radios: vec![radio], ..Snapshot::default() });
    let text = frame_text(&followed, 80, 24);
    let line = text.lines().find(|line| line.starts_with("N200 at")).expect("the radio");
    assert!(line.split_whitespace().skip(4).all(|cell| cell == "-"), "{line}");
}

#[test]
fn text_of_a_process_does_not_act_and_no_size_breaks_a_frame() {
    let mut followed = run();
    followed.take(Snapshot {
        components: vec![Component { name: "\u{1b}[2J\u{202e}evil".repeat(20), ..Component::default() }],
        ..Snapshot::default()
    });
    for (width, height) in [(0, 0), (1, 1), (59, 24), (80, 3), (60, 8), (81, 9), (119, 24), (120, 8), (500, 200)] {
        let text = frame_text(&followed, width, height);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{width}x{height}: {text:?}");
        for skip in [0, 1, 99] {
            let look = Look { skip, paused: true, ..Look::default() };
            assert_eq!(drawn(width, height, |frame| draw(frame, &run(), &look)).lines().count(), usize::from(height));
        }
    }
}

#[test]
fn a_constellation_has_a_mark_where_points_are() {
    let mut followed = Followed::new(who(Kind::Run, "bpsk"));
    let points = (0..200).map(|n| [if n % 2 == 0 { 1.0 } else { -1.0 }, 0.0]).collect();
    let tap = Constellation { name: "modulator.symbols".into(), modulation: Some("bpsk".into()), points };
    followed.take(Snapshot { constellations: vec![tap], ..Snapshot::default() });
    let text = frame_text(&followed, 80, 24);
    let marks: Vec<usize> = text
        .lines()
        .flat_map(|line| line.chars().enumerate())
        .filter(|(_, mark)| *mark == '●')
        .map(|(at, _)| at)
        .collect();
    assert_eq!(marks, [5, 17], "{text}");
    assert!(text.contains("modulator.symbols, bpsk, 200 symbols"), "{text}");
}

#[test]
fn the_last_line_has_the_variable_that_is_set_then_the_answer() {
    let mut followed = run();
    let look = Look { edit: Edit::Choose(0), ..Look::default() };
    let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let choosing = last(&drawn(80, 24, |frame| draw(frame, &followed, &look)));
    assert!(choosing.starts_with(" set channel.ebn0_db, now 3.5 (dB, -20 to 60)   up/down choose"), "{choosing}");
    followed.line(Line::Set(SetAnswer { name: "channel.ebn0_db".into(), refused: None }));
    assert!(last(&frame_text(&followed, 120, 24)).ends_with("channel.ebn0_db is set"));
    let why = "99 exceeds 60".to_owned();
    followed.line(Line::Set(SetAnswer { name: "channel.ebn0_db".into(), refused: Some(why) }));
    assert!(last(&frame_text(&followed, 120, 24)).ends_with("channel.ebn0_db was not set: 99 exceeds 60"));
}

#[test]
fn the_end_of_a_process_is_shown() {
    let mut followed = rate();
    followed.line(Line::End(takt_live::End { why: "the process has ended".into() }));
    followed.end("the connection is closed");
    let text = frame_text(&followed, 160, 24);
    assert!(text.lines().next().expect("a heading").contains("the process has ended"), "{text}");
}
