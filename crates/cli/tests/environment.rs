//! Environments hold the measured side: an agent in a container and one in a virtual machine answer, measure over the
//! path, and leave nothing. A test that needs root, runc, QEMU or a kernel says so if that is missing.
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, to_value};
use takt_agent::Service;
use takt_base::Stop;
use takt_host::leftovers::{Registry, Run};
use takt_testbed::environment::{
    Environment, EnvironmentKind, Limits, RuntimeName, Site, SiteError, SiteOptions, Spec, open,
};
use takt_testbed::net::{PathName, PathSpec, RadioPair};
use takt_testing::{skip, wait_for};
use takt_udp::{ServeOptions, UdpOptions};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// The environment; `None`, on record, where it can't be had.
#[track_caller]
fn environment(kind: EnvironmentKind, limits: Limits, run: &Run) -> Option<Box<dyn Environment>> {
    opened(&Spec { kind, limits, ..Spec::default() }, run)
}

#[track_caller]
fn opened(spec: &Spec, run: &Run) -> Option<Box<dyn Environment>> {
    match open(spec, PathBuf::from(TAKT), run, None) {
        Ok(environment) => Some(environment),
        Err(error) if error.is_unavailable() => {
            skip(format!("{error}   ({})", error.fix().expect("what is missing can be had")));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// A site with a radio's side on a direct path; `None` without the privilege to make one.
fn site(environment: &dyn Environment, run: &Run, label: &str) -> Option<Site> {
    match Site::bring_up(&SiteOptions::default(), environment, run, label) {
        Ok(site) => Some(site),
        Err(SiteError::Environment { source, .. }) if source.is_unavailable() => {
            skip(format!("{source}   ({})", source.fix().unwrap_or_default()));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn sites_of_one_run_stand_side_by_side_and_a_container_reaches_the_radio_behind_routers() {
    let run = Registry::system().begin("test").expect("a record");
    let Some(container) = environment(EnvironmentKind::Container, Limits::default(), &run) else { return };
    let Some(native) = environment(EnvironmentKind::Native, Limits::default(), &run) else { return };
    let behind = |name: PathName| {
        let options = SiteOptions { path: Some(PathSpec::of(name)), ..SiteOptions::default() };
        match Site::bring_up(&options, &*container, &run, &format!("container-{name}")) {
            Err(error) if error.is_unavailable() => {
                skip(format!("{error}   ({})", error.fix().unwrap_or_default()));
                None
            }
            routed => Some(routed.unwrap_or_else(|error| panic!("{error:?}"))),
        }
    };
    let (Some(routed), fast) = (behind(PathName::Router), behind(PathName::XdpRouter)) else { return };
    let Some(direct) = site(&*native, &run, "native-direct") else { return };
    assert_eq!((routed.in_force.path.name(), direct.in_force.path.name()), ("router", "veth"));
    assert_ne!(routed.host_pids(), direct.host_pids());
    for mut site in [routed, direct].into_iter().chain(fast) {
        let (sent, received) = load(&mut site);
        assert!(crossed(sent, received), "{}: {received} of {sent}", site.in_force.path);
    }
}

/// 500 datagrams from the host side to the other one: how many were sent, and how many arrived.
fn load(site: &mut Site) -> (u64, u64) {
    let radio = site.radio.as_mut().expect("the other side");
    let serve = ServeOptions::at(SocketAddr::from((RadioPair::RADIO_ADDR, 0)));
    let at = radio.start(Service::UdpServer, to_value(serve).expect("a document")).expect("a server");
    let mut options = UdpOptions::to(at[0].parse().expect("an address"));
    options.datagrams_per_s = Some(1000.0);
    // They end it; the duration is a guard.
    options.datagrams = Some(500);
    options.duration = Duration::from_secs(300);
    let about = options.duration;
    let options = to_value(options).expect("a document");
    let result = site.host.run("udp", options, about, &Stop::new());
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    let count = |what: &str| result[what]["datagrams"].as_u64().unwrap_or_else(|| panic!("{result:#}"));
    (count("sent"), count("received"))
}

/// All that was requested went out, and most of it came over.
fn crossed(sent: u64, received: u64) -> bool {
    sent == 500 && (sent / 2..=sent).contains(&received)
}

/// Datagrams from inside to the other side: as many arrive as the sender counts, and the kernel inside counts them too.
fn measures_over_the_path(kind: EnvironmentKind, limits: Limits) {
    let run = Registry::system().begin("test").expect("a record");
    let Some(environment) = environment(kind, limits, &run) else { return };
    measures(kind, &*environment, &run, kind.name());
}

/// `label` names the site: two sites of one process need two names.
fn measures(kind: EnvironmentKind, environment: &dyn Environment, run: &Run, label: &str) {
    let Some(mut site) = site(environment, run, label) else { return };
    let holder = site.in_force.holder.clone();
    assert_eq!((holder.environment.as_str(), holder.kernel.is_empty()), (kind.name(), false), "{holder:?}");
    let interface = holder.interface.clone().expect("a path");
    let before = site.host.counters().expect("counters").interfaces[&interface];
    let (sent, received) = load(&mut site);
    assert!(crossed(sent, received), "{received} of {sent}");
    let after = site.host.counters().expect("counters").interfaces[&interface];
    assert!(after.tx_frames >= before.tx_frames + sent, "{before:?} {after:?}");
}

#[test]
fn an_agent_in_a_container_measures_over_the_path() {
    measures_over_the_path(EnvironmentKind::Container, Limits::default());
}

#[test]
fn podman_makes_a_container_with_limits_and_leaves_nothing() {
    let run = Registry::system().begin("test").expect("a record");
    let limits = Limits { cpus: Some(1.0), memory_bytes: Some(256 << 20) };
    let podman =
        Spec { kind: EnvironmentKind::Container, limits, runtime: Some(RuntimeName::Podman), ..Spec::default() };
    let Some(environment) = opened(&podman, &run) else { return };
    measures(EnvironmentKind::Container, &*environment, &run, "podman");
    let held = environment.start(None, &[]).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(held.holder.runtime.as_ref().is_some_and(|made| made.starts_with("podman ")), "{:?}", held.holder);
    assert_eq!((held.holder.cpus, held.holder.memory_bytes), (Some(1.0), Some(256 << 20)), "{:?}", held.holder);
    drop(held);
    let own = format!("takt-{}-box", std::process::id());
    let groups: Vec<String> = standing(Path::new("/nowhere")).into_iter().filter(|path| path.contains(&own)).collect();
    // Other tests of this process have containers of their own, by other runtimes: theirs are no engine's.
    let inner = |group: &String| fs::read_dir(group).into_iter().flatten().flatten().any(|entry| entry.path().is_dir());
    assert!(!groups.iter().any(inner), "{groups:?}");
}

/// Stands for Docker's command: writes down what it is called with, and starts the agent as a container would.
const DOCKER: &str = r#"#!/bin/sh
echo "$@" >> "$0.calls"
case $1 in
    version) echo 24.0.7 ;;
    import) cat > /dev/null; echo sha256:0 ;;
    run) echo $$ > "$0.pid"; exec "$TAKT_TEST_AGENT" agent --outlive-parent ;;
    inspect) cat "$0.pid" ;;
esac
"#;

/// Writes a program. Not this process: where it has a file open for writing, children that other tests start have it open
/// as well until they are programs of their own, and a file that is open for writing can't be called.
fn by_a_child(program: &Path, text: &str) {
    let write = ["-c", "cat > \"$0\" && chmod 755 \"$0\""];
    let mut child = Command::new("sh").args(write).arg(program).stdin(Stdio::piped()).spawn().expect("sh");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn docker_is_called_as_its_manual_says_and_what_it_was_given_is_taken_away() {
    let dir = tempfile::tempdir().expect("a folder");
    let docker = dir.path().join("docker");
    by_a_child(&docker, DOCKER);
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
    let file = "question = \"?\"\n[fixed]\nenvironment = \"container\"\nenvironment_runtime = \"docker\"\n\
        environment_cpus = 1\npacket_bytes = 64\ncount = 10\nworkload = { kind = \"interface\" }\n\
        [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n\
        valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }\n";
    fs::write(dir.path().join("x.toml"), file).expect("written");
    let mut command = Command::new(TAKT);
    command.args(["experiment", "run", "x.toml", "--json"]).current_dir(dir.path());
    command.env("PATH", path).env("TAKT_TEST_AGENT", TAKT).env("TAKT_RUN_DIR", dir.path().join("run"));
    let out = command.output().expect("takt runs");
    let said = String::from_utf8_lossy(&out.stdout);
    if said.contains("CAP_SYS_ADMIN") {
        return skip("containers need root   (run the tests as root)");
    }
    let calls = fs::read_to_string(dir.path().join("docker.calls")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let verbs: Vec<&str> = calls.lines().filter_map(|call| call.split(' ').next()).collect();
    let first = verbs.iter().position(|verb| *verb == "import").unwrap_or_else(|| panic!("{calls}"));
    assert_eq!(verbs[first..], ["import", "run", "inspect", "rm", "rmi"], "{calls}\n{said}");
    let ran = calls.lines().find(|call| call.starts_with("run ")).expect("a call");
    for words in [
        "--rm",
        "--interactive",
        "--network=none",
        "--read-only",
        "--cpus=1",
        "--volume=/usr:/usr:ro",
        ":root /takt agent",
    ] {
        assert!(ran.contains(words), "{words}: {ran}");
    }
    let removed = calls.lines().filter(|call| call.starts_with("rm ") || call.starts_with("rmi "));
    assert!(removed.clone().all(|call| call.contains("takt-")) && removed.count() == 2, "{calls}");
    assert_eq!(out.status.code(), Some(0), "{said}");
}

#[test]
fn an_agent_in_a_virtual_machine_measures_over_the_path() {
    measures_over_the_path(EnvironmentKind::Vm, Limits { cpus: Some(1.0), memory_bytes: Some(512 << 20) });
}

#[test]
fn limits_are_in_force_inside_a_container_and_in_the_record() {
    let run = Registry::system().begin("test").expect("a record");
    let limits = Limits { cpus: Some(0.5), memory_bytes: Some(256 << 20) };
    let Some(environment) = environment(EnvironmentKind::Container, limits, &run) else { return };
    let held = environment.start(None, &[]).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!((held.holder.cpus, held.holder.memory_bytes), (Some(0.5), Some(256 << 20)), "{:?}", held.holder);
    assert_eq!(held.holder.kernel, rustix::system::uname().release().to_string_lossy());
    assert_ne!(held.agent.pid(), held.agent.hello().pid, "a process namespace of its own");
    assert!(std::path::Path::new(&format!("/proc/{}", held.agent.pid())).exists(), "its number on this machine");
}

/// Traces of takt on this machine: namespaces, control groups, folders.
fn standing(run_dir: &Path) -> Vec<String> {
    let list = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let groups = list(Path::new("/sys/fs/cgroup")).flat_map(|group| list(&group).collect::<Vec<_>>());
    let all = list(Path::new("/run/netns")).chain(groups).chain(list(Path::new("/sys/fs/cgroup")));
    let all = all.chain(list(&run_dir.join("scratch"))).chain(list(run_dir));
    let own = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("takt-"));
    all.filter(own).map(|path| path.display().to_string()).collect()
}

/// Processes that carry the mark of a run recorded in `run_dir`, or hold a file in it open.
fn running(run_dir: &Path) -> Vec<String> {
    let dir = run_dir.to_string_lossy().into_owned();
    let pids = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let uses = |path: &PathBuf| {
        let environ = fs::read(path.join("environ")).unwrap_or_default();
        path.file_name() != Some(std::process::id().to_string().as_ref())
            && String::from_utf8_lossy(&environ).contains(&format!("TAKT_RUN_DIR={dir}"))
    };
    pids.filter(uses).map(|path| path.display().to_string()).collect()
}

/// How far a lab has come when it is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// It has made its record.
    Began,
    /// It has recorded so many things that it is about to make.
    Records(usize),
    /// A process of this name works for it, or is about to.
    Starts(&'static str),
    /// The environment is up and waits for its shell's input.
    Up,
}

/// Text that a lab prints once its shell is there.
const UP: &str = "leave the shell to take it away";

impl Moment {
    fn has_come(self, run_dir: &Path, said: &Path) -> bool {
        match self {
            Moment::Began => records(run_dir).contains("takt_run"),
            Moment::Records(count) => records(run_dir).matches("\"creates\"").count() >= count,
            Moment::Starts(name) => running(run_dir).iter().any(|process| {
                fs::read_to_string(Path::new(process).join("comm")).is_ok_and(|comm| comm.starts_with(name))
            }),
            Moment::Up => fs::read_to_string(said).is_ok_and(|said| said.contains(UP)),
        }
    }
}

/// All that runs have recorded.
fn records(run_dir: &Path) -> String {
    let files = fs::read_dir(run_dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let records = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    records.filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// A lab that is killed, and then `takt clean`, from its first record until the environment is up. A lab that is up stays
/// until it is killed, so each moment comes.
fn killed_and_cleaned(kind: EnvironmentKind, runtime: Option<RuntimeName>, moments: &[Moment]) {
    let run = Registry::system().begin("test").expect("a record");
    if opened(&Spec { kind, runtime, ..Spec::default() }, &run).is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    // The facts found out about this machine's processor are kept beside the records, and take a guest's boot to find.
    let found = "accelerator.json";
    let _is_of_guests_alone = fs::copy(takt_host::dirs::run_dir().join(found), dir.path().join(found));
    for &moment in moments {
        let removed = killed_at(moment, kind, runtime, dir.path());
        assert!(removed > 0 || !matches!(moment, Moment::Up), "{moment:?}: there was something to remove");
    }
}

fn takt_of(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(TAKT);
    command.args(args).env("TAKT_RUN_DIR", dir);
    command
}

/// A lab that has come to this moment. Its shell ends with its input, which the child keeps open.
fn lab_at(moment: Moment, kind: EnvironmentKind, runtime: Option<RuntimeName>, dir: &Path) -> Child {
    let mut lab = takt_of(dir, &["experiment", "run", "check", "--env-only", kind.name()]);
    lab.args(runtime.into_iter().flat_map(|runtime| ["--env-runtime", runtime.name()]));
    brought_to(moment, lab, dir)
}

/// The program once it has come to this moment, its input open.
fn brought_to(moment: Moment, mut lab: Command, dir: &Path) -> Child {
    let said = dir.join("said");
    lab.stdout(Stdio::null()).stderr(fs::File::create(&said).expect("a file"));
    let mut lab = lab.stdin(Stdio::piped()).spawn().expect("takt");
    wait_for(&format!("{moment:?}"), || {
        let ended = lab.try_wait().expect("a child");
        assert!(ended.is_none(), "{moment:?}: {ended:?}: {}", fs::read_to_string(&said).unwrap_or_default());
        moment.has_come(dir, &said).then_some(())
    });
    lab
}

/// Nothing of this lab's stands or runs any more.
fn nothing_left(moment: Moment, lab: u32, dir: &Path) {
    let own = format!("takt-{lab}-");
    let left: Vec<String> = standing(dir).into_iter().filter(|path| path.contains(&own)).collect();
    assert!(left.is_empty(), "{moment:?}: {left:?}");
    // The program called to remove a container may have a child of its own that ends a moment later.
    wait_for(&format!("{moment:?}: the end of all its processes"), || running(dir).is_empty().then_some(()));
    assert!(!records(dir).contains("takt_run"), "{moment:?}: its record is gone");
}

/// How many things `takt clean` removed.
fn killed_at(moment: Moment, kind: EnvironmentKind, runtime: Option<RuntimeName>, dir: &Path) -> usize {
    let mut lab = lab_at(moment, kind, runtime, dir);
    let _typed = lab.stdin.take();
    lab.kill().expect("it runs");
    lab.wait().expect("it was killed");
    let cleaned = takt_of(dir, &["clean", "--json"]).output().expect("takt");
    let report: Value = serde_json::from_slice(&cleaned.stdout).expect("a document");
    assert_eq!(cleaned.status.code(), Some(0), "{moment:?}: {report:#}");
    nothing_left(moment, lab.id(), dir);
    report["removed"].as_array().map_or(0, Vec::len)
}

/// A lab that is to end takes everything away by itself, while it comes up and while its shell waits.
fn ends_in_good_order(kind: EnvironmentKind, moments: &[(Moment, Signal)]) {
    let run = Registry::system().begin("test").expect("a record");
    if opened(&Spec { kind, ..Spec::default() }, &run).is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    for &(moment, signal) in moments {
        let mut lab = lab_at(moment, kind, None, dir.path());
        let _typed = lab.stdin.take();
        kill_process(Pid::from_child(&lab), signal).expect("ours");
        let status = lab.wait().expect("ours");
        // Not ended by the signal: then it would have no status of its own.
        assert!(status.code().is_some(), "{moment:?}: {status}");
        nothing_left(moment, lab.id(), dir.path());
    }
}

#[test]
fn a_shell_that_is_to_end_is_taken_away() {
    ends_in_good_order(EnvironmentKind::Native, &[(Moment::Records(2), Signal::INT), (Moment::Up, Signal::TERM)]);
    ends_in_good_order(EnvironmentKind::Container, &[(Moment::Records(4), Signal::INT), (Moment::Up, Signal::HUP)]);
}

#[test]
fn ctrl_c_while_a_guest_boots_leaves_no_guest() {
    ends_in_good_order(EnvironmentKind::Vm, &[(Moment::Starts("qemu"), Signal::INT), (Moment::Up, Signal::INT)]);
}

/// Before its first round a study boots a guest, to see whether KVM does so here.
#[test]
fn ctrl_c_while_a_study_looks_for_kvm_leaves_no_guest() {
    let run = Registry::system().begin("test").expect("a record");
    if opened(&Spec { kind: EnvironmentKind::Vm, ..Spec::default() }, &run).is_none() {
        return;
    }
    // A folder of its own has no finding of an earlier guest.
    let dir = tempfile::tempdir().expect("a folder");
    let moment = if Path::new("/dev/kvm").exists() { Moment::Starts("qemu") } else { Moment::Began };
    let mut study = takt_of(dir.path(), &["paper", "virtual-sdr", "--quick"]);
    study.current_dir(dir.path());
    let mut study = brought_to(moment, study, dir.path());
    kill_process(Pid::from_child(&study), Signal::INT).expect("ours");
    let status = study.wait().expect("ours");
    assert!(status.code().is_some(), "{moment:?}: {status}");
    nothing_left(moment, study.id(), dir.path());
}

#[test]
fn a_lab_that_is_killed_leaves_no_shell_behind() {
    killed_and_cleaned(EnvironmentKind::Native, None, &[Moment::Records(2), Moment::Starts("sh"), Moment::Up]);
}

#[test]
fn a_lab_that_is_killed_leaves_no_container_behind() {
    use Moment::{Began, Records, Starts, Up};
    let moments = [Began, Records(1), Records(3), Records(4), Starts("runc"), Records(5), Up];
    killed_and_cleaned(EnvironmentKind::Container, Some(RuntimeName::Runc), &moments);
}

#[test]
fn a_lab_that_is_killed_leaves_no_container_of_podman_behind() {
    let moments = [Moment::Records(4), Moment::Starts("podman"), Moment::Up];
    killed_and_cleaned(EnvironmentKind::Container, Some(RuntimeName::Podman), &moments);
}

#[test]
fn a_lab_that_is_killed_leaves_no_virtual_machine_behind() {
    killed_and_cleaned(EnvironmentKind::Vm, None, &[Moment::Records(3), Moment::Starts("qemu"), Moment::Up]);
}

/// Output of a shell in the environment for these lines.
fn typed(kind: EnvironmentKind, lines: &str) -> Option<Output> {
    let run = Registry::system().begin("test").expect("a record");
    environment(kind, Limits::default(), &run)?;
    let mut command = Command::new(TAKT);
    command.args(["experiment", "run", "check", "--env-only", kind.name()]);
    let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
    shell.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("it listens");
    Some(shell.wait_with_output().expect("it ends with its input"))
}

#[test]
fn a_shell_in_each_environment_has_the_address_of_the_path() {
    for (kind, interface) in
        [(EnvironmentKind::Native, "host0"), (EnvironmentKind::Container, "veth1"), (EnvironmentKind::Vm, "eth0")]
    {
        let Some(out) = typed(kind, &format!("ip -4 addr show dev {interface}\nexit\n")) else { continue };
        let (said, told) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(0), "{}: {told}", kind.name());
        let loopback = told.contains("loopback instead");
        assert!(loopback || said.contains("inet 192.168.10.1/24"), "{}: {said}\n{told}", kind.name());
    }
}
