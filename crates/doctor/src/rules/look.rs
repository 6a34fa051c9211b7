//! The parts that most rules need: the types of a rule, short constructors of findings, settings of the host, CPUs and
//! network cards.

use takt_host::isolation::isolation;

pub(super) use takt_host::proc::{cpu_list, status};
pub(super) use takt_host::{Host, ReadError};

pub(super) use crate::rule::{Finding, Fix, Instructions, KernelRange, Measure, Proof, Rule, Topic};
pub(super) use crate::setting::{Change, Setting, SettingError};

#[cfg(test)]
pub(super) use takt_host::testing::Tree;
#[cfg(test)]
pub(super) use testing::*;

pub(super) type Look = Result<Finding, ReadError>;
pub(super) type Plan = Result<Vec<Change>, SettingError>;

/// The folder of the CPUs, below `/sys`.
pub(super) const CPUS: &str = "devices/system/cpu";
pub(super) const NET: &str = "/sys/class/net";

pub(super) fn fine(observed: impl Into<String>) -> Look {
    Ok(Finding::Fine { observed: observed.into() })
}

pub(super) fn problem(observed: impl Into<String>, wanted: impl Into<String>) -> Look {
    Ok(Finding::Problem { observed: observed.into(), wanted: wanted.into() })
}

pub(super) fn notice(observed: impl Into<String>, note: impl Into<String>) -> Look {
    Ok(Finding::Notice { observed: observed.into(), note: note.into() })
}

pub(super) fn hidden(why: impl Into<String>) -> Look {
    Ok(Finding::NotVisible { why: why.into() })
}

/// A file has a text that the rule does not understand.
pub(super) fn malformed(path: &str, expected: &'static str, text: &str) -> ReadError {
    ReadError::malformed(path, expected, text)
}

/// The text of a file, without surrounding white space.
pub(super) fn text(host: &Host, path: &str) -> Result<String, ReadError> {
    host.read(path).map(|text| text.trim().to_owned())
}

/// A sysctl that is one number.
pub(super) fn sysctl(host: &Host, name: &str) -> Result<i64, ReadError> {
    host.read_number(&format!("/proc/sys/{}", name.replace('.', "/")))
}

/// A sysctl that should be 0: any other value is a problem.
pub(super) fn sysctl_off(host: &Host, name: &str) -> Look {
    let value = sysctl(host, name)?;
    let observed = format!("{name} {value}");
    if value == 0 { fine(observed) } else { problem(observed, format!("{name} 0")) }
}

/// The change that gives a setting this value; none if it has it already.
pub(super) fn becomes(host: &Host, setting: Setting, value: &str) -> Plan {
    let was = setting.get(host)?;
    Ok(if was == value { Vec::new() } else { vec![Change { setting, was, becomes: value.to_owned() }] })
}

/// As [`becomes`], for a sysctl.
pub(super) fn sysctl_becomes(host: &Host, name: &str, value: &str) -> Plan {
    becomes(host, Setting::Sysctl(name.to_owned()), value)
}

/// As [`becomes`], for a file below `/sys`.
pub(super) fn sysfs_becomes(host: &Host, name: &str, value: &str) -> Plan {
    becomes(host, Setting::Sysfs(name.to_owned()), value)
}

/// A list of CPUs from a file.
pub(super) fn cpus(host: &Host, path: &str) -> Result<Vec<usize>, ReadError> {
    let text = host.read(path)?;
    cpu_list::parse(&text).ok_or_else(|| malformed(path, "a list of CPUs such as 0-3", &text))
}

pub(super) fn online(host: &Host) -> Result<Vec<usize>, ReadError> {
    cpus(host, &format!("/sys/{CPUS}/online"))
}

/// The CPUs that are online and not isolated.
pub(super) fn general(host: &Host) -> Result<Vec<usize>, ReadError> {
    let isolated = isolation(host).isolated.unwrap_or_default();
    Ok(online(host)?.into_iter().filter(|cpu| !isolated.contains(cpu)).collect())
}

/// The CPUs this process may use.
pub(super) fn allowed(host: &Host) -> Result<Vec<usize>, ReadError> {
    let path = "/proc/self/status";
    let status = host.read(path)?;
    let list = status::field(&status, "Cpus_allowed_list").and_then(cpu_list::parse);
    list.ok_or_else(|| malformed(path, "a line Cpus_allowed_list", &status))
}

