//! Facts that the paper reports: `experiments/papers/aloe.toml`.

use serde::{Deserialize, Serialize};

/// The paper's figures. Times in microseconds, rates in bits a second, memory in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub cite: String,
    pub platforms: Vec<Platform>,
    pub execution: ExecutionFacts,
    pub longest: LongestFacts,
    pub interface: InterfaceFacts,
    pub overhead: OverheadFacts,
    #[serde(rename = "role")]
    pub roles: Vec<RoleFacts>,
    pub memory: MemoryFacts,
    pub numbers: Numbers,
    #[serde(rename = "claim")]
    pub claims: Vec<ClaimFacts>,
}

/// A machine of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    pub name: String,
    pub about: String,
}

/// Table I and Figure 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionFacts {
    pub mean_of: u64,
    pub histogram_of: u64,
    pub x86_mac_per_s: f64,
    pub arm_mac_per_s: f64,
    pub total: ExecutionRow,
    #[serde(rename = "component")]
    pub components: Vec<ExecutionRow>,
}

/// A row of Table I: mean execution times, the same in multiply-accumulates, and by how much the times on the ARM are missed when
/// they are estimated from those on the x86, by clock frequency and by multiply-accumulates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionRow {
    /// As the paper calls it.
    pub name: String,
    /// As `waveforms/utran.toml` does; empty for the total.
    #[serde(default)]
    pub component: String,
    pub x86_us: f64,
    pub arm_us: f64,
    pub x86_kmac: f64,
    pub arm_kmac: f64,
    pub time_error_pct: f64,
    pub mac_error_pct: f64,
}

/// Figure 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongestFacts {
    pub says: String,
    pub two_over_one: f64,
}

/// Figures 3 and 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceFacts {
    pub packet_bits: u64,
    pub measurements: u64,
    pub largest_over_mean: f64,
    pub x86_bps: [f64; 2],
    pub arm_bps: [f64; 2],
}

/// Figure 5 and the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverheadFacts {
    pub x86_module_us: f64,
    pub arm_module_us: f64,
    pub x86_base_us: f64,
    pub arm_base_us: f64,
    pub measurements: u64,
}

impl OverheadFacts {
    /// Overhead of a slot by the paper's model, x86, microseconds.
    #[must_use]
    pub fn x86_us(&self, components: f64) -> f64 {
        self.x86_base_us + components * self.x86_module_us
    }
}

/// A row of Table II.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleFacts {
    pub name: String,
    pub does: String,
    pub x86_us: f64,
    pub arm_us: Option<f64>,
    #[serde(default)]
    pub optional: bool,
}

/// Table III.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryFacts {
    pub base_bytes: u64,
    pub component_bytes: u64,
}

/// Numbers that judge claims; these are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// Times are predicted well enough if they are missed by no more than this, % of them, in the mean of the components.
    pub enough_pct: f64,
    /// Two nodes carry real time over their cable if they use at least this share of it.
    pub cable_share: f64,
}

/// A claim of the paper, in our words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimFacts {
    pub number: u32,
    pub says: String,
    /// takt judges it by these, each by itself.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Why it can't come out otherwise here, if it can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_construction: Option<String>,
}

/// The facts that come with the program.
///
/// # Panics
/// Never: a test reads the same text.
#[must_use]
pub fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/aloe.toml")).expect("tested to be right")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the totals that the paper itself prints; that of the x86 column is 6.00 less than its rows add up to.
    #[test]
    fn the_tables_add_up() {
        let facts = facts();
        let total = |of: fn(&RoleFacts) -> Option<f64>| -> f64 {
            facts.roles.iter().filter(|role| !role.optional).filter_map(of).sum()
        };
        assert!((total(|role| Some(role.x86_us)) - facts.overhead.x86_base_us - 6.0).abs() < 1e-9, "Table II, x86");
        assert!((total(|role| role.arm_us) - facts.overhead.arm_base_us).abs() < 1e-9, "Table II, ARM");
        let Facts { execution, .. } = &facts;
        let columns = |row: &ExecutionRow| [row.x86_us, row.arm_us, row.x86_kmac, row.arm_kmac];
        for (column, printed) in columns(&execution.total).into_iter().enumerate() {
            let sum: f64 = execution.components.iter().map(|row| columns(row)[column]).sum();
            assert!((sum - printed).abs() < 1.0, "Table I: {sum}, printed {printed}");
        }
        // The paper's error: off by how much of what is to be estimated.
        for row in &execution.components {
            let error = 100.0 * (row.arm_kmac - row.x86_kmac).abs() / row.arm_kmac;
            assert!((error - row.mac_error_pct).abs() < 0.3, "{}: {error}", row.name);
        }
        assert_eq!(facts.memory.base_bytes, 16_056 * 1024);
        assert_eq!(facts.memory.component_bytes, 260 * 1024);
        assert!((facts.overhead.x86_us(10.0) - 246.09).abs() < 1e-9);
    }
}
