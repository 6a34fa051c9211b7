//! Needs of a run on nodes of a cluster, known before the first round.

use std::net::Ipv4Addr;

use super::on_air::sends;
use super::sites::SiteKey;
use crate::experiment::Point;

/// Why points on nodes can't be measured; nothing was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    #[error("{label} runs on node {node} of a cluster, but no cluster is named")]
    NoCluster { label: String, node: String },
    /// The file leaves open where the radio is.
    #[error("{label} has no radio on node {node}: takt builds paths only on this machine")]
    NoRadio { label: String, node: String },
    #[error(
        "{label} transmits on node {node}, but takt can't find out from here what the radio there would transmit with"
    )]
    OnAir { label: String, node: String },
}

impl NodesError {
    #[must_use]
    pub fn fix(&self) -> &'static str {
        match self {
            NodesError::NoCluster { .. } => {
                "give --cluster with the folder of a member, which takt node certificates made"
            }
            NodesError::NoRadio { .. } => {
                "give --addr with the address of a radio that the node reaches\nset path = \"loopback\" in the file, for an \
                 emulator on the node"
            }
            NodesError::OnAir { .. } => {
                "omit --transmit, which takt's emulator does not need\nrun it on that machine itself, with environment \
                 native"
            }
        }
    }
}

/// Whether all points on nodes can be measured there, as far as that is known without requests to them.
pub(crate) fn can_go_there(
    points: &[Point],
    addr: Option<Ipv4Addr>,
    transmit: bool,
    has_cluster: bool,
) -> Result<(), NodesError> {
    for point in points {
        let wanted = SiteKey::of(point, addr);
        let Some((node, needs_radio)) = wanted.node() else { continue };
        let (label, node) = (point.label(), node.to_owned());
        if !has_cluster {
            return Err(NodesError::NoCluster { label, node });
        }
        if needs_radio {
            return Err(NodesError::NoRadio { label, node });
        }
        if transmit && addr.is_some() && sends(point) {
            return Err(NodesError::OnAir { label, node });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Depth, Experiment};

    #[test]
    fn a_node_needs_its_cluster_and_a_radio_a_place() {
        let text = "question = \"?\"\n[factors]\nenvironment = [\"native\", \"node:a\"]\n[fixed]\nworkload = { kind = \"rate\", \
                    mode = \"rx\", rate_sps = 1e6, duration = \"1s\" }\n[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
        let points = |text: &str| Experiment::parse("x", text).unwrap().points(Depth::Full);
        let (points, sending) = (points(text), points(&text.replace("\"rx\"", "\"tx\"")));
        let why = |addr, has_cluster| can_go_there(&points, addr, false, has_cluster).unwrap_err();
        let (label, node) = ("x environment=node:a".to_owned(), "a".to_owned());
        assert_eq!(why(None, false), NodesError::NoCluster { label: label.clone(), node: node.clone() });
        assert_eq!(why(None, true), NodesError::NoRadio { label: label.clone(), node: node.clone() });
        let given = Some(Ipv4Addr::LOCALHOST);
        can_go_there(&points, given, true, true).unwrap();
        can_go_there(&points[..1], None, false, false).unwrap();
        assert_eq!(can_go_there(&sending, given, true, true), Err(NodesError::OnAir { label, node }));
        can_go_there(&sending, given, false, true).unwrap();
        can_go_there(&sending[..1], given, true, true).unwrap();
    }
}
