//! `vm-network`: a network card that a hypervisor plays chip by chip.

use takt_host::fingerprint::Virtualisation;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "vm-network",
    topic: Topic::Virtual,
    title: "Emulated network card",
    mechanism: "An emulated chip costs the guest an exit to the hypervisor at every register it touches; a paravirtual card, \
                or one handed through, does not.",
    looks_at: "The driver of each card in a virtual machine. Stands for e1000, e1000e, rtl8139, pcnet32 and ne2k.",
    probe,
    known: "Not measured here. Even with a paravirtual card, under QEMU without acceleration, a guest took in 57 to 70 \
            thousand datagrams a second where the host did 210 thousand.",
    fix: Fix::Advice(Ways::Always(&[
        "under QEMU: -netdev tap,id=n,vhost=on -device virtio-net-pci,netdev=n, or -device vfio-pci for a card of \
         its own",
    ])),
    ..Rule::COMMON
};

const EMULATED: [&str; 6] = ["e1000", "e1000e", "8139cp", "8139too", "pcnet32", "ne2k-pci"];

fn probe(host: &Host) -> Look {
    let machine = Virtualisation::of(host);
    if machine == Virtualisation::None {
        // The processor says so in /proc/cpuinfo, or the firmware; without that file nobody knows.
        host.read("/proc/cpuinfo")?;
        return fine("not a virtual machine, as far as its processor and its firmware say");
    }
    each_card(host, |card| {
        let path = format!("{NET}/{card}/device/uevent");
        let text = host.read(&path)?;
        let driver = text.lines().find_map(|line| line.strip_prefix("DRIVER="));
        let driver = driver.ok_or_else(|| malformed(&path, "a line DRIVER=", &text))?;
        if driver.is_empty() {
            hidden("its driver has no name")
        } else if EMULATED.contains(&driver) {
            stands(driver, "virtio, or a card handed through")
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
            "stands"
        );
    }

    #[test]
    fn an_emulated_chip_stands() {
        let card = |driver| ("/sys/class/net/eth0/device/uevent", driver);
        assert_eq!(word(&RULE, &[GUEST, UP, card("DRIVER=virtio_net\n")]), "fine");
        assert_eq!(verdict(&RULE, &[GUEST, UP, card("DRIVER=e1000\n")]), ("stands", "eth0: e1000".to_owned()));
        assert_eq!(word(&RULE, &[("/proc/cpuinfo", "flags : fpu\n"), UP, card("DRIVER=e1000\n")]), "fine");
        assert_eq!(word(&RULE, &[GUEST, UP, card("X=\n")]), "hidden");
    }
}
