//! A receiving thread that lacks some tenth of the CPU time that 25 MS/s need: the check says no, and names it.
//!
//! Threads of real-time priority take the host side's cores but for a share, as another program's would: less and less is left,
//! until the reader no longer reads all. Its share of the stream is then about its share of the CPU time that it needs.
//! The driver makes one system call a datagram here, which needs more.

use std::process::{Command, Output};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_base::Stop;
use takt_host::affinity::pin_self;
use takt_host::policy::{Policy, set_policy};

use crate::support::{Place, json, report, root_for};

const CHECK: &str = r#"
question = "Does this host keep up with 25 MS/s?"
[rounds]
count = { full = 3, quick = 3 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 0.25, repeats_max = 2 }
[[need]]
model = "n200"
mode = "rx"
rate_sps = 25e6
format = "sc16"
[[part]]
name = "sc16"
factors = { mode = ["rx"], rate_sps = [25e6] }
fixed = { engine = "socket", workload = { kind = "rate", duration = "800ms", warm_up = "300ms" } }
"#;

const QUICK: [&str; 5] = ["check", "--quick", "--file", "check.toml", "--json"];

/// Share of a core that is left, less and less. The kernel keeps a twentieth from threads of real-time priority.
const LEFT: [f64; 5] = [0.08, 0.07, 0.06, 0.055, 0.052];
/// A reader that reads this much lacks nothing that could be seen.
const ALL: f64 = 0.97;

/// Threads above all that streams, each busy on its core but for a share.
struct Hogs {
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl Hogs {
    fn leave(share: f64, cores: &[usize]) -> Hogs {
        let stop = Stop::new();
        let hog = |core: usize| {
            let stop = stop.clone();
            thread::spawn(move || {
                pin_self(&[core]).expect("one of its cores");
                set_policy(0, Policy::Fifo { priority: 90 }).expect("root may");
                take(1.0 - share, &stop);
            })
        };
        let threads = cores.iter().map(|&core| hog(core)).collect();
        Hogs { stop, threads }
    }
}

fn take(share: f64, stop: &Stop) {
    const PERIOD: Duration = Duration::from_millis(5);
    let mut edge = Instant::now();
    while !stop.requested() {
        while edge.elapsed() < PERIOD.mul_f64(share) {}
        edge += PERIOD;
        thread::sleep(edge.saturating_duration_since(Instant::now()));
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.request();
        self.threads.drain(..).for_each(|thread| thread.join().expect("a hog only spins"));
    }
}

/// Runs the check undisturbed, then with less and less; `None` if the program can't be run, or reads all to the last.
fn starve(place: &Place, command: impl Fn() -> Command) -> Option<()> {
    let run = || match command().output() {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("setpriv:") => Some(output),
        other => {
            takt_testing::skip(format!("needs setpriv, and a program that others may run: {other:?}"));
            None
        }
    };
    let undisturbed = json(&run()?);
    let cores = undisturbed["setup"]["host_cores"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let cores: Vec<usize> = cores.map(|core| core as usize).collect();
    assert!(!cores.is_empty(), "{undisturbed:#}");
    for left in LEFT {
        let hogs = Hogs::leave(left, &cores);
        let starved = run()?;
        drop(hogs);
        // A run without a round that counts tells no loss.
        let lost = json(&starved)["rates"][0]["rx_lost_share"]["point"].as_f64().unwrap_or(0.0);
        if 1.0 - lost < ALL {
            let outcome = json(&starved);
            if outcome["verdict"]["answer"] == "unknown" && mostly_late(&outcome) {
                takt_testing::not_judged("the machine stood still so often that most rounds were repeated");
                return None;
            }
            says_no(place, &starved);
            return Some(());
        }
    }
    takt_testing::not_judged(format!("{LEFT:?} of a core read all of 25 MS/s, and no less can be left"));
    None
}

/// Whether most rounds don't count since the emulator itself was late: then "not known" is the right answer.
fn mostly_late(outcome: &Value) -> bool {
    let rounds = outcome["rates"][0]["rounds"].as_array().map_or(&[][..], Vec::as_slice);
    let late = rounds.iter().filter(|round| round["state"] == "emulator_late").count();
    2 * late > rounds.len()
}

fn says_no(place: &Place, output: &Output) {
    let outcome = json(output);
    assert_eq!(output.status.code(), Some(1), "{}", report(output));
    assert_eq!(outcome["verdict"]["answer"], "fails");
    let limit = &outcome["verdict"]["limits"][0];
    assert_eq!(limit["layer"], "reader_thread", "{limit:#}\n{:#}", outcome["rates"][0]["rounds"]);
    let text = place.takt(&["report", "last"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("the receiving thread"), "{}", report(&text));
}

#[test]
fn a_reader_that_lacks_a_tenth_of_its_cpu_is_answered_no() {
    let Some(()) = root_for("taking cores from others") else { return };
    let place = Place::with("check.toml", CHECK);
    let _judged = starve(&place, || place.command(&QUICK));
}

#[test]
fn so_is_that_of_an_ordinary_user() {
    let Some(()) = root_for("taking cores from others") else { return };
    let place = Place::with("check.toml", CHECK);
    let _judged = starve(&place, || place.command_of_a_user(&QUICK));
}
