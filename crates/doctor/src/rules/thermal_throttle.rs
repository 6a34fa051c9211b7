//! `thermal-throttle`: the CPU had to slow down.

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "thermal-throttle",
    topic: Topic::Power,
    title: "Slowed down by heat",
    mechanism: "A CPU that gets too hot lowers its clock at any time, even in the middle of a slot.",
    looks_at: "`thermal_throttle/core_throttle_count` of each CPU. A problem if any has counted since boot.",
    probe,
    known: "Work takes up to several times as long. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "clean the cooler and improve the airflow, or set a lower, steady frequency that the CPU can hold",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let all = of_each_cpu(host, "thermal_throttle/core_throttle_count")?;
    if all.is_empty() {
        return hidden("this kernel counts no throttling (as in most virtual machines, and on anything but x86)");
    }
    let count = |(_, text): &(usize, String)| {
        text.parse::<u64>().map_err(|_| malformed("core_throttle_count", "a count", text))
    };
    let counts = all.iter().map(count).collect::<Result<Vec<u64>, ReadError>>()?;
    let sum = counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
    let observed = format!("{sum} times since boot, {} CPUs", counts.len());
    if sum > 0 { problem(observed, "never") } else { fine(observed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_heat_is_a_problem() {
        let online = ("/sys/devices/system/cpu/online", "0\n");
        let count = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        assert_eq!(word(&RULE, &[online, (count, "0\n")]), "fine");
        assert_eq!(verdict(&RULE, &[online, (count, "3\n")]), ("problem", "3 times since boot, 1 CPUs".to_owned()));
        assert_eq!(word(&RULE, &[online, (count, "hot\n")]), "hidden");
        assert_eq!(word(&RULE, &[online]), "hidden");
    }
}
