//! A program that streams from or to a radio, and what witnesses say of both.

use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use crate::software::{Radio, json, number};
use crate::watched::{self, Unless, Watched, Wrong, watched};

pub struct Run {
    pub out: Output,
    pub radio: Value,
    waited: Duration,
}

impl Run {
    /// Runs a program of the host to its end, then ends the radio.
    pub fn of(radio: Radio, args: &[&str]) -> Run {
        let Watched { out, waited } = watched(radio.command(args), &[radio.process()]);
        Run { out, radio: radio.summary(), waited }
    }

    pub fn document(&self) -> Value {
        json(&self.out)
    }

    pub fn device(&self) -> &Value {
        &self.radio["devices"][0]
    }

    pub fn struck(&self) -> u64 {
        self.device()["faults"].as_object().expect("a map").values().filter_map(Value::as_u64).sum()
    }

    /// Answers what witnesses saw. It is a delay beyond `bearable`, of threads or of what the radio sent; or datagrams
    /// that the radio did not send, or for which a receive buffer had no room. If the kernel counts no drops
    /// (SO_MEMINFO), they may be what explains it.
    fn witness(&self, bearable: Duration, unless: Unless) -> Option<String> {
        let lag = Duration::from_micros(number(&self.radio, "/lag/max_us"));
        let unsent = number(&self.radio, "/lag/unsent");
        if self.device().pointer("/datagrams/receive_buffer_drops") == Some(&Value::Null) {
            return Some("drops are not known".to_owned());
        }
        let mut drops = number(self.device(), "/datagrams/receive_buffer_drops");
        if let Ok(document) = serde_json::from_slice::<Value>(&self.out.stdout) {
            let here = document.pointer("/rx/lost_by_place/receive_buffer_datagrams");
            drops += here.and_then(Value::as_u64).unwrap_or(0);
        }
        let delayed = unless == Unless::Delayed && self.waited.max(lag) > bearable;
        let (waited, lag) = (self.waited.as_millis(), lag.as_millis());
        (delayed || unsent + drops > 0).then(|| {
            format!("{waited} ms without a processor, radio late by {lag} ms, {unsent} unsent, {drops} dropped")
        })
    }
}

/// Judges runs, of which `wrong` says what is not as expected.
#[track_caller]
pub fn judge(bearable: Duration, run: impl Fn() -> Run, wrong: impl Fn(&Run) -> Vec<Wrong>) {
    let says = |run: &Run| format!("{}\n{:#}", String::from_utf8_lossy(&run.out.stdout), run.radio);
    watched::judge(run, wrong, |run, unless| run.witness(bearable, unless), says);
}
