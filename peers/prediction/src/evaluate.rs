//! Predictions of the same components by several methods. None sees the time of the component it predicts, nor of one of its
//! family, on the processor it predicts.

use serde::{Deserialize, Serialize};
use takt_mapper::{Capacities, Mix, Operations, PerWork, Prices, Profile, Timed, predict, predict_mac};

use crate::calibration::Calibration;

/// The requested evaluation.
#[derive(Deserialize)]
pub struct Question {
    from: Calibration,
    to: Calibration,
    components: Vec<Measured>,
}

/// A component that was measured on both.
#[derive(Deserialize)]
struct Measured {
    component: String,
    family: String,
    profile: Profile,
    from_ns: f64,
    to_ns: f64,
}

/// Its time on the second by each method, beside what was measured.
#[derive(Serialize)]
pub struct Predicted {
    component: String,
    from_ns: f64,
    to_ns: f64,
    mac_ns: f64,
    ratio_ns: f64,
    kernels_ns: f64,
    prices_ns: f64,
    learned_ns: f64,
}

/// All of them; `None` if something was not calibrated.
pub fn evaluate(question: &Question) -> Option<Vec<Predicted>> {
    let Question { from, to, components } = question;
    let prices = Prices::learn(&to.timed())?;
    let one = |measured: &Measured| {
        let others = || components.iter().filter(|other| other.family != measured.family);
        let examples: Vec<Timed> =
            to.timed().into_iter().chain(others().map(|o| Timed { profile: o.profile, ns: o.to_ns })).collect();
        let ratio = best_ratio(others().map(|other| other.to_ns / other.from_ns).collect())?;
        let mix = mix(&measured.profile.vector, &from.capacities)?;
        Some(Predicted {
            component: measured.component.clone(),
            from_ns: measured.from_ns,
            to_ns: measured.to_ns,
            mac_ns: predict_mac(measured.from_ns, &from.capacities, &to.capacities),
            ratio_ns: measured.from_ns * ratio,
            kernels_ns: predict(measured.from_ns, &mix, &from.capacities, &to.capacities)?,
            prices_ns: prices.of(&measured.profile),
            learned_ns: Prices::learn(&examples)?.of(&measured.profile),
        })
    };
    components.iter().map(one).collect()
}

/// The one of these ratios that, taken for all, has the least mean relative error.
fn best_ratio(ratios: Vec<f64>) -> Option<f64> {
    let error = |ratio: f64| ratios.iter().map(|other| (ratio / other - 1.0).abs()).sum::<f64>();
    ratios.iter().copied().min_by(|a, b| error(*a).total_cmp(&error(*b)))
}

/// Shares of the time by the seven kinds that have kernels. Kernels count items of a vector, of 16 bytes here.
fn mix(executed: &Operations, from: &Capacities) -> Option<Mix> {
    let counts = PerWork {
        integer: executed.integer + executed.multiply + executed.store,
        float: executed.float + executed.float_convert,
        integer_vector: 16.0 * (executed.vector_integer + executed.vector_multiply + executed.vector_shuffle),
        float_vector: 4.0 * (executed.vector_float + executed.vector_convert),
        table: executed.load,
        memory: 16.0 * (executed.vector_load + executed.vector_store),
        branch: executed.branch + executed.call,
    };
    Mix::of_operations(&counts, from)
}
