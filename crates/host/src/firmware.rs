//! Facts of a machine's firmware about a hypervisor, where no instruction of the processor tells it. An ARM has no
//! CPUID, and its `/proc/cpuinfo` no flag. The device tree and the tables of the BIOS (DMI) are where
//! `systemd-detect-virt` looks too.

use serde::{Deserialize, Serialize};

use crate::host::Host;

/// The hypervisor below a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Virtualisation {
    None,
    Kvm,
    /// QEMU translating instructions in software.
    Tcg,
    Xen,
    HyperV,
    Vmware,
    VirtualBox,
    /// A hypervisor that does not say its name, or one not in this list.
    Other,
}

const OF_HYPERVISOR: &str = "/proc/device-tree/hypervisor/compatible";
const OF_MACHINE: &str = "/proc/device-tree/compatible";
const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
const PRODUCT: &str = "/sys/class/dmi/id/product_name";

/// Starts of what makers of virtual machines write, as vendor or as product.
const MAKERS: [(&str, Virtualisation); 14] = [
    ("KVM", Virtualisation::Kvm),
    ("Amazon EC2", Virtualisation::Kvm),
    ("Google Compute Engine", Virtualisation::Kvm),
    ("OpenStack", Virtualisation::Kvm),
    ("KubeVirt", Virtualisation::Kvm),
    ("Xen", Virtualisation::Xen),
    ("Virtual Machine", Virtualisation::HyperV),
    ("VMware", Virtualisation::Vmware),
    ("innotek GmbH", Virtualisation::VirtualBox),
    ("VirtualBox", Virtualisation::VirtualBox),
    // They run guests by several means, and don't say by which.
    ("QEMU", Virtualisation::Other),
    ("Parallels", Virtualisation::Other),
    ("BHYVE", Virtualisation::Other),
    ("Apple Virtualization", Virtualisation::Other),
];

/// `None`: it says nothing of one.
pub(crate) fn hypervisor(host: &Host) -> Option<Virtualisation> {
    of_device_tree(host).or_else(|| of_dmi(host))
}

fn of_device_tree(host: &Host) -> Option<Virtualisation> {
    if let Some(kinds) = host.read_opt(OF_HYPERVISOR) {
        let names = [("kvm", Virtualisation::Kvm), ("xen", Virtualisation::Xen), ("vmware", Virtualisation::Vmware)];
        let named = names.into_iter().find(|(name, _)| kinds.contains(name));
        return Some(named.map_or(Virtualisation::Other, |(_, kind)| kind));
    }
    // The machine `virt` of QEMU and of those that took it over.
    let virt = host.read_opt(OF_MACHINE)?.split('\0').any(|machine| machine == "linux,dummy-virt");
    virt.then_some(Virtualisation::Other)
}

fn of_dmi(host: &Host) -> Option<Virtualisation> {
    let product = host.read_opt(PRODUCT).unwrap_or_default();
    // A machine that is rented whole has the same vendor as a part of one.
    if product.contains(".metal") {
        return None;
    }
    let vendor = host.read_opt(VENDOR).unwrap_or_default();
    // QEMU is the vendor, and the product says whether KVM executes.
    [product, vendor]
        .iter()
        .find_map(|said| MAKERS.iter().find(|(start, _)| said.starts_with(start)))
        .map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    /// As such machines have them: a server of ARM's kind, QEMU with and without KVM, clouds, a board.
    #[test]
    fn tables_of_the_bios_name_the_hypervisor() {
        let of = |vendor, product| hypervisor(&Tree::new().with(VENDOR, vendor).with(PRODUCT, product).host());
        for (vendor, product, kind) in [
            ("QEMU\n", "KVM Virtual Machine\n", Some(Virtualisation::Kvm)),
            ("QEMU\n", "QEMU Virtual Machine\n", Some(Virtualisation::Other)),
            ("Amazon EC2\n", "m7g.large\n", Some(Virtualisation::Kvm)),
            ("Amazon EC2\n", "m7g.metal\n", None),
            ("Microsoft Corporation\n", "Virtual Machine\n", Some(Virtualisation::HyperV)),
            ("Microsoft Corporation\n", "Surface Pro\n", None),
            ("VMware, Inc.\n", "VMware20,1\n", Some(Virtualisation::Vmware)),
            ("Apple Inc.\n", "Apple Virtualization Generic Platform\n", Some(Virtualisation::Other)),
            ("GIGABYTE\n", "R272-P31-00\n", None),
        ] {
            assert_eq!(of(vendor, product), kind, "{vendor:?} {product:?}");
        }
        assert_eq!(hypervisor(&Tree::new().host()), None);
    }

    #[test]
    fn a_device_tree_names_the_hypervisor_or_the_virtual_machine() {
        let of = |path, text| hypervisor(&Tree::new().with(path, text).host());
        assert_eq!(of(OF_HYPERVISOR, "linux,kvm\0"), Some(Virtualisation::Kvm));
        assert_eq!(of(OF_HYPERVISOR, "xen,xen-4.17\0xen,xen\0"), Some(Virtualisation::Xen));
        assert_eq!(of(OF_HYPERVISOR, "acme,visor\0"), Some(Virtualisation::Other));
        assert_eq!(of(OF_MACHINE, "linux,dummy-virt\0"), Some(Virtualisation::Other));
        assert_eq!(of(OF_MACHINE, "raspberrypi,4-model-b\0brcm,bcm2711\0"), None);
    }
}
