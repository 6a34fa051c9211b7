//! The environment `aarch64`: processes of this machine whose instructions are another processor's.
//!
//! The agent is takt built for aarch64, executed by QEMU's user emulation: its instructions are translated, its system calls are
//! this kernel's own. So it is on the path like a native one, and is a slower and unequal kind of processor. How fast a
//! processor of that kind is, it does not tell.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use takt_agent::{Agent, Launch};
use takt_host::Host;
use takt_host::distribution::Family;

use super::programs::{Caller, find, last_lines, version};
use super::{Environment, EnvironmentError, EnvironmentFacts, Native, RunningEnvironment, Shell};
use crate::net::PathEnd;

/// Agents are children of this process: takt for aarch64, translated.
#[derive(Clone, Debug)]
pub struct Aarch64 {
    native: Native,
    emulator: Emulator,
}

/// The translating program, and what it is given before takt's own arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Emulator {
    program: PathBuf,
    version: String,
    arguments: Vec<OsString>,
}

/// The processor that QEMU stands for: one that there is, as in a Raspberry Pi 4. Without a name it is one that has every
/// extension, some of which QEMU executes slowly and no board has together.
const PROCESSOR: &str = "cortex-a72";
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Names the takt for aarch64.
const VARIABLE: &str = "TAKT_AARCH64";
/// Folder in which Debian's cross packages put libraries for it.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

impl Aarch64 {
    /// Finds QEMU and a takt for aarch64, and has the one start the other.
    pub(super) fn open(native: Native) -> Result<Aarch64, EnvironmentError> {
        if cfg!(target_arch = "aarch64") {
            let why = "this machine has an aarch64 CPU itself: there is nothing to translate".to_owned();
            let fix = "set environment = \"native\"".to_owned();
            return Err(EnvironmentError::Unusable { program: native.program, why, fix });
        }
        let caller = &native.caller;
        let (program, version) = qemu(caller)?;
        let takt = takt(&native.program, env::var_os(VARIABLE).map(PathBuf::from))?;
        let emulator = Emulator { program, version, arguments: arguments(&takt) };
        emulator.starts(caller, &native.program)?;
        Ok(Aarch64 { native, emulator })
    }
}

impl Environment for Aarch64 {
    fn name(&self) -> &str {
        "aarch64"
    }

    fn outside(&self) -> &Native {
        &self.native
    }

    fn own_network(&self) -> bool {
        false
    }

    fn start(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let Aarch64 { native: Native { caller, .. }, emulator } = self;
        let namespace = end.map(|end| end.namespace.path());
        let (name, value) = caller.mark();
        let agent = Agent::launch(&Launch {
            program: emulator.program.clone(),
            arguments: emulator.arguments.iter().cloned().chain(["agent".into()]).collect(),
            namespace: namespace.clone(),
            cpus: cpus.to_vec(),
            mark: Some((name.to_owned(), value.to_owned())),
        })?;
        let facts = EnvironmentFacts {
            environment: self.name().into(),
            kernel: agent.hello().kernel.clone(),
            runtime: Some(format!("QEMU {}, user emulation", emulator.version)),
            processor: Some(format!("aarch64 {PROCESSOR}")),
            interface: end.map(|end| end.interface.to_owned()),
            ..EnvironmentFacts::default()
        };
        let shell = Shell::by(&caller.command("/bin/sh"), namespace);
        Ok(RunningEnvironment { agent, holder: facts, shell })
    }
}

impl Emulator {
    /// Has takt say its version. Another than this one's would be another program, and its times no comparison.
    fn starts(&self, caller: &Caller, own: &Path) -> Result<(), EnvironmentError> {
        let unusable =
            |why: String| EnvironmentError::Unusable { program: self.program.clone(), why, fix: fix_takt(own) };
        let mut command = caller.command(&self.program);
        let output = command.args(&self.arguments).arg("--version").output();
        let output = output.map_err(|error| unusable(error.to_string()))?;
        if !output.status.success() {
            let why = last_lines(&String::from_utf8_lossy(&output.stderr));
            let fix = Family::of(&Host::this()).install("libc6-arm64-cross", "glibc-aarch64-linux-gnu");
            let fix = if why.contains("ld-linux-aarch64") { fix } else { fix_takt(own) };
            return Err(EnvironmentError::Unusable { program: self.program.clone(), why, fix });
        }
        let (there, here) = (String::from_utf8_lossy(&output.stdout), env!("CARGO_PKG_VERSION"));
        match version(&there) {
            Some(version) if version == here => Ok(()),
            _ => Err(unusable(format!("the takt for aarch64 is {}, this one {here}", there.trim()))),
        }
    }
}

