//! `numa`: memory on another socket.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "numa",
    topic: Topic::Memory,
    title: "Card and threads on different sockets",
    mechanism: "Datagrams are in the memory of the card's socket. A thread on another socket fetches each cache line \
                across the link between the two.",
    looks_at: "The NUMA node of each card, and the nodes of the CPUs this process may use. A problem if none of them \
               is the card's node.",
    probe,
    known: "About 100 ns more per cache line. Not measured: takt's developers had only machines with one node.",
    fix: Fix::Advice(Instructions::Always(&[
        "start the program on the card's node: numactl --cpunodebind=NODE --membind=NODE, or --cores",
    ])),
    ..Rule::COMMON
};

const NODES: &str = "/sys/devices/system/node";

fn nodes(host: &Host) -> Result<Vec<(i64, Vec<usize>)>, ReadError> {
    let names = host.list(NODES);
    let numbers = names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok());
    numbers.map(|node: i64| Ok((node, cpus(host, &format!("{NODES}/node{node}/cpulist"))?))).collect()
}

fn probe(host: &Host) -> Look {
    let nodes = nodes(host)?;
    if nodes.is_empty() {
        return hidden("this kernel shows no NUMA nodes");
    }
    if nodes.len() == 1 {
        return fine("one node");
    }
    let allowed = allowed(host)?;
    each_card(host, |card| {
        let at = host.read_number(&format!("{NET}/{card}/device/numa_node"))?;
        let Some((_, near)) = nodes.iter().find(|(node, _)| *node == at) else {
            return hidden(format!("the card's node is {at}"));
        };
        if near.iter().any(|cpu| allowed.contains(cpu)) {
            fine(format!("node {at}, with {}", named(near)))
        } else {
            problem(format!("node {at}, whose CPUs this process may not use"), named(near))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE0: (&str, &str) = ("/sys/devices/system/node/node0/cpulist", "0-1\n");
    const NODE1: (&str, &str) = ("/sys/devices/system/node/node1/cpulist", "2-3\n");
    const CARD: (&str, &str) = ("/sys/class/net/eth0/device/numa_node", "1\n");

    #[test]
    fn a_card_out_of_reach_is_a_problem() {
        let of = |cpus: &str| format!("Cpus_allowed_list:\t{cpus}\n");
        let status = "/proc/self/status";
        assert_eq!(verdict(&RULE, &[NODE0]), ("fine", "one node".to_owned()));
        assert_eq!(word(&RULE, &[NODE0, NODE1, UP, CARD, (status, &of("0-3"))]), "fine");
        let (word_, observed) = verdict(&RULE, &[NODE0, NODE1, UP, CARD, (status, &of("0-1"))]);
        assert_eq!((word_, observed.as_str()), ("problem", "eth0: node 1, whose CPUs this process may not use"));
        assert_eq!(word(&RULE, &[NODE0, NODE1, UP, (CARD.0, "-1\n"), (status, &of("0-1"))]), "hidden");
        assert_eq!(word(&RULE, &[NODE0, NODE1, (status, &of("0-1"))]), "hidden");
    }
}
