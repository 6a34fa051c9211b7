//! Settings of the kernel that takt may change, with a checked write.

mod error;
mod governor;

use std::io;

use serde::{Deserialize, Serialize};
use takt_host::Host;

use super::card::CardFact;
use super::journal::Along;

pub use error::SettingError;

/// A setting of the running kernel; none of them outlives a reboot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// A file below `/proc/sys`, named as sysctl(8) does: `net.core.rmem_max`.
    Sysctl(String),
    /// A file below `/sys`, named by its path there: `devices/system/cpu/cpu0/cpufreq/scaling_governor`.
    Sysfs(String),
    /// The CPUs that serve an interrupt: `/proc/irq/N/smp_affinity_list`.
    Interrupt(u32),
    /// A fact that the driver of a network card keeps.
    Card { interface: String, fact: CardFact },
}

/// The longest value of a setting: masks and lists of CPUs are the longest that takt changes.
const VALUE_BYTES: usize = 1024;

/// A setting's value now and the wanted value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub setting: Setting,
    /// Its value when the change was planned.
    pub was: String,
    pub becomes: String,
}

impl Setting {
    /// The file that holds it; a card's facts have one only on a recorded host.
    ///
    /// # Errors
    /// The name is empty, or holds anything but letters, digits, `_`, `-`, `:` and single separators.
    pub fn path(&self) -> Result<String, SettingError> {
        let (root, name) = match self {
            Setting::Sysctl(name) => ("/proc/sys", name.replace('.', "/")),
            Setting::Sysfs(name) => ("/sys", name.clone()),
            Setting::Interrupt(number) => ("/proc/irq", format!("{number}/smp_affinity_list")),
            Setting::Card { interface, fact } => ("/ethtool", format!("{interface}/{}", fact.name())),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
        let good = |part: &str| !part.is_empty() && part != "." && part != ".." && part.chars().all(plain);
        if name.split('/').all(good) {
            Ok(format!("{root}/{name}"))
        } else {
            Err(SettingError::Name { name: self.to_string() })
        }
    }

    #[must_use]
    pub fn command(&self, value: &str) -> String {
        match self {
            Setting::Sysctl(name) => format!("sudo sysctl -w {name}={}", quoted(value)),
            Setting::Sysfs(_) | Setting::Interrupt(_) => format!("echo {} | sudo tee {self}", quoted(value)),
            Setting::Card { interface, fact } => fact.command(interface, value),
        }
    }

    /// Its value, with single blanks between words. For a file that lists its choices (`always [never]`), the one in force.
    ///
    /// # Errors
    /// It is not there, may not be read, or its name leads elsewhere.
    pub fn get(&self, host: &Host) -> Result<String, SettingError> {
        let unread = |source| SettingError::Read { setting: self.clone(), source };
        let path = self.path()?;
        match self {
            Setting::Card { interface, fact } => {
                fact.read(host, interface).map(|value| value.now.to_string()).map_err(unread)
            }
            Setting::Sysfs(_) => host.read(&path).map(|text| chosen(&words(&text))).map_err(unread),
            Setting::Sysctl(_) | Setting::Interrupt(_) => host.read(&path).map(|text| words(&text)).map_err(unread),
        }
    }

    /// Whether a text can be a value of it: a journal's text is not trusted, and root writes it.
    ///
    /// # Errors
    /// It has another form. takt then neither writes it nor shows it as a command.
    pub fn can_be(&self, value: &str) -> Result<(), SettingError> {
        let number = |c: char| c.is_ascii_digit();
        let (is_good, expected) = match self {
            Setting::Interrupt(_) => {
                let good = value.chars().all(|c| number(c) || matches!(c, ',' | '-'));
                (good, "a list of CPUs, such as 0-3,8")
            }
            Setting::Card { .. } => (value.chars().all(number), "a whole number"),
            Setting::Sysctl(_) | Setting::Sysfs(_) => {
                let plain = |c: char| c.is_ascii_alphanumeric() || " _-+.,:/[]()".contains(c);
                (value.chars().all(plain), "words and numbers in one line")
            }
        };
        if is_good && !value.is_empty() && value.len() <= VALUE_BYTES {
            return Ok(());
        }
        let shown = value.chars().take(40).map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
        Err(SettingError::Value { setting: self.clone(), value: shown, expected })
    }

    /// Writes it and reads it back. If the kernel took another value, restores the old one.
    pub(crate) fn set(&self, host: &Host, value: &str) -> Result<(), SettingError> {
        let was = self.get(host)?;
        self.write(host, value)?;
        let got = self.get(host)?;
        if got == words(value) {
            return Ok(());
        }
        if got != was {
            self.write(host, &was)?;
        }
        Err(SettingError::NotTaken { setting: self.clone(), requested: value.to_owned(), got })
    }

    fn write(&self, host: &Host, value: &str) -> Result<(), SettingError> {
        let path = self.path()?;
        let write = || match self {
            Setting::Card { interface, fact } => {
                fact.write(host, interface, value.parse().map_err(|_| io::ErrorKind::InvalidInput)?)
            }
            _ => host.write(&path, value),
        };
        write().map_err(|source| self.unwritten(value, source, rustix::process::geteuid().is_root()))
    }

    /// Settings that the kernel forgets when this one changes, and resets when this one gets its old value back.
    pub(crate) fn along(&self, host: &Host) -> Vec<Along> {
        match self {
            Setting::Sysfs(name) => governor::along(host, name),
            Setting::Sysctl(_) | Setting::Interrupt(_) | Setting::Card { .. } => Vec::new(),
        }
    }

    fn unwritten(&self, value: &str, source: io::Error, by_root: bool) -> SettingError {
        let setting = self.clone();
        if let (Setting::Interrupt(number), Some(libc::EIO)) = (self, source.raw_os_error()) {
            return SettingError::Kept { number: *number };
        }
        match source.kind() {
            io::ErrorKind::PermissionDenied if by_root => SettingError::RefusedToRoot { setting },
            io::ErrorKind::PermissionDenied => SettingError::NotPermitted { setting },
            io::ErrorKind::ReadOnlyFilesystem => SettingError::ReadOnly { setting },
            _ => SettingError::Write { setting, value: value.to_owned(), source },
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Sysctl(name) => f.write_str(name),
            Setting::Sysfs(name) => write!(f, "/sys/{name}"),
            Setting::Interrupt(number) => write!(f, "/proc/irq/{number}/smp_affinity_list"),
            Setting::Card { interface, fact } => write!(f, "{interface} {}", fact.name()),
        }
    }
}

impl Change {
    #[must_use]
    pub fn command(&self) -> String {
        self.setting.command(&self.becomes)
    }
}

/// `always [madvise] never` is `madvise`; `none (full)`, as debugfs writes it, is `full`; any other text stays as it is.
fn chosen(text: &str) -> String {
    let choice = |(open, close)| {
        let word = text.split(' ').find_map(|word| word.strip_prefix(open)?.strip_suffix(close))?;
        (text.contains(' ') && !word.is_empty()).then(|| word.to_owned())
    };
    [('[', ']'), ('(', ')')].into_iter().find_map(choice).unwrap_or_else(|| text.to_owned())
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For a shell: values with several words in quotes.
fn quoted(value: &str) -> String {
    if value.contains(' ') { format!("\"{value}\"") } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use takt_host::ReadError;
    use takt_host::testing::Tree;

    fn rmem() -> Setting {
        Setting::Sysctl("net.core.rmem_max".to_owned())
    }

    #[test]
    fn a_setting_is_written_and_read_back() {
        let tree = Tree::new().with("/proc/sys/net/core/rmem_max", "212992\n");
        rmem().set(&tree.host(), "50000000").unwrap();
        assert_eq!(rmem().get(&tree.host()).unwrap(), "50000000");
        assert_eq!(rmem().command("50000000"), "sudo sysctl -w net.core.rmem_max=50000000");
    }

    #[test]
    fn on_a_recorded_host_a_file_is_replaced_so_that_who_kills_the_writer_finds_the_old_or_the_new() {
        let tree = Tree::new().with("/proc/sys/net/core/rmem_max", "212992\n");
        let file = tree.host().path("/proc/sys/net/core/rmem_max");
        let old = tree.root().join("old");
        std::fs::hard_link(&file, &old).unwrap();
        rmem().set(&tree.host(), "50000000").unwrap();
        assert_eq!(std::fs::read_to_string(old).unwrap(), "212992\n");
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_setting_that_is_not_there_is_not_made() {
        let tree = Tree::new();
        assert!(matches!(rmem().set(&tree.host(), "1"), Err(SettingError::Read { .. })));
        assert!(!tree.root().join("proc").exists());
    }

    #[test]
    fn words_are_compared_whatever_stands_between_them() {
        let tree = Tree::new().with("/proc/sys/net/ipv4/udp_mem", "1\t2\t3\n");
        let setting = Setting::Sysctl("net.ipv4.udp_mem".to_owned());
        assert_eq!(setting.get(&tree.host()).unwrap(), "1 2 3");
        assert_eq!(setting.command("1 2 3"), "sudo sysctl -w net.ipv4.udp_mem=\"1 2 3\"");
    }

    #[test]
    fn of_a_list_of_choices_the_one_in_force_is_the_value() {
        for (text, value) in [
            ("always [madvise] never", "madvise"),
            ("none voluntary (full) lazy", "full"),
            ("performance", "performance"),
            ("[alone]", "[alone]"),
            ("a [] b", "a [] b"),
        ] {
            assert_eq!(chosen(text), value);
        }
    }

    #[test]
    fn interrupts_and_cards_are_settings_like_any_other() {
        let tree =
            Tree::new().with("/proc/irq/24/smp_affinity_list", "0-3\n").with("/ethtool/eth0/rx_ring", "256 4096\n");
        let ring = Setting::Card { interface: "eth0".to_owned(), fact: CardFact::RxRing };
        for (setting, was, becomes, command) in [
            (Setting::Interrupt(24), "0-3", "2", "echo 2 | sudo tee /proc/irq/24/smp_affinity_list"),
            (ring, "256", "4096", "sudo ethtool -G eth0 rx 4096"),
        ] {
            assert_eq!(setting.get(&tree.host()).unwrap(), was);
            setting.set(&tree.host(), becomes).unwrap();
            assert_eq!(
                (setting.get(&tree.host()).unwrap().as_str(), setting.command(becomes).as_str()),
                (becomes, command)
            );
            let json = serde_json::to_string(&setting).unwrap();
            assert_eq!(serde_json::from_str::<Setting>(&json).unwrap(), setting);
        }
    }

    #[test]
    fn a_refusal_tells_root_from_others() {
        let of = |errno, by_root| rmem().unwritten("1", io::Error::from_raw_os_error(errno), by_root);
        assert!(matches!(of(libc::EPERM, false), SettingError::NotPermitted { .. }));
        let refused = of(libc::EPERM, true);
        assert!(matches!(refused, SettingError::RefusedToRoot { .. }), "{refused}");
        assert!(!refused.to_string().contains("needs root") && refused.fix() != Some(takt_host::call::WITH_SUDO));
        assert!(matches!(of(libc::EROFS, true), SettingError::ReadOnly { .. }));
        assert!(matches!(of(libc::EIO, true), SettingError::Write { .. }));
        let interrupt = Setting::Interrupt(24);
        let kept = interrupt.unwritten("1", io::Error::from_raw_os_error(libc::EIO), true);
        assert_eq!(kept.to_string(), "the kernel lets nobody move interrupt 24");
        let offline = interrupt.unwritten("9", io::Error::from_raw_os_error(libc::EINVAL), true);
        assert!(matches!(offline, SettingError::Write { .. }), "{offline}");
    }

    #[test]
    fn a_setting_that_is_not_there_is_told_from_one_that_cannot_be_read() {
        let gone = rmem().get(&Tree::new().host()).unwrap_err();
        assert!(gone.is_gone(), "{gone}");
        let read = |errno| ReadError::Io { path: "/x".to_owned(), source: io::Error::from_raw_os_error(errno) };
        let of = |errno| SettingError::Read { setting: rmem(), source: read(errno) };
        assert!(of(libc::ENODEV).is_gone());
        assert!(!of(libc::EACCES).is_gone() && !SettingError::NotPermitted { setting: rmem() }.is_gone());
    }

    #[test]
    fn a_value_that_no_such_setting_has_is_refused_and_not_shown_as_it_is() {
        let ring = Setting::Card { interface: "eth0".to_owned(), fact: CardFact::RxRing };
        for (setting, value) in [
            (rmem(), "212992"),
            (rmem(), "4096 131072 6291456"),
            (Setting::Sysfs("x".to_owned()), "balance_performance"),
            (Setting::Sysfs("class/net/eth0/queues/rx-0/rps_cpus".to_owned()), "ff,ffffffff"),
            (Setting::Interrupt(24), "0-3,8"),
            (ring.clone(), "4096"),
        ] {
            setting.can_be(value).unwrap();
        }
        let long = "1".repeat(VALUE_BYTES + 1);
        for (setting, value) in [
            (rmem(), "1\nroot::0:0::/:/bin/sh"),
            (rmem(), "1; reboot"),
            (rmem(), "|/tmp/evil"),
            (rmem(), "$(id)"),
            (rmem(), ""),
            (rmem(), &long),
            (rmem(), "\u{1b}]0;x"),
            (Setting::Interrupt(24), "performance"),
            (ring, "-1"),
        ] {
            let error = setting.can_be(value).unwrap_err();
            assert!(!error.to_string().contains(['\n', '\u{1b}']) && error.fix().is_some(), "{error}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", "..", "../../etc/passwd", "a//b", "/etc/passwd", "a b", "kernel/../../x", "a\0b", "a\nb"] {
            assert!(Setting::Sysfs(name.to_owned()).path().is_err(), "{name:?}");
            assert!(Setting::Sysctl(name.to_owned()).path().is_err(), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_tree(name in any::<String>()) {
            for setting in [Setting::Sysctl(name.clone()), Setting::Sysfs(name.clone())] {
                if let Ok(path) = setting.path() {
                    prop_assert!(path.starts_with("/proc/sys/") || path.starts_with("/sys/"));
                    prop_assert!(!path.split('/').any(|part| part == ".."));
                }
            }
        }
    }
}
