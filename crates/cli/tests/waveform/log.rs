//! `takt run --log`: every execution as a row.

use crate::program::{free, json, refusal, waveform};

#[test]
fn log_as_text_has_a_row_for_every_execution() {
    let (_folder, path) = free("log.csv");
    let run = json(&["run", &waveform("bpsk.toml"), "--slots", "300", "--clock", "free", "--log", &path]);
    assert_eq!(run["log_dropped"], 0);
    let text = std::fs::read_to_string(path).expect("written");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("slot,component,worker,start_ns,execution_ns"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5 * 300);
    let sink = rows.iter().filter(|row| row[1] == "sink").map(|row| row[0].parse::<u64>().expect("a slot"));
    assert!(sink.eq(0..300));
    // The table is made of the same executions.
    let longest = rows.iter().filter(|row| row[1] == "channel").map(|row| row[4].parse::<u64>().expect("ns")).max();
    assert_eq!(run["components"][2]["execution"]["max_ns"].as_u64(), longest);
}

#[test]
fn log_that_can_not_be_written_is_reported() {
    let said = refusal(&["run", &waveform("bpsk.toml"), "--slots", "1", "--log", "/nowhere/log.csv"]);
    assert!(said.contains("the log /nowhere/log.csv can't be written"), "{said}");
    let said = refusal(&["run", &waveform("bpsk.toml"), "--slots", "100000", "--clock", "free", "--log", "/dev/full"]);
    assert!(said.contains("/dev/full") && said.contains("No space left"), "{said}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn log_in_parquet_asks_for_a_build_that_has_it() {
    let said = refusal(&["run", &waveform("bpsk.toml"), "--slots", "1", "--log", "/tmp/takt-none.parquet"]);
    assert!(said.contains("--features parquet") && said.contains("/tmp/takt-none.csv"), "{said}");
}

/// Read by Arrow's own library for Python, as the test script installs it.
#[cfg(feature = "parquet")]
#[test]
fn log_in_parquet_is_read_by_others() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/python/bin/python3");
    let script = "import sys, pyarrow.parquet as p; t = p.read_table(sys.argv[1]); d = t.to_pydict();\n\
        print(t.num_rows, t.schema.names, sum(d['slot']), sorted(set(d['component'])), min(d['execution_ns']) > 0)";
    let has_it = std::process::Command::new(python).args(["-c", "import pyarrow.parquet"]).output();
    if !has_it.is_ok_and(|out| out.status.success()) {
        return takt_testing::skip("no pyarrow in target/peers/python   (./test installs it)");
    }
    let (_folder, path) = free("log.parquet");
    json(&["run", &waveform("bpsk.toml"), "--slots", "20000", "--clock", "free", "--log", &path]);
    let out = std::process::Command::new(python).args(["-c", script, &path]).output().expect("python");
    let said = crate::program::text(&out.stdout);
    let wanted = "100000 ['slot', 'component', 'worker', 'start_ns', 'execution_ns'] 999950000 \
        ['channel', 'demodulator', 'modulator', 'sink', 'source'] True\n";
    assert_eq!(said, wanted, "{}", crate::program::text(&out.stderr));
}
