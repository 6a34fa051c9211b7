//! Which cores the processes of the exchange have.

use takt_agent::Failure;

use super::ProcessCpus;
use crate::setting::words;

/// Cores of the processes, among those of the host side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cores {
    /// All of them everywhere.
    Any,
    /// Each process on a core of its own while there are enough, which it shares with the disturbance.
    Pinned,
    /// All processes on the last core, and the disturbance on the others.
    Isolated,
}

words! {
    Cores: "any" => Cores::Any, "pinned" => Cores::Pinned, "isolated" => Cores::Isolated;
}

/// The core of each process among those of the host side, and the cores that a disturbance gets.
///
/// # Errors
/// A core of their own is requested, and the host side has no second one: nothing else is measured under that name.
pub(super) fn process_cpus(cores: Cores, host: &[usize]) -> Result<(ProcessCpus, Vec<usize>), Failure> {
    let nth_last = |n: usize| vec![host[host.len() - 1 - n % host.len()]];
    match (cores, host) {
        (Cores::Any, _) => Ok((ProcessCpus::default(), host.to_vec())),
        (Cores::Isolated, [others @ .., last]) if !others.is_empty() => {
            let own = vec![*last];
            Ok((ProcessCpus { interface: own.clone(), physical: own.clone(), higher: own }, others.to_vec()))
        }
        (Cores::Isolated, _) => Err(no_core_to_isolate(host)),
        (Cores::Pinned, []) => Ok((ProcessCpus::default(), Vec::new())),
        (Cores::Pinned, _) => {
            let process_cpus = ProcessCpus { interface: nth_last(0), physical: nth_last(1), higher: nth_last(2) };
            Ok((process_cpus, host.to_vec()))
        }
    }
}

fn no_core_to_isolate(host: &[usize]) -> Failure {
    let what = format!("the processes need their own core, but the host side has only {} in all", host.len());
    let fix = "use three cores: one for the radio, one for the processes, one for all else; or set cores = \"any\"";
    Failure { chain: vec![what], fix: Some(fix.into()), lasting: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cores: Cores, host: &[usize]) -> (ProcessCpus, Vec<usize>) {
        process_cpus(cores, host).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn isolated_parts_the_cores_and_pinned_only_places() {
        let placed = |cores, host| {
            let (ProcessCpus { interface, physical, higher }, left) = of(cores, host);
            ([interface, physical, higher].concat(), left)
        };
        assert_eq!(placed(Cores::Pinned, &[0, 1, 2]), (vec![2, 1, 0], vec![0, 1, 2]));
        assert_eq!(placed(Cores::Pinned, &[4, 5]), (vec![5, 4, 5], vec![4, 5]));
        assert_eq!(placed(Cores::Isolated, &[0, 1, 2]), (vec![2, 2, 2], vec![0, 1]));
        assert_eq!(of(Cores::Any, &[0, 1]), (ProcessCpus::default(), vec![0, 1]));
        assert_eq!(of(Cores::Pinned, &[3]).0.interface, vec![3]);
    }

    #[test]
    fn isolation_that_can_not_be_had_is_refused_and_never_measured_as_something_else() {
        let refused = process_cpus(Cores::Isolated, &[0]).unwrap_err();
        assert!(refused.lasting);
        let expected = "the processes need their own core, but the host side has only 1 in all (fix: use three cores: one for the \
                        radio, one for the processes, one for all else; or set cores = \"any\")";
        assert_eq!(refused.with_fix(), expected);
    }
}
