//! Quantities of a workload's result, as numbers that can be averaged over rounds.

use serde_json::Value;

/// One number of a result.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name, unit included.
    pub name: &'static str,
    /// Its place in the result document, as a JSON pointer (RFC 6901).
    pub at: &'static str,
    pub about: &'static str,
    /// Between which it lies for certain, in its own unit.
    pub range: (f64, f64),
}

impl Quantity {
    /// A count, a time or a rate: nothing below zero.
    #[must_use]
    pub const fn amount(name: &'static str, at: &'static str, about: &'static str) -> Quantity {
        Quantity { name, at, about, range: (0.0, f64::INFINITY) }
    }

    /// A share of a whole: 0 to 1.
    #[must_use]
    pub const fn share(name: &'static str, at: &'static str, about: &'static str) -> Quantity {
        Quantity { name, at, about, range: (0.0, 1.0) }
    }

    /// A difference, which may be negative.
    #[must_use]
    pub const fn difference(name: &'static str, at: &'static str, about: &'static str) -> Quantity {
        Quantity { name, at, about, range: (f64::NEG_INFINITY, f64::INFINITY) }
    }

    /// Its value in a result; `None` where the result has none.
    #[must_use]
    pub fn read(&self, result: &Value) -> Option<f64> {
        result.pointer(self.at).and_then(Value::as_f64)
    }
}
