//! The ARM columns: the same program on a processor of another kind, and how far its times are missed when they are estimated
//! from those here.
//!
//! That processor is an aarch64 in QEMU's user emulation: of another instruction set, slower, and unequal, since every kind of
//! instruction is slowed down by another factor. It is no ARM machine, and no time of it says how fast one is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_lab::store::{RoundRow, RoundState};
use takt_load::calibration;

use super::assemble::{by_components, read};
use super::execution::{Runs, by_slots, runs};
use super::facts::{ExecutionFacts, ExecutionRow};
use super::overhead;
use crate::study::Figure;
use crate::study::figure::RoundValue;
use crate::study::part::{Point, at};

/// Times of the components, and of the runtime, on the other kind of processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Stand-in for that processor, as found: `aarch64 cortex-a72, QEMU 7.2.22, user emulation`.
    pub processor: Option<String>,
    /// Why a round was not run, if one was not.
    pub skipped: Option<String>,
    /// Slots of the shorter runs, as the paper's.
    pub few_slots: u64,
    /// Slots of the longer runs.
    pub many_slots: u64,
    /// Length of a slot, µs.
    pub slot_us: f64,
    /// Multiply-accumulates a second there, measured in the rounds of the longer runs.
    pub mac_per_s: Figure,
    /// Operations of whole numbers a second, here and there: what stands for a clock frequency, which a translated processor has
    /// none of.
    pub integer_per_s: [Figure; 2],
    /// Table I, in the paper's order.
    pub components: Vec<ElsewherePoint>,
    pub total: Option<ElsewherePoint>,
    /// Mean of the components' errors, block by block.
    pub mean_error: Errors,
    /// By how much the clock's mean error is larger than the multiply-accumulates', block by block, percentage points.
    pub clock_over_mac_pct: Figure,
    /// Slots of components missed, of the longer runs.
    pub misses: u64,
    pub slots: u64,
    /// Table II and the model: a slot without components, ns.
    pub base_ns: Figure,
    /// Each component, ns.
    pub module_ns: Figure,
    /// STATS: a variable set and read in a slot, ns.
    pub variable_ns: Figure,
    /// SWLOAD: once, for a component, ns.
    pub load_ns: Figure,
    /// BRIDGE: hand-over of the shortest packet between cores, ns.
    pub bridge_ns: Figure,
    /// Figure 4: bits a second through an interface with packets of the paper's length, on one core.
    pub interface_bps: Figure,
}

/// A row of Table I.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElsewherePoint {
    /// As the paper calls it.
    pub name: String,
    /// Mean of the shorter runs, ns.
    pub few_ns: Figure,
    /// Mean of the longer runs, ns.
    pub many_ns: Figure,
    /// The same over the time here, block by block.
    pub over_here: Figure,
    /// Thousands of multiply-accumulates that this processor makes in that time.
    pub kmac: Option<f64>,
    pub error: Errors,
}

/// By how much a time is missed, per cent of that time, when it is estimated from the time here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// By what stands for the clock frequency: the paper's "time".
    pub clock_pct: Figure,
    /// By multiply-accumulates: the paper's metric.
    pub mac_pct: Figure,
    /// By counted instructions and what each kind takes there: takt's metric. No time of the component there is used.
    pub instructions_pct: Figure,
}

impl Elsewhere {
    /// Whether times there were estimated from times here, so that the claim about that can be judged.
    #[must_use]
    pub fn predicted(&self) -> bool {
        self.clock_over_mac_pct.value.is_some()
    }
}

/// The parts of the file that this is read from.
pub(super) struct Parts<'a> {
    pub(super) here: Vec<Point<'a>>,
    pub(super) there: Vec<Point<'a>>,
    pub(super) capacity: Vec<Point<'a>>,
    pub(super) overhead: Vec<Point<'a>>,
    pub(super) roles: Vec<Point<'a>>,
    pub(super) interface: Vec<Point<'a>>,
}

