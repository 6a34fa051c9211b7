//! The program that makes containers.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use takt_host::Host;
use takt_host::cgroup;
use takt_host::distribution::Family;

use super::super::EnvironmentError;
use super::super::programs::{Caller, find, version};
use super::config::Config;
use super::engine;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeName {
    Runc,
    Crun,
    Podman,
    Docker,
}

impl RuntimeName {
    /// In the order in which they are tried: what needs least first.
    pub const ALL: [RuntimeName; 4] = [RuntimeName::Runc, RuntimeName::Crun, RuntimeName::Podman, RuntimeName::Docker];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RuntimeName::Runc => "runc",
            RuntimeName::Crun => "crun",
            RuntimeName::Podman => "podman",
            RuntimeName::Docker => "docker",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<RuntimeName> {
        RuntimeName::ALL.into_iter().find(|runtime| runtime.name() == name)
    }

    /// Lines are alternatives.
    fn fix(self) -> String {
        let install = |packages| Family::of(&Host::this()).install(packages, packages);
        let instead = "set environment_runtime = \"runc\"";
        match self {
            RuntimeName::Runc => install("runc"),
            RuntimeName::Crun => format!("{}\n{instead}", install("crun")),
            RuntimeName::Podman => install("podman runc"),
            RuntimeName::Docker => format!("sudo systemctl start docker\n{instead}"),
        }
    }
}

/// A program of this machine that makes containers. Each container gives it a state folder of its own where it can have one.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    caller: Caller,
    pub(super) program: PathBuf,
    pub(super) name: RuntimeName,
    version: String,
    /// For an engine: the OCI runtime that works here, if one was found.
    oci: Option<PathBuf>,
}

impl Runtime {
    /// The first that works here, or the requested one.
    pub(super) fn find(caller: &Caller, wanted: Option<RuntimeName>) -> Result<Runtime, EnvironmentError> {
        let tried: Vec<RuntimeName> =
            RuntimeName::ALL.into_iter().filter(|name| wanted.is_none_or(|w| w == *name)).collect();
        let mut refused = None;
        for &name in &tried {
            let Some(program) = find(name.name()) else { continue };
            match examine(caller, name, &program, cgroup::is_hybrid()) {
                Ok(version) => {
                    if name == RuntimeName::Podman {
                        engine::CONMON.into_iter().filter_map(find).for_each(|conmon| caller.starts(&conmon));
                    }
                    return Ok(Runtime { caller: caller.clone(), program, name, version, oci: oci(caller) });
                }
                Err(why) => {
                    refused.get_or_insert(EnvironmentError::Unusable { program, why, fix: name.fix() });
                }
            }
        }
        let names = tried.iter().map(|name| name.name()).collect::<Vec<_>>().join(", ");
        let fix = wanted.unwrap_or(RuntimeName::Runc).fix();
        let missing = || EnvironmentError::Missing { what: "container runtime", names, fix };
        Err(refused.unwrap_or_else(missing))
    }

    pub(super) fn title(&self) -> String {
        format!("{} {}", self.name.name(), self.version)
    }

    /// The call that runs what `config` says; its bundle, or root, lies in `scratch`.
    pub(super) fn run(&self, config: &Config<'_>, scratch: &Path) -> io::Result<Command> {
        let mut command = self.command(scratch);
        match self.name {
            RuntimeName::Runc | RuntimeName::Crun => {
                std::fs::write(scratch.join("config.json"), config.document().to_string())?;
                command.arg("run").arg("--bundle").arg(scratch).arg("--pid-file").arg(scratch.join("pid"));
                command.arg(config.name);
            }
            RuntimeName::Podman => {
                std::fs::write(scratch.join(engine::PODMAN_CONF), engine::podman_conf(config.mark))?;
                command.args(engine::podman_run(config, scratch));
            }
            RuntimeName::Docker => {
                engine::import(&self.caller, &self.program, config.name, &scratch.join("root"))?;
                command.args(engine::docker_run(config));
            }
        }
        Ok(command)
    }

    /// The container's first process, in this machine's numbering.
    pub(super) fn pid(&self, scratch: &Path, name: &str) -> Option<u32> {
        match self.name {
            RuntimeName::Docker => engine::docker_pid(&self.caller, &self.program, name),
            _ => std::fs::read_to_string(scratch.join("pid")).ok()?.trim().parse().ok(),
        }
    }

