//! A machine, a radio on it, and what the doctor saw there.

use takt_questions::check::*;

pub(super) fn setup() -> Setup {
    Setup {
        radio: RadioSetup::Emulated { model: Model::N200 },
        path: "veth".into(),
        environment: "native".into(),
        engine: "mmsg".into(),
        host_cores: vec![2, 3],
        radio_cores: vec![0, 1],
        notes: Vec::new(),
        receive_only: None,
    }
}

pub(super) fn host() -> HostFacts {
    let more = [
        ("clock source", "tsc"),
        ("frequency governor", "not visible"),
        ("net.core.rmem_max", "4 194 304 B"),
        ("preemption", "none"),
    ];
    HostFacts {
        hostname: "lab-7".into(),
        kernel: "Linux 6.18".into(),
        cpu_model: "AMD EPYC 9R45".into(),
        cores: 4,
        memory_bytes: 24 << 30,
        virtualisation: Some("kvm".into()),
        more: more.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
    }
}

pub(super) fn doctor() -> Vec<DoctorFinding> {
    let finding =
        |id: &str, finding: &str, seen: &str, wanted: Option<&str>, mechanism: &str, fix: Option<&str>| DoctorFinding {
            id: id.into(),
            title: String::new(),
            finding: finding.into(),
            observed: seen.into(),
            wanted: wanted.map(Into::into),
            mechanism: mechanism.into(),
            cost: None,
            fix: fix.map(Into::into),
            fix_kind: None,
        };
    vec![
        finding(
            "socket-buffer-small",
            "problem",
            "net.core.rmem_max is 212 992 B",
            Some("50 000 000 B"),
            "A reader that pauses for longer than the buffer holds loses datagrams.",
            Some("takt doctor --fix --only socket-buffer-small"),
        ),
        finding(
            "rt-throttling",
            "fine",
            "sched_rt_runtime_us is 950 000",
            None,
            "A spinning real-time thread is stopped for the rest of each second.",
            None,
        ),
        finding(
            "governor",
            "not_visible",
            "no cpufreq in this virtual machine",
            None,
            "A core that was slowed down needs time to become fast.",
            None,
        ),
    ]
}
