//! Nothing that takt prints on either stream commands a terminal, whoever wrote it, and whichever way it comes out.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use serde_json::Value;
use support::{Place, TAKT, report};
use takt_base::plain::{acts, plain, plain_but_colours};
use takt_testing::skip;

/// Sets a title, clears a screen (by C0 and by C1), goes back, turns the direction of writing.
const EVIL: &str = "evil\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{8}\r\u{7f}\u{202e}";

const WAVEFORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/utran.toml");

/// Neither stream acts.
#[track_caller]
fn is_plain(output: &Output, what: &str) {
    for stream in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(stream).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(plain(text), text, "{what}: {text:?}");
    }
}

/// And what others wrote is in one of them.
#[track_caller]
fn is_plain_and_says(output: &Output, what: &str) {
    is_plain(output, what);
    let said = [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned()).concat();
    assert!(said.contains("evil"), "{what}: {}", report(output));
}

#[test]
fn what_is_typed_and_what_files_are_called() {
    let place = Place::with(&format!("{EVIL}.toml"), "x = 1\n");
    let file = format!("{EVIL}.toml");
    for arguments in [
        &[EVIL][..],
        &["--", EVIL],
        &["emulate", EVIL],
        &["emulate", "n200", "--source", EVIL],
        &["emulate", "n200", "--allow", EVIL],
        &["run", EVIL],
        &["run", &file],
        &["map", &file],
        &["experiment", "run", EVIL],
        &["experiment", "run", &file],
        &["experiment", "show", EVIL],
        &["report", EVIL],
        &["udp", "send", "--addr", EVIL],
        &["udp", "send", "--addr", "127.0.0.1", "--engine", EVIL],
        &["doctor", "--only", EVIL],
        &["doctor", "--root", EVIL],
        &["component", "list", EVIL],
        &["execinfo", EVIL],
    ] {
        for json in [&[][..], &["--json"]] {
            let output = place.command(&[arguments, json].concat()).stdin(Stdio::null()).output().expect("it runs");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", report(&output));
            is_plain_and_says(&output, &format!("{arguments:?} {json:?}"));
        }
    }
}

/// A TOML string of it.
fn quoted() -> String {
    let escaped: String =
        EVIL.chars().map(|c| if acts(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() }).collect();
    format!("\"{escaped}\"")
}

#[test]
fn what_files_hold() {
    let (key, raw) = (quoted(), EVIL.replace('\r', ""));
    for (name, text) in [
        ("key.toml", format!("{key} = 1\n")),
        ("value.toml", format!("name = {key}\n[[component]]\nname = {key}\ntype = {key}\n")),
        ("table.toml", format!("[{key}]\nx = 1\n")),
        ("raw.toml", format!("name = \"{raw}\"\n")),
        ("comment.toml", format!("# {raw}\nevil = = 1\n")),
        ("lines.toml", format!("\r\n\r\nevil = {key}\r\n")),
    ] {
        let place = Place::with(name, &text);
        for arguments in [
            &["run", name][..],
            &["map", name],
            &["emulate", "--config", name],
            &["experiment", "run", name],
            &["map", WAVEFORM, "--platform", name],
        ] {
            for json in [&[][..], &["--json"]] {
                let output = place.takt(&[arguments, json].concat());
                assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", report(&output));
                is_plain(&output, &format!("{arguments:?} {json:?}"));
            }
        }
        is_plain_and_says(&place.takt(&["experiment", "run", name]), name);
    }
}

#[cfg(feature = "cluster")]
#[test]
fn a_node_of_a_hostile_name() {
    let place = Place::with("here", "");
    assert!(place.takt(&["node", "certificates", "--out", "cluster", "a"]).status.success());
    let settings = place.path("cluster/a/cluster.toml");
    let usual = std::fs::read_to_string(&settings).expect("settings");
    for (what, text) in [
        ("node", usual.replace("node = \"a\"", &format!("node = {}", quoted()))),
        ("cluster", usual.replace("cluster = \"takt\"", &format!("cluster = {}", quoted()))),
        ("key", format!("{} = 1\n{usual}", quoted())),
        ("quota", format!("{usual}[quota.{}]\ncores = 1\n", quoted())),
    ] {
        assert_ne!(text, usual, "{what}");
        std::fs::write(&settings, text).expect("ours");
        for arguments in [&["node"][..], &["node", "list"]] {
            for json in [&[][..], &["--json"]] {
                let output = place.takt(&[arguments, &["--folder", "cluster/a"], json].concat());
                assert_eq!(output.status.code(), Some(2), "{what}: {}", report(&output));
                is_plain_and_says(&output, what);
            }
        }
    }
}

