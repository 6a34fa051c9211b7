//! A container by an engine: how Podman and Docker are called for what a bundle says to an OCI runtime.
//!
//! No image is pulled and no registry contacted. Podman runs the root that takt lays out, and keeps its state in the container's own
//! scratch folder, so that a person's containers and takt's never meet. Docker runs images only, so the root, which is a few
//! empty folders and links, is imported as one and removed again; and it puts a container into no namespace that is there
//! already, so the path's end is moved into the container's own once it has started.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;

use super::super::programs::Caller;
use super::config::{CAPABILITIES, Config};
use super::root::Bind;

/// Arguments before the command that keep all of Podman's state in `scratch`; `oci`: the runtime that it is to use.
pub(super) fn podman_state(scratch: &Path, oci: Option<&Path>) -> Vec<OsString> {
    let at = |name: &str| scratch.join(name).into_os_string();
    let mut arguments: Vec<OsString> = vec!["--root".into(), at("storage"), "--runroot".into(), at("runroot")];
    arguments.extend(["--tmpdir".into(), at("tmp"), "--storage-driver".into(), "vfs".into()]);
    // A group that systemd manages could not be named, nor removed when a run was killed.
    arguments.extend(["--cgroup-manager", "cgroupfs", "--events-backend", "none"].map(OsString::from));
    if let Some(oci) = oci {
        arguments.extend(["--runtime".into(), oci.into()]);
    }
    arguments
}

/// The file of [`podman_conf`], in a container's scratch folder.
pub(super) const PODMAN_CONF: &str = "containers.conf";

/// Podman's configuration instead of the machine's: what watches over a container carries the mark of the run, too, so that
/// `takt clean` ends it before it could tidy up what has been removed.
pub(super) fn podman_conf((name, value): (&str, &str)) -> String {
    format!("[engine]\nconmon_env_vars = [\"{name}={value}\"]\n")
}

/// Paths at which Podman looks for the program that watches over a container: `conmon_path` of containers.conf(5).
pub(super) const CONMON: [&str; 7] = [
    "/usr/libexec/podman/conmon",
    "/usr/local/libexec/podman/conmon",
    "/usr/local/lib/podman/conmon",
    "/usr/bin/conmon",
    "/usr/sbin/conmon",
    "/usr/local/bin/conmon",
    "/usr/local/sbin/conmon",
];

/// Arguments of `podman run`.
pub(super) fn podman_run(config: &Config<'_>, scratch: &Path) -> Vec<OsString> {
    let network = config.network.as_ref().map_or_else(|| "none".into(), |file| format!("ns:{}", file.display()));
    let mut arguments = common(config, &network);
    arguments.extend(["--pidfile".into(), scratch.join("pid").into_os_string()]);
    // It would raise both beyond what a process without CAP_SYS_RESOURCE may.
    arguments.extend(["--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"].map(OsString::from));
    if config.group {
        arguments.extend(["--cgroup-parent".into(), format!("/{}", config.name).into()]);
    } else {
        arguments.push("--cgroups=disabled".into());
    }
    arguments.extend(["--rootfs".into(), scratch.join("root").into_os_string()]);
    arguments.extend(config.arguments.iter().map(OsString::from));
    arguments
}

/// Arguments of `docker run`.
pub(super) fn docker_run(config: &Config<'_>) -> Vec<OsString> {
    let mut arguments = common(config, "none");
    arguments.push(image(config.name).into());
    arguments.extend(config.arguments.iter().map(OsString::from));
    arguments
}

/// Arguments that both take alike.
fn common(config: &Config<'_>, network: &str) -> Vec<OsString> {
    let (mark, value) = config.mark;
    let capabilities = CAPABILITIES.map(|name| name.trim_start_matches("CAP_"));
    let words = [
        format!("--name={}", config.name),
        format!("--hostname={}", config.name),
        format!("--network={network}"),
        format!("--cap-add={}", capabilities.join(",")),
        format!("--env={mark}={value}"),
    ];
    let fixed = ["run", "--rm", "--interactive", "--read-only", "--tmpfs=/tmp", "--log-driver=none", "--cap-drop=ALL"];
    let security = ["--security-opt=seccomp=unconfined", "--security-opt=no-new-privileges"];
    let mut arguments: Vec<OsString> = fixed.into_iter().chain(security).map(OsString::from).collect();
    arguments.extend(words.map(OsString::from));
    arguments.extend(config.limits.cpus.map(|cpus| format!("--cpus={cpus}").into()));
    arguments.extend(config.limits.memory_bytes.map(|bytes| format!("--memory={bytes}").into()));
    for Bind { source, target } in &config.binds {
        let mut bind = OsString::from("--volume=");
        bind.push(source);
        bind.push(format!(":{target}:ro"));
        arguments.push(bind);
    }
    arguments
}

