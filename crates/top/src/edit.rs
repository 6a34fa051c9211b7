//! Setting a variable with keys: first which one, then its value.

use ratatui::crossterm::event::KeyCode;
use takt_base::plain::one_line;
use takt_base::shown::significant;
use takt_live::{SetVariable, Variable, VariableValue};

/// Longest value that can be typed, characters.
const LONGEST: usize = 60;

/// State of the keys that set variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Keys do what they usually do.
    #[default]
    Off,
    /// A variable is chosen, by its place among those that can be set.
    Choose(usize),
    /// Its value is typed.
    Type {
        /// The variable.
        name: String,
        /// The value so far.
        text: String,
    },
}

fn settable(variables: &[Variable]) -> Vec<&Variable> {
    variables.iter().filter(|variable| variable.settable).collect()
}

impl Edit {
    /// Begins to choose, if a variable can be set.
    pub(crate) fn begin(variables: &[Variable]) -> Edit {
        if settable(variables).is_empty() { Edit::Off } else { Edit::Choose(0) }
    }

    /// Takes a key. Answers what is to be set.
    pub(crate) fn key(&mut self, key: KeyCode, variables: &[Variable]) -> Option<SetVariable> {
        let all = settable(variables);
        match (&mut *self, key) {
            (Edit::Off, _) => {}
            (_, KeyCode::Esc) => *self = Edit::Off,
            (Edit::Choose(at), KeyCode::Down) => *at = (*at + 1).min(all.len().saturating_sub(1)),
            (Edit::Choose(at), KeyCode::Up) => *at = at.saturating_sub(1),
            (Edit::Choose(at), KeyCode::Enter) => {
                let chosen = all.get(*at).map(|variable| variable.name.clone());
                *self = chosen.map_or(Edit::Off, |name| Edit::Type { name, text: String::new() });
            }
            (Edit::Choose(_), _) => {}
            (Edit::Type { text, .. }, KeyCode::Char(typed)) if text.chars().count() < LONGEST => text.push(typed),
            (Edit::Type { text, .. }, KeyCode::Backspace) => drop(text.pop()),
            (Edit::Type { name, text }, KeyCode::Enter) => {
                let now =
                    all.iter().find(|variable| variable.name == *name).and_then(|variable| variable.value.as_ref());
                let set = typed(text, now).map(|value| SetVariable { name: std::mem::take(name), value });
                *self = Edit::Off;
                return set;
            }
            (Edit::Type { .. }, _) => {}
        }
        None
    }

    /// The line at the bottom while a variable is being set.
    pub(crate) fn prompt(&self, variables: &[Variable]) -> Option<String> {
        let all = settable(variables);
        match self {
            Edit::Off => None,
            Edit::Choose(at) => {
                let variable = all.get(*at)?;
                let value = variable.value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
                let (name, accepts) = (one_line(&variable.name), accepts(variable));
                Some(format!(" set {name}, now {}{accepts}   up/down choose  enter type  esc back ", one_line(&value)))
            }
            Edit::Type { name, text } => {
                let accepts = all.iter().find(|variable| variable.name == *name).map(|variable| accepts(variable));
                let accepts = accepts.unwrap_or_default();
                Some(format!(" {} = {text}_{accepts}   enter set  esc back ", one_line(name)))
            }
        }
    }
}

/// Unit and values that a variable accepts.
fn accepts(variable: &Variable) -> String {
    let range = variable.range.map(|[low, high]| format!("{} to {}", significant(low, 4), significant(high, 4)));
    let range = range.or_else(|| variable.expected.clone());
    let all: Vec<String> = variable.unit.clone().into_iter().chain(range).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", one_line(&all.join(", "))) }
}

/// The typed text, as the kind of value that the variable has now.
fn typed(text: &str, now: Option<&VariableValue>) -> Option<VariableValue> {
    let word = text.trim();
    let number = || {
        let whole = word.parse().ok().map(VariableValue::Int);
        whole.or_else(|| word.parse().ok().filter(|number: &f64| number.is_finite()).map(VariableValue::Float))
    };
    let text = || VariableValue::Text(word.to_owned());
    match (word, now) {
        ("", _) => None,
        (_, Some(VariableValue::Text(_))) => Some(text()),
        ("true" | "false", _) => Some(VariableValue::Bool(word == "true")),
        _ => Some(number().unwrap_or_else(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, settable: bool) -> Variable {
        Variable {
            name: name.to_owned(),
            value: Some(VariableValue::Float(3.5)),
            unit: Some("dB".to_owned()),
            range: Some([-20.0, 60.0]),
            expected: None,
            settable,
        }
    }

    fn all() -> [Variable; 3] {
        [variable("a.read", false), variable("b.one", true), variable("c.two", true)]
    }

    #[test]
    fn a_variable_is_chosen_and_its_value_typed() {
        let all = all();
        let mut edit = Edit::begin(&all);
        assert_eq!(
            edit.prompt(&all).unwrap(),
            " set b.one, now 3.5 (dB, -20 to 60)   up/down choose  enter type  esc back "
        );
        for key in
            [KeyCode::Down, KeyCode::Down, KeyCode::Enter, KeyCode::Char('4'), KeyCode::Char('q'), KeyCode::Backspace]
        {
            assert_eq!(edit.key(key, &all), None, "{key:?}");
        }
        assert_eq!(edit.prompt(&all).unwrap(), " c.two = 4_ (dB, -20 to 60)   enter set  esc back ");
        let set = SetVariable { name: "c.two".to_owned(), value: VariableValue::Int(4) };
        assert_eq!((edit.key(KeyCode::Enter, &all), edit), (Some(set), Edit::Off));
    }

    #[test]
    fn nothing_is_set_without_a_value_or_a_variable() {
        let all = all();
        assert_eq!(Edit::begin(&all[..1]), Edit::Off);
        let mut edit = Edit::Type { name: "b.one".to_owned(), text: " ".to_owned() };
        assert_eq!((edit.key(KeyCode::Enter, &all), &edit), (None, &Edit::Off));
        let mut edit = Edit::Choose(1);
        edit.key(KeyCode::Esc, &all);
        assert_eq!(edit, Edit::Off);
        // The waveform has changed meanwhile.
        let mut edit = Edit::Choose(1);
        assert_eq!((edit.key(KeyCode::Enter, &[]), &edit, edit.prompt(&[])), (None, &Edit::Off, None));
    }

    #[test]
    fn a_value_is_of_the_kind_that_the_variable_has() {
        let text = VariableValue::Text("on".to_owned());
        assert_eq!(typed("3", Some(&text)), Some(VariableValue::Text("3".to_owned())));
        assert_eq!(typed("true", Some(&VariableValue::Bool(false))), Some(VariableValue::Bool(true)));
        assert_eq!(typed("-2.5", None), Some(VariableValue::Float(-2.5)));
        assert_eq!(typed("NaN", None), Some(VariableValue::Text("NaN".to_owned())), "the process refuses it");
    }
}
