//! Every example of `docs/reference/cli.md`, which is what `-h` says, is typed as it stands, is not refused, and leaves no
//! process behind.
//!
//! The network is a namespace of its own in which 192.168.10.2 has a software radio and a server of datagram load. A
//! command that runs for long is interrupted after a moment, as by Ctrl-C. The question is whether the program takes
//! the command, not what it measures.

mod support;

use std::fs;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use support::{Place, TAKT, report};
use takt_testing::wait_for;

const PAGE: &str = include_str!("../../../docs/reference/cli.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Other tests run these. They change settings of the whole machine (`tests/alone/doctor`), or a guest boots first
/// (`tests/environment.rs`).
const ELSEWHERE: [&str; 5] = ["doctor --fix", "doctor --prove", "doctor --undo", "doctor --all", "--env-only vm"];

/// They name what a person has and this place has not, and say so.
const NAMED: [(&str, &str); 20] = [
    ("takt node watch utran-a-k3f9a --folder cluster/a", "no node answers"),
    ("takt node watch utran-a-k3f9a --folder cluster/a --standby", "no node answers"),
    ("takt udp send --addr 192.168.10.2 --size 64 --generator xdp", "can't send XDP frames"),
    ("takt experiment compare 100412 112233", "100412"),
    ("takt report 2026-11-21T100412-check --json", "2026-11-21T100412-check"),
    ("takt variable", "no waveform"),
    ("takt variable channel.ebn0_db=3", "no waveform"),
    ("takt execinfo", "no waveform"),
    ("takt map waveforms/bpsk.toml --apply", "no waveform"),
    ("takt check --device soapy:driver=uhd,addr=192.168.10.2", "without SoapySDR"),
    ("takt run waveforms/td-scdma.toml --clock radio --device soapy:driver=lime --transmit", "without SoapySDR"),
    ("takt share status", "no share"),
    ("takt share add --radio name=third,addr=127.0.0.13,rate=1e6", "no share"),
    ("takt share add --radio name=third,addr=127.0.0.13,rate=1e6,transmit=true", "no share"),
    ("takt share add more.toml", "more.toml"),
    ("takt share remove third", "no share"),
    ("takt top", "can't watch a run"),
    ("takt top 4711", "can't watch a run"),
    ("takt top 4711 --json", "can't watch a run"),
    ("takt top 4711 --once", "can't watch a run"),
];

const EXPERIMENT: &str = "question = \"How many arrive?\"\n[factors]\npayload_bytes = [18, 512]\n[fixed]\n\
                          workload = { kind = \"udp\", direction = \"to-host\", duration = \"100ms\", warm_up = \"0s\" }\n[rounds]\n\
                          count = { full = 1, quick = 1 }\norder = { seed = 1 }\n";

const FLEET: &str = "question = \"Which wakes up best?\"\n[factors]\nenvironment = [\"native\", \"node:a\"]\n[fixed]\n\
                     workload = { kind = \"wakeup\", duration = \"100ms\", policy = \"other\" }\n[rounds]\n\
                     count = { full = 1, quick = 1 }\norder = { seed = 1 }\n";

/// The two servers, what the example goes on from, then the example, in a network of its own; `$1` is the program, `$2` the example.
const SCRIPT: &str = r#"
set -e
ip link set lo up
ip address add 192.168.10.2/32 dev lo
mkdir -p bin && ln -sf "$1" bin/takt
printf '#!/bin/sh\nexec "$@"\n' > bin/sudo && chmod +x bin/sudo
PATH=$PWD/bin:$PATH
case $2 in
    *emulate*) ;;
    *192.168.10.2*)
        takt emulate n200 --addr 192.168.10.2 --allow 192.168.10.0/24 > radio.log 2>&1 &
        until grep -q ready radio.log; do sleep 0.05; done
        case $2 in *serve*) ;; *)
            takt udp serve --addr 192.168.10.2 > server.log 2>&1 &
            until grep -q 192.168.10.2 server.log; do sleep 0.05; done ;;
            esac ;;
esac
case $2 in
    *'link enb'*|*'link ue'*)
        takt emulate --config scenes/lte.toml > air.log 2>&1 &
        until [ "$(grep -c ready air.log)" = 2 ]; do sleep 0.05; done ;;
    *' play '*) takt record --addr 192.168.10.2 --rate 1M --duration 100ms run1 > record.log 2>&1 ;;
    *cluster/a*)
        takt node certificates --out cluster --listen quic/127.0.0.1:7447 --connect quic/127.0.0.1:7447 a > made.log ;;
    *' last'*) takt experiment run my-sweep.toml > sweep.log 2>&1 ;;