/// The image that a container of that name is made from.
pub(super) fn image(name: &str) -> String {
    format!("{name}:root")
}

/// Makes that image from `root`.
pub(super) fn import(caller: &Caller, docker: &Path, name: &str, root: &Path) -> io::Result<()> {
    let mut tar = caller.command("tar").arg("-C").arg(root).args(["-cf", "-", "."]).stdout(Stdio::piped()).spawn()?;
    let from = tar.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let imported = caller.command(docker).args(["import", "-", &image(name)]).stdin(from).output();
    let (packed, imported) = (tar.wait()?, imported?);
    match imported.status.success() && packed.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&imported.stderr).trim().to_owned())),
    }
}

/// The process of a container, in this machine's numbering.
pub(super) fn docker_pid(caller: &Caller, docker: &Path, name: &str) -> Option<u32> {
    let output = caller.says(docker, &["inspect", "--format", "{{.State.Pid}}", name])?;
    output.trim().parse().ok().filter(|&pid| pid > 0)
}

/// The network namespace of a process, if it is another than this one's: what is moved there must never stay here.
pub(super) fn foreign_network(pid: u32) -> Option<std::path::PathBuf> {
    let file = Path::new("/proc").join(pid.to_string()).join("ns/net");
    let (own, other) = (fs::read_link("/proc/self/ns/net").ok()?, fs::read_link(&file).ok()?);
    (own != other).then_some(file)
}

/// The control group of a process, without the slash at its front; `None` at the top of its hierarchies.
pub(super) fn group_of(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.map(|path| path.trim_start_matches('/').to_owned()).find(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::super::Limits;
    use super::*;

    fn words(arguments: Vec<OsString>) -> Vec<String> {
        arguments.into_iter().map(|word| word.into_string().expect("text")).collect()
    }

    #[test]
    fn podman_runs_the_root_in_the_namespace_and_group_of_the_container() {
        let limits = Limits { cpus: Some(0.5), memory_bytes: Some(1 << 28) };
        let words =
            words(podman_run(&Config::example(limits, Some("/run/netns/takt-1-box0-in".into())), Path::new("/s")));
        for wanted in [
            "--network=ns:/run/netns/takt-1-box0-in",
            "--cpus=0.5",
            "--memory=268435456",
            "--volume=/usr:/usr:ro",
            "--read-only",
        ] {
            assert!(words.iter().any(|word| word == wanted), "{wanted}: {words:?}");
        }
        assert_eq!(words.first().map(String::as_str), Some("run"));
        assert_eq!(words[words.len() - 4..], ["--rootfs", "/s/root", "/takt", "agent"]);
        assert!(words.windows(2).any(|pair| pair == ["--cgroup-parent", "/takt-1-box0"]));
    }

    #[test]
    fn docker_runs_the_imported_root_without_a_network_of_its_own() {
        let words = words(docker_run(&Config::example(Limits::default(), Some("/run/netns/takt-1-box0-in".into()))));
        assert_eq!(words[words.len() - 3..], ["takt-1-box0:root", "/takt", "agent"]);
        assert!(words.iter().any(|word| word == "--network=none"), "{words:?}");
        assert!(words.iter().any(|word| word.starts_with("--cap-add=NET_ADMIN,NET_RAW")), "{words:?}");
        assert!(words.iter().all(|word| !word.starts_with("--cpus") && !word.starts_with("--memory")));
    }

    #[test]
    fn ones_own_network_is_no_containers() {
        assert_eq!(foreign_network(std::process::id()), None);
        assert_eq!(foreign_network(0), None);
    }
}
