//! Sentences of the self-test.

use takt_base::shown::percent;
use takt_base::words::plural;

use super::{ErrorRate, ErrorRates, GOALS, KindRates, Trial};
use takt_lab::nodes::mean;

/// A setting and its level as people say it; `None` for one that does nothing.
pub(super) fn done(name: &str, level: &str) -> Option<String> {
    Some(match (name, level) {
        (_, "none" | "usual") => return None,
        ("recv_buffer", size) => format!("buffer {size}"),
        ("cpu_quota", share) => format!("CPU quota {share} %"),
        ("path_loss", share) => format!("path loses {share}"),
        (name, level) => format!("{} {level}", name.replace('_', " ")),
    })
}

/// The three shares, each beside what it may be, and what else must be known.
pub(super) fn summary(rates: &ErrorRates, trials: &[Trial], contradictions: u64, cores: usize) -> Vec<String> {
    let goals = GOALS.on(cores);
    let of = |rate: &ErrorRate, what: &str, most: f64| {
        let interval = rate.share.map_or_else(
            || "none tried".to_owned(),
            |share| format!("95 % interval: {} to {}", percent(share.low()), percent(share.high())),
        );
        format!("{what}: {} of {} ({interval}; allowed: at most {})", rate.errors, rate.trials, percent(most))
    };
    let mut summary = vec![
        of(&rates.wrong_yes, "Answered \"yes\" for hosts that lose", goals.wrong_yes_max),
        of(&rates.wrong_no, "Answered \"no\" for hosts that keep up", goals.wrong_no_max),
        of(&rates.not_known, "Answered \"not known\"", goals.not_known_max),
    ];
    if contradictions > 0 {
        summary.push(format!(
            "In {} the count of samples by time stamps differs from the count by their numbers. This is a bug in takt; \
             report it",
            plural(contradictions, "round")
        ));
    }
    summary.extend(excluded(trials));
    summary
}

/// The kinds about which the verdict errs more often than it may.
pub(super) fn kinds_that_err(kinds: &[KindRates], cores: usize) -> Option<String> {
    let goals = GOALS.on(cores);
    let errs = kinds.iter().filter(|kind| !kind.rates.within(&goals)).map(|kind| kind.part.as_str());
    let errs: Vec<&str> = errs.collect();
    (!errs.is_empty()).then(|| format!("takt errs more often than allowed about: {}", errs.join(", ")))
}

/// An impaired host side must not exclude more: only stops of the emulator's own core may.
fn excluded(trials: &[Trial]) -> Option<String> {
    let share = |quiet: bool| {
        let of = trials.iter().filter(|trial| (trial.done == "nothing") == quiet && trial.counted > 0);
        mean(&of.map(|trial| trial.excluded_share).collect::<Vec<_>>())
    };
    let (quiet, impaired) = (share(true)?, share(false)?);
    let [quiet, impaired] = [quiet, impaired].map(percent);
    Some(format!(
        "takt excluded {quiet} of the streaming time on hosts that it left alone, {impaired} on hosts that it impaired"
    ))
}

#[cfg(test)]
mod tests {
    use super::done;

    #[test]
    fn what_is_done_to_a_host_is_stated_in_words() {
        for (name, level, words) in [
            ("recv_buffer", "32KiB", Some("buffer 32KiB")),
            ("cpu_quota", "80", Some("CPU quota 80 %")),
            ("stall", "5ms every 100ms", Some("stall 5ms every 100ms")),
            ("hog", "none", None),
            ("recv_buffer", "usual", None),
        ] {
            assert_eq!(done(name, level).as_deref(), words, "{name}");
        }
    }
}
