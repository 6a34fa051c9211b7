//! What a point of the TD-SCDMA exchange needs beside a site: the downlink that the radio plays, and who sits where.

use takt_host::leftovers::Run;

use crate::agent::Failure;
use crate::environment::{EnvironmentError, Scratch};
use crate::experiment::settings::Settings;
use crate::workload::deadline::{Seats, write_downlink};

/// Seed of the payloads.
pub(super) const SEED: u64 = 1;

/// A file for the radio to play. Removed when dropped.
#[derive(Debug)]
pub(super) struct Downlink {
    codes: usize,
    source: String,
    /// Holds the file.
    _scratch: Scratch,
}

impl Downlink {
    pub(super) fn write(run: &Run, codes: usize) -> Result<Downlink, Failure> {
        let scratch = Scratch::create(run, &format!("downlink-{codes}")).map_err(|error| Failure::of(&error, None))?;
        let file = scratch.path().join("downlink.sc16");
        write_downlink(&file, codes, SEED).map_err(|source| {
            Failure::of(&EnvironmentError::File { doing: "writing", path: file.clone(), source }, None)
        })?;
        let source = format!("file:path={},format=sc16,loop,raw", file.display());
        Ok(Downlink { codes, source, _scratch: scratch })
    }

    /// With so many codes.
    pub(super) fn has(&self, codes: usize) -> bool {
        self.codes == codes
    }

    /// As the radio's source.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// Who sits where on the cores of the host side, and what is left for a disturbance.
///
/// - `any`: everybody everywhere.
/// - `pinned`: each process on a core of its own while there are enough, which it shares with the disturbance.
/// - `isolated`: all processes on the last core, and the disturbance on the others. With one core there is nothing to
///   isolate, and it stays with `any`.
pub(super) fn seats(settings: &Settings, host: &[usize]) -> (Seats, Vec<usize>) {
    let nth_last = |n: usize| vec![host[host.len() - 1 - n % host.len()]];
    match (settings.word("cores"), host) {
        (_, [] | [_]) | ("any" | "", _) => (Seats::default(), host.to_vec()),
        ("pinned", _) => {
            let seats = Seats { interface: nth_last(0), physical: nth_last(1), higher: nth_last(2) };
            (seats, host.to_vec())
        }
        (_, [others @ .., last]) => {
            let own = vec![*last];
            (Seats { interface: own.clone(), physical: own.clone(), higher: own }, others.to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::experiment::settings::Kind;

    fn of(cores: &str, host: &[usize]) -> (Seats, Vec<usize>) {
        let given = BTreeMap::from([("cores".to_owned(), json!(cores))]);
        seats(&Settings::of(given, Kind::Deadline), host)
    }

    #[test]
    fn isolated_parts_the_cores_and_pinned_only_places() {
        let (seats, left) = of("pinned", &[0, 1, 2]);
        assert_eq!((seats.interface, seats.physical, seats.higher, left), (vec![2], vec![1], vec![0], vec![0, 1, 2]));
        let (seats, left) = of("pinned", &[4, 5]);
        assert_eq!((seats.interface, seats.physical, seats.higher, left), (vec![5], vec![4], vec![5], vec![4, 5]));
        let (seats, left) = of("isolated", &[0, 1, 2]);
        assert_eq!((&seats.interface, &seats.higher, left), (&vec![2], &vec![2], vec![0, 1]));
        assert_eq!(of("any", &[0, 1]), (Seats::default(), vec![0, 1]));
        assert_eq!(of("isolated", &[0]), (Seats::default(), vec![0]), "one core can't be isolated");
    }
}
