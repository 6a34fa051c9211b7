//! `virtualisation`: a hypervisor that runs something else while a radio waits.

use std::time::Duration;

use takt_host::Host;
use takt_host::ReadError;
use takt_host::accounting::CpuClasses;
use takt_host::fingerprint::Virtualisation;
use takt_host::proc::{stat, tick_ns};

use super::super::rule::{Effect, Finding, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "virtualisation",
    topic: Topic::Virtual,
    title: "Time taken by a hypervisor",
    mechanism: "A virtual CPU that the hypervisor has put aside does nothing, whatever its priority inside, and no clock of \
                the guest stops for it.",
    looks_at: "What runs below the kernel, and the share of wanted CPU time that it took (steal), since the start and over \
               a third of a second. Stands above 1 % and 2 %, and under QEMU without acceleration always.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "QEMU without acceleration carried 15 to 33 % of the native datagram rate at more CPU a datagram; KVM was \
                not measured. Steal is lost time: 1 % of it in one piece is 10 ms of every second.",
        here: None,
    },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

const WINDOW: Duration = Duration::from_millis(300);

fn probe(host: &Host) -> Result<Finding, ReadError> {
    let kind = Virtualisation::of(host);
    let before = times(host)?;
    host.wait(WINDOW);
    let after = times(host)?;
    let (always, lately) = (steal_percent(&after), steal_percent(&after.since(&before)));
    let seen = match kind {
        Virtualisation::None => format!("no hypervisor; steal {always:.1} % since the start, {lately:.1} % now"),
        kind => format!("{}; steal {always:.1} % since the start, {lately:.1} % now", kind.name()),
    };
    Ok(if kind == Virtualisation::Tcg {
        Finding::Stands { seen, wanted: "hardware acceleration (KVM), or no virtual machine".to_owned() }
    } else if always > 1.0 || lately > 2.0 {
        Finding::Stands { seen, wanted: "steal below 1 %".to_owned() }
    } else {
        Finding::Fine { seen }
    })
}

fn times(host: &Host) -> Result<CpuClasses, ReadError> {
    let text = host.read("/proc/stat")?;
    stat::parse(&text, tick_ns()).map(|stat| stat.total).ok_or_else(|| ReadError::Malformed {
        path: "/proc/stat".to_owned(),
        expected: "lines of `cpu` with eight numbers",
        got: text.chars().take(40).collect(),
    })
}

/// Of the time in which this machine wanted a CPU, the share it did not get.
fn steal_percent(times: &CpuClasses) -> f64 {
    let wanted = times.busy_ns().saturating_add(times.steal_ns);
    if wanted == 0 { 0.0 } else { times.steal_ns as f64 / wanted as f64 * 100.0 }
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        "on the machine below: pin the guest's virtual CPUs to cores of their own, and leave one for the hypervisor"
            .to_owned(),
        "under QEMU: -accel kvm -cpu host; or run takt on the machine itself".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::testing::Tree;

    fn tree(user: u64, steal: u64) -> Tree {
        Tree::new().with(
            "/proc/stat",
            &format!("cpu  {user} 0 0 1000 0 0 0 {steal} 0 0\ncpu0 {user} 0 0 1000 0 0 0 {steal} 0 0\n"),
        )
    }

    #[test]
    fn a_guest_that_gets_its_time_is_fine() {
        let tree = tree(1000, 5);
        let Finding::Fine { seen } = probe(&tree.host().under_hypervisor("KVMKVMKVM")).unwrap() else { panic!("fine") };
        assert_eq!(seen, "KVM; steal 0.5 % since the start, 0.0 % now");
    }

    #[test]
    fn stolen_time_stands_whether_old_or_new() {
        assert!(matches!(probe(&tree(1000, 50).host()).unwrap(), Finding::Stands { .. }));
        let (before, after) = (tree(100_000, 0), tree(100_090, 10));
        let found = probe(&before.host().and_later(after.root())).unwrap();
        assert!(matches!(&found, Finding::Stands { seen, .. } if seen.contains("10.0 % now")), "{found:?}");
    }

    #[test]
    fn translation_in_software_always_stands() {
        assert!(matches!(
            probe(&tree(1000, 0).host().under_hypervisor("TCGTCGTCGTCG")).unwrap(),
            Finding::Stands { .. }
        ));
    }

    #[test]
    fn a_host_that_does_not_say_is_an_error() {
        assert!(probe(&Tree::new().host()).is_err());
    }
}
