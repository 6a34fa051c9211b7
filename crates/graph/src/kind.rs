//! [`Kind`]: a component type as documented, and [`Catalogue`], which knows them.

use serde::Serialize;
use takt_base::nearest;

use crate::limits;
use crate::shape::Shape;
use crate::value::{Params, Value};

/// A component type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kind {
    /// As waveform files name it: `bpsk-modulate`.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Its parameters.
    pub params: Vec<ParamSpec>,
    /// Whether it keeps nothing from slot to slot, so that copies of it may take turns.
    pub stateless: bool,
    /// Whether it opens files of its machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
}

/// A documented parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParamSpec {
    /// Its name.
    pub name: String,
    /// Its other names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// One sentence.
    pub doc: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Its possible values.
    #[serde(flatten)]
    pub domain: Domain,
    /// Its value when not given; `None`: it must be given.
    pub default: Option<Value>,
    /// Whether it can be set while the waveform runs.
    pub variable: bool,
    /// Whether it is how many bytes of memory the component takes, besides its packets.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub memory: bool,
    /// Its value where a waveform is only tried, whatever was given; `None`: the given one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_trials: Option<Value>,
}

/// The values a parameter can have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "domain", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Domain {
    /// true or false.
    Bool,
    /// A whole number within bounds, both included.
    Int {
        min: i64,
        max: i64,
    },
    /// A finite number within bounds, both included.
    Float {
        min: f64,
        max: f64,
    },
    Choice {
        of: Vec<String>,
    },
    Text,
    /// Finite numbers.
    Floats {
        /// At most so many.
        max_len: usize,
    },
}

/// Why a value does not suit a parameter, or a parameter a component.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum ParamError {
    /// There is no such parameter.
    #[error("`{kind}` has no parameter `{name}`")]
    Unknown {
        kind: String,
        name: String,
        /// The parameter meant, if one is near.
        nearest: Option<String>,
        known: Vec<String>,
    },
    /// It has no default and was not given.
    #[error("`{kind}` needs the parameter `{name}`")]
    Missing { kind: String, name: String, expected: String },
    /// The value is of the wrong type or out of range.
    #[error("`{name}` can't be {got}")]
    Value { name: String, got: String, expected: String },
    /// Values that are good alone do not go together.
    #[error("{what}")]
    Together {
        /// The conflict.
        what: String,
        fix: String,
    },
}

impl ParamError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            ParamError::Unknown { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            ParamError::Unknown { known, .. } if known.is_empty() => {
                "remove it: the component takes no parameters".to_owned()
            }
            ParamError::Unknown { known, .. } => format!("use one of: {}", known.join(", ")),
            ParamError::Missing { expected, .. } | ParamError::Value { expected, .. } => format!("give {expected}"),
            ParamError::Together { fix, .. } => fix.clone(),
        }
    }

    /// The parameter it is about.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        match self {
            ParamError::Unknown { name, .. } | ParamError::Missing { name, .. } | ParamError::Value { name, .. } => {
                Some(name)
            }
            ParamError::Together { .. } => None,
        }
    }
}

/// Source of component types for the checks. The runtime's registry is one; tests bring their own.
pub trait Catalogue {
    /// All types, by name.
    fn kinds(&self) -> Vec<&Kind>;

    /// The type of this name.
    fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds().into_iter().find(|kind| kind.name == name)
    }

    /// The ports of a component of this type with these parameters, which are complete and in range.
    ///
    /// # Errors
    /// If the parameters do not go together.
    fn shape(&self, kind: &Kind, params: &Params) -> Result<Shape, ParamError>;
}

impl Kind {
    /// A type without parameters.
    #[must_use]
    pub fn new(name: &str, summary: &str) -> Kind {
        let (name, summary) = (name.to_owned(), summary.to_owned());
        Kind { name, summary, params: Vec::new(), stateless: false, files: false }
    }

    /// One that opens files of its machine.
    #[must_use]
    pub fn with_files(mut self) -> Kind {
        self.files = true;
        self
    }

    /// Whether it may open files of its machine: it says so, or a parameter is a free text, which may name one. So a type
    /// that does not say so is taken for one that does.
    #[must_use]
    pub fn may_open_files(&self) -> bool {
        self.files || self.params.iter().any(|param| param.domain == Domain::Text)
    }

    /// Bytes of memory that its parameters say it takes, besides its packets.
    #[must_use]
    pub fn memory_bytes(&self, params: &Params) -> u64 {
        let bytes = |param: &ParamSpec| u64::try_from(params.int(&param.name)?).ok();
        self.params.iter().filter(|param| param.memory).filter_map(bytes).fold(0, u64::saturating_add)
    }

    /// With one parameter more.
    #[must_use]
    pub fn param(mut self, param: ParamSpec) -> Kind {
        self.params.push(param);
        self
    }