/// QEMU's user emulation of aarch64, and its version.
fn qemu(caller: &Caller) -> Result<(PathBuf, String), EnvironmentError> {
    const NAMES: [&str; 2] = ["qemu-aarch64", "qemu-aarch64-static"];
    let fix = || Family::of(&Host::this()).install("qemu-user libc6-arm64-cross", "qemu-user");
    let Some(program) = NAMES.into_iter().find_map(find) else {
        return Err(EnvironmentError::Missing {
            what: "user emulation of aarch64",
            names: NAMES.join(", "),
            fix: fix(),
        });
    };
    let output = caller.says(&program, &["--version"]).unwrap_or_default();
    match version(&output) {
        Some(version) => Ok((program, version.to_owned())),
        None => Err(EnvironmentError::Unusable { program, why: "it does not say its version".into(), fix: fix() }),
    }
}

/// The takt for aarch64: what the variable names, else what the same build makes beside `own`.
fn takt(own: &Path, named: Option<PathBuf>) -> Result<PathBuf, EnvironmentError> {
    let looked = named.unwrap_or_else(|| beside(own));
    if looked.is_file() {
        return Ok(looked);
    }
    Err(EnvironmentError::NoTakt { processor: "aarch64", looked: looked.display().to_string(), fix: fix_takt(own) })
}

/// `target/release/takt` has `target/aarch64-unknown-linux-gnu/release/takt` beside it.
fn beside(own: &Path) -> PathBuf {
    let profile = own.parent().unwrap_or(Path::new("."));
    let target = profile.parent().unwrap_or(Path::new("."));
    target.join(TARGET).join(profile.file_name().unwrap_or_default()).join("takt")
}

/// How that takt is made. Two that were built by different profiles would be compared otherwise.
fn fix_takt(own: &Path) -> String {
    let profile = own.parent().and_then(Path::file_name).is_some_and(|name| name == "release");
    let release = if profile { " --release" } else { "" };
    format!(
        "rustup target add {TARGET} && CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc cargo build{release} \
         --target {TARGET}\n{VARIABLE}=FILE, where it lies elsewhere"
    )
}

/// Before takt's own arguments: what QEMU stands for, where libraries are, and the program.
fn arguments(takt: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-cpu".into(), PROCESSOR.into()];
    // QEMU's own variable for the same stands, if it is set.
    if env::var_os("QEMU_LD_PREFIX").is_none() && Path::new(LIBRARIES).is_dir() {
        arguments.extend(["-L".into(), LIBRARIES.into()]);
    }
    arguments.push(takt.into());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_takt_for_aarch64_is_of_the_same_build_or_the_one_that_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("target/release/takt");
        let there = dir.path().join("target").join(TARGET).join("release/takt");
        let missing = takt(&own, None).unwrap_err();
        assert!(missing.is_unavailable() && missing.to_string().contains(&there.display().to_string()), "{missing}");
        let fix = missing.fix().unwrap();
        assert!(fix.contains("cargo build --release --target aarch64") && fix.contains(VARIABLE), "{fix}");
        assert!(!fix_takt(Path::new("target/debug/takt")).contains("--release"));
        std::fs::create_dir_all(there.parent().unwrap()).unwrap();
        std::fs::write(&there, "").unwrap();
        assert_eq!(takt(&own, None).unwrap(), there);
        assert!(takt(&own, Some(dir.path().join("none"))).is_err(), "what is named is taken, or nothing");
        assert_eq!(takt(&own, Some(there.clone())).unwrap(), there);
    }

    #[test]
    fn what_does_not_start_or_is_another_takt_is_refused_with_its_output() {
        let dir = tempfile::tempdir().unwrap();
        let own = Path::new("target/release/takt");
        let emulator = |script: &str| {
            let takt = dir.path().join("script");
            std::fs::write(&takt, script).unwrap();
            Emulator { program: "/bin/sh".into(), version: String::new(), arguments: vec![takt.into()] }
        };
        let refused = |script: &str| emulator(script).starts(&Caller::stranger(), own).unwrap_err();
        let other = refused("echo takt 0.0.1");
        assert!(other.to_string().contains("takt 0.0.1") && other.is_unavailable(), "{other}");
        assert!(other.fix().unwrap().contains("cargo build"));
        let no_libraries = refused("echo \"Could not open '/lib/ld-linux-aarch64.so.1'\" >&2; exit 1");
        assert!(no_libraries.to_string().contains("ld-linux") && no_libraries.fix().unwrap().contains("arm64-cross"));
        let same = format!("echo takt {}", env!("CARGO_PKG_VERSION"));
        emulator(&same).starts(&Caller::stranger(), own).unwrap();
    }
}