/// A file that online CPUs may have in their folder: the number of each CPU that has it, and the text.
pub(super) fn of_each_cpu(host: &Host, file: &str) -> Result<Vec<(usize, String)>, ReadError> {
    let read = |cpu: usize| Some((cpu, host.read_opt(&format!("/sys/{CPUS}/cpu{cpu}/{file}"))?));
    Ok(online(host)?.into_iter().filter_map(read).collect())
}

/// The value of `name` or `name=value` on the kernel's command line; empty if it has none.
pub(super) fn boot_option(host: &Host, name: &str) -> Result<Option<String>, ReadError> {
    let line = host.read("/proc/cmdline")?;
    let value = |word: &str| match word.split_once('=') {
        Some((key, value)) => (key == name).then(|| value.to_owned()),
        None => (word == name).then(String::new),
    };
    // The last of several counts.
    Ok(line.split_whitespace().filter_map(value).next_back())
}

/// Numbers and names of processes, in rising order of the numbers.
pub(super) fn processes(host: &Host) -> Vec<(u32, String)> {
    let mut numbers: Vec<u32> = host.list("/proc").iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    let named = |number| Some((number, host.read_opt(&format!("/proc/{number}/comm"))?));
    numbers.into_iter().filter_map(named).collect()
}

/// The names in `known` that a process has, each once, in order; `None` if no process is visible.
pub(super) fn running(host: &Host, known: &[&str]) -> Option<Vec<String>> {
    let all = processes(host);
    let observed = !all.is_empty();
    let mut names: Vec<String> =
        all.into_iter().map(|(_, name)| name).filter(|name| known.contains(&name.as_str())).collect();
    names.sort();
    names.dedup();
    observed.then_some(names)
}

/// The cards to look at: the named interface, or every interface that is up and has a device.
pub(super) fn cards(host: &Host) -> Vec<String> {
    if let Some(named) = host.interface() {
        return host.list(NET).into_iter().filter(|name| name == named).collect();
    }
    let up = |name: &String| {
        let device = host.path(&format!("{NET}/{name}/device")).exists();
        device && host.read_opt(&format!("{NET}/{name}/operstate")).as_deref() == Some("up")
    };
    host.list(NET).into_iter().filter(up).collect()
}

/// One finding for all cards: the problems if any card has one, or else what could not be read, or else the notices.
pub(super) fn each_card(host: &Host, look: impl Fn(&str) -> Look) -> Look {
    let cards = cards(host);
    let (mut good, mut noted, mut bad, mut unseen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut wanted, mut note) = (String::new(), String::new());
    for card in &cards {
        match look(card) {
            Ok(Finding::Fine { observed }) => good.push(format!("{card}: {observed}")),
            Ok(Finding::Problem { observed, wanted: wish }) => {
                bad.push(format!("{card}: {observed}"));
                wanted = wish;
            }
            Ok(Finding::Notice { observed, note: words }) => {
                noted.push(format!("{card}: {observed}"));
                note = words;
            }
            Ok(Finding::NotVisible { why }) => unseen.push(format!("{card}: {why}")),
            Err(error) => unseen.push(format!("{card}: {}", takt_host::with_causes(&error))),
        }
    }
    if cards.is_empty() {
        hidden(match host.interface() {
            Some(name) => format!("there is no interface {name}"),
            None => "no network card that is up".to_owned(),
        })
    } else if !bad.is_empty() {
        problem(bad.join(", "), wanted)
    } else if !unseen.is_empty() {
        hidden(unseen.join(", "))
    } else if !noted.is_empty() {
        notice(noted.join(", "), note)
    } else {
        fine(good.join(", "))
    }
}

pub(super) fn plan_cards(host: &Host, plan: impl Fn(&str) -> Plan) -> Plan {
    // A card that does not show the fact stays as it is.
    Ok(cards(host).iter().filter_map(|card| plan(card).ok()).flatten().collect())
}

/// A counter among a card's statistics.
pub(super) fn statistic(host: &Host, card: &str, name: &str) -> Result<u64, ReadError> {
    host.read_number(&format!("{NET}/{card}/statistics/{name}")).map(i64::unsigned_abs)
}

