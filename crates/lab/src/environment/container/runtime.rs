//! The program that makes containers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use takt_host::cgroup;

use super::super::EnvironmentError;
use super::super::programs::{find, says, version};

/// An OCI runtime of this machine. Each container gives it a state folder of its own, so that no engine sees it.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    program: PathBuf,
    name: &'static str,
    version: String,
}

/// In the order in which they are tried.
const KNOWN: [&str; 2] = ["runc", "crun"];
const FIX: &str = "sudo apt-get install runc";

impl Runtime {
    /// The first that works here.
    pub(super) fn find() -> Result<Runtime, EnvironmentError> {
        let mut refused = None;
        for name in KNOWN {
            let Some(program) = find(name) else { continue };
            match examine(name, &program, cgroup::is_hybrid()) {
                Ok(version) => return Ok(Runtime { program, name, version }),
                Err(why) => refused = Some(EnvironmentError::Unusable { program, why, fix: FIX.into() }),
            }
        }
        let missing =
            || EnvironmentError::Missing { what: "container runtime", names: KNOWN.join(", "), fix: FIX.into() };
        Err(refused.unwrap_or_else(missing))
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Name and version, for the record.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// A call of it that keeps its state in a container's own folder.
    pub(super) fn command(&self, scratch: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--root").arg(scratch.join("state"));
        command
    }

    /// Ends and forgets a container; one that is not there is fine.
    pub(super) fn delete(&self, scratch: &Path, name: &str) {
        let mut command = self.command(scratch);
        command.args(["delete", "--force", name]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // If it can't, the control group can't be removed, and that stays registered.
        let _ = command.status();
    }
}

/// Its version, or why it can't be used.
fn examine(name: &str, program: &Path, hybrid: bool) -> Result<String, String> {
    if name == "crun" && hybrid {
        return Err("it refuses control groups of both versions at once, as this machine has them".into());
    }
    let said = says(program, &["--version"]).ok_or("it does not say its version")?;
    version(&said).map(str::to_owned).ok_or_else(|| format!("its version can't be read off: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crun_is_not_used_where_it_would_refuse() {
        let program = Path::new("/bin/echo");
        assert!(examine("crun", program, true).unwrap_err().contains("both versions"));
        assert!(examine("crun", program, false).is_ok(), "its version is all that is asked for");
        assert!(examine("runc", Path::new("/takt/none"), true).unwrap_err().contains("does not say"));
    }
}