    /// The given parameters, completed by the defaults.
    ///
    /// # Errors
    /// The first parameter that is unknown, missing, or out of range.
    pub fn resolve(&self, given: &Params) -> Result<Params, ParamError> {
        let mut named = Params::new();
        for (name, value) in given.iter() {
            let param = self.find(name).ok_or_else(|| self.unknown(name))?;
            if named.get(&param.name).is_some() {
                let names: Vec<&str> =
                    given.iter().map(|(name, _)| name).filter(|name| param.is_called(name)).collect();
                let what = format!("{} are the same parameter", names.join(" and "));
                return Err(ParamError::Together { what, fix: format!("give only `{}`", param.name) });
            }
            named.set(&param.name, value.clone());
        }
        let mut all = Params::new();
        for param in &self.params {
            let value = match named.get(&param.name) {
                Some(value) => param.admit(value)?,
                None => param.default.clone().ok_or_else(|| ParamError::Missing {
                    kind: self.name.clone(),
                    name: param.name.clone(),
                    expected: param.expected(),
                })?,
            };
            all.set(&param.name, value);
        }
        Ok(all)
    }

    /// The parameter of this name or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ParamSpec> {
        self.params.iter().find(|param| param.is_called(name))
    }

    fn unknown(&self, name: &str) -> ParamError {
        let known: Vec<String> = self.params.iter().map(|param| param.name.clone()).collect();
        let nearest = nearest(name, self.params.iter().flat_map(ParamSpec::names)).map(str::to_owned);
        ParamError::Unknown { kind: self.name.clone(), name: name.to_owned(), nearest, known }
    }
}

impl ParamSpec {
    /// A required parameter.
    #[must_use]
    pub fn new(name: &str, domain: Domain, doc: &str) -> ParamSpec {
        let (name, doc) = (name.to_owned(), doc.to_owned());
        ParamSpec {
            name,
            aliases: Vec::new(),
            doc,
            unit: String::new(),
            domain,
            default: None,
            variable: false,
            memory: false,
            in_trials: None,
        }
    }

    /// With another name, under which it may be given as well.
    #[must_use]
    pub fn alias(mut self, name: &str) -> ParamSpec {
        self.aliases.push(name.to_owned());
        self
    }

    /// Its name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }

    /// Whether that is one of its names.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// With a unit.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> ParamSpec {
        unit.clone_into(&mut self.unit);
        self
    }

    /// With a default.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> ParamSpec {
        self.default = Some(value.into());
        self
    }

    /// That can be set while running.
    #[must_use]
    pub fn variable(mut self) -> ParamSpec {
        self.variable = true;
        self
    }

    /// That is how many bytes of memory the component takes, besides its packets.
    #[must_use]
    pub fn memory(mut self) -> ParamSpec {
        self.memory = true;
        self
    }

    /// That is another one where a waveform is only tried: a trial changes nothing on its machine.
    #[must_use]
    pub fn in_trials(mut self, value: impl Into<Value>) -> ParamSpec {
        self.in_trials = Some(value.into());
        self
    }

    /// The value as this parameter takes it: a whole number becomes a float where one is wanted.
    ///
    /// # Errors
    /// It is of another type or out of range.
    pub fn admit(&self, value: &Value) -> Result<Value, ParamError> {
        let admitted = match (&self.domain, value) {
            (Domain::Bool, Value::Bool(_)) | (Domain::Text, Value::Text(_)) => Some(value.clone()),
            (Domain::Int { min, max }, Value::Int(n)) => (min..=max).contains(&n).then(|| value.clone()),
            (Domain::Float { min, max }, Value::Float(x)) => (min..=max).contains(&x).then(|| value.clone()),
            (Domain::Float { min, max }, Value::Int(n)) => {
                let x = *n as f64;
                (*min..=*max).contains(&x).then_some(Value::Float(x))
            }
            (Domain::Choice { of }, Value::Text(word)) => of.contains(word).then(|| value.clone()),
            (Domain::Floats { max_len }, Value::Floats(list)) => {
                let good = list.len() <= (*max_len).min(limits::LIST) && list.iter().all(|x| x.is_finite());
                good.then(|| value.clone())
            }
            _ => None,
        };
        admitted.ok_or_else(|| self.refuse(value.to_string()))
    }

    /// Reads a value as typed on a command line: `--param name=text`.
    ///
    /// # Errors
    /// The text is no such value, or out of range.
    pub fn parse(&self, text: &str) -> Result<Value, ParamError> {
        let number = |text: &str| text.trim().parse::<f64>().ok().or_else(|| takt_base::parse_number(text).ok());
        let value = match &self.domain {
            Domain::Bool => text.parse().ok().map(Value::Bool),
            Domain::Int { .. } => {
                text.trim().parse().ok().or_else(|| whole(takt_base::parse_number(text).ok()?)).map(Value::Int)
            }
            Domain::Float { .. } => number(text).map(Value::Float),
            Domain::Choice { .. } | Domain::Text => Some(Value::Text(text.to_owned())),
            Domain::Floats { .. } => text.split(',').map(number).collect::<Option<_>>().map(Value::Floats),
        };
        self.admit(&value.ok_or_else(|| self.refuse(format!("`{text}`")))?)
    }

    /// Its possible values, in words: `a whole number from 1 to 65536`.
    #[must_use]
    pub fn expected(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match &self.domain {
            Domain::Bool => "true or false".to_owned(),
            Domain::Int { min, max } => format!("a whole number from {min} to {max}{unit}"),
            Domain::Float { min, max } => format!("a number from {min} to {max}{unit}"),
            Domain::Choice { of } => format!("one of {}", of.join(", ")),
            Domain::Text => "a text".to_owned(),
            Domain::Floats { max_len } => format!("at most {max_len} numbers"),
        }
    }

    fn refuse(&self, got: String) -> ParamError {
        ParamError::Value { name: self.name.clone(), got, expected: self.expected() }
    }
}