/// `CPUs 1-3`, `CPU 2`.
pub(super) fn named(cpus: &[usize]) -> String {
    format!("{} {}", if cpus.len() == 1 { "CPU" } else { "CPUs" }, cpu_list::format(cpus))
}

/// Helpers of the rules' tests. A test in `diagnosis` covers all rules on an empty host.
#[cfg(test)]
mod testing {
    use super::*;

    /// Files of a card that is up, with a device behind it.
    pub(in crate::rules) const UP: (&str, &str) = ("/sys/class/net/eth0/operstate", "up\n");
    pub(in crate::rules) const DEVICE: (&str, &str) = ("/sys/class/net/eth0/device/uevent", "DRIVER=igb\n");

    pub(in crate::rules) fn host_of(files: &[(&str, &str)]) -> (Tree, Host) {
        let tree = files.iter().fold(Tree::new(), |tree, (path, text)| tree.with(path, text));
        let host = tree.host();
        (tree, host)
    }

    /// Makes an interrupt look as a recent kernel shows one that nobody may move.
    pub(in crate::rules) fn immovable(host: &Host, number: u32) {
        let list = host.path(&format!("/proc/irq/{number}/smp_affinity_list"));
        std::fs::set_permissions(list, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    }

    /// The verdict of a rule on a host with these files, and what it observed.
    pub(in crate::rules) fn verdict(rule: &Rule, files: &[(&str, &str)]) -> (&'static str, String) {
        let (_tree, host) = host_of(files);
        found(rule, &host)
    }

    /// The verdict of a rule on a host, and what it observed.
    pub(in crate::rules) fn found(rule: &Rule, host: &Host) -> (&'static str, String) {
        match (rule.probe)(host) {
            Ok(Finding::Fine { observed }) => ("fine", observed),
            Ok(Finding::Problem { observed, .. }) => ("problem", observed),
            Ok(Finding::Notice { observed, .. }) => ("notice", observed),
            Ok(Finding::NotVisible { why }) => ("hidden", why),
            Err(error) => ("hidden", error.to_string()),
        }
    }

    pub(in crate::rules) fn word(rule: &Rule, files: &[(&str, &str)]) -> &'static str {
        verdict(rule, files).0
    }

    /// Asserts that a sysctl is a problem unless it is 0, and that the fix sets it to 0.
    pub(in crate::rules) fn problem_unless_zero(rule: &Rule, name: &str) {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        assert_eq!(word(rule, &[(&file, "0\n")]), "fine");
        assert_eq!(word(rule, &[(&file, "1\n")]), "problem");
        assert_eq!(word(rule, &[]), "hidden");
        assert_eq!(commands(rule, &[(&file, "1\n")]), [format!("sudo sysctl -w {name}=0")]);
    }

    /// A process in `/a/b` of version 1's `controller`.
    pub(in crate::rules) fn v1(controller: &str) -> [(&'static str, String); 2] {
        [
            ("/proc/self/cgroup", format!("4:{controller}:/a/b\n0::/\n")),
            ("/proc/self/mountinfo", format!("30 25 0:26 / /sys/fs/cgroup/x rw - cgroup cgroup rw,{controller}\n")),
        ]
    }

    /// The same of version 2.
    pub(in crate::rules) fn v2() -> [(&'static str, String); 2] {
        [
            ("/proc/self/cgroup", "0::/a/b\n".to_owned()),
            ("/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".to_owned()),
        ]
    }

    /// The verdict of a rule on a process in these groups, with more files.
    pub(in crate::rules) fn verdict_in(
        rule: &Rule,
        groups: &[(&'static str, String)],
        more: &[(&str, &str)],
    ) -> (&'static str, String) {
        let mut files: Vec<(&str, &str)> = groups.iter().map(|(path, text)| (*path, text.as_str())).collect();
        files.extend(more);
        verdict(rule, &files)
    }

    /// The commands of the changes that a rule would make.
    pub(in crate::rules) fn commands(rule: &Rule, files: &[(&str, &str)]) -> Vec<String> {
        let (_tree, host) = host_of(files);
        match &rule.fix {
            Fix::Safe(plan) | Fix::Consent { plan, .. } => {
                plan(&host).unwrap().iter().map(crate::Change::command).collect()
            }
            Fix::Advice(ways) => ways.on(&host),
        }
    }
}
