//! The figures: a quantity over the number of programs, with a curve for a shared front end and one for radios of their own.

use super::read::{
    cores, delay_s, front_end_lost, neighbour_db, programs_cores, received_sps, share_cores, worst_loss,
};
use crate::sweep::{ChartPlan, Measure, Read};

const fn chart(id: &'static str, number: &'static str, part: &'static str, measure: Measure, read: Read) -> ChartPlan {
    ChartPlan { id, number, part, x: "programs", by: "front_end", measure, read, ..ChartPlan::BLANK }
}

/// Evidence of one part.
const fn evidence(id: &'static str, part: &'static str, measure: Measure, read: Read) -> ChartPlan {
    chart(id, "", part, measure, read)
}

pub(super) const CHARTS: [ChartPlan; 14] = [
    chart("lost-native", "1a", "native", Measure::Share, worst_loss),
    chart("lost-container", "1b", "container", Measure::Share, worst_loss),
    chart("lost-guest", "1c", "guest", Measure::Share, worst_loss),
    chart("samples-native", "2a", "native", Measure::SamplesPerS, received_sps),
    chart("samples-container", "2b", "container", Measure::SamplesPerS, received_sps),
    chart("samples-guest", "2c", "guest", Measure::SamplesPerS, received_sps),
    chart("delay-native", "3a", "native", Measure::Seconds, delay_s),
    chart("delay-container", "3b", "container", Measure::Seconds, delay_s),
    chart("cpu-native", "4a", "native", Measure::Cores, cores),
    chart("cpu-container", "4b", "container", Measure::Cores, cores),
    chart("cpu-guest", "4c", "guest", Measure::Cores, cores),
    chart("neighbour-native", "5a", "native", Measure::Decibels, neighbour_db),
    chart("neighbour-container", "5b", "container", Measure::Decibels, neighbour_db),
    chart("neighbour-guest", "5c", "guest", Measure::Decibels, neighbour_db),
];

/// CPU of the share and of the programs, and the samples that the front end missed.
pub(super) const EVIDENCE: [(&str, ChartPlan); 9] = [
    ("Cores of the share in its busiest half second, natively", of_share("share-native", "native")),
    ("The same, in containers", of_share("share-container", "container")),
    ("The same, in virtual machines", of_share("share-guest", "guest")),
    ("Cores of the programs, natively", of_programs("programs-native", "native")),
    ("The same, in containers", of_programs("programs-container", "container")),
    ("The same, by the guests' accounts", of_programs("programs-guest", "guest")),
    ("Samples that the shared front end missed, natively", of_front_end("front-end-native", "native")),
    ("The same, in containers", of_front_end("front-end-container", "container")),
    ("The same, in virtual machines", of_front_end("front-end-guest", "guest")),
];

const fn of_share(id: &'static str, part: &'static str) -> ChartPlan {
    evidence(id, part, Measure::Cores, share_cores)
}

const fn of_programs(id: &'static str, part: &'static str) -> ChartPlan {
    evidence(id, part, Measure::Cores, programs_cores)
}

const fn of_front_end(id: &'static str, part: &'static str) -> ChartPlan {
    evidence(id, part, Measure::Share, front_end_lost)
}
