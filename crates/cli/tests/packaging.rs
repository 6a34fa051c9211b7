//! `packaging/`: its files name options that takt has, other programs take them, and what of them can run here does.
#![cfg(feature = "cluster")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use support::{Ended, Place, TAKT, report, takt, text};
use takt_testing::{loopback, skip, wait_for};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const UNIT: &str = "packaging/systemd/takt-node.service";
const SET: &str = "packaging/kubernetes/nodes/statefulset.yaml";

fn file(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).expect(name)
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Calls of takt in a text: the command, and its options.
fn calls(text: &str) -> Vec<(&'static str, String)> {
    const CALLS: [(&str, &str); 6] = [
        ("takt node certificates ", "node certificates"),
        ("takt node list ", "node list"),
        ("takt run ", "run"),
        ("takt node ", "node"),
        ("takt-node ", "node"),
        ("args: [", "node"),
    ];
    let mut found = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        // The first; of those that begin alike the longest.
        let here = CALLS.iter().filter_map(|call| Some((line.find(call.0)?, call)));
        let first = here.min_by_key(|(at, (words, _))| (*at, std::cmp::Reverse(words.len())));
        let Some((at, (words, command))) = first else { continue };
        // As far as the shell or the sentence gives it to this command.
        let rest = line[at + words.len()..].split(['`', '|', ';', '>']).next().unwrap_or_default();
        let options = rest.split([' ', ',', '[', ']', '(', ')', '"', '\'']).filter(|word| word.starts_with("--"));
        found.extend(options.map(|option| (*command, option.split('=').next().unwrap_or(option).to_owned())));
    }
    found
}

#[test]
fn every_option_that_the_files_name_is_one_of_takt() {
    let mut named = BTreeSet::new();
    let page = file("docs/how-to/run-a-fleet.md");
    for path in files(&file("packaging")).into_iter().chain([page]) {
        for (command, option) in calls(&fs::read_to_string(&path).expect("text")) {
            named.insert((command, option, path.clone()));
        }
    }
    for (command, option, path) in &named {
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        let help = text(&takt(&words).stdout);
        let known = help.split_whitespace().any(|word| word == option);
        assert!(known, "takt {command} has no {option}, which {} names", path.display());
    }
    for (command, option) in [
        ("node certificates", "--listen"),
        ("node list", "--json"),
        ("node", "--folder"),
        ("node", "--cores"),
        ("node", "--engine"),
        ("run", "--cluster"),
    ] {
        assert!(named.iter().any(|named| (named.0, named.1.as_str()) == (command, option)), "{command} {option}");
    }
}

#[test]
fn systemd_takes_the_unit_with_each_addition() {
    let Ok(found) = Command::new("systemd-analyze").arg("--version").output() else {
        return skip("systemd-analyze is not installed   (apt-get install systemd)");
    };
    assert!(found.status.success(), "{}", report(&found));
    // The program lies elsewhere here.
    let unit = read(UNIT);
    assert!(unit.contains("ExecStart=/usr/bin/takt node "), "{unit}");
    let place = Place::with("takt-node.service", &unit.replace("/usr/bin/takt", TAKT));
    let verify = || {
        let mut command = place.call("systemd-analyze");
        let verified = command.arg("verify").arg(place.path("takt-node.service")).output().expect("it runs");
        let ours = ["takt-node", "engine-", "ptp-"];
        let of_ours = text(&verified.stderr).lines().any(|line| ours.iter().any(|name| line.contains(name)));
        assert!(verified.status.success() && !of_ours, "{}", report(&verified));
    };
    verify();
    fs::create_dir(place.path("takt-node.service.d")).expect("ours");
    for name in ["engine-xdp.conf", "ptp-hardware.conf"] {
        let (from, to) = (file("packaging/systemd").join(name), place.path("takt-node.service.d").join(name));
        fs::copy(from, to).expect("ours");
        verify();
    }
}

#[test]
fn the_clock_of_a_card_is_let_through_to_be_read_and_no_other_device() {
    assert!(read(UNIT).lines().any(|line| line == "PrivateDevices=yes"), "the usual unit sees none");
    let addition = read("packaging/systemd/ptp-hardware.conf");
    let of_devices = |line: &&str| line.contains("Device") && !line.starts_with('#');
    let settings: Vec<&str> = addition.lines().filter(of_devices).collect();
    assert_eq!(settings, ["PrivateDevices=no", "DevicePolicy=closed", "DeviceAllow=char-ptp r"]);
    // The group that it names is the one that the guide makes.
    let guide = read("docs/how-to/run-a-fleet.md");
    assert!(addition.contains("SupplementaryGroups=ptp\n") && guide.contains("groupadd --system ptp\n"));
}

