//! `power-daemon`: a program that sets governor, preference and limits itself.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "power-daemon",
    topic: Topic::Power,
    title: "Power is managed by a program",
    mechanism: "A daemon that manages power sets governor, energy preference and sysctls by its own profile, and sets them \
                again when the profile or the power supply changes: what was mended by hand is lost without a word.",
    looks_at: "Whether tuned, power-profiles-daemon, auto-cpufreq or thermald runs, and tuned's profile \
               (`/etc/tuned/active_profile`). Never stands: the settings themselves have rules; noted.",
    probe,
    known: "What the settings cost that it takes back. Not measured here.",
    fix: Fix::Advice(Ways::On(advise)),
    ..Rule::COMMON
};

/// Names as the kernel has them, at most 15 bytes.
const DAEMONS: [&str; 4] = ["tuned", "power-profiles-", "auto-cpufreq", "thermald"];

fn probe(host: &Host) -> Look {
    let Some(running) = running(host, &DAEMONS) else { return hidden("no process is visible") };
    if running.is_empty() {
        return fine("none that is known");
    }
    let profile = host.read_opt("/etc/tuned/active_profile").filter(|_| running.iter().any(|name| name == "tuned"));
    let profile = profile.map_or(String::new(), |profile| format!(", profile {profile}"));
    notice(format!("{}{profile}", running.join(", ")), "choose its profile, or stop it, before you mend by hand")
}

fn advise(host: &Host) -> Vec<String> {
    let way = |name: &String| match name.as_str() {
        "tuned" => {
            "sudo tuned-adm profile latency-performance   (tuned-adm active shows what to go back to)".to_owned()
        }
        "power-profiles-" => {
            "powerprofilesctl set performance   (powerprofilesctl get shows what to go back to)".to_owned()
        }
        other => format!("sudo systemctl stop {other}   (start undoes it)"),
    };
    running(host, &DAEMONS).unwrap_or_default().iter().map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_noted_with_its_profile() {
        let tuned = [("/proc/7/comm", "tuned\n"), ("/etc/tuned/active_profile", "balanced\n")];
        assert_eq!(verdict(&RULE, &tuned), ("notice", "tuned, profile balanced".to_owned()));
        assert!(commands(&RULE, &tuned)[0].starts_with("sudo tuned-adm profile latency-performance "));
        let desktop = [("/proc/7/comm", "power-profiles-\n"), tuned[1]];
        assert_eq!(verdict(&RULE, &desktop), ("notice", "power-profiles-".to_owned()));
        assert_eq!(word(&RULE, &[("/proc/7/comm", "bash\n")]), "fine");
    }
}
