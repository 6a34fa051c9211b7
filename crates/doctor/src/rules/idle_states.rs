//! `idle-states`: deep sleep from which a CPU takes long to wake.

use takt_host::idle::latency_limit_us;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "idle-states",
    topic: Topic::Power,
    title: "Deep idle states",
    mechanism: "A CPU in deep sleep between two slots needs its exit latency to wake. The thread that waits for the \
                slot starts that much later.",
    looks_at: "`cpuidle/state*/latency` of each CPU, for states that are not disabled. A problem if any takes more \
               than 20 µs. A notice if another program keeps the CPUs out of these states (`/dev/cpu_dma_latency`, \
               which only root can read).",
    probe,
    known: "The latency that the kernel states, at each wake-up from that state. Not measured on this host; `--prove` \
            measures it.",
    fix: Fix::Consent { plan, affects: "power and heat, and the turbo clock of other cores." },
    proof: Proof::By(Measure::WakeUp),
    ..Rule::COMMON
};

const MOST_US: i64 = 20;

struct State {
    folder: String,
    name: String,
    latency_us: i64,
    disabled: bool,
}

fn states(host: &Host) -> Result<Vec<State>, ReadError> {
    let mut states = Vec::new();
    for cpu in online(host)? {
        let above = format!("{CPUS}/cpu{cpu}/cpuidle");
        for state in host.list(&format!("/sys/{above}")).into_iter().filter(|name| name.starts_with("state")) {
            let folder = format!("{above}/{state}");
            let latency_us = host.read_number(&format!("/sys/{folder}/latency"))?;
            let disabled = host.read_number(&format!("/sys/{folder}/disable"))? != 0;
            let name = host.read_opt(&format!("/sys/{folder}/name")).unwrap_or(state);
            states.push(State { folder, name, latency_us, disabled });
        }
    }
    Ok(states)
}

fn probe(host: &Host) -> Look {
    let states = states(host)?;
    if states.is_empty() {
        return hidden("this kernel shows no idle states");
    }
    let Some(deepest) = states.iter().filter(|state| !state.disabled).max_by_key(|state| state.latency_us) else {
        return fine("all disabled");
    };
    let observed = format!("the deepest is {}, exit latency {} µs", deepest.name, deepest.latency_us);
    if deepest.latency_us <= MOST_US {
        return fine(observed);
    }
    match latency_limit_us(host).filter(|&limit| i64::from(limit) <= MOST_US) {
        Some(limit) => notice(
            format!("{observed}; a limit of {limit} µs keeps CPUs out of it"),
            "another program sets this limit, for as long as it runs",
        ),
        None => problem(observed, format!("at most {MOST_US} µs")),
    }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    let slow = |state: &State| state.latency_us > MOST_US && !state.disabled;
    for state in states(host).unwrap_or_default().into_iter().filter(slow) {
        changes.extend(becomes(host, Setting::Sysfs(format!("{}/disable", state.folder)), "1")?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0\n");

    fn of<'a>(latency: &'a str, disable: &'a str) -> [(&'a str, &'a str); 4] {
        [
            ONLINE,
            ("/sys/devices/system/cpu/cpu0/cpuidle/state3/latency", latency),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state3/disable", disable),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6\n"),
        ]
    }

    #[test]
    fn a_deep_state_is_a_problem_and_is_disabled() {
        assert_eq!(word(&RULE, &of("10\n", "0\n")), "fine");
        let observed = "the deepest is C6, exit latency 133 µs".to_owned();
        assert_eq!(verdict(&RULE, &of("133\n", "0\n")), ("problem", observed));
        let command = "echo 1 | sudo tee /sys/devices/system/cpu/cpu0/cpuidle/state3/disable";
        assert_eq!(commands(&RULE, &of("133\n", "0\n")), [command]);
        assert_eq!(word(&RULE, &of("133\n", "1\n")), "fine");
        assert_eq!(word(&RULE, &[ONLINE]), "hidden");
    }

    #[test]
    fn a_deep_state_that_another_program_keeps_cpus_out_of_is_noted() {
        let (tree, host) = host_of(&of("133\n", "0\n"));
        let limited = |us: i32| {
            tree.put_bytes("/dev/cpu_dma_latency", &us.to_ne_bytes());
            found(&RULE, &host)
        };
        assert_eq!(limited(2_000_000_000).0, "problem");
        let (word, observed) = limited(2);
        assert!(word == "notice" && observed.contains("limit of 2 µs"), "{observed}");
    }
}
