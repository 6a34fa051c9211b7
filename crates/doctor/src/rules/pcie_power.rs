//! `pcie-power`: a bus that sleeps between two datagrams.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "pcie-power",
    topic: Topic::Power,
    title: "Power saving of the bus",
    mechanism: "A PCI Express link that was put to sleep takes some microseconds to carry the card's next datagram.",
    looks_at: "`pcie_aspm/parameters/policy`. Stands for `powersave` and `powersupersave`.",
    probe,
    known: "2 to 70 µs a wake-up of the link, by the card's own word. Not measured here.",
    fix: Fix::Consent { plan, who_may_pay: "power of this machine." },
    proof: Proof::BEHIND_THE_CARD,
    ..Rule::COMMON
};

const NAME: &str = "module/pcie_aspm/parameters/policy";

fn probe(host: &Host) -> Look {
    host.read(&format!("/sys/{NAME}"))?;
    let policy = Setting::Sysfs(NAME.to_owned()).get(host).unwrap_or_default();
    if policy.starts_with("powers") { stands(policy, "performance") } else { fine(policy) }
}

fn plan(host: &Host) -> Plan {
    sysfs_becomes(host, NAME, "performance")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/sys/module/pcie_aspm/parameters/policy";

    #[test]
    fn a_bus_that_saves_power_stands() {
        assert_eq!(word(&RULE, &[(FILE, "[default] performance powersave powersupersave\n")]), "fine");
        let saving = (FILE, "default performance [powersave] powersupersave \n");
        assert_eq!(verdict(&RULE, &[saving]), ("stands", "powersave".to_owned()));
        assert_eq!(commands(&RULE, &[saving]), [format!("echo performance | sudo tee {FILE}")]);
    }
}
