//! `memory-pressure`: the host is short of memory.

use super::cpu_pressure::share;
use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "memory-pressure",
    topic: Topic::Memory,
    title: "Short of memory",
    mechanism: "When memory runs out, the kernel takes pages back, including programs' own. Threads that need a page \
                wait for that.",
    looks_at: "`MemAvailable` and `/proc/pressure/memory`. A problem if less than 5 % of memory is available, or if \
               threads waited for memory in more than 1 % of the last ten seconds.",
    probe,
    known: "Stalls of milliseconds to seconds. Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "end the programs that fill the memory (ps --sort=-rss), or let takt lock its own memory: see memlock-limit",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let path = "/proc/meminfo";
    let text = host.read(path)?;
    let kib = |name| status::number(&text, name).ok_or_else(|| malformed(path, "MemTotal and MemAvailable", &text));
    let (total, available) = (kib("MemTotal")?, kib("MemAvailable")?);
    let observed = format!("{} of {} MiB available", available / 1024, total / 1024);
    if available < total / 20 {
        return problem(observed, "5 % available");
    }
    let waited = share(host, "memory")?;
    let observed = format!("{observed}, threads waited in {waited:.0} % of the last ten seconds");
    if waited > 1.0 { problem(observed, "no thread waiting for memory") } else { fine(observed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESSURE: (&str, &str) = ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");

    #[test]
    fn little_memory_and_waiting_for_it_are_a_problem() {
        let of = |available: u64| format!("MemTotal: 8192000 kB\nMemAvailable: {available} kB\n");
        let (much, little, path) = (of(4_096_000), of(40_960), "/proc/meminfo");
        assert_eq!(word(&RULE, &[(path, &much), PRESSURE]), "fine");
        assert_eq!(verdict(&RULE, &[(path, &little)]), ("problem", "40 of 8000 MiB available".to_owned()));
        assert_eq!(word(&RULE, &[(path, &much), (PRESSURE.0, "some avg10=5.00 total=1\n")]), "problem");
        assert_eq!(word(&RULE, &[(path, &much)]), "hidden");
    }
}