pub(super) fn elsewhere(parts: &Parts<'_>, paper: &ExecutionFacts, packet_bits: u64) -> Elsewhere {
    let (base_ns, module_ns) =
        overhead::lines(&by_components(&parts.overhead), |round| at(round, "/overhead_ns_per_slot"));
    let roles: Vec<&RoundRow> = parts.roles.iter().flat_map(|point| point.rounds.clone()).collect();
    let bits = |point: &&Point<'_>| 8 * point.whole("packet_bytes") as u64;
    let reader =
        |point: &&Point<'_>| point.settings.get("reader").and_then(|reader| reader.as_str()) == Some("other-core");
    let across = parts.interface.iter().filter(reader).min_by_key(bits);
    let mut same_core = parts.interface.iter().filter(|point| !reader(point));
    let all = || [&parts.there, &parts.overhead, &parts.roles].into_iter().flatten();
    let mut found = Elsewhere {
        processor: all().flat_map(|point| &point.rounds).find_map(|round| processor(round)),
        skipped: all().find_map(Point::skipped),
        base_ns,
        module_ns,
        variable_ns: Figure::of(&roles, |round| at(round, "/variable_ns")),
        load_ns: Figure::of(&roles, |round| at(round, "/load_ns_per_component")),
        bridge_ns: across.map(|point| point.at("/hand_over_mean_ns")).unwrap_or_default(),
        interface_bps: same_core
            .find(|point| bits(point) == packet_bits)
            .map(|p| p.at("/throughput_bps"))
            .unwrap_or_default(),
        ..Elsewhere::default()
    };
    table(&mut found, parts, paper);
    found
}

/// Processor that a round says it ran on.
fn processor(round: &RoundRow) -> Option<String> {
    let holder = round.record.as_ref()?.in_force.get("holder")?;
    let text = |key: &str| holder.get(key)?.as_str();
    Some(format!("{}, {}", text("processor")?, text("runtime")?))
}