/// A store with one run, finished.
fn measured() -> Place {
    let place = Place::with(
        "x.toml",
        "question = \"Are records text?\"\n[fixed]\n\
         workload = { kind = \"wakeup\", duration = \"20ms\" }\n[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n\
         valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }\n",
    );
    let output = place.takt(&["experiment", "run", "x.toml", "--quick"]);
    assert_ne!(output.status.code(), Some(2), "{}", report(&output));
    place
}

/// Puts it behind every string of a document.
fn spoil(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(EVIL),
        Value::Array(items) => items.iter_mut().for_each(spoil),
        Value::Object(fields) => fields.values_mut().for_each(spoil),
        _ => {}
    }
}

/// Form of a cell of the store: text with it, a document with it in each string.
fn spoilt(cell: &str) -> String {
    match serde_json::from_str::<Value>(cell) {
        Ok(mut document) if !document.is_number() => {
            spoil(&mut document);
            document.to_string()
        }
        _ => format!("{cell}{EVIL}"),
    }
}

fn store(place: &Path) -> Connection {
    Connection::open(place.join("takt-runs/takt.db")).expect("a store")
}

/// Does what is below to every row, then back.
fn with_column(store: &Connection, table: &str, column: &str, look: impl FnOnce()) {
    let all = |sql: &str| {
        let mut rows = store.prepare(sql).expect("a table");
        let rows = rows.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)));
        rows.expect("rows").map(|row| row.expect("a row")).collect::<Vec<_>>()
    };
    let before = all(&format!("SELECT rowid, {column} FROM {table}"));
    let set = |row: i64, text: &Option<String>| {
        let sql = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = ?2");
        store.execute(&sql, rusqlite::params![text, row]).expect("ours");
    };
    for (row, text) in &before {
        set(*row, &Some(spoilt(text.as_deref().unwrap_or_default())));
    }
    look();
    before.iter().for_each(|(row, text)| set(*row, text));
}

#[test]
fn what_is_stored() {
    let place = measured();
    let store = store(place.folder());
    store.execute("PRAGMA foreign_keys = OFF", []).expect("a setting");
    let list = ["experiment", "list"];
    for (table, column, shown) in [
        ("runs", "id", true),
        ("runs", "experiment", true),
        ("runs", "file", true),
        ("runs", "depth", true),
        ("runs", "options", false),
        ("runs", "host", true),
        ("runs", "takt_version", true),
        ("runs", "started", true),
        ("points", "part", true),
        ("points", "factors", false),
        ("rounds", "state", false),
        ("rounds", "why", true),
        ("rounds", "started", true),
        ("records", "settings", true),
        ("records", "result", false),
        ("records", "machine", false),
    ] {
        with_column(&store, table, column, || {
            let mut said = false;
            for arguments in [
                &list[..],
                &["experiment", "show", "last"],
                &["experiment", "show", "last", "--explain"],
                &["experiment", "compare", "last", "last"],
                &["experiment", "export", "last", "--format", "csv"],
                &["experiment", "export", "last", "--format", "json"],
                &["report", "last"],
            ] {
                for json in [&[][..], &["--json"]] {
                    let output = place.takt(&[arguments, json].concat());
                    is_plain(&output, &format!("{table}.{column} {arguments:?} {json:?}"));
                    let both =
                        [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned());
                    said |= both.concat().contains("evil\\u001b");
                    if !json.is_empty() && !output.stdout.is_empty() && arguments[1] != "export" {
                        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
                        // Its reader has it back as it was.
                        said |= document.to_string().contains("evil");
                    }
                }
            }
            assert!(said || !shown, "{table}.{column} comes out nowhere");
        });
    }
}

/// On a terminal of its own, as `script` makes one.
fn on_a_terminal(place: &Place, arguments: &str) -> Option<String> {
    if !Command::new("script").arg("--version").output().is_ok_and(|out| out.status.success()) {
        skip("script is not installed   (apt-get install bsdutils)");
        return None;
    }
    let mut command = place.call("script");
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").stdin(Stdio::null());
    let output = command.args(["-qefc", &format!("{TAKT} {arguments}"), "typescript"]).output().expect("it runs");
    // The terminal itself makes an end of a line two characters.
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn on_a_terminal_colours_are_left_and_nothing_else() {
    let place = Place::with("bad.toml", &format!("{} = 1\nquestion = \"x\"\n", quoted()));
    let Some(said) = on_a_terminal(&place, "experiment run bad.toml") else { return };
    assert!(said.contains("evil") && said.contains("\u{1b}["), "it has colours: {said:?}");
    assert_eq!(plain_but_colours(&said), said);
    let place = measured();
    let store = store(place.folder());
    with_column(&store, "points", "part", || {
        let said = on_a_terminal(&place, "experiment show last").expect("it was there a moment ago");
        assert_eq!(plain_but_colours(&said), said);
    });
    let said = on_a_terminal(&place, "experiment show last").expect("it was there a moment ago");
    assert!(said.contains("\u{1b}["), "a table has colours: {said:?}");
}
