//! linuxptp's `ptp4l` in a network namespace, and `pmc`, its management client.
//!
//! Namespaces share the system clock. So a slave here is off by nothing but its stamps; and it must not discipline that clock, which
//! is the machine's: it runs without `CAP_SYS_TIME`, and the kernel refuses whatever it would set.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A few Syncs a second with stamps in software; a clock that has no master for half a second becomes one. The servo takes a few
/// Syncs to lock, instead of a quarter of a minute.
const SETTINGS: &str = "[global]
time_stamping software
use_syslog 0
verbose 1
logAnnounceInterval -3
announceReceiptTimeout 4
logSyncInterval -2
logMinDelayReqInterval -2
first_step_threshold 0
pi_proportional_const 0.7
pi_integral_const 0.3
";

/// A PTP service until it is dropped.
pub struct Ptp4l {
    child: Child,
    namespace: String,
    socket: PathBuf,
    log: PathBuf,
}

impl Ptp4l {
    /// `Some` if its programs are here; otherwise `None`, on record.
    #[must_use]
    pub fn is_here() -> Option<()> {
        for program in ["ptp4l", "pmc"] {
            if where_is(program).is_none() {
                crate::skip(format!("{program} is not installed   (apt-get install linuxptp)"));
                return None;
            }
        }
        Some(())
    }

    /// On an interface of a named namespace; `more`: further settings, a line each. Its files are in `folder`, by `name`. `mark`
    /// gives a process that will execute a program the mark of the test's record.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn start(
        (namespace, interface): (&str, &str),
        folder: &Path,
        name: &str,
        more: &str,
        mark: impl FnOnce(&mut Command, &Path),
    ) -> Ptp4l {
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        let (socket, settings, log) = (file("socket"), file("conf"), file("log"));
        let text = format!("{SETTINGS}uds_address {}\n{more}\n", socket.display());
        fs::write(&settings, text).expect("the folder is ours");
        let into = File::create(&log).expect("the folder is ours");
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-sys_time", "--inh-caps=-sys_time", "ip", "netns", "exec", namespace]);
        command.args(["ptp4l", "-i", interface, "-f"]).arg(settings).env("PATH", path());
        command.stdin(Stdio::null()).stdout(into.try_clone().expect("a file")).stderr(into);
        mark(&mut command, &where_is("ptp4l").expect("it is installed"));
        let child = command.spawn().expect("setpriv is of every system");
        Ptp4l { child, namespace: namespace.to_owned(), socket, log }
    }

    /// Path at which it takes requests.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its output.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Fields of a data set by name, as `pmc` reads them.
    ///
    /// # Panics
    /// `pmc` does not start.
    #[must_use]
    pub fn pmc(&self, data_set: &str) -> BTreeMap<String, String> {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace, "pmc", "-u", "-b", "0", "-s"]).arg(&self.socket);
        command.arg(format!("GET {data_set}")).env("PATH", path());
        let output = command.output().expect("iproute2");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let field = |line: &str| {
            let (key, value) = line.trim().split_once(char::is_whitespace)?;
            Some((key.to_owned(), value.trim().to_owned()))
        };
        text.lines().filter(|line| line.starts_with("\t\t")).filter_map(field).collect()
    }
}

/// A program's file.
fn where_is(program: &str) -> Option<PathBuf> {
    let find = format!("command -v {program}");
    let found = Command::new("sh").args(["-c", &find]).env("PATH", path()).output().ok()?;
    let file = String::from_utf8(found.stdout).ok()?;
    found.status.success().then(|| file.trim().into())
}

fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

impl Drop for Ptp4l {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}
