//! A run for other programs: the document has the shape that is published, the table every leaf.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use takt_lab::store::{ColumnKind, EXPORT_SCHEMA, NewRound, NewRun, PointRow, Record, RoundState, Store};

use crate::support;

const SCHEMA: &str = include_str!("../../../../docs/reference/experiment-export.schema.json");

/// A run with a round that counts and one that was not run.
fn run_of_two(store: &Store) -> String {
    let point = PointRow { part: "udp".into(), factors: BTreeMap::from([("path".into(), json!("switch"))]) };
    let run = NewRun { experiment: "x".into(), depth: "quick".into(), points: vec![point], ..NewRun::default() };
    let run = store.begin_run(&run).unwrap();
    let record = Record {
        result: json!({ "loss": 0.5, "many": u64::MAX, "flags": [true, null], "h": { "hdr_v2_base64": "x", "max": 3 } }),
        ..Record::default()
    };
    let round = support::round(0, record);
    store.finish_round(&run, &round).unwrap();
    let skipped =
        NewRound { block: 1, state: RoundState::Skipped, why: Some("a, \"b\"".into()), record: None, ..round };
    store.finish_round(&run, &skipped).unwrap();
    run
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_document_has_the_keys_of_the_published_schema_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = run_of_two(&store);
    let document = serde_json::to_value(store.document(&run).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(schema["properties"]["schema"]["const"], EXPORT_SCHEMA);
    for (pointer, shape) in [
        ("", &schema),
        ("/run", &schema["$defs"]["run"]),
        ("/points/0", &schema["$defs"]["point"]),
        ("/rounds/0", &schema["$defs"]["round"]),
        ("/rounds/1", &schema["$defs"]["round"]),
        ("/rounds/0/record", &schema["$defs"]["record"]),
    ] {
        let there = keys(document.pointer(pointer).unwrap());
        let required: BTreeSet<&str> = shape["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!((&there, &there), (&keys(&shape["properties"]), &required), "{pointer}");
        assert_eq!(shape["additionalProperties"], false, "{pointer}");
    }
    let states: Vec<Value> = RoundState::ALL.map(|state| serde_json::to_value(state).unwrap()).into();
    assert_eq!(schema["$defs"]["round"]["properties"]["state"]["enum"], Value::Array(states));
    assert_eq!(document["rounds"][0]["record"]["result"]["h"]["hdr_v2_base64"], "x", "nothing is left out");
    assert!(document["rounds"][1]["record"].is_null());
}

#[test]
fn the_table_has_every_leaf_in_a_column_of_its_kind_and_nothing_where_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = run_of_two(&store);
    let table = store.table(&run).unwrap();
    assert_eq!(table.rows, 2);
    assert!(table.columns.iter().all(|column| column.cells.len() == 2));
    let column =
        |name: &str| table.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("{name}"));
    let of = |name: &str| (column(name).kind, column(name).cells.clone());
    assert_eq!(of("result.loss"), (ColumnKind::Number, vec![Some(json!(0.5)), None]));
    assert_eq!(of("result.many").0, ColumnKind::Number, "more than a signed integer holds");
    assert_eq!(of("result.flags.0"), (ColumnKind::Flag, vec![Some(json!(true)), None]));
    assert_eq!(of("result.h.max"), (ColumnKind::Integer, vec![Some(json!(3)), None]));
    assert_eq!(of("factor.path"), (ColumnKind::Text, vec![Some(json!("switch")); 2]));
    assert_eq!(of("block"), (ColumnKind::Integer, vec![Some(json!(0)), Some(json!(1))]));
    assert!(table.columns.iter().all(|column| !column.name.contains("hdr_v2")));
}
