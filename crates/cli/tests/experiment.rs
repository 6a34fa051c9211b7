//! `takt experiment` as a user calls it: what can't be run is refused before anything is, with the way out, and what was
//! measured leaves in formats that others read.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::Value;
use support::{Place, TAKT, has, json, refusal, report, root_for};
use takt_host::distribution::Family;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/experiment-export.schema.json");
/// As the test script installs it.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/python/bin/python3");

const ROUNDS: &str = "
[rounds]
count = { full = 2, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, repeats_max = 0 }
";

fn with(text: &str) -> Place {
    Place::with("x.toml", &format!("question = \"?\"\n{text}{ROUNDS}"))
}

fn nothing_was_begun(place: &Place) {
    assert!(!place.path("takt-runs").exists(), "nothing was run, so there is no store");
}

/// A run of a load and of an interface, made once for all tests that look at it at the same time.
fn measured() -> Arc<Place> {
    static SHARED: Mutex<Weak<Place>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let place = Arc::new(measure());
        *shared = Arc::downgrade(&place);
        place
    })
}

fn measure() -> Place {
    let place = with(
        "[[part]]\nname = \"load\"\nfactors = { payload_bytes = [64, 1024] }\n\
         fixed = { path = \"loopback\", direction = \"from-host\", workload = { kind = \"udp\", offered = 1000, \
         duration = \"50ms\", warm_up = \"0s\" } }\n\
         [[part]]\nname = \"link\"\nfixed = { packet_bytes = 4096, count = 100, workload = { kind = \"interface\" } }\n",
    );
    let output = place.takt(&["experiment", "run", "x.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", report(&output));
    place
}

/// Output of Python; `None`, on record, where it or that package of it is missing.
#[track_caller]
fn python(package: &str, script: &str, arguments: &[&Path]) -> Option<String> {
    let has_it = Command::new(PYTHON).args(["-c", &format!("import {package}")]).output();
    if !has_it.is_ok_and(|out| out.status.success()) {
        takt_testing::skip(format!("no Python with {package}   (./test installs it below target/peers)"));
        return None;
    }
    let out = Command::new(PYTHON).args(["-c", script]).args(arguments).output().expect("python");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[test]
fn export_as_a_document_is_whole_and_as_the_published_schema_says() {
    let place = measured();
    let output = place.takt(&["experiment", "export", "last", "--format", "json"]);
    let document = json(&output);
    assert_eq!(document["rounds"].as_array().map(Vec::len), Some(6), "{document:#}");
    assert_eq!(document["points"].as_array().map(Vec::len), Some(3));
    let udp = |round: &&Value| round["part"] == "load";
    let load = document["rounds"].as_array().into_iter().flatten().find(udp).expect("a round of load");
    assert!(load["record"]["result"]["histograms"]["latency_ns"].to_string().contains("hdr_v2_base64"), "{load:#}");
    // The same with an ending, and with the program's own flag for documents.
    let out = place.takt(&["experiment", "export", "last", "--out", "run.json"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("run.json"));
    let file = fs::read(place.path("run.json")).expect("written");
    assert_eq!(serde_json::from_slice::<Value>(&file).expect("a document"), document);
    let flag = place.takt(&["experiment", "export", "last", "--json"]);
    assert_eq!(json(&flag), document);
    let script = "import json, sys, jsonschema\n\
        schema = json.load(open(sys.argv[1])); jsonschema.Draft202012Validator.check_schema(schema)\n\
        v = jsonschema.Draft202012Validator(schema); run = json.load(open(sys.argv[2])); v.validate(run)\n\
        run['rounds'][0]['state'] = 'fine'; print(v.is_valid(run))";
    if let Some(said) = python("jsonschema", script, &[Path::new(SCHEMA), &place.path("run.json")]) {
        assert_eq!(said, "False\n", "a word that is none is refused");
    }
}

#[test]
fn export_as_text_has_a_line_a_round() {
    let place = measured();
    let text = String::from_utf8(place.takt(&["experiment", "export", "last"]).stdout).expect("text");
    assert_eq!(text.split_terminator("\r\n").count(), 7);
    assert!(text.starts_with("run,round,part,point,block,attempt,state,why,started,took_s,"), "{text}");
    let said = refusal(&place.takt(&["experiment", "export", "last", "--out", "/nowhere/x.csv"]));
    assert!(said.contains("/nowhere/x.csv can't be written") && said.contains("fix"), "{said}");
    has(&refusal(&place.takt(&["experiment", "export", "last", "--out", "/dev/full"])), &["No space left"]);
    has(
        &refusal(&place.takt(&["experiment", "export", "nobody"])),
        &["no run named `nobody`", "takt experiment list   (lists the runs)"],
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn export_in_parquet_asks_for_a_build_that_has_it() {
    let place = measured();
    let said = refusal(&place.takt(&["experiment", "export", "last", "--out", "rounds.parquet"]));
    assert!(said.contains("--features parquet") && said.contains("--format csv --out rounds.csv"), "{said}");
    assert!(!place.path("rounds.parquet").exists());
}

/// Read by Arrow's own library for Python.
#[cfg(feature = "parquet")]
#[test]
fn export_in_parquet_is_read_by_others() {
    let place = measured();
    has(&refusal(&place.takt(&["experiment", "export", "last", "--format", "parquet"])), &["--out"]);
    assert_eq!(place.takt(&["experiment", "export", "last", "--out", "rounds.parquet"]).status.code(), Some(0));
    let text = place.takt(&["experiment", "export", "last"]).stdout;
    fs::write(place.path("rounds.csv"), text).expect("written");
    let script = "import csv, sys, pyarrow.parquet as p; t = p.read_table(sys.argv[1])\n\
        rows = list(csv.DictReader(open(sys.argv[2], newline='')))\n\
        print(t.num_rows, t.schema.names == list(rows[0]), t.schema.field('block').type,\n\
        t.schema.field('result.datagrams_per_s').type, t.schema.field('result.complete').type, t.schema.field('part').type)\n\
        same = lambda a, b: b == '' if a is None else (a == float(b) if isinstance(a, (int, float)) and not isinstance(a, bool)\n\
            else str(a).lower() == b if isinstance(a, bool) else a == b)\n\
        print(all(same(t.column(n)[i].as_py(), r[n]) for i, r in enumerate(rows) for n in t.schema.names))";
    if let Some(said) = python("pyarrow", script, &[&place.path("rounds.parquet"), &place.path("rounds.csv")]) {
        assert_eq!(said, "6 True int64 double bool string\nTrue\n");
    }
}

const RATE: &str = "workload = { kind = \"rate\", mode = \"rx\", rate_sps = 1e6, duration = \"100ms\" }\n";

#[test]
fn what_only_an_emulated_radio_has_is_not_required_of_ones_own() {
    let place = with(&format!("[factors]\nenvironment = [\"native\", \"container\"]\n[fixed]\n{RATE}"));
    let said = refusal(&place.takt(&["experiment", "run", "x.toml", "--addr", "127.0.65.1"]));
    has(&said, &["environment=container", "127.0.65.1", "network of its own", "--only environment=native"]);
    let place = with(&format!("[factors]\npath = [\"router\"]\n[fixed]\n{RATE}"));
    let said = refusal(&place.takt(&["experiment", "run", "x.toml", "--addr", "127.0.65.1"]));
    assert!(said.contains("path router") && said.contains("omit --addr"), "{said}");
    nothing_was_begun(&place);
}

#[test]
fn what_is_wrong_in_a_file_is_shown_at_its_place_and_nothing_is_run() {
    for (factors, words) in [
        ("enviroment = [\"native\"]", ["unknown factor \"enviroment\"", "did you mean \"environment\"?"]),
        ("environment = [\"native\", \"docker\"]", ["\"docker\"", "native, aarch64, container, vm"]),
        ("path = [\"ruoter\"]", ["\"ruoter\"", "router"]),
        ("path_loss = [1.5]", ["1.5", "loss"]),
        ("environment_memory = [\"1MiB\"]", ["1MiB", "64MiB"]),
        ("rate_sps = [22e6]", ["22", "20"]),
    ] {
        let fixed =
            RATE.replace("rate_sps = 1e6, ", if factors.contains("rate_sps") { "" } else { "rate_sps = 1e6, " });
        let place = with(&format!("[factors]\n{factors}\n[fixed]\n{fixed}"));
        let said = refusal(&place.takt(&["experiment", "run", "x.toml"]));
        for word in words {
            assert!(said.contains(word), "{factors}: {word}: {said}");
        }
        assert!(said.contains("x.toml:3"), "the line is named: {said}");
        nothing_was_begun(&place);
    }
}

const LOAD: &str = "payload_bytes = 64\ndirection = \"from-host\"\n\
    workload = { kind = \"udp\", offered = 1000, duration = \"20ms\", warm_up = \"0s\" }\n";

/// Files that this machine's own user may have named as takt does.
struct Named(Vec<PathBuf>);

impl Drop for Named {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

#[test]
fn what_is_missing_is_named_with_what_gets_it_and_the_rest_is_run() {
    let place = with(&format!("[factors]\nenvironment = [\"native\", \"vm\"]\n[fixed]\n{LOAD}"));
    let nowhere = place.path("nowhere");
    let mut command = place.command(&["experiment", "run", "x.toml", "--quick", "--json"]);
    let output = command.env("TAKT_VM_KERNEL", &nowhere).output().expect("takt runs");
    let summary = json(&output);
    let said = summary["points"].to_string();
    assert_eq!([&summary["rounds"]["valid"], &summary["rounds"]["skipped"]], [1, 1], "{summary:#}");
    // Without QEMU that is the error.
    let kernel = said.contains("no kernel for a virtual machine") && said.contains(&nowhere.display().to_string());
    assert!(kernel || said.contains("no QEMU on this machine"), "{said}");
    assert!(said.contains("fix: ") && (said.contains("TAKT_VM_KERNEL=FILE") || !kernel), "{said}");
}

#[test]
fn without_any_container_runtime_that_is_reported_with_what_gets_one_and_nothing_is_left() {
    let Some(()) = root_for("hiding the runtimes of this machine") else { return };
    let place = with(&format!("[factors]\nenvironment = [\"native\", \"container\"]\n[fixed]\n{LOAD}"));
    fs::create_dir(place.path("empty")).expect("a directory");
    // System programs are looked for beside PATH as well; the process becomes takt, so its number is known.
    let hidden = |arguments: &[&str]| {
        let script = "mount -t tmpfs none /usr/sbin && mount -t tmpfs none /usr/local/sbin && export PATH=empty && exec \"$0\" \"$@\"";
        let mut command = place.call("unshare");
        command.args(["--mount", "sh", "-c", script, TAKT]).args(arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("unshare is of every system");
        let own = format!("takt-{}-", child.id());
        let output = child.wait_with_output().expect("it ends");
        let left = fs::read_dir("/run/netns").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(&own)).collect();
        assert!(left.is_empty(), "{left:?}");
        output
    };
    let install = Family::of(&takt_host::Host::this()).install("runc", "runc");
    let output = hidden(&["experiment", "run", "x.toml", "--quick", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!([&summary["rounds"]["valid"], &summary["rounds"]["skipped"]], [1, 1], "{summary:#}");
    let points = summary["points"].to_string();
    let why = "this machine has no container runtime; takt looked for runc, crun, podman, docker in PATH";
    has(&points, &[why, &format!("fix: {install}")]);
    let shell = hidden(&["experiment", "run", "check", "--env-only", "container"]);
    has(&refusal(&shell), &["no container runtime", &format!("fix   {install}")]);
}

/// The program where nobody can reach it. Not this process copies it: where it has a file open for writing, children that
/// other tests start have it open as well until they are programs of their own, and a file that is open for writing can't
/// be called.
#[test]
fn without_a_privilege_what_can_run_runs_and_the_rest_says_what_it_lacks() {
    let place = with(&format!(
        "[factors]\npath = [\"direct\", \"router-hw\"]\nenvironment = [\"native\", \"container\"]\n[fixed]\n{LOAD}"
    ));
    let mut command = place.command_of_a_user(&["experiment", "run", "x.toml", "--quick", "--json"]);
    let output = match command.output() {
        Err(error) => return takt_testing::skip(format!("setpriv: {error}   (apt-get install util-linux)")),
        Ok(output) => output,
    };
    let summary = json(&output);
    assert_eq!(summary["rounds"]["failed"], 0, "{summary:#}");
    let of = |environment: &str, path: &str| {
        let is = |point: &&Value| point["factors"]["environment"] == environment && point["factors"]["path"] == path;
        summary["points"].as_array().into_iter().flatten().find(is).expect("a point")
    };
    assert_eq!(of("native", "direct")["rounds"], 1, "over loopback instead of a cable");
    has(&of("native", "router-hw")["not_counted"].to_string(), &["CAP_SYS_ADMIN and CAP_NET_ADMIN", "unshare --user"]);
    let container = of("container", "direct")["not_counted"].to_string();
    assert!(container.contains("CAP_SYS_ADMIN") || container.contains("no container runtime"), "{container}");
}

#[test]
fn a_name_that_is_taken_is_left_to_its_owner_and_reported() {
    let Some(()) = root_for("namespaces") else { return };
    let place = with(&format!("[factors]\npath = [\"switch\"]\n[fixed]\n{LOAD}"));
    // The shell's process becomes takt, so its number is known before. A clash is tried around under other names first.
    let script = "mkdir -p /run/netns; for n in '' -2 -3 -4; do f=/run/netns/takt-$$-native-switch$n-host; touch $f; \
                  echo $f >> taken; done; exec \"$0\" experiment run x.toml";
    let output = place.call("sh").args(["-c", script, TAKT]).output().expect("sh runs");
    let taken = fs::read_to_string(place.path("taken")).expect("names");
    let named = Named(taken.lines().map(PathBuf::from).collect());
    has(&refusal(&output), &["-host exists already", "sudo ip netns delete takt-"]);
    assert!(named.0.len() == 4 && named.0.iter().all(|path| path.exists()), "what is another's stays");
}

#[test]
fn interfaces_of_ones_own_that_are_named_like_takts_stay_as_they_are() {
    let Some(()) = root_for("interfaces") else { return };
    let place =
        with(&format!("[factors]\nenvironment = [\"native\", \"container\"]\n[fixed]\npath = \"direct\"\n{LOAD}"));
    // In a network of the test's own, which has interfaces with all the names of a path and of a container's bridge.
    let script = "command -v ip > /dev/null || exit 77
        ip link add host0 type veth peer name radio0 && ip link add veth0 type veth peer name veth1 || exit 77
        ip link add br0 type bridge && ip -o link > before
        \"$0\" experiment run x.toml --quick --json > run.json; status=$?
        ip -o link > after; exit $status";
    let output = place.call("unshare").args(["--net", "sh", "-c", script, TAKT]).output().expect("unshare");
    if output.status.code() == Some(77) {
        return takt_testing::skip(format!("no ip, or no veth   (apt-get install iproute2): {}", report(&output)));
    }
    assert_eq!(output.status.code(), Some(0), "{}", report(&output));
    let [before, after, run] =
        ["before", "after", "run.json"].map(|name| fs::read_to_string(place.path(name)).expect(name));
    assert!(before == after && before.contains("br0:"), "{before}\n{after}");
    let summary: Value = serde_json::from_str(&run).expect("a document");
    assert_eq!(summary["rounds"]["failed"], 0, "{summary:#}");
    assert!(summary["rounds"]["valid"].as_u64() >= Some(1), "{summary:#}");
}

#[test]
fn a_full_disk_is_reported_before_a_round_is_lost() {
    let place = with(&format!("[factors]\nreplicate = [1, 2]\n[fixed]\npath = \"loopback\"\n{LOAD}"));
    let small = place.path("small");
    fs::create_dir(&small).expect("a directory");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=200k,mode=755", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|out| out.status.success()) {
        return takt_testing::skip("a small disk needs root   (run the tests as root)");
    }
    let output = place.takt(&["experiment", "run", "x.toml", "--runs", "small"]);
    let unmounted = Command::new("umount").arg(&small).status().expect("umount");
    let said = refusal(&output);
    assert!(said.contains("the disk is full") && said.contains("free 4 MiB") && unmounted.success(), "{said}");
}