/// Table I.
fn table(found: &mut Elsewhere, parts: &Parts<'_>, paper: &ExecutionFacts) {
    let (Some((few, many)), Some((_, here))) = (by_slots(&parts.there), by_slots(&parts.here)) else { return };
    let (few_runs, many_runs, here) = (runs(&few.rounds), runs(&many.rounds), runs(&here.rounds));
    let blocks = blocks(&here, &many_runs, &parts.capacity);
    let all: Vec<&str> = paper.components.iter().map(|row| row.component.as_str()).collect();
    let mac_per_s = Figure::of(&many.rounds, mac_per_s);
    let point = |row: &ExecutionRow, names: &[&str]| {
        let of = |runs: &Runs<'_>| Figure::of(&runs.rounds(), |round| runs.mean_ns(round, names));
        let many_ns = of(&many_runs);
        let kmac = mac_per_s.value.zip(many_ns.value).map(|(rate, ns)| ns * rate / 1e12);
        let by = |value: fn(&Block<'_>, &[&str]) -> Option<f64>| figure(&blocks, |block| value(block, names));
        let error = Errors {
            clock_pct: by(|block, names| block.error(names, By::Clock)),
            mac_pct: by(|block, names| block.error(names, By::Mac)),
            instructions_pct: by(|block, names| block.error(names, By::Instructions)),
        };
        let over_here = by(|block, names| Some(block.there_ns(names)? / block.here_ns(names)?));
        ElsewherePoint { name: row.name.clone(), few_ns: of(&few_runs), many_ns, over_here, kmac, error }
    };
    found.components = paper.components.iter().map(|row| point(row, &[&row.component])).collect();
    found.total = Some(point(&paper.total, &all));
    let mean = |by: By| figure(&blocks, |block| block.mean_error(&all, by));
    found.mean_error =
        Errors { clock_pct: mean(By::Clock), mac_pct: mean(By::Mac), instructions_pct: mean(By::Instructions) };
    found.clock_over_mac_pct =
        figure(&blocks, |block| Some(block.mean_error(&all, By::Clock)? - block.mean_error(&all, By::Mac)?));
    let integer =
        |side: usize| figure(&blocks, |block| Some(block.calibrated[side].as_ref()?.capacities.work_per_s?.integer));
    found.integer_per_s = [0, 1].map(integer);
    (found.few_slots, found.many_slots, found.slot_us) = (few.slots, many.slots, many.slot_us);
    found.misses = many_runs.counted().map(|outcome| outcome.misses).sum();
    found.slots = many_runs.counted().map(|outcome| outcome.slots).sum();
    found.mac_per_s = mac_per_s;
}

fn mac_per_s(round: &RoundRow) -> Option<f64> {
    at(round, "/floors/mac_per_s").filter(|rate| *rate > 0.0)
}

/// Basis of an estimated time there.
#[derive(Clone, Copy)]
enum By {
    Clock,
    Mac,
    Instructions,
}

/// Rounds of one block, here and there: what drifts hits both.
struct Block<'a> {
    id: i64,
    here: (&'a Runs<'a>, &'a RoundRow),
    there: (&'a Runs<'a>, &'a RoundRow),
    calibrated: [Option<calibration::CalibrationOutcome>; 2],
}

impl Block<'_> {
    fn here_ns(&self, names: &[&str]) -> Option<f64> {
        self.here.0.mean_ns(self.here.1, names)
    }

    fn there_ns(&self, names: &[&str]) -> Option<f64> {
        self.there.0.mean_ns(self.there.1, names).filter(|ns| *ns > 0.0)
    }

    /// Estimate for these components together.
    fn estimate_ns(&self, names: &[&str], by: By) -> Option<f64> {
        let [here, there] = [self.calibrated[0].as_ref(), self.calibrated[1].as_ref()];
        match by {
            By::Clock => {
                let [here, there] = [here?, there?].map(|one| Some(one.capacities.work_per_s?.integer));
                Some(self.here_ns(names)? * here? / there?)
            }
            By::Mac => Some(self.here_ns(names)? * mac_per_s(self.here.1)? / mac_per_s(self.there.1)?),
            By::Instructions => names.iter().map(|name| Some(there?.prices.of(here?.profiles.get(*name)?))).sum(),
        }
    }

    fn error(&self, names: &[&str], by: By) -> Option<f64> {
        let measured = self.there_ns(names)?;
        Some(100.0 * (measured - self.estimate_ns(names, by)?).abs() / measured)
    }

    /// Over components, each alone.
    fn mean_error(&self, names: &[&str], by: By) -> Option<f64> {
        let all: Option<f64> = names.iter().map(|name| self.error(&[name], by)).sum();
        Some(all? / names.len().max(1) as f64)
    }
}

/// Blocks that have a round that counts on either side.
fn blocks<'a>(here: &'a Runs<'a>, there: &'a Runs<'a>, capacity: &[Point<'_>]) -> Vec<Block<'a>> {
    let calibrated = [calibrations(capacity, "native"), calibrations(capacity, "aarch64")];
    let by_block = |runs: &'a Runs<'a>| -> BTreeMap<u32, &'a RoundRow> {
        let counted = runs.rounds().into_iter().filter(|round| round.state == RoundState::Valid);
        counted.map(|round| (round.block, round)).collect()
    };
    let here_rounds = by_block(here);
    let block = |(block, round): (u32, &'a RoundRow)| {
        let calibrated = [0, 1].map(|side: usize| calibrated[side].get(&block).cloned());
        Some(Block { id: round.id, here: (here, here_rounds.get(&block)?), there: (there, round), calibrated })
    };
    by_block(there).into_iter().filter_map(block).collect()
}

fn calibrations(capacity: &[Point<'_>], environment: &str) -> BTreeMap<u32, calibration::CalibrationOutcome> {
    let of = |point: &&Point<'_>| point.settings.get("environment").and_then(|name| name.as_str()) == Some(environment);
    let counted = capacity.iter().filter(of).flat_map(Point::counted);
    counted.filter_map(|round| Some((round.block, read::<calibration::CalibrationOutcome>(round)?))).collect()
}

fn figure(blocks: &[Block<'_>], value: impl Fn(&Block<'_>) -> Option<f64>) -> Figure {
    let of = |block: &Block<'_>| {
        let value = value(block).filter(|value| value.is_finite())?;
        Some(RoundValue { round_id: block.id, value, counts: true })
    };
    Figure::from_rounds(blocks.iter().filter_map(of).collect())
}
