//! [`Work`]: kinds of work a processor can be good or bad at, and [`PerWork`], a figure for each.

use serde::{Deserialize, Serialize};

/// The kinds of work, in their order, each with its name in files and tables.
macro_rules! works {
    ($($(#[$doc:meta])* $Work:ident = $name:ident),*) => {
        /// A kind of work. One figure for all of them, as the MAC metric has it, says that a processor which adds twice as fast
        /// also looks up tables twice as fast.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Work {
            $($(#[$doc])* $Work,)*
        }

        impl Work {
            /// In the order of [`PerWork::to_array`].
            pub const ALL: [Work; 7] = [$(Work::$Work),*];

            /// As written in files and tables.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Work::$Work => stringify!($name),)*
                }
            }
        }

        /// A figure for each kind of work.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a table with a figure for each kind of work")]
        pub struct PerWork {
            $(pub $name: f64,)*
        }

        impl PerWork {
            /// The figure that `f` gives for each kind.
            #[must_use]
            pub fn from_fn(f: impl FnMut(Work) -> f64) -> PerWork {
                let [$($name),*] = Work::ALL.map(f);
                PerWork { $($name),* }
            }

            #[must_use]
            pub fn get(&self, work: Work) -> f64 {
                match work {
                    $(Work::$Work => self.$name,)*
                }
            }
        }
    };
}

works!(
    /// Additions, shifts, multiplications of whole numbers in registers.
    Integer = integer,
    /// Additions and multiplications of floats, one at a time.
    Float = float,
    /// The same operation on many small whole numbers: soft bits, bytes.
    IntegerVector = integer_vector,
    /// The same operation on many floats.
    FloatVector = float_vector,
    /// Look-ups in tables of a few KiB, each where the last one leads.
    Table = table,
    /// Copies too long for any cache.
    Memory = memory,
    /// Decisions that can't be foreseen.
    Branch = branch
);

impl PerWork {
    /// In the order of [`Work::ALL`].
    #[must_use]
    pub fn to_array(&self) -> [f64; 7] {
        Work::ALL.map(|work| self.get(work))
    }

    #[must_use]
    pub fn sum(&self) -> f64 {
        self.to_array().iter().sum()
    }
}

/// Capacities of a processor: the paper's figure, and one for each kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { mac_per_s = 2.1e9 }")]
pub struct Capacities {
    /// Multiply-accumulate operations a second.
    pub mac_per_s: f64,
    /// Operations a second of each calibration kernel; bytes a second for memory. `None` where only MACs are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_per_s: Option<PerWork>,
}

impl Capacities {
    /// The first figure that can't be divided by: its kind of work (`None`: MACs), and the figure.
    #[must_use]
    pub fn wrong(&self) -> Option<(Option<Work>, f64)> {
        let by_kind = Work::ALL.into_iter().filter_map(|work| Some((Some(work), self.work_per_s?.get(work))));
        let mut all = std::iter::once((None, self.mac_per_s)).chain(by_kind);
        all.find(|&(_, rate)| !(rate.is_finite() && rate >= 1.0))
    }
}
