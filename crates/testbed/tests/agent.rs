//! Answers of an agent, over pipes within this process.

use std::io::{BufRead, BufReader, PipeReader, Write, pipe};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use takt_agent::{Agent, AgentError, Service};
use takt_testbed::serve;

/// An agent on a thread; joining it gives what `serve` returned when its input ended.
fn agent() -> (Agent, JoinHandle<bool>) {
    let (requests, to) = pipe().unwrap();
    let (from, replies) = pipe().unwrap();
    let serving = thread::spawn(move || serve(BufReader::new(requests), replies, || ()).is_ok());
    (Agent::over(to, BufReader::new(from)).unwrap(), serving)
}

#[test]
fn it_says_who_it_is_and_ends_with_its_input() {
    let (agent, serving) = agent();
    assert_eq!(agent.hello().pid, std::process::id());
    assert!(!agent.hello().cpus.is_empty());
    drop(agent);
    assert!(serving.join().unwrap());
}

#[test]
fn an_emulator_runs_from_start_to_finish_and_reports_what_it_counted() {
    let (mut agent, _serving) = agent();
    let addr = takt_testing::loopback(1).to_string();
    let options = json!({ "addrs": [addr] });
    assert_eq!(agent.start(Service::Emulator, options.clone()).unwrap(), [addr.as_str()]);
    let twice = agent.start(Service::Emulator, options).unwrap_err();
    assert!(twice.to_string().contains("finish it first"), "{twice}");
    let summary = agent.finish().unwrap();
    assert_eq!(summary["devices"][0]["addr"], addr.as_str());
    assert!(summary["lag"]["over_limit"].is_u64(), "{summary}");
    assert!(matches!(agent.finish(), Err(AgentError::Failed(_))), "nothing runs any more");
}

#[test]
fn an_address_that_is_not_ours_is_a_failure_with_its_cause() {
    let (mut agent, _serving) = agent();
    let error = agent.start(Service::Emulator, json!({ "addrs": ["192.0.2.1"] })).unwrap_err();
    let AgentError::Failed(failure) = &error else { panic!("{error}") };
    assert!(failure.chain.len() >= 2, "the error and what the kernel answered: {failure:?}");
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
}

#[test]
fn counters_of_the_kernel_come_through() {
    let (mut agent, _serving) = agent();
    assert!(agent.counters().unwrap().interfaces.contains_key("lo"));
}

/// Sends raw lines, returns the replies.
fn raw(lines: &str) -> Vec<Value> {
    let (from, replies) = pipe().unwrap();
    let (requests, mut to) = pipe().unwrap();
    let serving = thread::spawn(move || serve(BufReader::new(requests), replies, || ()));
    to.write_all(lines.as_bytes()).unwrap();
    drop(to);
    let lines = |from: PipeReader| BufReader::new(from).lines().map_while(Result::ok);
    let replies = lines(from).map(|line| serde_json::from_str(&line).unwrap()).collect();
    serving.join().unwrap().unwrap();
    replies
}

#[test]
fn what_is_no_request_gets_a_failure_and_the_next_an_answer() {
    let replies = raw("rubbish\n{\"do\":\"dance\"}\n{\"do\":\"hello\"}\n{\"do\":\"finish\"}\n");
    let kinds: Vec<&str> = replies.iter().map(|reply| reply["reply"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["failed", "failed", "hello", "failed"]);
    assert!(replies[1]["chain"][0].as_str().unwrap().contains("dance"));
}

#[test]
fn an_agent_that_speaks_another_protocol_is_refused() {
    let (from, mut replies) = pipe().unwrap();
    let (_requests, to) = pipe().unwrap();
    writeln!(replies, r#"{{"reply":"hello","protocol":999,"version":"9","pid":1,"cpus":[]}}"#).unwrap();
    let refused = Agent::over(to, BufReader::new(from)).unwrap_err().to_string();
    let says = "the agent speaks version 999 of the protocol, but this takt speaks 2: start the same takt at both ends";
    assert_eq!(refused, says);
}

#[test]
fn an_agent_that_ends_is_gone_not_waited_for() {
    let (from, replies) = pipe().unwrap();
    let (_requests, to) = pipe().unwrap();
    drop(replies);
    assert!(matches!(Agent::over(to, BufReader::new(from)), Err(AgentError::Gone)));
}
