//! Two network namespaces and a cable between them, for what loopback can't show.

use std::process::Command;

/// Namespaces `NAME-a` (host side, .1) and `NAME-b` (radio side, .2) on 10.29.0.0/24; removed when dropped.
pub struct Pair {
    name: &'static str,
}

impl Pair {
    /// `None` without the right to make namespaces.
    pub fn new(name: &'static str) -> Option<Pair> {
        let pair = Pair { name };
        pair.remove();
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
        made.iter().all(|line| ip(line)).then_some(pair)
    }

    /// The host's side.
    pub fn host(&self) -> String {
        format!("takt-{}-a", self.name)
    }

    /// The radio's side.
    pub fn radio(&self) -> String {
        format!("takt-{}-b", self.name)
    }

    fn remove(&self) {
        for side in [self.host(), self.radio()] {
            let _ = Command::new("ip").args(["netns", "delete", &side]).output();
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.remove();
    }
}

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).output().is_ok_and(|o| o.status.success())
}
