//! `huge-page-defrag`: a page fault that compacts memory first.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "huge-page-defrag",
    topic: Topic::Memory,
    title: "Transparent huge pages for every program",
    mechanism: "The first touch of memory may stop to build a huge page out of scattered pages. Later, a kernel thread \
                that merges pages locks the program's memory while it works.",
    looks_at: "`transparent_hugepage/enabled` and `defrag`. A problem if either is `always`, unless `enabled` is \
               `never`.",
    probe,
    known: "Stalls of up to some milliseconds when memory is fragmented. takt touches its memory before it streams. \
            Not measured: it takes a host that has run for a long time.",
    fix: Fix::Consent { plan, affects: "programs that gain from huge pages without asking for them (madvise)." },
    proof: Proof::Not("it shows only when memory is fragmented, and takt does not fragment it"),
    ..Rule::COMMON
};

const FOLDER: &str = "kernel/mm/transparent_hugepage";

fn value(host: &Host, file: &str) -> Result<String, ReadError> {
    // Setting::get knows how the kernel marks the choice in force.
    Setting::Sysfs(format!("{FOLDER}/{file}")).get(host).map_err(|error| match error {
        SettingError::Read { source, .. } => source,
        other => malformed(FOLDER, "a choice", &other.to_string()),
    })
}

fn probe(host: &Host) -> Look {
    let (enabled, defrag) = (value(host, "enabled")?, value(host, "defrag")?);
    let observed = format!("enabled {enabled}, defrag {defrag}");
    let hurts = enabled != "never" && (enabled == "always" || defrag == "always");
    if hurts { problem(observed, "madvise for both") } else { fine(observed) }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for file in ["enabled", "defrag"] {
        if value(host, file).is_ok_and(|value| value == "always") {
            changes.extend(sysfs_becomes(host, &format!("{FOLDER}/{file}"), "madvise")?);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    const DEFRAG: &str = "/sys/kernel/mm/transparent_hugepage/defrag";

    #[test]
    fn always_is_a_problem_and_only_what_is_always_is_changed() {
        let on_request = (DEFRAG, "always defer defer+madvise [madvise] never\n");
        assert_eq!(word(&RULE, &[(ENABLED, "always [madvise] never\n"), on_request]), "fine");
        assert_eq!(word(&RULE, &[(ENABLED, "always madvise [never]\n"), (DEFRAG, "[always] never\n")]), "fine");
        let always = [(ENABLED, "[always] madvise never\n"), on_request];
        assert_eq!(verdict(&RULE, &always), ("problem", "enabled always, defrag madvise".to_owned()));
        assert_eq!(commands(&RULE, &always), ["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"]);
        assert_eq!(word(&RULE, &[on_request]), "hidden");
    }
}
