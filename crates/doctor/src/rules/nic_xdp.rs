//! `nic-xdp`: whether the driver hands frames over before the kernel's own path.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "nic-xdp",
    topic: Topic::Network,
    title: "Driver without XDP",
    mechanism: "AF_XDP (takt's engine `xdp`) takes datagrams from the driver before the kernel's own path; with a driver that has no \
                part in it, it works by copying and gains less.",
    looks_at: "The driver of each card, against the list of those that hand over their own memory. Never stands: sockets \
               carry an N200 at full rate.",
    probe,
    known: "By copying 1.3 times the datagrams of 1472 bytes that engine `socket` carries, 1.5 times those of 64 (veth, Linux \
            6.18); without copying not measured.",
    fix: Fix::Advice(Ways::Always(&["a card of one of the drivers ice, i40e, ixgbe, igc, mlx5_core"])),
    ..Rule::COMMON
};

/// Drivers in the kernel that answer XDP_SETUP_XSK_POOL (zero copy), some since lately only: gve since Linux 6.4,
/// virtio_net since 6.11, igb since 6.14, idpf since 6.18. stmmac is the core of two drivers.
const ZERO_COPY: [&str; 14] = [
    "ice",
    "i40e",
    "ixgbe",
    "igb",
    "igc",
    "idpf",
    "mlx5_core",
    "nfp",
    "gve",
    "virtio_net",
    "stmmaceth",
    "intel-eth-pci",
    "fsl_dpaa2_eth",
    "tsnep",
];

fn driver(host: &Host, card: &str) -> Result<String, ReadError> {
    let path = format!("{NET}/{card}/device/uevent");
    let text = host.read(&path)?;
    let name = text.lines().find_map(|line| line.strip_prefix("DRIVER="));
    name.map(str::to_owned).ok_or_else(|| malformed(&path, "a line DRIVER=", &text))
}

fn probe(host: &Host) -> Look {
    each_card(host, |card| {
        let driver = driver(host, card)?;
        if ZERO_COPY.contains(&driver.as_str()) {
            fine(format!("{driver}, which can hand over its own memory on kernels new enough"))
        } else {
            notice(format!("{driver}, which is not known to hand over its own memory"), "AF_XDP copies there")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_told_apart() {
        let file = "/sys/class/net/eth0/device/uevent";
        assert_eq!(word(&RULE, &[UP, (file, "DRIVER=igc\nPCI_ID=8086\n")]), "fine");
        assert_eq!(word(&RULE, &[UP, (file, "DRIVER=r8169\n")]), "notice");
        assert_eq!(word(&RULE, &[UP, (file, "PCI_ID=8086\n")]), "hidden");
    }
}