/// Images that the files name, each as `NAME:TAG`.
fn images() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in files(&file("packaging")) {
        for line in fs::read_to_string(&path).expect("text").lines().map(str::trim) {
            let base = line.strip_prefix("ARG BUILDER=").or(line.strip_prefix("ARG BASE="));
            let plain_from = line.strip_prefix("FROM ").filter(|from| !from.starts_with("${") && *from != "scratch");
            let of_pod = line.strip_prefix("image: ").filter(|image| !image.starts_with('*'));
            let of_pod = of_pod.map(|image| image.trim_start_matches("&image "));
            let image = base.or(plain_from).or(of_pod).map(str::to_owned);
            let tag = line.strip_prefix("newTag: ").map(|tag| format!("takt-node:{tag}"));
            found.extend(image.or(tag).map(|image| (path.clone(), image)));
        }
    }
    found
}

#[test]
fn every_image_has_an_exact_version() {
    let images = images();
    assert!(images.len() >= 4, "{images:?}");
    for (path, image) in &images {
        let (name, tag) = image.rsplit_once(':').unwrap_or_else(|| panic!("{image} has no tag, in {}", path.display()));
        // Two numbers at least: a tag of one moves with each release.
        let version = tag.split('-').next().unwrap_or_default();
        let exact = version.split('.').count() >= 2 && version.split('.').all(|part| part.parse::<u32>().is_ok());
        assert!(exact || name.ends_with("@sha256"), "{image} may be another tomorrow, in {}", path.display());
        if name == "takt-node" {
            assert_eq!(tag, env!("CARGO_PKG_VERSION"), "in {}", path.display());
        }
    }
    let guide = read("docs/how-to/run-a-fleet.md");
    assert!(guide.contains(concat!("-t takt-node:", env!("CARGO_PKG_VERSION"), " ")), "the guide builds that one");
}

