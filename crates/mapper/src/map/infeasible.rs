//! [`Infeasible`]: why a waveform does not fit, by how much, and what would help.

use std::fmt;

use serde::Serialize;

use super::mapping::MapTask;
use crate::place::bounds::{Bounds, LinkPart, Part};
use crate::place::problem::NEVER;
use crate::place::solve::Solution;

/// The slot is too short for this waveform on this platform.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Infeasible {
    pub binding: Binding,
    pub slot_ns: u64,
    /// Time that work may take of it, ns.
    pub allowed_ns: u64,
    /// All bounds; where one is above `allowed_ns`, no placement can fit.
    pub bounds: Bounds,
    /// The best placement found needs this, ns; `None` if there is none at any slot.
    pub best_ns: Option<u64>,
    /// Whether it is certain that nothing fits. If not, nothing that was found does.
    pub proven: bool,
    /// Each would help, as far as is known.
    pub remedies: Vec<Remedy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "binding")]
pub enum Binding {
    /// A component takes longer by itself than a core has.
    Component(Part),
    Cycle(Part),
    /// All work is more than all cores have.
    Work {
        needed_ns: u64,
        available_ns: u64,
        cores: usize,
    },
    /// Traffic that must pass a link is more than it carries; or no link is there at all.
    Link(LinkPart),
    /// Every bound holds, but no way to divide the components was found.
    Packing {
        best_ns: u64,
    },
    /// Pins, cycles and missing links rule every placement out, at any slot.
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "remedy")]
pub enum Remedy {
    /// A slot of this length, with packets as long as now.
    Slot {
        slot_ns: u64,
    },
    /// Cores so many times faster, all of them.
    Faster {
        times: f64,
    },
    /// So many cores of the class that suits best in all, if nothing but their number is in the way.
    Cores {
        cores: usize,
    },
    Bandwidth {
        times: f64,
    },
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowed = Us(self.allowed_ns);
        match &self.binding {
            Binding::Component(Part { components, ns, class }) => {
                write!(
                    f,
                    "component `{}` takes {} on a core of class {class}, which has {allowed}",
                    components.join("`, `"),
                    Us(*ns)
                )
            }
            Binding::Cycle(Part { components, ns, class }) => write!(
                f,
                "the cycle of `{}` has one slot of delay, so it stays on one core: it takes {} on one of class {class}, which has {allowed}",
                components.join("`, `"),
                Us(*ns)
            ),
            Binding::Work { needed_ns, available_ns, cores } => {
                let (s, ve) = if *cores == 1 { ("", "has") } else { ("s", "have") };
                let (needed, available) = (Us(*needed_ns), Us(*available_ns));
                write!(f, "all components together take {needed} of a slot, and {cores} core{s} {ve} {available}")
            }
            Binding::Link(LinkPart { from, to, ns: NEVER, .. }) => {
                write!(
                    f,
                    "components pinned to nodes `{from}` and `{to}` talk to each other, and no link joins the two"
                )
            }
            Binding::Link(LinkPart { from, to, bytes, ns }) => {
                write!(f, "{bytes} bytes a slot must pass from `{from}` to `{to}`; that takes {} of {allowed}", Us(*ns))
            }
            Binding::Packing { best_ns } => {
                let known = if self.proven { "no placement fits" } else { "no placement was found that fits" };
                write!(f, "{known}: the best one needs {} of a core or link, which has {allowed}", Us(*best_ns))
            }
            Binding::Nowhere => f.write_str("pins, cycles and links leave no placement at any slot"),
        }
    }
}

impl std::error::Error for Infeasible {}

impl Infeasible {
    /// The fix, in words.
    #[must_use]
    pub fn fix(&self) -> String {
        if self.remedies.is_empty() {
            return match self.binding {
                Binding::Link(_) => "pin both ends to one node, or link the nodes".to_owned(),
                _ => "remove pins, or link the nodes".to_owned(),
            };
        }
        self.remedies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", or ")
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Slot { slot_ns } => write!(f, "a slot of {}", Us(*slot_ns)),
            Remedy::Faster { times } => write!(f, "cores {times:.2} times as fast"),
            Remedy::Cores { cores } => write!(f, "{cores} cores"),
            Remedy::Bandwidth { times } => write!(f, "links {times:.2} times as fast"),
        }
    }
}

