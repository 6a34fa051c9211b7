//! A witness of load that needs no privilege: how long threads that could run had to wait for a processor.

use std::fs;
use std::time::Duration;

/// How long the threads of a process, those that live now, have waited for a processor since they began, added up: the
/// second field of `/proc/PID/task/*/schedstat`. `None` if the process is gone or the kernel keeps no such account
/// (`CONFIG_SCHED_INFO`). Time that a hypervisor took is not in it.
#[must_use]
pub fn run_delay(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let texts = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    let waits: Vec<u64> = texts.filter_map(|text| waited_ns(&text)).collect();
    (!waits.is_empty()).then(|| Duration::from_nanos(waits.iter().sum()))
}

fn waited_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_field_is_the_wait() {
        assert_eq!(waited_ns("8200311 51423 77\n"), Some(51423));
        assert_eq!(waited_ns(""), None);
    }

    #[test]
    fn this_process_has_an_account_and_a_process_that_is_not_there_has_none() {
        assert!(run_delay(std::process::id()).is_some());
        assert_eq!(run_delay(0), None);
    }
}
