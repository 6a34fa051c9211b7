use super::*;
use crate::limits;

fn whole() -> Snapshot {
    let letters = Letters { overflows: Some(1), received_lost: Some(2), ..Letters::default() };
    Snapshot {
        t_ns: 7,
        speed: Some(0.1),
        radios: vec![Radio {
            name: "N200 127.0.0.1".into(),
            direction: Direction::Rx,
            rate_sps: Some(25e6),
            freq_hz: Some(9e8),
            channels: Some(1),
            samples: Some(1 << 40),
            lost_samples: Some(0),
            letters,
        }],
        slots: Some(Slots {
            count: 9,
            slot_ns: Some(1_000_000),
            misses: Some(1),
            lateness: vec![(1000, 8).into(), (2000, 1).into()],
            recent_misses: vec![Miss {
                slot: 8,
                component: Some("turbo".into()),
                stage: Some("execution".into()),
                late_ns: Some(42),
            }],
        }),
        components: vec![Component {
            name: "turbo".into(),
            core: Some(1),
            load_share: Some(0.5),
            worst_ns: Some(5),
            edges: vec!["sink".into()],
            ..Component::default()
        }],
        links: vec![Link { name: "down".into(), snr_db: Some(12.5), mcs: Some(9), ..Link::default() }],
        nodes: vec![Node { name: "a".into(), alive: true, waveforms: vec!["lte".into()], load: None }],
        variables: vec![Variable {
            name: "channel.ebn0_db".into(),
            value: Some(VariableValue::Float(3.5)),
            unit: Some("dB".into()),
            range: Some([-20.0, 60.0]),
            expected: None,
            settable: true,
        }],
        outputs: vec!["modulator.out".into()],
        spectra: vec![Spectrum { name: "rx".into(), freq_hz: None, span_hz: 1e6, dbfs: vec![-90.0, -3.0] }],
        constellations: vec![Constellation { name: "pdsch".into(), modulation: None, points: vec![[0.7, -0.7]] }],
        left_out: 3,
    }
}

#[test]
fn each_line_reads_back_as_it_was() {
    let hello = Hello {
        schema: SCHEMA.into(),
        pid: 7,
        kind: Kind::Rate,
        title: "N200".into(),
        command: "takt rate".into(),
        version: "0.1.0".into(),
        begun_unix_ns: Some(1_700_000_000_000_000_000),
    };
    let set = SetAnswer { name: "a.b".into(), refused: Some("no".into()) };
    for line in [
        Line::Hello(hello),
        Line::Snapshot(Box::new(whole())),
        Line::Snapshot(Box::default()),
        Line::Set(set),
        Line::End(End { why: "over".into() }),
    ] {
        let text = serde_json::to_string(&line).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
    }
    assert_eq!(whole().bounded(), whole());
}

#[test]
fn what_is_not_known_is_absent() {
    let text = serde_json::to_string(&Line::Snapshot(Box::default())).unwrap();
    assert_eq!(text, r#"{"snapshot":{"t_ns":0}}"#);
    let radio = &serde_json::to_value(whole()).unwrap()["radios"][0];
    assert_eq!(radio["letters"], serde_json::json!({ "O": 1, "D": 2 }));
    let slots = &serde_json::to_value(whole()).unwrap()["slots"];
    assert_eq!(slots["lateness"], serde_json::json!([[1000, 8], [2000, 1]]));
}

#[test]
fn a_reader_ignores_keys_it_does_not_know() {
    let line: Line = serde_json::from_str(r#"{"snapshot":{"t_ns":1,"new":[1]}}"#).unwrap();
    assert_eq!(line, Line::Snapshot(Box::new(Snapshot { t_ns: 1, ..Snapshot::default() })));
}

#[test]
fn requests_are_read_as_people_write_them() {
    let read = |text: &str| serde_json::from_str::<Request>(text).ok();
    assert_eq!(read(r#"{"every_ms":50}"#), Some(Request::EveryMs(50)));
    let set = |value| Some(Request::Set(SetVariable { name: "a.b".into(), value }));
    assert_eq!(read(r#"{"set":{"name":"a.b","value":3}}"#), set(VariableValue::Int(3)));
    assert_eq!(read(r#"{"set":{"name":"a.b","value":3.5}}"#), set(VariableValue::Float(3.5)));
    assert_eq!(read(r#"{"set":{"name":"a.b","value":true}}"#), set(VariableValue::Bool(true)));
    assert_eq!(read(r#"{"set":{"name":"a.b","value":"on"}}"#), set(VariableValue::Text("on".into())));
    for bad in ["", "{}", r#"{"every_ms":-1}"#, r#"{"set":{"name":"a"}}"#, r#"{"set":{"name":"a","value":[1]}}"#] {
        assert_eq!(read(bad), None, "{bad}");
    }
}

#[test]
fn a_snapshot_is_cut_to_its_limits_and_says_so() {
    let component = Component { name: "é".repeat(1000), ..Component::default() };
    let misses = (0..100).map(|slot| Miss { slot, ..Miss::default() }).collect();
    let large = Snapshot {
        speed: Some(f64::NAN),
        components: vec![component; limits::COMPONENTS + 5],
        slots: Some(Slots { recent_misses: misses, ..Slots::default() }),
        spectra: vec![Spectrum { dbfs: vec![f32::NEG_INFINITY; limits::BINS + 1], ..Spectrum::default() }],
        constellations: vec![Constellation { points: vec![[f32::NAN, 0.0], [1.0, 1.0]], ..Constellation::default() }],
        ..Snapshot::default()
    };
    let small = large.bounded();
    assert_eq!((small.components.len(), small.left_out, small.speed), (limits::COMPONENTS, 6, None));
    assert_eq!(small.components[0].name.chars().count(), limits::TEXT_CHARS);
    let misses = small.slots.unwrap().recent_misses;
    assert_eq!((misses.len(), misses.last().map(|miss| miss.slot)), (limits::MISSES, Some(99)));
    assert!(small.spectra[0].dbfs.iter().all(|&bin| bin == FLOOR_DBFS));
    assert_eq!(small.constellations[0].points, [[1.0, 1.0]]);
}

#[test]
fn a_kind_has_one_name_everywhere() {
    for kind in Kind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}
