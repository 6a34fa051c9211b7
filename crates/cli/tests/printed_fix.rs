//! The text of a fix is typed as it stands, by `sh -c`, from another folder, and does it.
//!
//! The program lies where no PATH leads, in a folder whose name a shell would take apart. `sudo` is a stand-in that looks in
//! the folders of the real one, since the tests are root's already.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{has, refusal, root_for};
use takt_testing::skip;

/// A copy of the program in `it's here`, and a stand-in of sudo in `bin`.
struct Installed(tempfile::TempDir);

impl Installed {
    fn new() -> Installed {
        // On the file system of the program, so that it need not be copied.
        let folder = fs::canonicalize(env!("CARGO_TARGET_TMPDIR")).and_then(tempfile::tempdir_in).expect("a folder");
        let installed = Installed(folder);
        for name in [".", "it's here", "bin"] {
            fs::create_dir_all(installed.path(name)).expect("a folder");
            fs::set_permissions(installed.path(name), fs::Permissions::from_mode(0o755)).expect("ours");
        }
        fs::hard_link(env!("CARGO_BIN_EXE_takt"), installed.program()).expect("a link");
        let sudo = installed.path("bin/sudo");
        fs::write(&sudo, "#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\nexec \"$@\"\n").expect("a file");
        fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).expect("ours");
        installed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self) -> PathBuf {
        self.path("it's here/takt")
    }

    /// Types a line into a shell, in a folder that has nothing to do with it.
    fn typed(&self, line: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir("/").env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        shell.output().expect("sh runs")
    }
}

/// The fixes of an error, each without the comment on it.
fn fixes(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = |line: &str| Some(line.strip_prefix("  fix   ").or(line.strip_prefix("  or    "))?.to_owned());
    let all: Vec<String> = said.lines().filter_map(line).collect();
    assert!(!all.is_empty(), "{said}");
    all.into_iter().map(|line| line.split("   (").next().unwrap_or_default().to_owned()).collect()
}

/// An ordinary user, by setpriv(1).
const NOBODY: [&str; 5] =
    ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];

/// A slip, after which the program says which command lists what there is.
const SLIP: [&str; 3] = ["component", "list", "no-such-component"];

#[test]
fn a_command_is_found_wherever_the_program_lies() {
    let installed = Installed::new();
    let slipped = Command::new(installed.program()).args(SLIP).output().expect("takt runs");
    let fix = fixes(&slipped).pop().expect("one");
    assert_eq!(fix, format!("'{}' component list", installed.program().display().to_string().replace('\'', r"'\''")));
    let listed = installed.typed(&fix);
    assert!(listed.status.success(), "{fix}: {}", String::from_utf8_lossy(&listed.stderr));
    assert!(String::from_utf8_lossy(&listed.stdout).contains("awgn"), "{fix}: {listed:?}");
}

#[test]
fn a_program_that_path_leads_to_is_called_by_its_name() {
    let installed = Installed::new();
    let here = installed.program();
    let path = format!("/usr/bin:{}", here.parent().unwrap_or(Path::new("/")).display());
    let slipped = Command::new(here).args(SLIP).env("PATH", path).output().expect("takt runs");
    assert_eq!(fixes(&slipped).pop().as_deref(), Some("takt component list"));
}

