//! Facts and offers of a node, and who may have them.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use takt_mapper::ClassSpec;

use crate::tenant::{Quota, Quotas, Share, Tenant};

/// A node's own word on a tenant: its quota, and its share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TenantFacts {
    /// Which.
    pub tenant: Tenant,
    /// The most it may have.
    pub quota: Quota,
    /// Its present share.
    pub has: Share,
}

/// Facts and offers of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Its name.
    pub node: String,
    /// Its takt's.
    pub version: String,
    /// Kind of its cores.
    pub class: String,
    /// Their capacities.
    pub capacities: ClassSpec,
    /// Cores on which it lets workers run, one each.
    pub cores: Vec<u32>,
    /// Cores among those that have a worker.
    pub busy: Vec<u32>,
    /// Rate that the interface of its samples can carry, bytes a second.
    pub bytes_per_s: f64,
    /// Address at which it answers requests for the time.
    pub clock: SocketAddr,
    /// Waveforms that run on it.
    pub runs: Vec<RunFacts>,
    /// Tenants with a quota here, or with runs; `default` for all others.
    #[serde(default)]
    pub tenants: Vec<TenantFacts>,
    /// Agents of labs on it.
    #[serde(default)]
    pub agents: Vec<AgentFacts>,
    /// Packet engines that its samples could pass through.
    #[serde(default)]
    pub engines: Vec<EngineFacts>,
    /// Radios that `takt node --radio` names. An offer only: no run uses them.
    #[serde(default)]
    pub radios: Vec<RadioFacts>,
}

impl NodeFacts {
    /// Cores that have no worker.
    pub fn free(&self) -> impl Iterator<Item = u32> {
        self.cores.iter().copied().filter(|core| !self.busy.contains(core))
    }

    /// As far as a tenant may have it: of the free cores those that its quota leaves.
    #[must_use]
    pub fn for_tenant(&self, tenant: &Tenant) -> NodeFacts {
        let of = |name: &str| self.tenants.iter().find(|facts| facts.tenant.name() == name);
        let default = || of(Quotas::DEFAULT).filter(|_| *tenant != Tenant::operator());
        let Some(TenantFacts { quota, has, .. }) = of(tenant.name()).or_else(default) else { return self.clone() };
        let left = quota.cores.map_or(usize::MAX, |most| most.saturating_sub(has.cores) as usize);
        let left = if quota.runs.is_some_and(|most| has.runs >= most) { 0 } else { left };
        let busy = self.cores.iter().copied().filter(|core| self.busy.contains(core));
        let cores = busy.chain(self.free().take(left)).collect();
        NodeFacts { cores, ..self.clone() }
    }
}

/// A packet engine on the address of a node's samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// Its name, as `--engine` takes it.
    pub engine: String,
    /// Whether it opened there when the node began; `None`: it was not tried.
    pub opens: Option<bool>,
    /// Why it did not.
    pub why: Option<String>,
}

/// A radio that `takt node --radio` names, as it answered when the node began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioFacts {
    /// Its address.
    pub addr: IpAddr,
    /// `N210`; `None`: nothing answered that takt can use.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// It is a software radio of takt's own.
    #[serde(default)]
    pub software: bool,
    /// The lowest and the highest of its model's rates, samples a second.
    pub rates_sps: Option<[f64; 2]>,
    /// Why it can't be used; `None` without a model: nothing answered.
    pub why: Option<String>,
}

/// An agent of a lab on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFacts {
    /// Its tenant.
    pub tenant: Tenant,
    /// The cores that it is pinned on.
    pub cores: Vec<u32>,
}

/// A waveform on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the run.
    pub run: String,
    /// Its tenant.
    pub tenant: Tenant,
    /// Name of the waveform.
    pub waveform: String,
    /// Components here.
    pub components: Vec<String>,
    /// The physical slot it is in; of one that has ended, the slots executed.
    pub slot: u64,
    /// Manager that watches over it.
    pub manager: String,
    /// Whether the node receives from that one.
    pub watched: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_for_a_tenant_what_its_quota_leaves() {
        let text = r#"{"node": "a", "version": "1", "class": "x", "capacities": {}, "cores": [1, 2, 3, 4], "busy": [2],
            "bytes_per_s": 1.0, "clock": "10.0.0.1:7", "runs": [], "tenants": [
            {"tenant": "blue", "quota": {"cores": 3}, "has": {"cores": 1, "runs": 1}},
            {"tenant": "full", "quota": {"runs": 1}, "has": {"cores": 0, "runs": 1}},
            {"tenant": "default", "quota": {"cores": 1}, "has": {"cores": 0, "runs": 0}}]}"#;
        let node: NodeFacts = serde_json::from_str(text).unwrap();
        let free = |name: &str| node.for_tenant(&Tenant::named(name).unwrap()).free().collect::<Vec<_>>();
        assert_eq!(free("blue"), [1, 3]);
        assert_eq!(free("full"), Vec::<u32>::new());
        assert_eq!(free("red"), [1]);
        assert_eq!(node.for_tenant(&Tenant::operator()), node);
    }

    #[test]
    fn engines_and_radios_are_read_where_a_node_says_them() {
        let text = r#"{"node": "a", "version": "1", "class": "x", "capacities": {}, "cores": [1], "busy": [],
            "bytes_per_s": 1.0, "clock": "10.0.0.1:7", "runs": []}"#;
        let without: NodeFacts = serde_json::from_str(text).unwrap();
        assert!(without.engines.is_empty() && without.radios.is_empty());
        let more = r#", "engines": [{"engine": "uring", "opens": false, "why": "no io_uring"}, {"engine": "xdp"}],
            "radios": [{"addr": "10.0.0.2", "model": "N210", "serial": "F5A1B2", "software": true,
                        "rates_sps": [195312.5, 50000000.0]}, {"addr": "10.0.0.3"}]}"#;
        let with: NodeFacts = serde_json::from_str(&(text.trim_end_matches('}').to_owned() + more)).unwrap();
        let engine = |name: &str| EngineFacts { engine: name.to_owned(), opens: None, why: None };
        let uring = EngineFacts { opens: Some(false), why: Some("no io_uring".to_owned()), ..engine("uring") };
        assert_eq!(with.engines, [uring, engine("xdp")]);
        let addr = |last| IpAddr::from([10, 0, 0, last]);
        let silent =
            RadioFacts { addr: addr(3), model: None, serial: None, software: false, rates_sps: None, why: None };
        let found = RadioFacts {
            addr: addr(2),
            model: Some("N210".to_owned()),
            serial: Some("F5A1B2".to_owned()),
            software: true,
            rates_sps: Some([195_312.5, 50e6]),
            ..silent.clone()
        };
        assert_eq!(with.radios, [found, silent]);
        let again: NodeFacts = serde_json::from_str(&serde_json::to_string(&with).unwrap()).unwrap();
        assert_eq!(again, with);
    }
}
