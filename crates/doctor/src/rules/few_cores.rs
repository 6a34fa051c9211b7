//! `few-cores`: not enough cores for each of a radio's threads.

use takt_host::topology::Topology;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "few-cores",
    topic: Topic::Cores,
    title: "Too few cores",
    mechanism: "At a radio's full rate, receiving, transmitting and computing each keep a core busy. On fewer cores \
                they wait for one another.",
    looks_at: "The cores (not hardware threads) that are online. A problem below three.",
    probe,
    known: "A datagram path carried 200 thousand datagrams per second with both ends on one CPU, and 289 thousand on \
            two CPUs (veth, Linux 6.18). Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "use a host or virtual machine with more cores, or a lower rate, one direction at a time",
    ])),
    ..Rule::COMMON
};

const NEEDED: usize = 3;

fn probe(host: &Host) -> Look {
    let topology = Topology::read(host)?;
    let all: Vec<usize> = topology.cpus.iter().map(|cpu| cpu.id).collect();
    let cores = topology.cores(&all).len();
    let observed = format!("{cores} {}", if cores == 1 { "core" } else { "cores" });
    if cores < NEEDED { problem(observed, format!("{NEEDED} cores")) } else { fine(observed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONLINE: &str = "/sys/devices/system/cpu/online";

    #[test]
    fn fewer_than_three_cores_are_a_problem_however_many_threads_they_have() {
        assert_eq!(word(&RULE, &[(ONLINE, "0-2\n")]), "fine");
        assert_eq!(verdict(&RULE, &[(ONLINE, "0\n")]), ("problem", "1 core".to_owned()));
        let pair = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let paths = [pair(0), pair(1), pair(2), pair(3)];
        let mut files: Vec<(&str, &str)> =
            paths.iter().zip(["0-1\n", "0-1\n", "2-3\n", "2-3\n"]).map(|(path, text)| (path.as_str(), text)).collect();
        files.push((ONLINE, "0-3\n"));
        assert_eq!(verdict(&RULE, &files), ("problem", "2 cores".to_owned()));
    }
}