/// The whole number a float is, if it is one: `64k` is a whole number.
fn whole(x: f64) -> Option<i64> {
    // 2^53: beyond it a double no longer counts by one.
    (x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0).then_some(x as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain() -> Kind {
        let domain = Domain::Float { min: -100.0, max: 100.0 };
        let taps = ParamSpec::new("taps", Domain::Floats { max_len: 3 }, "Taps.").default(vec![1.0]);
        Kind::new("gain", "Multiplies.").param(ParamSpec::new("gain_db", domain, "Gain.").unit("dB")).param(taps)
    }

    #[test]
    fn parameters_are_completed_by_defaults_and_whole_numbers_become_floats() {
        let all = gain().resolve(&Params::new().with("gain_db", 3)).expect("good");
        assert_eq!((all.float("gain_db"), all.floats("taps")), (Some(3.0), Some(&[1.0][..])));
    }

    #[test]
    fn a_wrong_parameter_is_refused_with_what_would_be_right() {
        let refused = |params: Params| {
            let error = gain().resolve(&params).expect_err("refused");
            format!("{error}: {}", error.fix())
        };
        let wrong = refused(Params::new().with("gain_bd", 3.0));
        assert_eq!(wrong, "`gain` has no parameter `gain_bd`: did you mean `gain_db`?");
        assert_eq!(refused(Params::new()), "`gain` needs the parameter `gain_db`: give a number from -100 to 100 dB");
        let wrong = refused(Params::new().with("gain_db", f64::NAN));
        assert_eq!(wrong, "`gain_db` can't be NaN: give a number from -100 to 100 dB");
        let long = Params::new().with("gain_db", 0.0).with("taps", vec![0.0; 4]);
        assert_eq!(refused(long), "`taps` can't be [0.0, 0.0, 0.0, 0.0]: give at most 3 numbers");
    }

    #[test]
    fn an_alias_is_the_parameter_and_both_at_once_are_refused() {
        let domain = Domain::Int { min: 40, max: 6144 };
        let coder = Kind::new("coder", "Codes.").param(ParamSpec::new("K", domain, "Bits.").alias("length"));
        let of = |params: Params| coder.resolve(&params);
        for name in ["K", "length"] {
            assert_eq!(of(Params::new().with(name, 40)), Ok(Params::new().with("K", 40)));
        }
        let error = of(Params::new().with("K", 40).with("length", 40)).expect_err("refused");
        assert_eq!(
            (error.to_string(), error.fix()),
            ("K and length are the same parameter".into(), "give only `K`".into())
        );
        let error = of(Params::new().with("lenght", 40)).expect_err("refused");
        assert_eq!(error.fix(), "did you mean `length`?");
        assert_eq!(of(Params::new().with("length", 39)).expect_err("refused").param(), Some("K"));
    }

    #[test]
    fn who_says_so_and_who_takes_a_free_text_may_open_files() {
        assert!(!gain().may_open_files() && gain().with_files().may_open_files());
        let choice = Domain::Choice { of: vec!["a".to_owned()] };
        assert!(!gain().param(ParamSpec::new("word", choice, "A word.")).may_open_files());
        assert!(gain().param(ParamSpec::new("path", Domain::Text, "A file.")).may_open_files());
    }

    #[test]
    fn memory_is_what_the_parameters_for_it_say() {
        let bytes = |name| ParamSpec::new(name, Domain::Int { min: -1, max: i64::MAX }, "Room.").unit("bytes");
        let kind = Kind::new("sink", "Keeps.").param(bytes("buffer").memory()).param(bytes("more").memory());
        let kind = kind.param(bytes("offset"));
        let of = |buffer: i64, more: i64| {
            kind.memory_bytes(&Params::new().with("buffer", buffer).with("more", more).with("offset", 9))
        };
        assert_eq!([of(3, 4), of(3, -1)], [7, 3]);
        assert_eq!(kind.memory_bytes(&Params::new()), 0);
    }

    #[test]
    fn text_of_a_command_line_is_read_by_the_parameters_type() {
        let gain = gain();
        assert_eq!(gain.params[0].parse("-1.5"), Ok(Value::Float(-1.5)));
        assert_eq!(gain.params[1].parse("1,2,-3"), Ok(Value::Floats(vec![1.0, 2.0, -3.0])));
        let items = ParamSpec::new("items", Domain::Int { min: 1, max: 100_000 }, "Items.");
        assert_eq!(items.parse("64k"), Ok(Value::Int(64_000)));
        assert!(items.parse("1.5").is_err() && items.parse("0").is_err());
    }
}
