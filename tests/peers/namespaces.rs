//! Two network namespaces and a cable between them, for what loopback can't show.

use std::path::Path;
use std::process::Command;

use crate::emulator::Site;

/// Namespaces `takt-peers-PID-host` (10.29.0.1) and `-radio` (10.29.0.2), where PID is this process: what is in them meets
/// nothing else. Removed when dropped, or by the next run after this process was killed.
pub struct Pair {
    name: String,
}

impl Pair {
    /// `None` without the right to make namespaces.
    pub fn new() -> Option<Pair> {
        remove_abandoned();
        let pair = Pair { name: format!("{NAME}{}", std::process::id()) };
        let (a, b) = (pair.host(), pair.radio());
        let made = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("-n {a} link add veth0 type veth peer name veth0 netns {b}"),
            format!("-n {a} addr add 10.29.0.1/24 broadcast 10.29.0.255 dev veth0"),
            format!("-n {b} addr add 10.29.0.2/24 broadcast 10.29.0.255 dev veth0"),
            format!("-n {a} link set veth0 up"),
            format!("-n {b} link set veth0 up"),
        ];
        made.iter().all(|line| ip(line).is_some()).then_some(pair)
    }

    /// The host's side.
    pub fn host(&self) -> String {
        format!("{}-host", self.name)
    }

    /// A radio at the other end.
    pub fn site(&self) -> Site {
        Site { addrs: vec!["10.29.0.2".to_owned()], netns: Some(self.radio()) }
    }

    fn radio(&self) -> String {
        format!("{}-radio", self.name)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for side in [self.host(), self.radio()] {
            let _ = ip(&format!("netns delete {side}"));
        }
    }
}

const NAME: &str = "takt-peers-";

/// Removes the namespaces of processes that are gone.
fn remove_abandoned() {
    let list = ip("netns list").unwrap_or_default();
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let process = name.strip_prefix(NAME).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = ip(&format!("netns delete {name}"));
        }
    }
}

/// Output of `ip`; `None` if it failed.
fn ip(arguments: &str) -> Option<String> {
    let output = Command::new("ip").args(arguments.split(' ')).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
