//! Which distribution this is, as far as its packages have names of their own: os-release(5).

use crate::host::Host;

/// A distribution and those made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Debian,
    /// Ubuntu, Mint, Pop!_OS.
    Ubuntu,
    /// Fedora, CentOS Stream, RHEL and its kin.
    Fedora,
    /// Any other, or it does not say.
    Other,
}

impl Family {
    /// By `ID`, then by `ID_LIKE`, whose first word is the nearest kin.
    #[must_use]
    pub fn of(host: &Host) -> Family {
        let Some(text) = os_release(host) else { return Family::Other };
        let kin = [value(&text, "ID"), value(&text, "ID_LIKE")].map(Option::unwrap_or_default).join(" ");
        let named = |word: &str| match word {
            "debian" => Some(Family::Debian),
            "ubuntu" => Some(Family::Ubuntu),
            "fedora" | "rhel" | "centos" => Some(Family::Fedora),
            _ => None,
        };
        kin.split_whitespace().find_map(named).unwrap_or(Family::Other)
    }

    /// Command that installs a package that is called so by Debian and Ubuntu, and so by Fedora.
    #[must_use]
    pub fn install(self, debian: &str, fedora: &str) -> String {
        match self {
            Family::Debian | Family::Ubuntu => format!("sudo apt-get install --no-install-recommends {debian}"),
            Family::Fedora => format!("sudo dnf install {fedora}"),
            Family::Other => format!("install this distribution's package of {debian}"),
        }
    }
}

/// Its own name for people: `Debian GNU/Linux 12 (bookworm)`.
pub(crate) fn pretty_name(host: &Host) -> Option<String> {
    value(&os_release(host)?, "PRETTY_NAME")
}

fn os_release(host: &Host) -> Option<String> {
    host.read("/etc/os-release").or_else(|_| host.read("/usr/lib/os-release")).ok()
}

fn value(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(line.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn a_distribution_is_of_its_own_kind_or_of_its_nearest_kin() {
        for (text, family) in [
            ("NAME=\"Debian GNU/Linux\"\nID=debian\n", Family::Debian),
            ("ID=ubuntu\nID_LIKE=debian\n", Family::Ubuntu),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", Family::Ubuntu),
            ("ID=raspbian\nID_LIKE='debian'\n", Family::Debian),
            ("NAME=\"Fedora Linux\"\nID=fedora\n", Family::Fedora),
            ("ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\n", Family::Fedora),
            ("ID=arch\n", Family::Other),
            ("", Family::Other),
        ] {
            assert_eq!(Family::of(&Tree::new().with("/etc/os-release", text).host()), family, "{text}");
        }
        assert_eq!(Family::of(&Tree::new().host()), Family::Other);
        let install = |family: Family| family.install("qemu-system-x86", "qemu-kvm");
        assert_eq!(install(Family::Ubuntu), "sudo apt-get install --no-install-recommends qemu-system-x86");
        assert_eq!(install(Family::Fedora), "sudo dnf install qemu-kvm");
        assert_eq!(Family::of(&Tree::new().with("/usr/lib/os-release", "ID=fedora\n").host()), Family::Fedora);
    }
}
