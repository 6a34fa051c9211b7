//! [`evaluate`]: how good predictions are, over components measured on both processors.

use serde::Serialize;

use super::model::{Example, Mix, Stretch, predict_mac};
use super::work::Capacities;

/// A component with its times on both processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name.
    pub component: String,
    /// On the processor predicted from; unknown: an even mix is taken.
    pub mix: Option<Mix>,
    /// Time on the processor predicted from, ns.
    pub from_ns: f64,
    /// Time on the processor predicted, ns.
    pub to_ns: f64,
}

/// One component's predictions beside its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Its name.
    pub component: String,
    /// Measured on the processor predicted from, ns.
    pub from_ns: f64,
    /// Measured on the processor predicted, ns.
    pub to_ns: f64,
    /// By the paper's MAC metric, ns.
    pub mac_ns: f64,
    /// By kinds of work as the kernels tell, ns.
    pub kernels_ns: f64,
    /// By kinds of work, corrected by the other components (never by this one), ns.
    pub learned_ns: f64,
}

/// All predictions, and the mean of their relative errors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// One a component.
    pub components: Vec<Prediction>,
    /// Mean of |predicted - measured| / measured, MAC metric.
    pub mac_mean_error: f64,
    /// The same, kernels.
    pub kernels_mean_error: f64,
    /// The same, kernels corrected by the other components: leave-one-out.
    pub learned_mean_error: f64,
}

/// Predicts each component's time on `to` from its time on `from` and compares. `None` without components, or where a
/// processor has no figures by kind.
#[must_use]
pub fn evaluate(measured: &[Measured], from: &Capacities, to: &Capacities) -> Option<Evaluation> {
    let kernels = Stretch::of_kernels(from, to)?;
    let mix = |m: &Measured| m.mix.unwrap_or_else(Mix::even);
    let example = |m: &Measured| Example { mix: mix(m), from_ns: m.from_ns, to_ns: m.to_ns };
    let predict = |(index, m): (usize, &Measured)| {
        let others = measured.iter().enumerate().filter(|&(other, _)| other != index);
        let others: Vec<Example> = others.map(|(_, m)| example(m)).collect();
        Prediction {
            component: m.component.clone(),
            from_ns: m.from_ns,
            to_ns: m.to_ns,
            mac_ns: predict_mac(m.from_ns, from, to),
            kernels_ns: m.from_ns * kernels.of(&mix(m)),
            learned_ns: m.from_ns * kernels.learn(&others).of(&mix(m)),
        }
    };
    let components: Vec<Prediction> = measured.iter().enumerate().map(predict).collect();
    let mean = |predicted: fn(&Prediction) -> f64| {
        let errors = components.iter().map(|p| (predicted(p) - p.to_ns).abs() / p.to_ns);
        errors.sum::<f64>() / components.len() as f64
    };
    let (mac, kernels, learned) = (mean(|p| p.mac_ns), mean(|p| p.kernels_ns), mean(|p| p.learned_ns));
    (!components.is_empty()).then_some(Evaluation {
        components,
        mac_mean_error: mac,
        kernels_mean_error: kernels,
        learned_mean_error: learned,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::work::{PerWork, Work};

    #[test]
    fn a_component_is_never_predicted_from_its_own_time() {
        let rates = |rate: f64| Capacities { mac_per_s: rate, work_per_s: Some(PerWork::from_fn(|_| rate)) };
        let measured = |name: &str, work, to_ns| Measured {
            component: name.to_owned(),
            mix: Some(Mix::only(work)),
            from_ns: 1000.0,
            to_ns,
        };
        let both = [measured("crc", Work::Table, 2000.0), measured("fft", Work::Float, 9000.0)];
        let changed = [both[0].clone(), measured("fft", Work::Float, 90_000.0)];
        let (from, to) = (rates(2e9), rates(1e9));
        let before = evaluate(&both, &from, &to).expect("two");
        let after = evaluate(&changed, &from, &to).expect("two");
        assert_eq!(before.components[1].learned_ns, after.components[1].learned_ns);
        assert_eq!(before.components[0].kernels_ns, 2000.0);
        assert!((before.mac_mean_error - 7.0 / 18.0).abs() < 1e-12);
        assert_eq!(evaluate(&[], &from, &to), None);
    }
}
