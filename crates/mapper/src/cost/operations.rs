//! [`Operations`]: what a component does in a call, by kind of instruction, and [`Profile`], the same compiled in two ways.

use serde::{Deserialize, Serialize};

pub(super) const KINDS: usize = 15;

/// The kinds of instruction, in their order: the fields of [`Operations`] and of its array.
macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident),*) => {
        /// A figure for each kind of instruction: how many are executed, or what one of them takes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default, expecting = "a table with a figure for each kind of instruction")]
        pub struct Operations {
            $($(#[$doc])* pub $kind: f64,)*
        }

        impl Operations {
            /// In the order of the fields.
            #[must_use]
            pub fn to_array(&self) -> [f64; KINDS] {
                [$(self.$kind),*]
            }

            /// From figures in the order of the fields.
            #[must_use]
            pub fn from_array(figures: [f64; KINDS]) -> Operations {
                let [$($kind),*] = figures;
                Operations { $($kind),* }
            }
        }
    };
}

operations!(
    /// Whole numbers in registers: additions, shifts, moves, comparisons.
    integer,
    /// Products and quotients of whole numbers.
    multiply,
    /// Reads of memory into a register.
    load,
    /// Writes of a register to memory.
    store,
    /// Jumps, taken or not.
    branch,
    /// Calls, returns, and jumps to where a register says.
    call,
    /// Vectors of 16 bytes of whole numbers, but for the next two.
    vector_integer,
    /// Their products.
    vector_multiply,
    /// Moves, widenings and narrowings of their items.
    vector_shuffle,
    /// Reads of a vector.
    vector_load,
    /// Writes of a vector.
    vector_store,
    /// Sums and products of single floats.
    float,
    /// Quotients, roots, comparisons and conversions of single floats.
    float_convert,
    /// Sums and products of vectors of floats.
    vector_float,
    /// Quotients, roots, comparisons and conversions of vectors of floats.
    vector_convert
);

impl Operations {
    /// Whether all figures are finite and none is negative.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.to_array().iter().all(|figure| figure.is_finite() && *figure >= 0.0)
    }
}

/// Instructions of a call, compiled with vectors and without. Another processor's compiler may do either, and is taken
/// to do what is cheaper there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Compiled to vectors of 16 bytes where the compiler finds any.
    pub vector: Operations,
    /// Compiled without looking for vectors.
    pub scalar: Operations,
}

impl Profile {
    #[must_use]
    pub fn ways(&self) -> [[f64; KINDS]; 2] {
        [self.vector.to_array(), self.scalar.to_array()]
    }

    /// So many of these calls.
    #[must_use]
    pub fn times(&self, times: f64) -> Profile {
        let each = |way: Operations| Operations::from_array(way.to_array().map(|count| count * times));
        Profile { vector: each(self.vector), scalar: each(self.scalar) }
    }

    /// Whether the figures are counts, and something is executed either way.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        [self.vector, self.scalar].iter().all(|way| way.is_sound() && way.to_array().iter().sum::<f64>() > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_places() {
        let figures = std::array::from_fn(|kind| kind as f64);
        let operations = Operations::from_array(figures);
        assert_eq!((operations.integer, operations.call, operations.vector_convert), (0.0, 5.0, 14.0));
        assert_eq!(operations.to_array(), figures);
        assert!(operations.is_sound());
        assert!(!Operations { load: -1.0, ..operations }.is_sound());
        assert!(!Operations { load: f64::NAN, ..operations }.is_sound());
        assert!(!Profile { vector: operations, scalar: Operations::default() }.is_sound());
    }
}