    /// The call of a shell in a running container.
    pub(super) fn exec(&self, scratch: &Path, name: &str, terminal: bool) -> Command {
        let mut command = self.command(scratch);
        command.arg("exec");
        let engine = matches!(self.name, RuntimeName::Podman | RuntimeName::Docker);
        command.args(engine.then_some("--interactive")).args(terminal.then_some("--tty")).args([name, "/bin/sh"]);
        command
    }

    /// Ends and forgets a container; one that is not there is fine.
    pub(super) fn delete(&self, scratch: &Path, name: &str) {
        let quiet = |command: &mut Command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // If it can't, the control group can't be removed, and that stays registered.
            let _ = command.status();
        };
        match self.name {
            RuntimeName::Runc | RuntimeName::Crun => quiet(self.command(scratch).args(["delete", "--force", name])),
            RuntimeName::Podman => quiet(self.command(scratch).args(["rm", "--force", "--ignore", "--time=0", name])),
            RuntimeName::Docker => {
                quiet(self.command(scratch).args(["rm", "--force", name]));
                quiet(self.command(scratch).args(["rmi", "--force", &engine::image(name)]));
            }
        }
    }

    fn command(&self, scratch: &Path) -> Command {
        let mut command = self.caller.command(&self.program);
        command.args(self.state(scratch));
        if self.name == RuntimeName::Podman {
            command.env("CONTAINERS_CONF", scratch.join(engine::PODMAN_CONF));
        }
        command
    }

    /// Arguments that keep its state in the container's own folder.
    fn state(&self, scratch: &Path) -> Vec<OsString> {
        match self.name {
            RuntimeName::Runc | RuntimeName::Crun => vec!["--root".into(), scratch.join("state").into()],
            RuntimeName::Podman => engine::podman_state(scratch, self.oci.as_deref()),
            // Its state is its daemon's.
            RuntimeName::Docker => Vec::new(),
        }
    }
}

/// The first OCI runtime that works here.
fn oci(caller: &Caller) -> Option<PathBuf> {
    [RuntimeName::Runc, RuntimeName::Crun].into_iter().find_map(|name| {
        let program = find(name.name())?;
        examine(caller, name, &program, cgroup::is_hybrid()).ok().map(|_| program)
    })
}

/// Its version, or why it can't be used.
fn examine(caller: &Caller, name: RuntimeName, program: &Path, hybrid: bool) -> Result<String, String> {
    if name == RuntimeName::Crun && hybrid {
        return Err("it refuses control groups of both versions at once, as this machine has them".into());
    }
    let output = match name {
        RuntimeName::Docker => {
            caller.says(program, &["version", "--format", "{{.Server.Version}}"]).ok_or("its daemon does not answer")?
        }
        _ => caller.says(program, &["--version"]).ok_or("it does not say its version")?,
    };
    version(&output).map(str::to_owned).ok_or_else(|| format!("its version can't be read off: {output}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::Shell;
    use super::*;

    #[test]
    fn crun_is_not_used_where_it_would_refuse() {
        let (caller, program) = (Caller::stranger(), Path::new("/bin/echo"));
        let examine = |name, program, hybrid| examine(&caller, name, program, hybrid);
        assert!(examine(RuntimeName::Crun, program, true).unwrap_err().contains("both versions"));
        assert!(examine(RuntimeName::Crun, program, false).is_ok(), "its version is all that is requested");
        assert!(examine(RuntimeName::Runc, Path::new("/takt/none"), true).unwrap_err().contains("does not say"));
        assert!(examine(RuntimeName::Docker, Path::new("/bin/false"), true).unwrap_err().contains("daemon"));
    }

    #[test]
    fn a_shell_in_a_container_carries_the_mark_of_the_run() {
        let program = PathBuf::from("/bin/true");
        let (caller, version) = (Caller::stranger(), "4.3.1".to_owned());
        let runtime = Runtime { caller, program, name: RuntimeName::Podman, version, oci: None };
        let shell = Shell::by(&runtime.exec(Path::new("/s"), "box", true), None);
        let Shell::Program { program, arguments, variables, .. } = shell else {
            panic!("a container's shell is a program");
        };
        assert_eq!(program, runtime.program);
        assert_eq!(arguments[arguments.len() - 5..], ["exec", "--interactive", "--tty", "box", "/bin/sh"]);
        let expected = [("CONTAINERS_CONF", "/s/containers.conf"), ("TAKT_RUN", "nobody")];
        assert_eq!(variables, expected.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    }

    #[test]
    fn a_runtime_is_found_by_the_name_it_is_written_with() {
        for name in RuntimeName::ALL {
            assert_eq!(RuntimeName::named(name.name()), Some(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.name());
        }
        assert_eq!(RuntimeName::named("lxc"), None);
    }
}
