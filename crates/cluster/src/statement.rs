//! Addresses at which a node takes samples and requests for the time, in its own words.
//!
//! Orders name nodes, and whoever gives an order may name any address for them. So a node sends datagrams only to an address that
//! the other node itself has stated, signed with that node's own key, for this placing of this run. A node signs it when it has the
//! placing ready, and the manager passes it on. A tenant's certificate names the tenant, so a tenant can't sign for a node.

use std::net::SocketAddr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::quorum::Ballot;
use crate::sealed::{Context, Sealed};
use crate::tenant::Tenant;
use crate::trust::{Trust, Untrusted};

/// Statement of a node about itself for one placing of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The node's cluster.
    pub cluster: String,
    /// The node.
    pub node: String,
    /// Tenant of the run.
    pub tenant: Tenant,
    /// The run.
    pub run: String,
    /// The placing that the node has ready.
    pub ballot: Ballot,
    /// Address at which it takes samples of that placing.
    pub samples: SocketAddr,
    /// Address at which it answers what time it is.
    pub clock: SocketAddr,
}

/// Why a statement does not count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unstated {
    #[error("node `{node}` has not stated where it takes datagrams of run `{run}`")]
    Missing { node: String, run: String },
    #[error("takt does not trust the statement of node `{node}`: {why}")]
    Untrusted { node: String, why: Untrusted },
    #[error("takt can't read the statement of node `{node}`: {why}")]
    Form { node: String, why: serde_json::Error },
    #[error("tenant `{tenant}` signed the statement of node `{node}`; only the node itself may")]
    Tenant { node: String, tenant: Tenant },
    #[error("node `{by}` signed the statement of node `{node}`; only the node itself may")]
    Another { node: String, by: String },
    #[error("the statement of node `{node}` is not for placing {placing} of run `{run}`")]
    Elsewhere { node: String, run: String, placing: u32 },
}

/// The placing for which a node needs statements of others.
#[derive(Clone, Copy)]
pub(crate) struct Placing<'a> {
    pub(crate) tenant: &'a Tenant,
    pub(crate) run: &'a str,
    pub(crate) ballot: &'a Ballot,
}

impl Trust {
    /// Statement of `node` for a placing.
    ///
    /// # Errors
    /// It has stated nothing, or another one signed this, or it is for another placing.
    pub(crate) fn statement(
        &self,
        node: &str,
        sealed: Option<&Sealed>,
        placing: Placing<'_>,
        today: SystemTime,
    ) -> Result<Statement, Unstated> {
        let own = || node.to_owned();
        let sealed = sealed.ok_or_else(|| Unstated::Missing { node: own(), run: placing.run.to_owned() })?;
        let untrusted = |why| Unstated::Untrusted { node: own(), why };
        let signatory = self.signatory(sealed, Context::Statement, today).map_err(untrusted)?;
        if signatory.tenant != Tenant::operator() {
            return Err(Unstated::Tenant { node: own(), tenant: signatory.tenant });
        }
        if signatory.node != node {
            return Err(Unstated::Another { node: own(), by: takt_graph::limits::shortened(&signatory.node) });
        }
        let form = |why| Unstated::Form { node: own(), why };
        let statement: Statement = serde_json::from_str(&sealed.text).map_err(form)?;
        let Placing { tenant, run, ballot } = placing;
        let is_for = (statement.cluster.as_str(), statement.node.as_str()) == (self.cluster(), node)
            && (&statement.tenant, statement.run.as_str(), &statement.ballot) == (tenant, run, ballot);
        if !is_for {
            return Err(Unstated::Elsewhere { node: own(), run: run.to_owned(), placing: ballot.placing });
        }
        Ok(statement)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::certificates::{Grant, issue};
    use crate::folder::{Folder, Settings};
    use crate::seal::Signer;

    fn signer(out: &Path, cluster: &str, name: &str, tenant: Option<&str>) -> Signer {
        let settings: Settings = toml::from_str("cluster = 'lab'\nnode = 'x'").unwrap();
        let grant = Grant { tenant: tenant.and_then(Tenant::named), ..Grant::default() };
        issue(out, cluster, &[name.to_owned()], &settings, &grant).unwrap();
        let text = |file| std::fs::read_to_string(out.join(name).join(file)).unwrap();
        Signer::new(text(Folder::CERTIFICATE), &text(Folder::KEY)).unwrap()
    }

    #[test]
    fn only_the_node_itself_states_where_it_takes_samples_and_for_one_placing_alone() {
        let out = tempfile::tempdir().unwrap();
        let [b, c] = ["b", "c"].map(|name| signer(out.path(), "lab", name, None));
        // A folder of a tenant may have any name: that of a node too.
        let of_blue = tempfile::tempdir().unwrap();
        std::fs::create_dir(of_blue.path().join("authority")).unwrap();
        for file in ["ca.pem", "ca.key"] {
            std::fs::copy(out.path().join("authority").join(file), of_blue.path().join("authority").join(file))
                .unwrap();
        }
        let blue = signer(of_blue.path(), "lab", "b", Some("blue"));
        let elsewhere = tempfile::tempdir().unwrap();
        let stranger = signer(elsewhere.path(), "lab", "b", None);

        let authority = std::fs::read_to_string(out.path().join("authority/ca.pem")).unwrap();
        let trust = Trust::new("lab", &authority).unwrap();
        let (tenant, ballot) = (Tenant::named("blue").unwrap(), Ballot::new(2, "m"));
        let good = Statement {
            cluster: "lab".to_owned(),
            node: "b".to_owned(),
            tenant: tenant.clone(),
            run: "r".to_owned(),
            ballot: ballot.clone(),
            samples: "10.0.0.2:7000".parse().unwrap(),
            clock: "10.0.0.2:7001".parse().unwrap(),
        };
        let placing = Placing { tenant: &tenant, run: "r", ballot: &ballot };
        let read = |sealed: Option<&Sealed>| trust.statement("b", sealed, placing, SystemTime::now());
        let why = |sealed: &Sealed| read(Some(sealed)).unwrap_err().to_string();

        let sealed = b.state(&good).unwrap();
        assert_eq!(read(Some(&sealed)).unwrap(), good);
        assert_eq!(read(None).unwrap_err().to_string(), "node `b` has not stated where it takes datagrams of run `r`");
        assert_eq!(
            why(&blue.state(&good).unwrap()),
            "tenant `blue` signed the statement of node `b`; only the node itself may"
        );
        assert_eq!(
            why(&c.state(&good).unwrap()),
            "node `c` signed the statement of node `b`; only the node itself may"
        );
        assert_eq!(
            why(&stranger.state(&good).unwrap()),
            "takt does not trust the statement of node `b`: its certificate is not valid: another authority signed it"
        );
        // With the right key, as an order is signed.
        assert!(why(&b.seal(crate::message::text(&good)).unwrap()).contains("it differs from what"));
        let victim = sealed.text.replace("10.0.0.2", "10.9.9.9");
        assert!(why(&Sealed { text: victim, ..sealed }).contains("it differs from what"));
        for other in [
            Statement { cluster: "home".to_owned(), ..good.clone() },
            Statement { node: "c".to_owned(), ..good.clone() },
            Statement { tenant: Tenant::operator(), ..good.clone() },
            Statement { run: "s".to_owned(), ..good.clone() },
            Statement { ballot: Ballot::new(1, "m"), ..good.clone() },
            Statement { ballot: Ballot::new(2, "n"), ..good.clone() },
        ] {
            let why = why(&b.state(&other).unwrap());
            assert_eq!(why, "the statement of node `b` is not for placing 2 of run `r`", "{other:?}");
        }
    }
}
