//! `config.json` of a bundle (OCI runtime specification 1.0.2, config.md and config-linux.md).

use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::Limits;
use super::root::Bind;

#[derive(Debug)]
pub(super) struct Config<'a> {
    pub(super) arguments: Vec<String>,
    /// The variable by which `takt clean` knows its processes.
    pub(super) mark: (&'a str, &'a str),
    pub(super) name: &'a str,
    /// Whether it has a control group of that name, at the top of each hierarchy.
    pub(super) group: bool,
    /// The network namespace; `None`: a new one with nothing in it.
    pub(super) network: Option<PathBuf>,
    /// Parts of this machine that are visible inside.
    pub(super) binds: Vec<Bind>,
    pub(super) limits: Limits,
}

/// Rights of root that a radio host needs: buffers beyond the limit, raw frames, real-time priority, locked memory.
pub(super) const CAPABILITIES: [&str; 5] =
    ["CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_NET_BIND_SERVICE", "CAP_SYS_NICE", "CAP_IPC_LOCK"];
/// The kernel's usual period of a quota.
const PERIOD_US: u64 = 100_000;

impl Config<'_> {
    pub(super) fn document(&self) -> Value {
        let (name, value) = self.mark;
        let mut document = json!({
            "ociVersion": "1.0.2",
            "process": {
                "terminal": false,
                "user": { "uid": 0, "gid": 0 },
                "args": self.arguments,
                "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", format!("{name}={value}")],
                "cwd": "/",
                "capabilities": {
                    "bounding": CAPABILITIES, "effective": CAPABILITIES, "permitted": CAPABILITIES,
                },
                "noNewPrivileges": true,
            },
            "root": { "path": "root", "readonly": true },
            "hostname": self.name,
            "mounts": self.mounts(),
            "linux": {
                "namespaces": self.namespaces(),
                "resources": self.resources(),
            },
        });
        if self.group {
            document["linux"]["cgroupsPath"] = json!(format!("/{}", self.name));
        }
        document
    }

    fn mounts(&self) -> Vec<Value> {
        fn mount(at: &str, kind: &str, options: &[&str]) -> Value {
            json!({ "destination": at, "type": kind, "source": kind, "options": options })
        }
        let mut mounts = vec![
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/dev/shm", "tmpfs", &["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]),
            mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            mount("/tmp", "tmpfs", &["nosuid", "nodev", "mode=1777", "size=65536k"]),
        ];
        mounts.extend(self.binds.iter().map(|Bind { source, target }| {
            json!({ "destination": target, "type": "none", "source": source, "options": ["rbind", "ro"] })
        }));
        mounts
    }

    fn namespaces(&self) -> Vec<Value> {
        let mut namespaces: Vec<Value> = ["pid", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind })).into();
        namespaces.push(match &self.network {
            Some(path) => json!({ "type": "network", "path": path }),
            None => json!({ "type": "network" }),
        });
        namespaces
    }

    /// The same words for control groups of both versions; the runtime translates.
    fn resources(&self) -> Value {
        let mut resources = json!({});
        if let Some(cpus) = self.limits.cpus {
            let quota_us = (cpus * PERIOD_US as f64).round() as u64;
            resources["cpu"] = json!({ "quota": quota_us, "period": PERIOD_US });
        }
        if let Some(bytes) = self.limits.memory_bytes {
            resources["memory"] = json!({ "limit": bytes });
        }
        resources
    }
}

#[cfg(test)]
impl Config<'static> {
    pub(super) fn example(limits: Limits, network: Option<PathBuf>) -> Config<'static> {
        let arguments = vec!["/takt".into(), "agent".into()];
        let binds = vec![Bind { source: "/usr".into(), target: "/usr".into() }];
        Config { arguments, mark: ("TAKT_RUN", "id"), name: "takt-1-box0", group: true, network, binds, limits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(limits: Limits, network: Option<PathBuf>) -> Value {
        Config::example(limits, network).document()
    }

    #[test]
    fn limits_become_a_quota_and_a_number_of_bytes() {
        let document = config(Limits { cpus: Some(1.5), memory_bytes: Some(1 << 28) }, None);
        let resources = &document["linux"]["resources"];
        assert_eq!(resources["cpu"], json!({ "quota": 150_000, "period": 100_000 }));
        assert_eq!(resources["memory"], json!({ "limit": 268_435_456 }));
        assert_eq!(config(Limits::default(), None)["linux"]["resources"], json!({}));
    }

    #[test]
    fn the_network_namespace_is_the_one_given_or_an_empty_one() {
        let network = |document: &Value| document["linux"]["namespaces"].as_array().unwrap().last().unwrap().clone();
        let given = config(Limits::default(), Some("/run/netns/takt-1-box0-in".into()));
        assert_eq!(network(&given), json!({ "type": "network", "path": "/run/netns/takt-1-box0-in" }));
        assert_eq!(network(&config(Limits::default(), None)), json!({ "type": "network" }));
    }

    #[test]
    fn nothing_of_this_machine_can_be_written_and_its_processes_are_marked() {
        let document = config(Limits::default(), None);
        assert_eq!(document["root"]["readonly"], true);
        for mount in document["mounts"].as_array().unwrap() {
            let options = mount["options"].as_array().unwrap();
            assert!(mount["type"] != "none" || options.contains(&json!("ro")), "{mount}");
        }
        assert!(document["process"]["env"].as_array().unwrap().contains(&json!("TAKT_RUN=id")));
        assert_eq!(document["linux"]["cgroupsPath"], "/takt-1-box0");
    }
}
