//! [`predicted`]: what every component takes on every class of core, and by what that is known.

use serde::Serialize;
use takt_graph::Graph;

use super::MapError;
use crate::cost::costs::{Costs, Quantile};
use crate::cost::metric::{ExpectedError, Metric};
use crate::platform::Platform;

/// Predicted time of a component on a class of core.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predicted {
    pub component: String,
    pub class: String,
    /// Time in a slot, ns.
    pub ns: u64,
    pub metric: Metric,
    /// How far off such figures were; `None` where nothing is predicted.
    pub error: Option<ExpectedError>,
}

/// Times of each component on each class that a core of the platform has: [`super::map`] places by them.
///
/// # Errors
/// [`MapError::NoCost`] and [`MapError::NoCapacities`], as of [`super::map`].
pub fn predicted(
    graph: &Graph,
    costs: &Costs,
    platform: &Platform,
    quantile: Quantile,
) -> Result<Vec<Predicted>, MapError> {
    let mut all = Vec::new();
    for class in used(platform) {
        for component in graph.components() {
            let (ns, metric) = time(component, costs, platform, class, quantile)?;
            all.push(Predicted {
                component: component.name.clone(),
                class: platform.classes()[class].name.clone(),
                ns,
                metric,
                error: metric.expected_error(),
            });
        }
    }
    Ok(all)
}

/// ns of each component by class, `[class][component]`; of classes no core has, nothing is required.
pub(super) fn times(
    graph: &Graph,
    costs: &Costs,
    platform: &Platform,
    quantile: Quantile,
) -> Result<Vec<Vec<u64>>, MapError> {
    let mut times = vec![vec![0; graph.components().len()]; platform.classes().len()];
    for class in used(platform) {
        for (place, component) in times[class].iter_mut().zip(graph.components()) {
            (*place, _) = time(component, costs, platform, class, quantile)?;
        }
    }
    Ok(times)
}

fn used(platform: &Platform) -> impl Iterator<Item = usize> {
    (0..platform.classes().len()).filter(|&class| platform.cores().iter().any(|core| core.class == class))
}

fn time(
    component: &takt_graph::Component,
    costs: &Costs,
    platform: &Platform,
    class: usize,
    quantile: Quantile,
) -> Result<(u64, Metric), MapError> {
    let measured = costs.components.get(&component.name);
    let Some(ns) = measured.map(|cost| cost.at(quantile)).or(component.budget_ns) else {
        return Err(MapError::NoCost { component: component.name.clone() });
    };
    let of = &platform.classes()[class];
    let known = (of.spec.capacities.as_ref(), of.spec.prices.as_ref());
    costs
        .on(&component.name, ns, &of.name, known)
        .ok_or_else(|| MapError::NoCapacities { reference: costs.reference.clone(), class: of.name.clone() })
}
