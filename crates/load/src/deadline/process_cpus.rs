//! Which cores the processes of the exchange have.

use takt_agent::Failure;

use super::ProcessCpus;
use crate::setting::Settings;

/// The core of each process among those of the host side, and the cores that a disturbance gets.
///
/// - `any`: all of them everywhere.
/// - `pinned`: each process on a core of its own while there are enough, which it shares with the disturbance.
/// - `isolated`: all processes on the last core, and the disturbance on the others.
///
/// # Errors
/// A core of their own is requested, and the host side has no second one: nothing else is measured under that name.
pub(super) fn process_cpus(settings: &Settings, host: &[usize]) -> Result<(ProcessCpus, Vec<usize>), Failure> {
    let nth_last = |n: usize| vec![host[host.len() - 1 - n % host.len()]];
    match (settings.word("cores"), host) {
        ("any" | "", _) => Ok((ProcessCpus::default(), host.to_vec())),
        ("isolated", [others @ .., last]) if !others.is_empty() => {
            let own = vec![*last];
            Ok((ProcessCpus { interface: own.clone(), physical: own.clone(), higher: own }, others.to_vec()))
        }
        ("isolated", _) => Err(no_core_to_isolate(host)),
        (_, []) => Ok((ProcessCpus::default(), Vec::new())),
        _ => {
            let process_cpus = ProcessCpus { interface: nth_last(0), physical: nth_last(1), higher: nth_last(2) };
            Ok((process_cpus, host.to_vec()))
        }
    }
}

fn no_core_to_isolate(host: &[usize]) -> Failure {
    let what = format!("a core of their own for the processes: the host side has {} in all", host.len());
    let fix = "three cores: one for the radio, one for the processes, one for all else; or cores = \"any\"";
    Failure { chain: vec![what], fix: Some(fix.into()), lasting: true }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn all(cores: &str, host: &[usize]) -> Result<(ProcessCpus, Vec<usize>), Failure> {
        let given = BTreeMap::from([("cores".to_owned(), json!(cores))]);
        process_cpus(&Settings::complete(given, [].iter()), host)
    }

    fn of(cores: &str, host: &[usize]) -> (ProcessCpus, Vec<usize>) {
        all(cores, host).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn isolated_parts_the_cores_and_pinned_only_places() {
        let placed = |cores, host| {
            let (ProcessCpus { interface, physical, higher }, left) = of(cores, host);
            ([interface, physical, higher].concat(), left)
        };
        assert_eq!(placed("pinned", &[0, 1, 2]), (vec![2, 1, 0], vec![0, 1, 2]));
        assert_eq!(placed("pinned", &[4, 5]), (vec![5, 4, 5], vec![4, 5]));
        assert_eq!(placed("isolated", &[0, 1, 2]), (vec![2, 2, 2], vec![0, 1]));
        assert_eq!(of("any", &[0, 1]), (ProcessCpus::default(), vec![0, 1]));
        assert_eq!(of("pinned", &[3]).0.interface, vec![3]);
    }

    #[test]
    fn isolation_that_can_not_be_had_is_refused_and_never_measured_as_something_else() {
        let refused = all("isolated", &[0]).unwrap_err();
        assert!(refused.lasting);
        let expected = "a core of their own for the processes: the host side has 1 in all (fix: three cores: one for the \
                        radio, one for the processes, one for all else; or cores = \"any\")";
        assert_eq!(refused.with_fix(), expected);
    }
}