#[test]
fn a_store_that_a_run_as_root_left_is_given_to_its_user() {
    let Some(()) = root_for("becoming another user") else { return };
    let installed = Installed::new();
    let (runs, file) = (installed.path("takt runs"), installed.path("short.toml"));
    fs::write(&file, SHORT).expect("a file");
    let run = ["experiment", "run", &file.to_string_lossy(), "--quick", "--runs"].map(str::to_owned);
    let list = ["experiment", "list", "--runs"].map(str::to_owned);
    let by_root = Command::new(installed.program()).args(&run).arg(&runs).output().expect("takt runs");
    assert!(by_root.status.success(), "{by_root:?}");
    let by_nobody = |args: &[String]| {
        let mut command = Command::new("setpriv");
        command.args(NOBODY).arg(installed.program()).args(args).arg(&runs);
        command.output()
    };
    let refused = match by_nobody(&run) {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("setpriv:") => output,
        other => return skip(format!("needs setpriv, and a program that others may run: {other:?}")),
    };
    has(&refusal(&refused), &["takt runs belongs to root, but takt runs as nobody"]);
    let fix = fixes(&refused).swap_remove(0);
    assert_eq!(fix, format!("sudo chown -R nobody: '{}'", runs.display().to_string().replace('\'', r"'\''")));
    let given = installed.typed(&fix);
    assert!(given.status.success(), "{fix}: {}", String::from_utf8_lossy(&given.stderr));
    let listed = by_nobody(&list).expect("setpriv runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
}

/// A run of a moment.
const SHORT: &str = "question = \"How late?\"\n[fixed]\nworkload = { kind = \"wakeup\", duration = \"20ms\" }\n\
                     [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n\
                     valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }\n";

#[test]
fn a_kernel_that_root_alone_may_read_is_opened() {
    let Some(()) = root_for("becoming another user") else { return };
    let installed = Installed::new();
    let image = installed.path("boot/vmlinuz-9.9-takt");
    for folder in ["boot", "lib/modules/9.9-takt/kernel", "run", "state"] {
        fs::create_dir_all(installed.path(folder)).expect("a folder");
    }
    fs::write(&image, "no kernel").expect("a file");
    fs::set_permissions(&image, fs::Permissions::from_mode(0o600)).expect("ours");
    for folder in ["run", "state"] {
        std::os::unix::fs::chown(installed.path(folder), Some(65534), Some(65534)).expect("ours");
    }
    let mut command = Command::new("setpriv");
    command.args(NOBODY).arg(installed.program()).args(["experiment", "run", "check", "--env-only", "vm"]);
    command.env("TAKT_RUN_DIR", installed.path("run")).env("TAKT_STATE_DIR", installed.path("state"));
    let refused = command.env("TAKT_VM_KERNEL", installed.path(".")).output().expect("setpriv runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    if said.contains("no QEMU") || said.contains("setpriv:") {
        return skip(format!("needs QEMU and setpriv   (./test installs them): {said}"));
    }
    assert!(refused.status.code() == Some(2) && said.contains("vmlinuz-9.9-takt may be read by root alone"), "{said}");
    let fix = fixes(&refused).swap_remove(0);
    let opened = installed.typed(&fix);
    assert!(opened.status.success(), "{fix}: {}", String::from_utf8_lossy(&opened.stderr));
    assert_eq!(fs::metadata(&image).expect("there").permissions().mode() & 0o777, 0o644, "{fix}");
}

#[test]
fn what_needs_root_is_the_same_call_with_sudo_and_is_found_by_it() {
    let permitted = takt_host::capability::own().contains(takt_host::capability::CapabilitySet::SYS_NICE);
    if !rustix::process::geteuid().is_root() || !permitted {
        return skip("becoming another user and real-time priority need root   (run the tests as root)");
    }
    let installed = Installed::new();
    let short = ["wakeup", "--duration", "100ms", "--warm-up", "10ms", "--policy", "fifo:1"];
    let mut refused = Command::new("setpriv");
    refused.args(NOBODY).arg(installed.program()).args(short);
    let refused = match refused.output() {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("setpriv:") => output,
        other => return skip(format!("needs setpriv, and a program that others may run: {other:?}")),
    };
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let fix = fixes(&refused).swap_remove(0);
    assert!(fix.starts_with("sudo '") && fix.ends_with(&format!("takt' {}", short.join(" "))), "{fix}");
    let mended = installed.typed(&fix);
    assert!(mended.status.success(), "{fix}: {}", String::from_utf8_lossy(&mended.stderr));
}
