//! A virtual cable between a host and a radio, each in a network namespace of its own.

use std::path::Path as FilePath;
use std::process::Command;

use serde_json::Value;
use takt_host::leftovers::{Registry, Run as Records};
use takt_testbed::net::{Build, Path, PathEnd, PathSpec};
use takt_testing::{skip, wait_for};
use tempfile::TempDir;

use crate::software::{TAKT, text};

/// So many bytes on the cable are more than finding and opening a radio takes.
const STREAM_BYTES: u64 = 1_000_000;

pub struct Cable {
    pub path: Path,
    // Gone after the path, which is in these records.
    _records: Records,
    _dir: TempDir,
}

impl Cable {
    /// With this longest packet, and checksums that are finished; `None`, on record: this process may lay none.
    #[track_caller]
    pub fn lay(label: &str, mtu: &str) -> Option<Cable> {
        let dir = tempfile::tempdir().expect("a folder");
        let records = Registry::at(dir.path()).begin("test").expect("records");
        let mut spec = PathSpec::named("direct").expect("a path");
        spec.set("mtu", mtu).expect("an option");
        let with = Build { run: &records, label, program: FilePath::new(TAKT), cpus: &[] };
        let path = match Path::build(&spec, &with) {
            Ok(path) => path,
            Err(error) => {
                skip(format!("{error}   ({})", error.fix().unwrap_or_default()));
                return None;
            }
        };
        path.finish_checksums().expect("ethtool's settings");
        Some(Cable { path, _records: records, _dir: dir })
    }

    pub fn ends(&self) -> Ends {
        let of = |end: &PathEnd| End { namespace: end.namespace.name().to_owned(), interface: end.interface };
        Ends { host: of(&self.path.host), radio: of(&self.path.radio) }
    }
}

/// Its ends by name, for another thread.
pub struct Ends {
    host: End,
    radio: End,
}

struct End {
    namespace: String,
    interface: &'static str,
}

impl Ends {
    pub fn take_down(&self) {
        self.host.ip(&["link", "set", self.host.interface, "down"]);
    }

    pub fn bring_up(&self) {
        self.host.ip(&["link", "set", self.host.interface, "up"]);
    }

    /// Removes both ends: one can't be without the other.
    pub fn remove(&self) {
        self.host.ip(&["link", "del", self.host.interface]);
    }

    /// Returns when samples flow.
    pub fn wait_for_a_stream(&self) {
        let before = self.bytes();
        wait_for("samples on the cable", || (self.bytes() > before + STREAM_BYTES).then_some(()));
    }

    /// Bytes that have crossed the cable so far, both ways.
    fn bytes(&self) -> u64 {
        let links = self.radio.ip(&["-json", "-stats", "link", "show", "dev", self.radio.interface]);
        let links: Value = serde_json::from_str(&links).expect("JSON");
        let of = |way: &str| links[0]["stats64"][way]["bytes"].as_u64().unwrap_or_else(|| panic!("{links:#}"));
        of("rx") + of("tx")
    }
}

impl End {
    fn ip(&self, words: &[&str]) -> String {
        let out = Command::new("ip").args(["-netns", &self.namespace]).args(words).output().expect("iproute2");
        assert!(out.status.success(), "ip {words:?}: {}", text(&out.stderr));
        text(&out.stdout)
    }
}
