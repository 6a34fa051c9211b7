//! Needed rates as people type them, and their place in the experiment.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use takt_base::parse_number;
use takt_load::rate::{Format, Mode, Stream};
use takt_load::{Contradiction, Model, WorkloadKind};

use super::settings;
use super::{Experiment, Part};

/// A rate that is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a table: [[need]]")]
pub struct Need {
    pub model: Model,
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    pub format: Format,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NeedError {
    pub what: String,
    /// Why, where `what` does not say it.
    pub why: Option<&'static str>,
    /// The remedy; lines are alternatives.
    pub fix: String,
}

impl NeedError {
    fn new(what: String, fix: &str) -> NeedError {
        NeedError { what, why: None, fix: fix.to_owned() }
    }
}

/// `MODEL:RATE[:MODE[:FORMAT]]`, such as `n200:25M`, `n200:50M:duplex:sc8`, `x310:100M:rx`. Without a mode both ways at once;
/// without a format sc16 as far as the radio's cable carries it, sc8 above where it has that.
impl FromStr for Need {
    type Err = NeedError;

    fn from_str(text: &str) -> Result<Need, NeedError> {
        let parts: Vec<&str> = text.split(':').collect();
        let (model, rate, rest) = match parts.as_slice() {
            [model, rate, rest @ ..] if rest.len() <= 2 => (*model, *rate, rest),
            [_, _, ..] => {
                let what = format!("`{text}` is more than MODEL:RATE:MODE:FORMAT");
                return Err(NeedError::new(what, "omit the rest"));
            }
            _ => {
                let what = format!("`{text}` is not a needed rate");
                return Err(NeedError::new(what, "give MODEL:RATE, such as n200:25M"));
            }
        };
        let model: Model = one_of("model", &model.to_lowercase(), "use n200 or x310, as in n200:25M")?;
        let rate_sps = rate_of(model, rate, rest)?;
        let fits_sc16 = |fastest_sps: f64| rate_sps <= fastest_sps || model.fastest_sps(Format::Sc8).is_none();
        let usual = if model.fastest_sps(Format::Sc16).is_some_and(fits_sc16) { "sc16" } else { "sc8" };
        let mode: Mode = one_of("mode", rest.first().unwrap_or(&"duplex"), "use rx, tx or duplex, as in n200:25M:rx")?;
        let format: Format =
            one_of("sample format", rest.get(1).unwrap_or(&usual), "use sc16 or sc8, as in n200:25M:duplex:sc16")?;
        let need = Need { model, mode, rate_sps, format };
        match need.stream().contradiction() {
            Some(Contradiction { what, remedy, .. }) => Err(NeedError::new(what, &remedy)),
            None => Ok(need),
        }
    }
}

/// The meaning of a word; `what` it is, and the `fix` of a word that means nothing.
fn one_of<T: DeserializeOwned>(what: &str, word: &str, fix: &str) -> Result<T, NeedError> {
    serde_json::from_value(json!(word)).map_err(|_| NeedError::new(format!("unknown {what} `{word}`"), fix))
}

/// The rate of this model that a text means. `rest` stands behind it in a needed rate.
fn rate_of(model: Model, text: &str, rest: &[&str]) -> Result<f64, NeedError> {
    let Some(wanted) = parse_number(text).ok().filter(|wanted| *wanted > 0.0) else {
        return Err(NeedError::new(format!("`{text}` is not a rate"), "give samples per second, as in n200:25M"));
    };
    let meant = settings::find("rate_sps").and_then(|setting| setting.accept(&json!(text)).ok()?.as_f64());
    let is_close = |near: f64, rate_sps: f64| (near / rate_sps - 1.0).abs() <= 1e-6;
    let has = |rate_sps: &f64| model.nearest_rate(*rate_sps).is_some_and(|near| is_close(near, *rate_sps));
    if let Some(rate_sps) = meant.filter(has) {
        return Ok(rate_sps);
    }
    let mut near: Vec<f64> = model.rates_around(wanted).into_iter().flatten().collect();
    near.dedup();
    let line = |rate_sps: &f64| {
        let (rate, clock_hz) = (format!("{}M", mega(*rate_sps)), f64::from(model.clock_making(*rate_sps).hz()));
        let words = [&[model.name(), rate.as_str()][..], rest].concat().join(":");
        format!("give --need {words}   ({} MHz / {})", mega(clock_hz), (clock_hz / rate_sps).round())
    };
    let why = match model {
        Model::N200 => "its rates are 100 MHz divided by a whole number",
        Model::X310 => "its rates are 200 or 184.32 MHz divided by a whole number",
    };
    let fix = near.iter().map(line).collect::<Vec<_>>().join("\n");
    let what = format!("an {model} can't stream at {} MS/s", mega(wanted));
    Err(NeedError { what, why: Some(why), fix })
}

/// In millions, to six decimals.
fn mega(value: f64) -> String {
    let text = format!("{:.6}", value / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.model, self.words())
    }
}

impl Need {
    pub(super) fn stream(&self) -> Stream {
        Stream { model: self.model, mode: self.mode, rate_sps: self.rate_sps, format: self.format }
    }

    /// A check's default: both ways at what a busy cable of the model carries.
    #[must_use]
    pub fn usual(model: Model) -> Need {
        let rate_sps = match model {
            Model::N200 => 25e6,
            Model::X310 => 100e6,
        };
        Need { model, mode: Mode::Duplex, rate_sps, format: Format::Sc16 }
    }

