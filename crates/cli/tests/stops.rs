//! `takt stops` as a person runs it: output, exit status, errors.

mod support;

use support::{has, json, refusal, takt, text};

#[test]
fn a_watch_answers_by_what_the_buffers_hold() {
    // A stream so slow that its buffers hold minutes, and one so fast that they hold less than a look.
    let slow = takt(&["stops", "--duration", "200ms", "--need", "n200:195312.5", "--json"]);
    let outcome = json(&slow);
    assert_eq!(outcome["schema"], "takt.stops/1");
    assert_eq!((outcome["complete"].as_bool(), outcome["needs"].as_array().map(Vec::len)), (Some(true), Some(1)));
    let holds_ms = outcome["needs"][0]["holds_ms"].as_f64().expect("a time");
    let longest_ms = outcome["stops"]["longest_ms"].as_f64().expect("a time");
    let fits = longest_ms * 1.4 <= holds_ms;
    assert_eq!(slow.status.code(), Some(if fits { 0 } else { 1 }), "{outcome:#}");
    assert_eq!(outcome["answer"], if fits { "holds" } else { "fails" });
    let looked_s = outcome["stops"]["streamed_s"].as_f64().expect("a time");
    assert!(looked_s >= 0.2, "{outcome:#}");
}

#[test]
fn the_first_line_is_the_answer() {
    let done = takt(&["stops", "--duration", "50ms"]);
    let said = text(&done.stdout);
    let word = if done.status.code() == Some(0) { "Yes: this machine " } else { "No: this machine " };
    assert!(said.starts_with(word) && said.contains("watched for"), "{said}");
}

#[test]
fn a_core_that_there_is_not_is_refused_with_the_way_out() {
    let refused = refusal(&takt(&["stops", "--duration", "50ms", "--cores", "100000"]));
    has(&refused, &["takt can't watch any core", "--cores with cores that this process may use"]);
}
