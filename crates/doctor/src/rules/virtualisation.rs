//! `virtualisation`: a hypervisor runs something else while a radio waits.

use std::time::Duration;

use takt_host::accounting::CpuClasses;
use takt_host::fingerprint::Virtualisation;
use takt_host::proc::stat;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "virtualisation",
    topic: Topic::Virtual,
    title: "Time taken by a hypervisor",
    mechanism: "A virtual CPU that the hypervisor does not run does nothing, whatever the priority inside the guest. \
                The guest's clocks do not stop for it.",
    looks_at: "The hypervisor, if any, and the share of CPU time that it took (steal), since boot and over a third of \
               a second. A problem above 1 % since boot or 2 % now, and always under QEMU without \
               acceleration.",
    probe,
    known: "QEMU without acceleration carried 15 to 33 % of the native datagram rate, with more CPU time per datagram; \
            KVM was not measured. Steal is lost time: 1 % of it in one piece is 10 ms of every second.",
    fix: Fix::Advice(Instructions::Always(&[
        "on the hypervisor's host: pin the guest's virtual CPUs to their own cores, and leave one core for the \
         hypervisor",
        "under QEMU: use -accel kvm -cpu host; or run takt outside the virtual machine",
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
    let observed = format!("{below}; steal {always:.1} % since boot, {lately:.1} % now");
    if kind == Virtualisation::Tcg {
        problem(observed, "hardware acceleration (KVM), or no virtual machine")
    } else if always > 1.0 || lately > 2.0 {
        problem(observed, "steal below 1 %")
    } else {
        fine(observed)
    }
}

/// The share of the wanted CPU time that this machine did not get.
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
    fn a_guest_is_a_problem_if_its_time_is_stolen_or_it_is_translated() {
        let observed = "KVM; steal 0.5 % since boot, 0.0 % now".to_owned();
        assert_eq!(found(&RULE, &tree(1000, 5).host().under_hypervisor("KVMKVMKVM")), ("fine", observed));
        assert_eq!(found(&RULE, &tree(1000, 50).host()).0, "problem");
        let (before, after) = (tree(100_000, 0), tree(100_090, 10));
        let (verdict, observed) = found(&RULE, &before.host().and_later(after.root()));
        assert!(verdict == "problem" && observed.contains("10.0 % now"), "{observed}");
        assert_eq!(found(&RULE, &tree(1000, 0).host().under_hypervisor("TCGTCGTCGTCG")).0, "problem");
        assert!(probe(&Tree::new().host()).is_err());
    }
}