    /// `25 + 25 MS/s sc16` for duplex, `25 MS/s sc16 receive` for one way.
    #[must_use]
    pub fn words(&self) -> String {
        let (rate_msps, format) = ((self.rate_sps / 1e4).round() / 100.0, self.format.name());
        match self.mode {
            Mode::Duplex => format!("{rate_msps} + {rate_msps} MS/s {format}"),
            Mode::Rx => format!("{rate_msps} MS/s {format} receive"),
            Mode::Tx => format!("{rate_msps} MS/s {format} transmit"),
        }
    }
}

impl Experiment {
    /// The same, about `needs`: parts about other radios go, and the needed rates become levels of the part that measures their
    /// radio and format, if they are not already.
    #[must_use]
    pub fn with_needs(mut self, needs: Vec<Need>) -> Experiment {
        self.parts.retain(|part| part.model().is_none_or(|model| needs.iter().any(|need| need.model == model)));
        for need in &needs {
            let (format, level) = (json!(need.format), json!(need.rate_sps));
            let measures = |part: &&mut Part| {
                let fixed = part.fixed.get("format").cloned().unwrap_or_else(|| json!("sc16"));
                part.kind == WorkloadKind::Rate && part.model() == Some(need.model) && fixed == format
            };
            let part = self.parts.iter_mut().find(measures);
            let Some(rates) = part.and_then(|part| part.factors.iter_mut().find(|f| f.name == "rate_sps")) else {
                continue;
            };
            for levels in [&mut rates.full, &mut rates.quick] {
                if !levels.contains(&level) {
                    levels.push(level.clone());
                    levels.sort_by(|a, b| a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)));
                }
            }
        }
        self.needs = needs;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Depth, named};

    #[test]
    fn what_is_left_out_is_what_is_usual() {
        let need: Need = "n200:25M".parse().unwrap();
        assert_eq!(need, Need { model: Model::N200, mode: Mode::Duplex, rate_sps: 25e6, format: Format::Sc16 });
        assert_eq!(need.to_string(), "N200 25 + 25 MS/s sc16");
        let fast: Need = "N200:50e6:rx".parse().unwrap();
        assert_eq!((fast.mode, fast.format), (Mode::Rx, Format::Sc8));
        assert_eq!("n200:5M:tx:sc8".parse::<Need>().unwrap().format, Format::Sc8);
        let wide: Need = "x310:100M".parse().unwrap();
        assert_eq!(wide.to_string(), "X310 100 + 100 MS/s sc16");
    }

    #[test]
    fn what_is_wrong_is_reported_with_what_would_be_right() {
        for (text, what, fix) in [
            ("n200", "`n200` is not a needed rate", "give MODEL:RATE, such as n200:25M"),
            ("x:1", "unknown model `x`", "use n200 or x310, as in n200:25M"),
            ("n200:fast", "`fast` is not a rate", "give samples per second, as in n200:25M"),
            (
                "n200:30M:rx",
                "an N200 can't stream at 30 MS/s",
                "give --need n200:25M:rx   (100 MHz / 4)\ngive --need n200:33.333333M:rx   (100 MHz / 3)",
            ),
            ("n200:100M", "an N200 can't stream at 100 MS/s", "give --need n200:50M   (100 MHz / 2)"),
            ("x310:25M:rx:sc8", "an X310 has no sc8 on the wire", "give sc16"),
            ("n200:25M:both", "unknown mode `both`", "use rx, tx or duplex, as in n200:25M:rx"),
            ("n200:25M:rx:sc9", "unknown sample format `sc9`", "use sc16 or sc8, as in n200:25M:duplex:sc16"),
            ("n200:25M:rx:sc16:x", "`n200:25M:rx:sc16:x` is more than MODEL:RATE:MODE:FORMAT", "omit the rest"),
        ] {
            let error = text.parse::<Need>().unwrap_err();
            assert_eq!((error.what.as_str(), error.fix.as_str()), (what, fix), "{text}");
        }
        assert_eq!("n200:33.333333M".parse::<Need>().unwrap().to_string(), "N200 33.33 + 33.33 MS/s sc8");
    }

    #[test]
    fn a_needed_rate_is_measured_even_if_the_file_does_not_name_it() {
        let check = Experiment::parse("check", &named("check").unwrap()).unwrap();
        let with = check.with_needs(vec!["n200:7.692M".parse().unwrap()]);
        let rates: Vec<f64> = with
            .points(Depth::Quick)
            .iter()
            .filter(|point| point.part_name == "sc16")
            .filter_map(|point| point.workload.needs().stream)
            .filter(|stream| stream.mode == Mode::Duplex)
            .map(|stream| stream.rate_sps)
            .collect();
        assert_eq!(rates, [5e6, 1e8 / 13.0, 12.5e6, 25e6]);
        assert_eq!(with.needs.len(), 1);
    }

    #[test]
    fn a_check_is_about_the_radios_that_are_needed() {
        let models = |needs: &[&str]| {
            let check = Experiment::parse("check", &named("check").unwrap()).unwrap();
            let with = check.with_needs(needs.iter().map(|need| need.parse().unwrap()).collect());
            let mut models: Vec<Model> = with.parts.iter().filter_map(Part::model).collect();
            models.dedup();
            models
        };
        assert_eq!(models(&["n200:25M"]), [Model::N200]);
        assert_eq!(models(&["x310:100M"]), [Model::X310]);
    }
}
