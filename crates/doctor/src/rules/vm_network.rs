//! `vm-network`: a network card that a hypervisor emulates.

use takt_host::fingerprint::Virtualisation;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "vm-network",
    topic: Topic::Virtual,
    title: "Emulated network card",
    mechanism: "With an emulated chip, every register access makes the guest exit to the hypervisor. A paravirtual \
                card, or one that is passed through, avoids this.",
    looks_at: "The driver of each card in a virtual machine. A problem for e1000, e1000e, rtl8139, pcnet32 and ne2k.",
    probe,
    known: "Not measured. Even with a paravirtual card, a guest under QEMU without acceleration received 57 to 70 \
            thousand datagrams per second; the host received 210 thousand.",
    fix: Fix::Advice(Instructions::Always(&[
        "under QEMU: use -netdev tap,id=n,vhost=on -device virtio-net-pci,netdev=n, or -device vfio-pci for its own card",
    ])),
    ..Rule::COMMON
};

const EMULATED: [&str; 6] = ["e1000", "e1000e", "8139cp", "8139too", "pcnet32", "ne2k-pci"];

fn probe(host: &Host) -> Look {
    let machine = Virtualisation::of(host);
    if machine == Virtualisation::None {
        // The CPU says so in /proc/cpuinfo, or the firmware does; without that file it is not known.
        host.read("/proc/cpuinfo")?;
        return fine("not a virtual machine, as far as the CPU and the firmware say");
    }
    each_card(host, |card| {
        let path = format!("{NET}/{card}/device/uevent");
        let text = host.read(&path)?;
        let driver = text.lines().find_map(|line| line.strip_prefix("DRIVER="));
        let driver = driver.ok_or_else(|| malformed(&path, "a line DRIVER=", &text))?;
        if driver.is_empty() {
            hidden("its driver has no name")
        } else if EMULATED.contains(&driver) {
            problem(driver, "virtio, or a passed-through card")
        } else {
            fine(driver)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: (&str, &str) = ("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");

    #[test]
    fn a_guest_on_arm_is_one_by_its_firmware() {
        let arm = [("/proc/cpuinfo", "Features\t: fp asimd\n"), ("/sys/class/dmi/id/sys_vendor", "QEMU\n")];
        assert_eq!(
            word(&RULE, &[arm[0], arm[1], UP, ("/sys/class/net/eth0/device/uevent", "DRIVER=e1000\n")]),
            "problem"
        );
    }

    #[test]
    fn an_emulated_chip_is_a_problem() {
        let card = |driver| ("/sys/class/net/eth0/device/uevent", driver);
        assert_eq!(word(&RULE, &[GUEST, UP, card("DRIVER=virtio_net\n")]), "fine");
        assert_eq!(verdict(&RULE, &[GUEST, UP, card("DRIVER=e1000\n")]), ("problem", "eth0: e1000".to_owned()));
        assert_eq!(word(&RULE, &[("/proc/cpuinfo", "flags : fpu\n"), UP, card("DRIVER=e1000\n")]), "fine");
        assert_eq!(word(&RULE, &[GUEST, UP, card("X=\n")]), "hidden");
    }
}
