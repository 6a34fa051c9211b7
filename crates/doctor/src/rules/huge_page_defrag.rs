//! `huge-page-defrag`: a page fault that tidies the memory first.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "huge-page-defrag",
    topic: Topic::Memory,
    title: "Transparent huge pages for everybody",
    mechanism: "A first touch of memory may stop to make a huge page out of scattered ones, and a thread of the kernel that \
                joins pages later holds the program's memory while it does.",
    looks_at: "`transparent_hugepage/enabled` and `defrag`. Stands if either is `always`.",
    probe,
    known: "Stalls of up to some milliseconds where memory is scattered. Not measured here: it takes a machine that has \
            run for long. takt touches its memory before it streams.",
    fix: Fix::Consent { plan, who_may_pay: "programs that gain from huge pages without asking for them (madvise)." },
    proof: Proof::Not("it shows only on memory that is scattered, which takt does not bring about"),
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
    if hurts { stands(observed, "madvise for both") } else { fine(observed) }
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
    fn always_stands_and_only_what_is_always_is_changed() {
        let on_request = (DEFRAG, "always defer defer+madvise [madvise] never\n");
        assert_eq!(word(&RULE, &[(ENABLED, "always [madvise] never\n"), on_request]), "fine");
        assert_eq!(word(&RULE, &[(ENABLED, "always madvise [never]\n"), (DEFRAG, "[always] never\n")]), "fine");
        let always = [(ENABLED, "[always] madvise never\n"), on_request];
        assert_eq!(verdict(&RULE, &always), ("stands", "enabled always, defrag madvise".to_owned()));
        assert_eq!(commands(&RULE, &always), ["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"]);
        assert_eq!(word(&RULE, &[on_request]), "hidden");
    }
}