esac
case $2 in
    *'--cluster cluster/a'*)
        takt node --folder cluster/a > node.log 2>&1 &
        until grep -q ready node.log; do sleep 0.05; done ;;
esac
set +e
timeout --signal=INT --kill-after=60 1 sh -c "$2" < /dev/null
status=$?
kill $(jobs -p) 2> /dev/null
exit $status
"#;

/// Lines of the page that are examples: the command, without the comment behind two spaces.
fn examples() -> Vec<String> {
    let lines = PAGE.lines().filter_map(|line| line.strip_prefix("  "));
    let commands = lines.filter(|line| ["takt ", "sudo takt ", "head "].iter().any(|word| line.starts_with(word)));
    commands
        .map(|line| line.split("   ").next().unwrap_or(line).split("  ").next().unwrap_or(line).to_owned())
        .collect()
}

fn place() -> Place {
    let place = Place::with("my-sweep.toml", EXPERIMENT);
    for data in ["waveforms", "scenes"] {
        std::os::unix::fs::symlink(format!("{ROOT}/{data}"), place.path(data)).expect("a link");
    }
    fs::write(place.path("fleet.toml"), FLEET).expect("a file");
    fs::write(place.path("bits.u8"), [0, 1, 1, 0].repeat(256)).expect("a file");
    fs::write(place.path("samples.i16"), vec![0; 4096]).expect("a file");
    for platform in ["board.toml", "here.toml"] {
        fs::write(place.path(platform), PLATFORM.as_str()).expect("a file");
    }
    place
}

/// Output of `takt calibrate` for one core.
static PLATFORM: LazyLock<String> = LazyLock::new(|| {
    let place = Place::with("empty", "");
    let output = place.takt(&["calibrate", "--cores", "0", "--class", "board", "--out", "board.toml"]);
    fs::read_to_string(place.path("board.toml")).unwrap_or_else(|error| panic!("{error}: {}", report(&output)))
});

fn typed(place: &Place, example: &str) -> Output {
    let mut command = place.call("unshare");
    command.args(["--net", "--", "bash", "-c", SCRIPT, "examples", TAKT, example]);
    command.output().expect("unshare runs")
}

#[test]
fn an_example_is_what_stands_before_the_words_about_it() {
    let all = examples();
    assert!(all.len() > 70, "{}", all.len());
    assert!(all.contains(&"takt emulate n200".to_owned()), "{all:#?}");
    assert!(all.contains(&"takt check --quick".to_owned()), "{all:#?}");
}

#[test]
fn what_is_not_run_here_is_still_an_example() {
    let all = examples();
    for (example, _) in NAMED {
        assert!(all.iter().any(|one| one == example), "{example}");
    }
    for part in ELSEWHERE {
        assert!(all.iter().any(|one| one.contains(part)), "{part}");
    }
}

#[test]
fn every_example_is_taken_as_it_stands() {
    if !Command::new("unshare").args(["--net", "true"]).status().is_ok_and(|status| status.success()) {
        return takt_testing::skip("a network namespace needs root and unshare(1)");
    }
    let all = examples();
    let next = AtomicUsize::new(0);
    let refused = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(example) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(why) = refusal(example) {
                        refused.lock().expect("no thread panics").push(why);
                    }
                }
            });
        }
    });
    let refused = refused.into_inner().expect("no thread panics");
    assert!(refused.is_empty(), "{} of {} refused:\n{}", refused.len(), all.len(), refused.join("\n"));
}

/// The program's objection to an example.
fn refusal(example: &str) -> Option<String> {
    if ELSEWHERE.iter().any(|part| example.contains(part)) {
        return None;
    }
    let place = place();
    let output = typed(&place, example);
    wait_for(&format!("the end of all that `{example}` started"), || place.processes().is_empty().then_some(()));
    let said = String::from_utf8_lossy(&output.stderr);
    let complaint = said.lines().find(|line| line.starts_with("error"));
    let named = NAMED.iter().find(|(named, _)| *named == example).map(|(_, what)| *what);
    match (complaint, named) {
        (None, None) => None,
        (Some(_), Some(what)) if said.contains(what) => None,
        (None, Some(what)) => Some(format!("$ {example}\nshould say that there is no {what}: {}", report(&output))),
        (Some(_), _) => Some(format!("$ {example}\n{}", report(&output))),
    }
}