/// Nanoseconds as microseconds, or from one millisecond on as those; at most three digits behind the point, rounded up.
struct Us(u64);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (thousandths, unit) = if self.0 < 1_000_000 { (self.0, "µs") } else { (self.0.div_ceil(1000), "ms") };
        match (thousandths / 1000, thousandths % 1000) {
            (whole, 0) => write!(f, "{whole} {unit}"),
            (whole, rest) => write!(f, "{whole}.{} {unit}", format!("{rest:03}").trim_end_matches('0')),
        }
    }
}

pub(super) fn explain(task: MapTask<'_>, solution: Option<Solution>) -> Infeasible {
    let MapTask { problem, slot_ns, allowed_ns, ref bounds, .. } = task;
    let best_ns = solution.as_ref().map(|solution| solution.period_ns);
    let proven = bounds.best_ns() > allowed_ns || solution.as_ref().is_some_and(|solution| solution.proven);
    let cores = problem.kind_of.len();
    let over = |part: &Option<Part>| part.clone().filter(|part| part.ns > allowed_ns);
    let binding = if let Some(link) = bounds.link.clone().filter(|link| link.ns > allowed_ns) {
        Binding::Link(link)
    } else if best_ns.is_none() {
        Binding::Nowhere
    } else if let Some(part) = over(&bounds.component) {
        Binding::Component(part)
    } else if let Some(part) = over(&bounds.cycle) {
        Binding::Cycle(part)
    } else if bounds.work_ns > allowed_ns {
        let all = |ns: u64| ns.saturating_mul(cores as u64);
        // Rounded up by division: the sum itself where there is one kind of core.
        let sum = (0..problem.groups.len()).map(|group| problem.least(group)).fold(0, u64::saturating_add);
        let needed_ns = if problem.kinds.len() == 1 { sum } else { all(bounds.work_ns) };
        Binding::Work { needed_ns, available_ns: all(allowed_ns), cores }
    } else {
        Binding::Packing { best_ns: best_ns.unwrap_or(NEVER) }
    };
    let remedies = best_ns.map_or_else(Vec::new, |best_ns| remedies(&task, best_ns, &binding));
    Infeasible { binding, slot_ns, allowed_ns, bounds: task.bounds, best_ns, proven, remedies }
}

fn remedies(task: &MapTask<'_>, best_ns: u64, binding: &Binding) -> Vec<Remedy> {
    let times = best_ns as f64 / task.allowed_ns.max(1) as f64;
    let slot_ns = least_slot_ns(best_ns, task.use_at_most);
    let mut remedies: Vec<Remedy> = slot_ns.map(|slot_ns| Remedy::Slot { slot_ns }).into_iter().collect();
    match binding {
        Binding::Link(_) => remedies.push(Remedy::Bandwidth { times }),
        Binding::Component(_) | Binding::Cycle(_) => remedies.push(Remedy::Faster { times }),
        _ => {
            remedies.push(Remedy::Faster { times });
            remedies.extend(enough(task).map(|cores| Remedy::Cores { cores }));
        }
    }
    remedies
}

/// The first whole microsecond of which the share is enough, ns. `None` where the share is so small that no slot of 64 bits
/// would do.
fn least_slot_ns(best_ns: u64, share: f64) -> Option<u64> {
    let about = (best_ns as f64 / share / 1000.0).floor() as u64;
    let slots = (about..=about.saturating_add(ROUNDINGS)).map_while(|us| us.checked_mul(1000));
    slots.into_iter().find(|&slot_ns| super::share_of(slot_ns, share) >= best_ns)
}

/// Microseconds that the quotient may be off at most: floats of 64 bits lie 2048 ns apart where they lie farthest.
const ROUNDINGS: u64 = 16;

/// Cores of the one kind that is there on which first fit, dearest first, finds room. Links and open cycles are left out
/// of it, so with those nothing is reported.
fn enough(task: &MapTask<'_>) -> Option<usize> {
    let problem = task.problem;
    if problem.kinds.len() != 1 || !problem.channels.is_empty() || problem.hops.any_cycle() {
        return None;
    }
    let room = task.allowed_ns.checked_sub(problem.kinds[0].base_ns)?;
    let mut costs: Vec<u64> = (0..problem.groups.len()).map(|group| problem.cost(group, 0)).collect();
    costs.sort_unstable_by_key(|&cost| std::cmp::Reverse(cost));
    let mut loads: Vec<u64> = Vec::new();
    for cost in costs {
        match loads.iter_mut().find(|load| **load + cost <= room) {
            Some(load) => *load += cost,
            None if cost <= room => loads.push(cost),
            None => return None,
        }
    }
    Some(loads.len())
}
