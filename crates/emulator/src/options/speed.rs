//! The speed of radios that a user asks for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use takt_base::Speed;

/// The value given to `--speed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SpeedChoice {
    Fixed(Speed),
    /// Slow at first, then as fast as host and machine hold, and never faster than the wall's clock.
    Auto,
}

/// A text that is no speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a speed; expected: 0.001 to 100 seconds of the radio in a second of this host, or auto")]
pub struct SpeedChoiceError {
    pub got: String,
}

impl Default for SpeedChoice {
    fn default() -> SpeedChoice {
        SpeedChoice::Fixed(Speed::WALL)
    }
}

impl FromStr for SpeedChoice {
    type Err = SpeedChoiceError;
    fn from_str(text: &str) -> Result<SpeedChoice, SpeedChoiceError> {
        match text {
            "auto" => Ok(SpeedChoice::Auto),
            _ => text.parse().map(SpeedChoice::Fixed).map_err(|_| SpeedChoiceError { got: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for SpeedChoice {
    type Error = SpeedChoiceError;
    fn try_from(text: String) -> Result<SpeedChoice, SpeedChoiceError> {
        text.parse()
    }
}

impl From<SpeedChoice> for String {
    fn from(choice: SpeedChoice) -> String {
        choice.to_string()
    }
}

impl fmt::Display for SpeedChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpeedChoice::Fixed(speed) => fmt::Display::fmt(speed, f),
            SpeedChoice::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_speed_or_auto() {
        for text in ["0.1", "1", "100", "auto"] {
            assert_eq!(text.parse::<SpeedChoice>().unwrap().to_string(), text);
        }
        let error = "fast".parse::<SpeedChoice>().unwrap_err();
        assert!(error.to_string().ends_with("or auto"), "{error}");
        let kept: SpeedChoice = serde_json::from_str("\"0.25\"").unwrap();
        assert_eq!(serde_json::to_string(&kept).unwrap(), "\"0.25\"");
        assert!(serde_json::from_str::<SpeedChoice>("\"0\"").is_err());
    }
}
