//! [`Shape`]: the ports of a component, what flows through them and how much of it a slot.
//!
//! An empty packet is always possible on every port: it stands before the first on a delayed link and in place of one
//! that is missing. The declarations here hold for all other packets.

use serde::{Deserialize, Serialize};

use crate::item::Item;
use crate::limits;

/// The ports of a component once its parameters are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// In the order in which the component sees them.
    pub inputs: Vec<InputShape>,
    /// In the order in which the component sees them.
    pub outputs: Vec<OutputShape>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputShape {
    /// Unique among the component's inputs.
    pub name: String,
    /// Items that it takes.
    pub item: Item,
    /// How much of it.
    pub accepts: Accepts,
    /// Items of earlier packets that stand, contiguous, before the items of this one.
    pub history: u32,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputShape {
    /// Unique among the component's outputs.
    pub name: String,
    /// Items that it gives.
    pub item: Item,
    /// How much of it.
    pub length: Length,
    /// The input whose packet this output changes in place and passes on. Same item, ratio 1, no history.
    pub in_place: Option<usize>,
}

/// How many items an output gives in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// As many, always.
    Fixed(u32),
    /// From none to as many.
    UpTo(u32),
    /// Items of an input times `num / den`, exactly.
    Ratio {
        /// Numerator, at least 1.
        num: u32,
        /// Denominator, at least 1; every packet of the input is a multiple of it in lowest terms.
        den: u32,
        /// Index of the input.
        of: usize,
    },
}

/// Which packets an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accepts {
    /// All.
    Any,
    /// Those of so many items.
    Exactly(u32),
    /// Those whose items are a multiple of it.
    MultipleOf(u32),
    /// Those with `num / den` times the items of another input.
    Ratio {
        /// Numerator, at least 1.
        num: u32,
        /// Denominator, at least 1.
        den: u32,
        /// Index of the other input.
        of: usize,
    },
}

impl Shape {
    /// No ports.
    #[must_use]
    pub fn new() -> Shape {
        Shape::default()
    }

    /// With one more input that takes any packet.
    #[must_use]
    pub fn input(self, name: &str, item: Item) -> Shape {
        self.input_of(name, item, Accepts::Any, 0)
    }

    /// With one more input.
    #[must_use]
    pub fn input_of(mut self, name: &str, item: Item, accepts: Accepts, history: u32) -> Shape {
        self.inputs.push(InputShape { name: name.to_owned(), item, accepts, history });
        self
    }

    /// With one more output.
    #[must_use]
    pub fn output(mut self, name: &str, item: Item, length: Length) -> Shape {
        self.outputs.push(OutputShape { name: name.to_owned(), item, length, in_place: None });
        self
    }

    /// With one port more on both sides: the packet of the input, changed in place, is the output's.
    #[must_use]
    pub fn in_out(mut self, input: &str, output: &str, item: Item) -> Shape {
        let of = self.inputs.len();
        self = self.input(input, item);
        let length = Length::Ratio { num: 1, den: 1, of };
        self.outputs.push(OutputShape { name: output.to_owned(), item, length, in_place: Some(of) });
        self
    }

    /// Fault of the declaration itself; a component's author sees this, a waveform's author never.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let count = self.inputs.len();
        if count > limits::PORTS || self.outputs.len() > limits::PORTS {
            return Some("it has more than 64 ports on one side");
        }
        let inputs = self.inputs.iter().find_map(|port| match port.accepts {
            _ if u64::from(port.history) > limits::HISTORY => Some("an input asks for more than 1 Mi items of history"),
            Accepts::Exactly(0) | Accepts::MultipleOf(0) => Some("an input takes packets of no item only"),
            Accepts::Ratio { num, den, of } if num == 0 || den == 0 || of >= count => Some("an input has no ratio"),
            _ => None,
        });
        inputs.or_else(|| self.outputs.iter().find_map(|port| self.output_fault(port)))
    }

    fn output_fault(&self, port: &OutputShape) -> Option<&'static str> {
        let count = self.inputs.len();
        match port.length {
            Length::Ratio { num, den, of } if num == 0 || den == 0 || of >= count => Some("an output has no ratio"),
            Length::Fixed(n) | Length::UpTo(n) if u64::from(n) > limits::ITEMS => {
                Some("an output has more than 16 Mi items a slot")
            }
            length => port.in_place.and_then(|of| {
                let fits = length == (Length::Ratio { num: 1, den: 1, of })
                    && self.inputs.get(of).is_some_and(|input| input.item == port.item && input.history == 0)
                    && self.outputs.iter().filter(|other| other.in_place == Some(of)).count() == 1;
                (!fits).then_some("an in-place output differs from its input")
            }),
        }
    }
}

/// The lengths that packets of a link can have, empty ones aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Items of the longest.
    pub max: u64,
    /// All are multiples of it; at least 1.
    pub step: u64,
    /// All have `max` items.
    pub exact: bool,
}

impl Lengths {
    /// All packets have `items`.
    #[must_use]
    pub fn exactly(items: u64) -> Lengths {
        Lengths { max: items, step: items.max(1), exact: true }
    }

    /// Packets have up to `items`.
    #[must_use]
    pub fn up_to(items: u64) -> Lengths {
        Lengths { max: items, step: 1, exact: false }
    }

    /// Times `num / den`; `None` where that is not whole for every length.
    #[must_use]
    pub fn times(self, num: u32, den: u32) -> Option<Lengths> {
        let scale = |items: u64| {
            let product = items.checked_mul(u64::from(num))?;
            (den != 0 && product % u64::from(den) == 0).then(|| product / u64::from(den))
        };
        if self.exact {
            return scale(self.max).map(Lengths::exactly);
        }
        let step = scale(self.step)?.max(1);
        // The longest that occurs is the largest multiple of the step within the maximum.
        scale(self.max / self.step * self.step).map(|max| Lengths { max, step, exact: false })
    }

    /// Whether all of them are multiples of `n`.
    #[must_use]
    pub fn multiple_of(self, n: u32) -> bool {
        n != 0 && (if self.exact { self.max } else { self.step }) % u64::from(n) == 0
    }
}

impl std::fmt::Display for Lengths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.exact, self.step) {
            (true, _) => write!(f, "{} items", self.max),
            (false, 1) => write!(f, "up to {} items", self.max),
            (false, step) => write!(f, "up to {} items in steps of {step}", self.max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_lengths_are_exact_or_refused() {
        assert_eq!(Lengths::exactly(1000).times(2, 1), Some(Lengths::exactly(2000)));
        assert_eq!(Lengths::exactly(1000).times(1, 3), None);
        assert_eq!(Lengths::up_to(1000).times(1, 2), None, "an odd packet has no half");
        let pairs = Lengths::up_to(1000).times(2, 1).expect("whole");
        assert_eq!(pairs, Lengths { max: 2000, step: 2, exact: false });
        assert_eq!(pairs.times(1, 2), Some(Lengths::up_to(1000)));
        assert_eq!(Lengths::exactly(u64::MAX).times(2, 1), None);
        assert!(Lengths::exactly(12).multiple_of(4) && !Lengths::up_to(12).multiple_of(4));
    }

    #[test]
    fn an_in_place_output_must_be_like_its_input() {
        let good = Shape::new().in_out("in", "out", Item::C32);
        assert_eq!(good.fault(), None);
        let mut bad = good;
        bad.outputs[0].item = Item::F32;
        assert!(bad.fault().is_some());
    }
}
