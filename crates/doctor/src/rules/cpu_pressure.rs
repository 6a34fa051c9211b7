//! `cpu-pressure`: threads that were ready and had no CPU.

use std::io::ErrorKind;

use takt_host::proc::pressure;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "cpu-pressure",
    topic: Topic::Processors,
    title: "Threads wait for a CPU",
    mechanism: "While any thread is ready and has no CPU, the next one to be woken may be a radio's.",
    looks_at: "`/proc/pressure/cpu`: the share of the last ten seconds in which a thread waited. Stands above 20 %.",
    probe,
    known: "Eight busy loops on four CPUs made 99.9 % of wake-ups of ordinary threads up to 1.1 ms late, and of FIFO \
            threads 0.1 ms (Linux 6.18, cyclictest). Not measured here.",
    fix: Fix::Advice(Ways::Always(&[
        "see load for who uses the CPUs; real-time priority (see rt-permission) keeps a radio's threads ahead",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let share = share(host, "cpu")?;
    let observed = format!("threads waited in {share:.0} % of the last ten seconds");
    if share > 20.0 { stands(observed, "below 20 %") } else { fine(observed) }
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
    fn waiting_stands_from_a_fifth_of_the_time_on() {
        let of = |share: &str| format!("some avg10={share} avg60=0.34 avg300=0.20 total=6784058\n");
        let file = "/proc/pressure/cpu";
        assert_eq!(word(&RULE, &[(file, &of("3.10"))]), "fine");
        let (word_, observed) = verdict(&RULE, &[(file, &of("49.99"))]);
        assert_eq!((word_, observed.as_str()), ("stands", "threads waited in 50 % of the last ten seconds"));
        assert_eq!(word(&RULE, &[(file, "some avg10=x\n")]), "hidden");
    }
}
