//! `container`: a view of the host that a container runtime has cut.

use takt_host::fingerprint::container;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "container",
    topic: Topic::Virtual,
    title: "Inside a container",
    mechanism: "A container's datagrams pass a bridge and often a translation of addresses, its threads get real-time \
                priority only if it was started so, and what the doctor sees is the container's view.",
    looks_at: "The marks of Docker, Podman and systemd, and `container=` in the environment of process 1. Never stands; \
               noted.",
    probe,
    known: "A container on a bridge carried 97 to 102 % of what the host itself did over the same bridge; the bridge took \
            a quarter of a direct path (veth, Linux 6.18). Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "docker run --network host --cap-add SYS_NICE --ulimit rtprio=99 --ulimit memlock=-1",
        "where the kernel has RT_GROUP_SCHED also --cpu-rt-runtime=950000",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    if let Some(engine) = container(host) {
        return notice(engine, "run the doctor on the host as well");
    }
    // The first process names its engine; only root may look.
    let first = host.read("/proc/1/environ");
    match first.as_ref().map(|text| text.split('\0').find_map(|one| one.strip_prefix("container="))) {
        Ok(Some(engine)) => notice(engine, "run the doctor on the host as well"),
        Ok(None) => fine("no mark of a container"),
        // Without it, process 1 of the machine is known by being no shell and no program of the user's.
        Err(_) => match host.read("/proc/1/comm")?.trim() {
            "systemd" | "init" | "runit" | "openrc-init" => fine("no mark of a container"),
            other => {
                notice(format!("process 1 is {other}"), "it may be a container: run the doctor on the host as well")
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_noted() {
        assert_eq!(word(&RULE, &[("/proc/1/environ", "HOME=/\0TERM=linux\0")]), "fine");
        assert_eq!(verdict(&RULE, &[("/proc/1/environ", "A=b\0container=lxc\0")]), ("notice", "lxc".to_owned()));
        assert_eq!(verdict(&RULE, &[("/.dockerenv", "")]), ("notice", "docker".to_owned()));
        assert_eq!(word(&RULE, &[("/proc/1/comm", "systemd\n")]), "fine");
        assert_eq!(word(&RULE, &[("/proc/1/comm", "takt\n")]), "notice");
    }
}
