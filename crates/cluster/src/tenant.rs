//! Tenants that give orders, and how much of a node each may have.
//!
//! A tenant is a name in a certificate that the cluster's authority has signed: nobody can claim it who has not got the key. A
//! certificate without one, as nodes have, is the operator's, who may do everything. The `cluster.toml` of each node
//! states what a tenant may have, so each node can decide by itself, and no tenant's word counts for it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use takt_graph::limits::is_name;

/// The giver of an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tenant(String);

impl Tenant {
    /// The name of who has a certificate without a tenant.
    pub const OPERATOR: &str = "operator";

    /// The tenant that may do everything.
    #[must_use]
    pub fn operator() -> Tenant {
        Tenant(Tenant::OPERATOR.to_owned())
    }

    /// A tenant of this name; none if it is no name, or one that means something else.
    #[must_use]
    pub fn named(name: &str) -> Option<Tenant> {
        let own = is_name(name) && name != Tenant::OPERATOR && name != Quotas::DEFAULT;
        own.then(|| Tenant(name.to_owned()))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Whether it may stop and change a run of `owner`.
    #[must_use]
    pub fn rules(&self, owner: &Tenant) -> bool {
        self == owner || self.0 == Tenant::OPERATOR
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Limits of a tenant on a node; one that is not given is the node's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Cores at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Waveforms at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Memory at a time, MiB: of links, bridges, buffers and agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u32>,
    /// Samples to other nodes, bits a second of UDP payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_bits_per_s: Option<u64>,
}

/// Share of a node that a tenant has, or asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Cores that have a worker.
    pub cores: u32,
    /// Waveforms that have not ended.
    pub runs: u32,
    /// Memory of these waveforms and of agents, MiB.
    #[serde(default)]
    pub memory_mib: u32,
    /// Samples that these waveforms send to other nodes at most, bits a second.
    #[serde(default)]
    pub samples_bits_per_s: u64,
}

/// The quotas of a node, by tenant: the tables `[quota.NAME]` of its `cluster.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quotas(BTreeMap<String, Quota>);

impl Quotas {
    /// The quota of tenants that have none of their own. The operator has none unless it is named.
    pub const DEFAULT: &str = "default";

    /// Whether none is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A name that no tenant can have, if there is one.
    #[must_use]
    pub fn misnamed(&self) -> Option<&str> {
        let kept = [Quotas::DEFAULT, Tenant::OPERATOR];
        let known = |name: &str| kept.contains(&name) || Tenant::named(name).is_some();
        self.0.keys().map(String::as_str).find(|name| !known(name))
    }

    /// By table: tenants, and `default` for all others.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Tenant, Quota)> {
        self.0.iter().map(|(name, quota)| (Tenant(name.clone()), *quota))
    }

    /// Limits of a tenant, and the name of the table that states them.
    #[must_use]
    pub fn of(&self, tenant: &Tenant) -> (Quota, &str) {
        if let Some((name, quota)) = self.0.get_key_value(tenant.name()) {
            return (*quota, name);
        }
        let default = if *tenant == Tenant::operator() { None } else { self.0.get(Quotas::DEFAULT) };
        (default.copied().unwrap_or_default(), Quotas::DEFAULT)
    }

    /// Whether a tenant that `has` so much may have what it `asks` as well.
    ///
    /// # Errors
    /// It may not.
    pub fn admit(&self, tenant: &Tenant, has: Share, asks: Share) -> Result<(), OverQuota> {
        let (quota, table) = self.of(tenant);
        let over = |what, key, most: Option<u64>, has: u64, asks: u64| {
            let most = most.filter(|&most| has.saturating_add(asks) > most)?;
            Some(OverQuota { tenant: tenant.clone(), table: table.to_owned(), what, key, most, has, asks })
        };
        let of = |what, key, most: Option<u32>, has: u32, asks: u32| {
            over(what, key, most.map(u64::from), has.into(), asks.into())
        };
        let runs = || of("runs", "runs", quota.runs, has.runs, asks.runs);
        let cores = || of("cores", "cores", quota.cores, has.cores, asks.cores);
        let memory = || of("MiB", "memory_mib", quota.memory_mib, has.memory_mib, asks.memory_mib);
        let (sends, more) = (has.samples_bits_per_s, asks.samples_bits_per_s);
        let samples = || over("bit/s of samples", "samples_bits_per_s", quota.samples_bits_per_s, sends, more);
        runs().or_else(cores).or_else(memory).or_else(samples).map_or(Ok(()), Err)
    }
}

/// More than a tenant may have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tenant `{tenant}` may have {most} {what} here, has {has} and asks for {asks} more")]
#[allow(missing_docs, reason = "the message says it")]
pub struct OverQuota {
    pub tenant: Tenant,
    /// The table of `cluster.toml`.
    pub table: String,
    /// `cores`, `runs`, `MiB` or `bit/s of samples`.
    pub what: &'static str,
    /// Its key in the table.
    pub key: &'static str,
    pub most: u64,
    pub has: u64,
    pub asks: u64,
}

