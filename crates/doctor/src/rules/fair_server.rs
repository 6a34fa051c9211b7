//! `fair-server`: time that ordinary threads get from real-time ones.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "fair-server",
    topic: Topic::Kernel,
    title: "Time kept for ordinary threads",
    mechanism: "Where ordinary threads wait on a CPU that a real-time thread never leaves, the kernel gives them some of every \
                second; a polling driver stands still meanwhile, whatever its priority and whatever rt-throttling says.",
    looks_at: "`fair_server/cpuN/runtime` and `period` in the scheduler's debugfs. Never stands: takt's threads sleep and do \
               not meet it; more than none is noted.",
    kernels: KernelRange::from(6, 12),
    probe,
    known: "50 ms of each second, by default, on a CPU where another thread waits; nothing where none does. Not measured \
            here; `--prove` does.",
    fix: Fix::Consent {
        plan,
        who_may_pay: "ordinary threads of those CPUs, the kernel's own among them: beside a real-time thread that never \
                      sleeps they get nothing, and the machine may hang.",
    },
    proof: Proof::By(Measure::SpinGap),
    ..Rule::COMMON
};

const FOLDER: &str = "kernel/debug/sched/fair_server";

/// CPUs with what is kept of each period there, ns.
fn kept(host: &Host) -> Result<Vec<(usize, i64, i64)>, ReadError> {
    let of = |cpu: usize| {
        let number = |file| host.read_number(&format!("/sys/{FOLDER}/cpu{cpu}/{file}"));
        Ok((cpu, number("runtime")?, number("period")?))
    };
    online(host)?.into_iter().map(of).collect()
}

fn probe(host: &Host) -> Look {
    online(host)?;
    if host.list(&format!("/sys/{FOLDER}")).is_empty() {
        return hidden("not shown; kernels that have it show it to root in debugfs, where that is mounted");
    }
    let kept: Vec<(usize, i64, i64)> = kept(host)?.into_iter().filter(|&(_, runtime, _)| runtime > 0).collect();
    let Some(&(_, runtime, period)) = kept.first() else { return fine("none kept") };
    let cpus: Vec<usize> = kept.iter().map(|&(cpu, ..)| cpu).collect();
    notice(
        format!("{} of {} µs on {}", runtime / 1000, period / 1000, named(&cpus)),
        "only real-time threads that never sleep meet it (polling drivers under FIFO)",
    )
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for (cpu, ..) in kept(host).unwrap_or_default().into_iter().filter(|&(_, runtime, _)| runtime > 0) {
        changes.extend(becomes(host, Setting::Sysfs(format!("{FOLDER}/cpu{cpu}/runtime")), "0")?);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_kept_is_noted_and_given_up_by_name() {
        let online = ("/sys/devices/system/cpu/online", "0-1\n");
        let at = |cpu, file| format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/{file}");
        let paths = [at(0, "runtime"), at(0, "period"), at(1, "runtime"), at(1, "period")];
        let of = |first, second| {
            let texts = [first, "1000000000\n", second, "1000000000\n"];
            let mut files: Vec<(&str, &str)> = paths.iter().map(String::as_str).zip(texts).collect();
            files.push(online);
            files
        };
        let usual = of("50000000\n", "0\n");
        assert_eq!(verdict(&RULE, &usual), ("notice", "50000 of 1000000 µs on CPU 0".to_owned()));
        assert_eq!(commands(&RULE, &usual), [format!("echo 0 | sudo tee {}", paths[0])]);
        assert_eq!(word(&RULE, &of("0\n", "0\n")), "fine");
        assert_eq!(word(&RULE, &of("0\n", "much\n")), "hidden");
        assert_eq!(word(&RULE, &[online]), "hidden");
        assert_eq!(commands(&RULE, &[online]), Vec::<String>::new());
    }
}
