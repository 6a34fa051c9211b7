//! `smt-siblings`: two CPUs that are one core.

use takt_host::topology::Topology;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "smt-siblings",
    topic: Topic::Processors,
    title: "Two CPUs that share a core",
    mechanism: "What runs on the other hardware thread of a core takes a share of its execution units, so a slot's work takes \
                longer whenever the neighbour is busy.",
    looks_at: "`topology/thread_siblings_list` of each online CPU. Never stands: it is a question of placing; shared cores \
               are noted.",
    probe,
    known: "Not measured here: takt's developers had only virtual machines, which show each CPU as a core of its own.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

fn pairs(host: &Host) -> Result<Vec<Vec<usize>>, ReadError> {
    let mut shared: Vec<Vec<usize>> = Topology::read(host)?.cpus.into_iter().map(|cpu| cpu.core).collect();
    shared.retain(|core| core.len() > 1);
    shared.dedup();
    shared.sort();
    shared.dedup();
    Ok(shared)
}

fn probe(host: &Host) -> Look {
    let shared = pairs(host)?;
    let Some(first) = shared.first() else {
        return fine("each CPU is a core of its own, as far as this kernel shows");
    };
    let listed = cpu_list::format(first);
    notice(
        format!("{} cores of several CPUs each, such as {listed}", shared.len()),
        "place a radio's threads on CPUs of different cores, and leave their neighbours idle",
    )
}

fn advise(host: &Host) -> Vec<String> {
    let first: Vec<usize> = pairs(host).unwrap_or_default().iter().filter_map(|core| core.first().copied()).collect();
    vec![
        format!("--cores {}   (the first CPU of each core)", cpu_list::format(&first)),
        "echo off | sudo tee /sys/devices/system/cpu/smt/control   (one CPU a core; `on` undoes it)".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-3\n");

    #[test]
    fn cores_of_two_cpus_are_noted_and_one_cpu_of_each_is_named() {
        let files: Vec<(String, &str)> = [(0, "0,2\n"), (1, "1,3\n"), (2, "0,2\n"), (3, "1,3\n")]
            .map(|(cpu, list)| (format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), list))
            .into();
        let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push(ONLINE);
        assert_eq!(verdict(&RULE, &files), ("notice", "2 cores of several CPUs each, such as 0,2".to_owned()));
        assert!(commands(&RULE, &files)[0].starts_with("--cores 0-1 "));
        assert_eq!(word(&RULE, &[ONLINE]), "fine");
    }
}