impl OverQuota {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        let enough = self.has.saturating_add(self.asks);
        let (table, key) = (&self.table, self.key);
        let more = format!("set {key} = {enough} in [quota.{table}] of the node's cluster.toml, and restart the node");
        if self.has > 0 { format!("stop a run of `{}` here, or {more}", self.tenant) } else { more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas() -> Quotas {
        toml::from_str("[blue]\ncores = 2\nruns = 1\n[default]\ncores = 1\n").unwrap()
    }

    #[test]
    fn a_quota_is_what_a_tenant_may_have_in_all() {
        let (quotas, blue) = (quotas(), Tenant::named("blue").unwrap());
        let share = |cores, runs| Share { cores, runs, ..Share::default() };
        assert_eq!(quotas.admit(&blue, share(0, 0), share(2, 1)), Ok(()));
        let over = quotas.admit(&blue, share(0, 0), share(3, 1)).unwrap_err();
        assert_eq!(over.to_string(), "tenant `blue` may have 2 cores here, has 0 and asks for 3 more");
        assert_eq!(over.fix(), "set cores = 3 in [quota.blue] of the node's cluster.toml, and restart the node");
        let over = quotas.admit(&blue, share(1, 1), share(1, 1)).unwrap_err();
        assert_eq!(over.to_string(), "tenant `blue` may have 1 runs here, has 1 and asks for 1 more");
        assert!(over.fix().starts_with("stop a run of `blue` here, or set runs = 2 in [quota.blue]"), "{}", over.fix());
        assert!(quotas.admit(&blue, share(u32::MAX, 0), share(u32::MAX, 1)).is_err(), "no sum runs over");
    }

    #[test]
    fn memory_has_a_quota_as_well() {
        let quotas: Quotas = toml::from_str("[blue]\nmemory_mib = 100\n").unwrap();
        let (blue, share) = (Tenant::named("blue").unwrap(), |memory_mib| Share { memory_mib, ..Share::default() });
        assert_eq!(quotas.admit(&blue, share(60), share(40)), Ok(()));
        let over = quotas.admit(&blue, share(60), share(41)).unwrap_err();
        assert_eq!(over.to_string(), "tenant `blue` may have 100 MiB here, has 60 and asks for 41 more");
        assert!(over.fix().contains("set memory_mib = 101 in [quota.blue] of"), "{}", over.fix());
    }

    #[test]
    fn samples_have_a_quota_that_holds_for_all_runs_of_a_tenant_together() {
        let quotas: Quotas = toml::from_str("[blue]\nsamples_bits_per_s = 1_000_000\n").unwrap();
        let blue = Tenant::named("blue").unwrap();
        let share = |samples_bits_per_s| Share { samples_bits_per_s, ..Share::default() };
        assert_eq!(quotas.admit(&blue, share(600_000), share(400_000)), Ok(()));
        let over = quotas.admit(&blue, share(600_000), share(400_001)).unwrap_err();
        let says = "tenant `blue` may have 1000000 bit/s of samples here, has 600000 and asks for 400001 more";
        assert_eq!(over.to_string(), says);
        assert!(over.fix().contains("set samples_bits_per_s = 1000001 in [quota.blue] of"), "{}", over.fix());
        assert!(quotas.admit(&blue, share(u64::MAX), share(u64::MAX)).is_err(), "no sum runs over");
    }

    #[test]
    fn who_has_no_quota_has_the_default_one_and_the_operator_none() {
        let quotas = quotas();
        let asks = Share { cores: 2, runs: 7, memory_mib: u32::MAX, samples_bits_per_s: u64::MAX };
        let red = quotas.admit(&Tenant::named("red").unwrap(), Share::default(), asks).unwrap_err();
        assert_eq!((red.what, red.most, red.table.as_str()), ("cores", 1, "default"));
        assert_eq!(quotas.admit(&Tenant::operator(), Share::default(), asks), Ok(()));
        assert_eq!(Quotas::default().admit(&Tenant::named("red").unwrap(), Share::default(), asks), Ok(()));
    }

    #[test]
    fn nobody_can_be_called_what_means_something_else() {
        for name in ["operator", "default", "", "a b", "\u{1b}[31m"] {
            assert_eq!(Tenant::named(name), None, "{name}");
        }
        let quotas: Quotas = toml::from_str("['a b']\ncores = 1\n").unwrap();
        assert_eq!(quotas.misnamed(), Some("a b"));
        assert!(toml::from_str::<Quotas>("[blue]\ncore = 1\n").is_err(), "a key that is none");
    }

    #[test]
    fn a_tenant_rules_over_its_own_and_the_operator_over_all() {
        let [blue, red] = ["blue", "red"].map(|name| Tenant::named(name).unwrap());
        assert!(blue.rules(&blue) && !blue.rules(&red) && !blue.rules(&Tenant::operator()));
        assert!(Tenant::operator().rules(&blue));
    }
}
