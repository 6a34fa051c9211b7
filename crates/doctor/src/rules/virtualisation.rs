//! `virtualisation`: a hypervisor that runs something else while a radio waits.

use std::time::Duration;

use takt_host::accounting::CpuClasses;
use takt_host::fingerprint::Virtualisation;
use takt_host::proc::stat;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "virtualisation",
    topic: Topic::Virtual,
    title: "Time taken by a hypervisor",
    mechanism: "A virtual CPU that the hypervisor has put aside does nothing, whatever its priority inside, and no clock of \
                the guest stops for it.",
    looks_at: "What runs below the kernel, and the share of wanted CPU time that it took (steal), since the start and over \
               a third of a second. Stands above 1 % and 2 %, and under QEMU without acceleration always.",
    probe,
    known: "QEMU without acceleration carried 15 to 33 % of the native datagram rate at more CPU a datagram; KVM was \
            not measured. Steal is lost time: 1 % of it in one piece is 10 ms of every second.",
    fix: Fix::Advice(Ways::Always(&[
        "on the machine below: pin the guest's virtual CPUs to cores of their own, and leave one for the hypervisor",
        "under QEMU: -accel kvm -cpu host; or run takt on the machine itself",
    ])),
    ..Rule::COMMON
};

const WINDOW: Duration = Duration::from_millis(300);

fn probe(host: &Host) -> Look {
    let kind = Virtualisation::of(host);
    let before = stat::read(host)?.total;
    host.wait(WINDOW);
    let after = stat::read(host)?.total;
    let (always, lately) = (steal_percent(&after), steal_percent(&after.since(&before)));
    let below = if kind == Virtualisation::None { "no hypervisor" } else { kind.name() };
    let observed = format!("{below}; steal {always:.1} % since the start, {lately:.1} % now");
    if kind == Virtualisation::Tcg {
        stands(observed, "hardware acceleration (KVM), or no virtual machine")
    } else if always > 1.0 || lately > 2.0 {
        stands(observed, "steal below 1 %")
    } else {
        fine(observed)
    }
}

/// Of the time in which this machine wanted a CPU, the share it did not get.
fn steal_percent(times: &CpuClasses) -> f64 {
    let wanted = times.busy_ns().saturating_add(times.steal_ns);
    if wanted == 0 { 0.0 } else { times.steal_ns as f64 / wanted as f64 * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(user: u64, steal: u64) -> Tree {
        let times = format!("{user} 0 0 1000 0 0 0 {steal} 0 0");
        Tree::new().with("/proc/stat", &format!("cpu  {times}\ncpu0 {times}\n"))
    }

    #[test]
    fn a_guest_stands_if_its_time_is_stolen_or_it_is_translated() {
        let observed = "KVM; steal 0.5 % since the start, 0.0 % now".to_owned();
        assert_eq!(found(&RULE, &tree(1000, 5).host().under_hypervisor("KVMKVMKVM")), ("fine", observed));
        assert_eq!(found(&RULE, &tree(1000, 50).host()).0, "stands");
        let (before, after) = (tree(100_000, 0), tree(100_090, 10));
        let (verdict, observed) = found(&RULE, &before.host().and_later(after.root()));
        assert!(verdict == "stands" && observed.contains("10.0 % now"), "{observed}");
        assert_eq!(found(&RULE, &tree(1000, 0).host().under_hypervisor("TCGTCGTCGTCG")).0, "stands");
        assert!(probe(&Tree::new().host()).is_err());
    }
}
