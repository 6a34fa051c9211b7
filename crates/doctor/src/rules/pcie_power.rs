//! `pcie-power`: the bus sleeps between two datagrams.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "pcie-power",
    topic: Topic::Power,
    title: "PCI Express power saving",
    mechanism: "A PCI Express link that is asleep takes some microseconds before it carries the card's next datagram.",
    looks_at: "`pcie_aspm/parameters/policy`. A problem for `powersave` and `powersupersave`.",
    probe,
    known: "2 to 70 µs per wake-up of the link, as cards state. Not measured on this host.",
    fix: Fix::Consent { plan, affects: "power consumption of this host." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const NAME: &str = "module/pcie_aspm/parameters/policy";

fn probe(host: &Host) -> Look {
    host.read(&format!("/sys/{NAME}"))?;
    let policy = Setting::Sysfs(NAME.to_owned()).get(host).unwrap_or_default();
    if policy.starts_with("powers") { problem(policy, "performance") } else { fine(policy) }
}

fn plan(host: &Host) -> Plan {
    sysfs_becomes(host, NAME, "performance")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/sys/module/pcie_aspm/parameters/policy";

    #[test]
    fn a_bus_that_saves_power_is_a_problem() {
        assert_eq!(word(&RULE, &[(FILE, "[default] performance powersave powersupersave\n")]), "fine");
        let saving = (FILE, "default performance [powersave] powersupersave \n");
        assert_eq!(verdict(&RULE, &[saving]), ("problem", "powersave".to_owned()));
        assert_eq!(commands(&RULE, &[saving]), [format!("echo performance | sudo tee {FILE}")]);
    }
}
