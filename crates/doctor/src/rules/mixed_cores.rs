//! `mixed-cores`: large and small cores in one machine.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "mixed-cores",
    topic: Topic::Processors,
    title: "Large and small cores",
    mechanism: "A thread that the scheduler puts on a small core takes twice as long for a slot's work as it did a moment \
                before on a large one.",
    looks_at: "`cpu_capacity` of each CPU, else `/sys/devices/cpu_atom/cpus`. Never stands: it is a question of placing; \
               cores of several kinds are noted.",
    probe,
    known: "Not measured here: takt's developers had no such machine.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

/// CPUs that are smaller than the largest; `None` if nothing says.
fn small(host: &Host) -> Result<Option<Vec<usize>>, ReadError> {
    if let Ok(atoms) = cpus(host, "/sys/devices/cpu_atom/cpus") {
        return Ok(Some(atoms));
    }
    let capacities: Vec<(usize, u32)> = of_each_cpu(host, "cpu_capacity")?
        .into_iter()
        .filter_map(|(cpu, text)| Some((cpu, text.parse().ok()?)))
        .collect();
    let Some(largest) = capacities.iter().map(|&(_, capacity)| capacity).max() else { return Ok(None) };
    Ok(Some(capacities.into_iter().filter(|&(_, capacity)| capacity < largest).map(|(cpu, _)| cpu).collect()))
}

fn probe(host: &Host) -> Look {
    match small(host)? {
        None => hidden("this kernel does not say how large its cores are"),
        Some(small) if small.is_empty() => fine("all cores are alike"),
        Some(small) => {
            notice(format!("smaller than the others: {}", named(&small)), "keep a radio's threads on the large ones")
        }
    }
}

fn advise(host: &Host) -> Vec<String> {
    let small = small(host).ok().flatten().unwrap_or_default();
    let large: Vec<usize> = online(host).unwrap_or_default().into_iter().filter(|cpu| !small.contains(cpu)).collect();
    vec![format!("--cores {}   (the large ones)", cpu_list::format(&large))]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-1\n");

    #[test]
    fn small_cores_are_named_by_either_sign() {
        let first = ("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n");
        let second = "/sys/devices/system/cpu/cpu1/cpu_capacity";
        assert_eq!(word(&RULE, &[ONLINE, first, (second, "1024\n")]), "fine");
        let little = [ONLINE, first, (second, "446\n")];
        assert_eq!(verdict(&RULE, &little), ("notice", "smaller than the others: CPU 1".to_owned()));
        assert!(commands(&RULE, &little)[0].starts_with("--cores 0 "));
        assert_eq!(word(&RULE, &[ONLINE, ("/sys/devices/cpu_atom/cpus", "1\n")]), "notice");
        assert_eq!(word(&RULE, &[ONLINE]), "hidden");
    }
}
