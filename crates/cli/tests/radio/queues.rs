//! A radio's stream on one queue of an interface that has four, and the others given back: at the end, on Ctrl-C, and by
//! `takt clean` after `kill -9`. The interface is of a veth pair, of which only the number of queues can be changed.

use std::process::{Child, Command, Output, Stdio};

use crate::software::{TAKT, has, interrupt, json, number, text};
use crate::support::{Ended, Place, refusal, root_for, while_running};

const RADIO: &str = "10.97.0.2";

/// Two namespaces, a cable of four queues between them, and a software N200 in the second. All gone on drop.
struct Cable {
    place: Place,
    near: String,
    _radio: Option<Ended>,
}

impl Cable {
    fn lay(label: &str) -> Option<Cable> {
        root_for("a network namespace")?;
        let mut place = Place::with("empty", "");
        let [near, far] = ["near", "far"].map(|end| place.run.namespace(&format!("test-{label}-{end}")));
        let mut cable = Cable { place, near: near.clone(), _radio: None };
        cable.shell(&format!(
            "ip -n {near} link add near numrxqueues 4 numtxqueues 4 type veth peer name far netns {far} numrxqueues 1 numtxqueues 1
             ip -n {near} addr add 10.97.0.1/24 dev near; ip -n {near} link set near up; ip -n {near} link set lo up
             ip -n {far} addr add {RADIO}/24 dev far; ip -n {far} link set far up; ip -n {far} link set lo up
             ip netns exec {near} ethtool -K near tx off; ip netns exec {far} ethtool -K far tx off"
        ));
        let mut radio = cable.inside(&far, &["emulate", "n200", "--addr", RADIO, "--allow", "10.97.0.1/32"]);
        let (program, _stdout, line) = Ended::ready(radio.stderr(Stdio::null()));
        assert!(line.starts_with("ready n200"), "{line}");
        cable._radio = Some(program);
        Some(cable)
    }

    fn shell(&self, script: &str) -> String {
        let out = Command::new("sh").args(["-ec", script]).output().expect("a shell");
        assert!(out.status.success(), "{script}: {}", text(&out.stderr));
        text(&out.stdout)
    }

    fn inside(&self, namespace: &str, args: &[&str]) -> Command {
        let mut command = self.place.call("ip");
        command.args(["netns", "exec", namespace, TAKT]).args(args);
        command
    }

    fn takt(&self, args: &[&str]) -> Output {
        self.inside(&self.near, args).output().expect("takt")
    }

    /// A stream that goes on until it is ended, when it has its queues.
    fn streaming(&self) -> Child {
        let args = ["rate", "--rx", "200k", "--duration", "1h", "--addr", RADIO, "--engine", "xdp:0-1"];
        let mut command = self.inside(&self.near, &args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt");
        while_running(&mut child, "two queues", || self.queues() == 2);
        child
    }

    fn queues(&self) -> u32 {
        let said = self.shell(&format!("ip netns exec {} ethtool -l near", self.near));
        let now = said.rsplit("RX:").next().and_then(|rest| rest.split_whitespace().next());
        now.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
    }
}

#[test]
fn a_stream_has_the_queue_that_it_names_and_gives_the_others_back() {
    let Some(cable) = Cable::lay("rate") else { return };
    let args = ["rate", "--rx", "200k", "--duration", "300ms", "--addr", RADIO, "--json", "--engine"];
    let outcome = json(&cable.takt(&[&args[..], &["xdp:0"]].concat()));
    assert_eq!(outcome["engine"]["queues"], "queue 0 of near by its channels", "{outcome:#}");
    assert!(number(&outcome, "/rx/samples") > 0, "{outcome:#}");
    assert_eq!(cable.queues(), 4);
    let words = args.iter().filter(|word| **word != "--json").chain(&["xdp:0"]).copied().collect::<Vec<_>>();
    let said = text(&cable.takt(&words).stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    has(&said, &["engine xdp:0 (native XDP, copied, queue 0 of near by its channels)"]);
    let outcome = json(&cable.takt(&[&args[..], &["xdp"]].concat()));
    let why = outcome["engine"]["queues"].as_str().unwrap_or_default();
    has(why, &["all queues of near", "no rules"]);
    let refused = refusal(&cable.takt(&["rate", "--rx", "200k", "--addr", RADIO, "--engine", "xdp:2-4"]));
    has(&refused, &["near has no receive queue 4", "it has 4, numbered from 0"]);
    has(
        &refusal(&cable.takt(&["rate", "--rx", "200k", "--addr", RADIO, "--engine", "xdp:one"])),
        &["`one` does not name queues"],
    );
}

#[test]
fn what_a_stream_had_is_given_back_on_ctrl_c_and_by_clean_after_a_kill() {
    let Some(cable) = Cable::lay("kill") else { return };
    let serve = || refusal(&cable.takt(&["udp", "serve", "--addr", "10.97.0.1", "--engine", "xdp:0"]));
    let mut child = cable.streaming();
    has(&serve(), &[&format!("another takt, process {}, has taken queues of near", child.id())]);
    interrupt(&child);
    child.wait().expect("our own");
    assert_eq!(cable.queues(), 4);

    let mut child = cable.streaming();
    child.kill().expect("our own");
    child.wait().expect("our own");
    assert_eq!(cable.queues(), 2);
    has(&serve(), &["a takt that was killed has left near on its own queues", "takt clean"]);
    // From another namespace: the record says which one it is.
    let clean = || text(&cable.place.takt(&["clean"]).stdout);
    has(&clean(), &["removed  change of the number of queues of near, left by takt with engine xdp"]);
    assert_eq!(cable.queues(), 4);
    has(&clean(), &["Yes: nothing was left."]);
}