#[test]
fn a_cluster_would_take_the_manifests() {
    let python = file("target/peers/python/bin/python3");
    let there = Command::new(&python).args(["-c", "import kubernetes_validate"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        return skip("no kubernetes-validate in target/peers/python   (./test installs it)");
    }
    let checked = Command::new(python).arg(file("packaging/kubernetes/check")).output().expect("it runs");
    assert!(checked.status.success(), "{}", report(&checked));
}

#[test]
fn what_the_image_is_made_of_is_there() {
    let recipe = read("packaging/container/Containerfile");
    let copied = recipe.lines().filter_map(|line| line.strip_prefix("COPY "));
    let from: Vec<&str> = copied.flat_map(|words| words.split(' ').rev().skip(1)).collect();
    let ignored = read("packaging/container/Containerfile.dockerignore");
    let kept = ignored.lines().filter_map(|line| line.strip_prefix('!'));
    for path in from.into_iter().chain(kept) {
        assert!(file(path).exists(), "{path}");
    }
}

#[test]
fn the_first_core_is_left_alone() {
    for (allowed, cores) in [("0-1", "1"), ("2-4,8", "3,4,8"), ("1,3,5-6", "3,5,6"), ("7", "7")] {
        let mut command = Command::new(file("packaging/bin/takt-node"));
        let said = command.arg("--print").env("TAKT_ALLOWED_CPUS", allowed).output().expect("sh");
        assert_eq!(text(&said.stdout).trim(), cores, "{}", report(&said));
    }
}

/// The programs of `packaging/bin` and takt before all others.
fn path(place: &Place) -> String {
    let own = place.path("bin");
    fs::create_dir_all(&own).expect("ours");
    symlink(TAKT, own.join("takt")).expect("ours");
    let others = std::env::var("PATH").expect("a PATH");
    format!("{}:{}:{others}", own.display(), file("packaging/bin").display())
}

fn program(place: &Place, name: &str, text: &str) {
    let path = place.path("bin").join(name);
    fs::write(&path, text).expect("ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
}

/// The script that makes a pod's folders, as it stands in the manifest.
fn folders_script() -> String {
    let set = read(SET);
    let after = set.split_once("- -euc\n").expect("a script").1;
    let lines = after.split_once("- |\n").expect("a script").1.lines();
    let indent = " ".repeat(14);
    lines.map_while(|line| line.strip_prefix(&indent)).fold(String::new(), |script, line| script + line + "\n")
}

/// Pods of Kubernetes that share a Secret: two of the set, on loopback.
struct Pods {
    place: Place,
    path: String,
    addresses: [String; 2],
}

const PODS: [&str; 2] = ["takt-node-0", "takt-node-1"];

impl Pods {
    /// Each has made its folders, in one of its own. `first` tells the addresses of one test from those of others.
    fn made(first: u8) -> Pods {
        let place = Place::with("empty", "");
        let path = path(&place);
        let issued = place.takt(&["node", "certificates", "--out", "fleet", "--cluster", "lab", "fleet"]);
        assert!(issued.status.success(), "{}", report(&issued));
        let pods = Pods { place, path, addresses: [first, first + 1].map(|host| loopback(host).to_string()) };
        for name in PODS {
            let made = pods.call(name, "sh").args(["-euc", &folders_script()]).output().expect("sh");
            assert!(made.status.success(), "{}", report(&made));
        }
        pods
    }

    /// A program in a pod.
    fn call(&self, pod: &str, program: &str) -> Command {
        let at = PODS.iter().position(|name| *name == pod).expect("a pod");
        let mut command = self.place.call(program);
        command.env("PATH", &self.path).env("SECRET", self.place.path("fleet/fleet"));
        command.env("FOLDERS", self.place.path(pod)).env("POD_NAME", pod).env("POD_IP", &self.addresses[at]);
        command.env("CLUSTER", "lab").env("NODES", "2").env("POD_SET", "takt-node");
        command
    }

    /// Its node.
    fn start(&self, pod: &str) -> Ended {
        let mut node = self.call(pod, "takt-node");
        node.args(["--folder", &format!("{pod}/node")]).stderr(Stdio::null());
        let (node, _output, line) = Ended::ready(&mut node);
        assert_eq!(line, format!("ready node {pod}\n"));
        node
    }

    /// Whether the probe of a pod finds a node alive.
    fn alive(&self, pod: &str, node: &str) -> bool {
        let mut probe = self.call(pod, "takt-node-alive");
        probe.args([&format!("{pod}/probe"), node]).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().expect("sh").success()
    }
}

#[test]
fn a_pod_is_alive_while_its_node_answers_and_no_longer() {
    let pods = Pods::made(11);
    let [own, other] = PODS;
    assert!(!pods.alive(own, own), "it is not started");
    let node = pods.start(own);
    assert!(pods.alive(own, own));
    assert!(!pods.alive(own, other), "nobody of that name is there");
    let pid = Pid::from_child(&node.0);
    kill_process(pid, Signal::STOP).expect("ours");
    assert!(!pods.alive(own, own), "it is frozen");
    kill_process(pid, Signal::CONT).expect("ours");
    wait_for("the node", || pods.alive(own, own).then_some(()));
}

#[test]
fn the_manager_of_a_pod_reaches_the_nodes_of_all() {
    let pods = Pods::made(13);
    let _nodes = PODS.map(|name| pods.start(name));
    // Names that Kubernetes would resolve.
    let settings = pods.place.path("takt-node-0/manager/cluster.toml");
    let mut manager = fs::read_to_string(&settings).expect("made");
    for (name, address) in PODS.iter().zip(&pods.addresses) {
        let of_service = format!("quic/{name}.takt-node:7447");
        assert!(manager.contains(&of_service), "{manager}");
        manager = manager.replace(&of_service, &format!("quic/{address}:7447"));
    }
    fs::write(&settings, manager).expect("ours");
    wait_for("both nodes", || {
        let listed = pods.place.takt(&["node", "list", "--folder", "takt-node-0/manager", "--json"]);
        (support::cluster::names(&support::json(&listed)) == PODS).then_some(())
    });
}

/// A Slurm of two machines, both here: `srun` starts the command once for each, `scancel` ends them.
const SRUN: &str = r#"#!/bin/bash
while [[ $1 == --* ]]; do shift; done
for machine in here.cluster there.cluster; do SLURMD_NODENAME=$machine "$@" & done
trap 'kill $(jobs -p)' TERM
echo $$ >srun.pid
wait
wait
"#;
const SCANCEL: &str = "#!/bin/sh\n[ \"$*\" = '--signal=TERM 7.0' ] && kill -TERM \"$(cat srun.pid)\"\n";
const SCONTROL: &str = "#!/bin/sh\n[ \"$*\" = 'show hostnames here,there' ] && printf 'here\\nthere\\n'\n";

#[test]
fn a_job_starts_a_node_on_each_machine_and_ends_them() {
    let place = Place::with("empty", "");
    let path = path(&place);
    let getent = format!(
        "#!/bin/sh\ncase $2 in here) echo {} STREAM here ;; there) echo {} STREAM there ;; *) exit 2 ;; esac\n",
        loopback(1),
        loopback(2)
    );
    for (name, text) in [("srun", SRUN), ("scancel", SCANCEL), ("scontrol", SCONTROL), ("getent", &getent)] {
        program(&place, name, text);
    }
    let mut job = place.call("bash");
    job.arg(file("packaging/slurm/takt.sbatch")).arg(file("waveforms/utran.toml")).args(["--slots", "20"]);
    job.env("PATH", path).env("SLURM_JOB_ID", "7").env("SLURM_JOB_NODELIST", "here,there");
    let done = job.env("SLURM_SUBMIT_DIR", place.folder()).stdin(Stdio::null()).output().expect("bash");
    let said = report(&done);
    // On a busy machine slots are late, which is not the question.
    assert!(matches!(done.status.code(), Some(0 | 1)), "{said}");
    for words in ["ready node here\n", "ready node there\n", "slots begin by the clock of"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    wait_for("the end of all nodes", || place.processes().is_empty().then_some(()));
    let left = fs::read_dir(place.folder()).expect("ours").flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".takt")).collect();
    assert!(left.is_empty(), "keys of the job are left: {left:?}");
}
