//! `thermal-throttle`: a processor that had to slow down.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "thermal-throttle",
    topic: Topic::Power,
    title: "Slowed down by heat",
    mechanism: "A processor that grows too hot lowers its clock without asking anybody, in the middle of a slot as well.",
    looks_at: "`thermal_throttle/core_throttle_count` of each CPU. Stands if any has counted since the start.",
    probe,
    known: "Work takes up to several times as long. Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "clean the cooler, give the machine air; or a lower, steady frequency that it can hold",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let all = of_each_cpu(host, "thermal_throttle/core_throttle_count")?;
    if all.is_empty() {
        return hidden("this kernel counts no throttling (as in most virtual machines, and beside x86)");
    }
    let count = |(_, text): &(usize, String)| {
        text.parse::<u64>().map_err(|_| malformed("core_throttle_count", "a count", text))
    };
    let counts = all.iter().map(count).collect::<Result<Vec<u64>, ReadError>>()?;
    let sum = counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
    let observed = format!("{sum} times since the start, {} CPUs", counts.len());
    if sum > 0 { stands(observed, "never") } else { fine(observed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_heat_stands() {
        let online = ("/sys/devices/system/cpu/online", "0\n");
        let count = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        assert_eq!(word(&RULE, &[online, (count, "0\n")]), "fine");
        assert_eq!(verdict(&RULE, &[online, (count, "3\n")]), ("stands", "3 times since the start, 1 CPUs".to_owned()));
        assert_eq!(word(&RULE, &[online, (count, "hot\n")]), "hidden");
        assert_eq!(word(&RULE, &[online]), "hidden");
    }
}
