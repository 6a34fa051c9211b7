//! Components of takt, to be timed and counted: see README.md. Speaks JSON lines on standard output.
//!
//! | command | does |
//! | --- | --- |
//! | `list` | names of components, probes and frames |
//! | `families` | each component to be predicted, and its family |
//! | `components FILE` | those of a waveform, a line each: name, type, parameters, items a packet; `slot:FILE:NAME` calls one |
//! | `calls NAME N` | calls one so many times, for a counter of instructions |
//! | `time NAME...` | a line each: the shortest time of a call, quantiles over batches |
//! | `calibrate` | what this processor can do |
//! | `evaluate` | reads what was measured from standard input, writes predictions and their errors |
mod calibration;
mod coding;
mod components;
mod evaluate;
mod samples;
mod waveform;

use std::io::Read;
use std::process::ExitCode;

use calibration::{Calibration, clock};
use components::Call;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["families"] => components::families().for_each(|(name, family)| println!("{name} {family}")),
        ["components", file] => match waveform::components(file) {
            Ok(components) => components.iter().for_each(|component| println!("{}", serde_json::json!(component))),
            Err(error) => return failed(&error),
        },
        ["list"] => components::names().for_each(|name| println!("{name}")),
        ["calls", name, count] => match (components::open(name), count.parse::<u64>()) {
            (Some(mut call), Ok(count)) => counted(&mut call, count),
            _ => return usage(),
        },
        ["time", names @ ..] => {
            for name in names {
                let Some(mut times) = waveform::timed(name).or_else(|| components::open(name).map(time)) else {
                    return usage();
                };
                times.sort_by(f64::total_cmp);
                let [fastest_ns, p10_ns, p50_ns] = [0, times.len() / 10, times.len() / 2].map(|at| times[at]);
                let line = serde_json::json!({
                    "component": name, "fastest_ns": fastest_ns, "p10_ns": p10_ns, "p50_ns": p50_ns
                });
                println!("{line}");
            }
        }
        ["calibrate"] => match Calibration::here() {
            Ok(calibration) => println!("{}", serde_json::json!(calibration)),
            Err(error) => return failed(&error.to_string()),
        },
        ["evaluate"] => return answer(),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn failed(why: &str) -> ExitCode {
    eprintln!("takt-prediction: {why}");
    ExitCode::FAILURE
}

fn usage() -> ExitCode {
    eprintln!("takt-prediction list | families | components FILE | calls NAME N | time NAME... | calibrate | evaluate");
    ExitCode::from(2)
}

/// Between two calls of `getpid`, by which a counter tells the calls from all else; once before, so that what is done once
/// is done.
fn counted(call: &mut Call, count: u64) {
    call();
    let _ = std::process::id();
    (0..count).for_each(|_| call());
    let _ = std::process::id();
}

/// Nanoseconds of a call, batch by batch.
fn time(mut call: Call) -> Vec<f64> {
    const BATCH_NS: u64 = 200_000;
    const BATCHES: usize = 60;
    // Code is translated and caches are filled first.
    let mut calls = 1;
    while clock(&mut || (0..calls).for_each(|_| call())) < BATCH_NS {
        calls *= 2;
    }
    (0..BATCHES).map(|_| clock(&mut || (0..calls).for_each(|_| call())) as f64 / calls as f64).collect()
}

fn answer() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let question = read.and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()));
    match question.map(|question| evaluate::evaluate(&question)) {
        Ok(Some(predicted)) => println!("{}", serde_json::json!(predicted)),
        Ok(None) => return failed("a processor is not calibrated, or a component was not counted"),
        Err(error) => return failed(&error),
    }
    ExitCode::SUCCESS
}
