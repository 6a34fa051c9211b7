//! Needed rates as people type them, and their place in the experiment.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_load::rate::{Format, Mode};
use takt_load::{Contradiction, Kind, Model};

use super::settings::{self, Settings};
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
#[error("`{got}` is no needed rate: {why}")]
pub struct NeedError {
    pub got: String,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// `MODEL:RATE[:MODE[:FORMAT]]`, such as `n200:25M`, `n200:50M:duplex:sc8`, `x310:100M:rx`. Without a mode both ways at once;
/// without a format sc16 as far as the radio's cable carries it, sc8 above where it has that.
impl FromStr for Need {
    type Err = NeedError;

    fn from_str(text: &str) -> Result<Need, NeedError> {
        let error = |why: String| NeedError { got: text.to_owned(), why };
        let parts: Vec<&str> = text.split(':').collect();
        let [model, rate, rest @ ..] = parts.as_slice() else {
            return Err(error("MODEL:RATE, such as n200:25M".into()));
        };
        let accept = |name: &str, value: Value| {
            let setting = settings::find(name).ok_or_else(|| error(format!("no setting {name}")))?;
            setting.accept(&value).map_err(|(what, remedy)| error(format!("{what}; {remedy}")))
        };
        let model = accept("model", json!(model.to_lowercase()))?;
        let rate_sps = accept("rate_sps", json!(rate))?.as_f64().unwrap_or_default();
        let mode = accept("mode", json!(rest.first().unwrap_or(&"duplex")))?;
        let named: Model = serde_json::from_value(model.clone()).map_err(|why| error(why.to_string()))?;
        let fits_sc16 = |fastest_sps: f64| rate_sps <= fastest_sps || named.fastest_sps(Format::Sc8).is_none();
        let usual = if named.fastest_sps(Format::Sc16).is_some_and(fits_sc16) { "sc16" } else { "sc8" };
        let format = accept("format", json!(rest.get(1).unwrap_or(&usual)))?;
        if rest.len() > 2 {
            return Err(error("MODEL:RATE:MODE:FORMAT at most".into()));
        }
        let given = [("model", &model), ("rate_sps", &json!(rate_sps)), ("mode", &mode), ("format", &format)];
        let given = given.map(|(name, value)| (name.to_owned(), value.clone())).into();
        let settings = Settings::complete(given, settings::of(Kind::Rate));
        if let Some(Contradiction { what, remedy, .. }) = Kind::Rate.workload().contradiction(&settings) {
            return Err(error(format!("{what}; {remedy}")));
        }
        match (serde_json::from_value(mode), serde_json::from_value(format)) {
            (Ok(mode), Ok(format)) => Ok(Need { model: named, mode, rate_sps, format }),
            _ => Err(error("MODEL:RATE:MODE:FORMAT".into())),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.model, self.words())
    }
}

impl Need {
    /// What a check asks for by default: both ways at what a busy cable of the model carries.
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
                part.kind == Kind::Rate && part.model() == Some(need.model) && fixed == format
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
        let why = |text: &str| text.parse::<Need>().unwrap_err().why;
        assert_eq!(why("n200"), "MODEL:RATE, such as n200:25M");
        assert!(why("n200:22M").contains("20e6 (100 MHz / 5), 25e6 (100 MHz / 4)"));
        assert!(why("n200:100M").ends_with("no rate of 100 MS/s; the nearest: of an N200 50e6 (100 MHz / 2)"));
        assert!(why("x310:25M:rx:sc8").contains("an X310 has no sc8"));
        assert!(why("n300:25M").contains("did you mean \"n200\"?"));
        assert!(why("n200:25M:both").contains("one of: rx, tx, duplex"));
        assert!(why("n200:25M:rx:sc16:x").contains("at most"));
    }

    #[test]
    fn a_needed_rate_is_measured_even_if_the_file_does_not_name_it() {
        let check = Experiment::parse("check", &named("check").unwrap()).unwrap();
        let with = check.with_needs(vec!["n200:7.692M".parse().unwrap()]);
        let rates: Vec<f64> = with
            .points(Depth::Quick)
            .iter()
            .filter(|p| p.part_name == "sc16" && p.settings.word("mode") == "duplex")
            .filter_map(|p| p.settings.number("rate_sps"))
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
