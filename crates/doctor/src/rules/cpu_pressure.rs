//! `cpu-pressure`: threads are ready and wait for a core.

use std::io::ErrorKind;

use takt_host::proc::pressure;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpu-pressure",
    topic: Topic::Cores,
    title: "Threads wait for a core",
    mechanism: "If ready threads have to wait for a core, a radio's thread may be the next to wait.",
    looks_at: "`/proc/pressure/cpu`: the share of the last ten seconds in which a thread waited. A problem above 20 %.",
    probe,
    known: "With eight busy loops on four CPUs, 99.9 % of wake-ups of ordinary threads were up to 1.1 ms late. Those \
            of FIFO threads were up to 0.1 ms late (Linux 6.18, cyclictest). Not measured on this host.",
    fix: Fix::Advice(Instructions::Always(&[
        "see rule load for the programs that use the cores; give the radio's threads real-time priority (see \
         rt-permission)",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let share = share(host, "cpu")?;
    let observed = format!("threads waited in {share:.0} % of the last ten seconds");
    if share > 20.0 { problem(observed, "below 20 %") } else { fine(observed) }
}

/// The share of the last ten seconds in which at least one task waited for this, per cent.
pub(super) fn share(host: &Host, resource: &str) -> Result<f64, ReadError> {
    let path = format!("/proc/pressure/{resource}");
    let text = host.read(&path).map_err(|error| match error {
        ReadError::Io { path, source } if source.kind() == ErrorKind::NotFound => ReadError::Io {
            path,
            source: std::io::Error::new(ErrorKind::NotFound, "not there (psi=1 on the kernel's command line)"),
        },
        other => other,
    })?;
    pressure::recent_percent(&text).ok_or_else(|| malformed(&path, "a line `some avg10=`", &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_a_problem_from_a_fifth_of_the_time_on() {
        let of = |share: &str| format!("some avg10={share} avg60=0.34 avg300=0.20 total=6784058\n");
        let file = "/proc/pressure/cpu";
        assert_eq!(word(&RULE, &[(file, &of("3.10"))]), "fine");
        let (word_, observed) = verdict(&RULE, &[(file, &of("49.99"))]);
        assert_eq!((word_, observed.as_str()), ("problem", "threads waited in 50 % of the last ten seconds"));
        assert_eq!(word(&RULE, &[(file, "some avg10=x\n")]), "hidden");
    }
}
