//! `halt-poll`: an idle CPU of a guest goes back to the hypervisor.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "halt-poll",
    topic: Topic::Virtual,
    title: "Idle CPUs of a guest",
    mechanism: "An idle CPU of a guest halts, which returns it to the hypervisor. The thread that waits for the next \
                slot starts only when the hypervisor runs that CPU again.",
    looks_at: "If `cpuidle` uses the governor haltpoll: `guest_halt_poll_ns`, the time that a CPU looks for work \
               before it halts. A problem below 10 ms, a radio's longest slot: a shorter poll ends before the slot \
               does.",
    probe,
    known: "99 % of the wake-ups came within 58 to 171 µs with 10 ms, and within 96 to 1177 µs with 0. Measured with \
            `takt wakeup --policy fifo:80 -D 4s -i 1ms -a 3` in a guest of a busy host, in four alternating rounds of \
            each.",
    fix: Fix::Consent { plan, affects: "the hypervisor's other guests, and power: idle CPUs look busy from outside." },
    proof: Proof::By(Measure::WakeUp),
    ..Rule::COMMON
};

const POLL: &str = "module/haltpoll/parameters/guest_halt_poll_ns";
/// A radio's longest slot.
const LONGEST_SLOT_NS: i64 = 10_000_000;

fn probe(host: &Host) -> Look {
    let governor = text(host, &format!("/sys/{CPUS}/cpuidle/current_governor"));
    match governor.as_deref() {
        Ok("haltpoll") => {}
        Ok(other) => return fine(format!("the governor is {other}")),
        Err(_) => return hidden("this kernel shows no cpuidle governor"),
    }
    let poll_ns = host.read_number(&format!("/sys/{POLL}"))?;
    let observed = format!("idle CPUs look for work for {} µs, then halt", poll_ns / 1000);
    if poll_ns < LONGEST_SLOT_NS { problem(observed, "10000 µs") } else { fine(observed) }
}

fn plan(host: &Host) -> Plan {
    sysfs_becomes(host, POLL, &LONGEST_SLOT_NS.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: (&str, &str) = ("/sys/devices/system/cpu/cpuidle/current_governor", "haltpoll\n");
    const NS: &str = "/sys/module/haltpoll/parameters/guest_halt_poll_ns";

    #[test]
    fn a_guest_that_halts_before_its_next_slot_is_a_problem() {
        let observed = "idle CPUs look for work for 200 µs, then halt".to_owned();
        assert_eq!(verdict(&RULE, &[GUEST, (NS, "200000\n")]), ("problem", observed));
        assert_eq!(word(&RULE, &[GUEST, (NS, "0\n")]), "problem");
        assert_eq!(word(&RULE, &[GUEST, (NS, "10000000\n")]), "fine");
        assert_eq!(word(&RULE, &[(GUEST.0, "menu\n"), (NS, "0\n")]), "fine");
        assert_eq!(word(&RULE, &[(NS, "0\n")]), "hidden");
        assert_eq!(commands(&RULE, &[(NS, "0\n")]), [format!("echo 10000000 | sudo tee {NS}")]);
    }
}
