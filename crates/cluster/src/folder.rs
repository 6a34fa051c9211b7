//! The folder that makes a machine part of a cluster: its certificate, its key, whom it trusts, and `cluster.toml`.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
#[cfg(feature = "zenoh")]
use takt_bridge::clock::ptp::{PtpDomain, Service};
use takt_graph::limits::is_name;

use crate::ClusterError;
use crate::destination::Network;
use crate::private_key::{self, MOST_BYTES};
use crate::seal::Signer;
use crate::tenant::{Quotas, Tenant};
use crate::trust::{common_name_of, member_of, tenant_of};

/// Contents of `cluster.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The cluster: nodes of other clusters do not see this one.
    pub cluster: String,
    /// This node.
    pub node: String,
    /// Address at which it listens: `quic/ADDRESS:PORT`, port 0 for any. None, and no multicast: routers carry what is
    /// for it.
    #[serde(default)]
    pub listen: Vec<String>,
    /// Nodes or routers that it connects to. Without any it finds nodes of its network by multicast.
    #[serde(default)]
    pub connect: Vec<String>,
    /// Find nodes by multicast.
    #[serde(default = "yes")]
    pub multicast: bool,
    /// The address that samples come to; that of the first `listen` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<IpAddr>,
    /// Rate that the interface of that address can carry.
    #[serde(default = "gigabit")]
    pub samples_bits_per_s: f64,
    /// Networks that it sends samples to; none: those of all nodes of the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_to: Vec<Network>,
    /// Quota of each tenant.
    #[serde(default, skip_serializing_if = "Quotas::is_empty")]
    pub quota: Quotas,
    /// Address at which its PTP service takes requests.
    #[serde(default, skip_serializing_if = "PtpSettings::is_usual")]
    pub ptp: PtpSettings,
}

/// How this machine's ptp4l is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PtpSettings {
    /// Its socket; where linuxptp has it otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// `domainNumber` in its settings.
    pub domain: u8,
    /// `transportSpecific` in its settings, 0 to 15.
    pub transport_specific: u8,
}

impl PtpSettings {
    fn is_usual(&self) -> bool {
        *self == PtpSettings::default()
    }

    /// The service that answers there.
    #[cfg(feature = "zenoh")]
    pub(crate) fn service(&self) -> Service {
        let domain = PtpDomain { number: self.domain, transport_specific: self.transport_specific };
        Service::new(self.socket.clone(), domain)
    }
}

fn yes() -> bool {
    true
}

fn gigabit() -> f64 {
    1e9
}

/// A cluster's folder on this machine.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    settings: Settings,
}

impl Folder {
    /// Names of the files in it.
    pub const SETTINGS: &str = "cluster.toml";
    /// Whom the node trusts.
    pub const AUTHORITY: &str = "ca.pem";
    /// Certificate that it shows.
    pub const CERTIFICATE: &str = "node.pem";
    /// Key that proves it.
    pub const KEY: &str = "node.key";

    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing, or the settings are not as they should be.
    pub fn read(path: &Path) -> Result<Folder, ClusterError> {
        for name in [Folder::AUTHORITY, Folder::CERTIFICATE, Folder::KEY] {
            let path = path.join(name);
            std::fs::metadata(&path).map_err(|source| ClusterError::File { path, source })?;
        }
        let file = path.join(Folder::SETTINGS);
        let text = read_text(&file).map_err(|source| ClusterError::File { path: file.clone(), source })?;
        let settings: Settings = toml::from_str(&text).map_err(|error| ClusterError::Settings {
            path: file.clone(),
            why: error.to_string().trim_end().to_owned(),
            fix: "give cluster and node, and optionally listen, connect, multicast, samples, samples_bits_per_s, \
                  samples_to, [quota.TENANT] with cores, runs, memory_mib, samples_bits_per_s, and [ptp] with socket, \
                  domain, transport_specific"
                .to_owned(),
        })?;
        for name in [&settings.cluster, &settings.node] {
            if !is_name(name) {
                return Err(ClusterError::Name { name: name.clone() });
            }
        }
        let rate = settings.samples_bits_per_s;
        if !(rate.is_finite() && rate >= 1.0) {
            return Err(ClusterError::Settings {
                path: file,
                why: format!("samples_bits_per_s can't be {rate}"),
                fix: "give the rate in bit/s, at least 1 (default 1e9)".to_owned(),
            });
        }
        if settings.ptp.transport_specific > 15 {
            return Err(ClusterError::Settings {
                path: file,
                why: format!("transport_specific can't be {}", settings.ptp.transport_specific),
                fix: "give 0 to 15: 1 for gPTP, otherwise 0".to_owned(),
            });
        }
        if let Some(name) = settings.quota.misnamed() {
            return Err(ClusterError::Settings {
                path: file,
                why: format!("[quota.{}] names no tenant", name.escape_debug()),
                fix: "give 1 to 64 letters, digits, `-` or `_`; `default` is for tenants without a quota, `operator` \
                     for the operator"
                    .to_owned(),
            });
        }
        Ok(Folder { path: path.to_owned(), settings })
    }

    /// Settings in its `cluster.toml`.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Path of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Members drop what comes from who has a certificate for another cluster: better to know it here.
    fn is_for_its_cluster(&self, certificate: &str) -> Result<(), ClusterError> {
        let (own, cluster) = (common_name_of(certificate).unwrap_or_default(), &self.settings.cluster);
        if own == member_of(cluster) {
            return Ok(());
        }
        Err(ClusterError::Settings {
            path: self.path.join(Folder::CERTIFICATE),
            why: format!("it belongs to `{own}`, but {} says cluster = \"{cluster}\"", Folder::SETTINGS),
            fix: format!("takt node certificates --cluster {cluster}"),
        })
    }

    /// Its certificate and its key, with which orders are signed, and whose orders they are.
    ///
    /// # Errors
    /// A file can't be read, or is not what its name says.
    pub(crate) fn signer(&self) -> Result<(Signer, Tenant), ClusterError> {
        let certificate = self.text(Folder::CERTIFICATE)?;
        let tenant = tenant_of(&certificate).map_err(|why| ClusterError::Settings {
            path: self.path.join(Folder::CERTIFICATE),
            why,
            fix: "give a folder that takt node certificates made".to_owned(),
        })?;
        self.is_for_its_cluster(&certificate)?;
        let signer = Signer::new(certificate, &private_key::read(&self.path.join(Folder::KEY))?);
        Ok((signer.map_err(|source| ClusterError::Certificate { source })?, tenant))
    }

    /// Gate for orders to the node of this folder.
    ///
    /// # Errors
    /// The folder is a tenant's; a file is not what its name says.
    #[cfg(feature = "zenoh")]
    pub(crate) fn gate(&self) -> Result<crate::gate::Gate, ClusterError> {
        let (_, tenant) = self.signer()?;
        if tenant != Tenant::operator() {
            return Err(ClusterError::TenantsFolder { path: self.path.clone(), tenant });
        }
        let (cluster, node) = (&self.settings.cluster, &self.settings.node);
        crate::gate::Gate::new(cluster, node, &self.text(Folder::AUTHORITY)?).map_err(|refused| {
            ClusterError::Settings {
                path: self.path.join(Folder::AUTHORITY),
                why: refused.to_string(),
                fix: refused.fix().to_owned(),
            }
        })
    }

    /// Authority that vouches for members of its cluster.
    ///
    /// # Errors
    /// The authority is none.
    #[cfg(feature = "zenoh")]
    pub(crate) fn trust(&self) -> Result<crate::trust::Trust, ClusterError> {
        crate::trust::Trust::new(&self.settings.cluster, &self.text(Folder::AUTHORITY)?).map_err(|why| {
            ClusterError::Settings {
                path: self.path.join(Folder::AUTHORITY),
                why: why.to_string(),
                fix: "give a folder that takt node certificates made".to_owned(),
            }
        })
    }

    /// Contents of a file in it.
    pub(crate) fn text(&self, name: &str) -> Result<String, ClusterError> {
        let path = self.path.join(name);
        read_text(&path).map_err(|source| ClusterError::File { path, source })
    }

    /// Address to which samples come.
    ///
    /// # Errors
    /// Neither `samples` nor `listen` says.
    pub fn samples(&self) -> Result<IpAddr, ClusterError> {
        let listening = || self.settings.listen.iter().find_map(|endpoint| address(endpoint));
        self.settings.samples.or_else(listening).ok_or_else(|| ClusterError::Settings {
            path: self.path.join(Folder::SETTINGS),
            why: "neither `samples` nor `listen` names an address of this machine".to_owned(),
            fix: "set samples = \"192.168.10.1\", the address that other nodes send samples to".to_owned(),
        })
    }
}

/// The address of an endpoint such as `quic/10.0.0.1:7447`, if it is one of a single interface.
fn address(endpoint: &str) -> Option<IpAddr> {
    let (_, place) = endpoint.split_once('/')?;
    let place: std::net::SocketAddr = place.parse().ok()?;
    Some(place.ip()).filter(|ip| !ip.is_unspecified())
}

fn read_text(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_samples_is_that_of_an_interface() {
        assert_eq!(address("quic/10.0.0.1:7447"), Some([10, 0, 0, 1].into()));
        assert_eq!(address("quic/[fd00::1]:0"), Some("fd00::1".parse().unwrap()));
        assert_eq!([address("quic/0.0.0.0:7447"), address("quic/host:7447"), address("10.0.0.1:7447")], [None; 3]);
    }

    #[test]
    fn how_ptp_is_reached_is_read_and_what_can_t_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in [Folder::AUTHORITY, Folder::CERTIFICATE, Folder::KEY] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let read = |ptp: &str| {
            let text = format!("cluster = 'lab'\nnode = 'a'\n{ptp}");
            std::fs::write(folder.path().join(Folder::SETTINGS), text).unwrap();
            Folder::read(folder.path()).map(|folder| folder.settings().ptp.clone())
        };
        assert_eq!(read("").unwrap(), PtpSettings::default());
        let gptp = PtpSettings { socket: Some("/run/p".into()), domain: 24, transport_specific: 1 };
        assert_eq!(read("[ptp]\nsocket = '/run/p'\ndomain = 24\ntransport_specific = 1").unwrap(), gptp);
        for (bad, why) in [("transport_specific = 16", "can't be 16"), ("domain = 256", "256"), ("port = 1", "port")] {
            let error = read(&format!("[ptp]\n{bad}")).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_folder_whose_key_others_may_read_signs_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let settings: Settings = toml::from_str("cluster = 'lab'\nnode = 'x'").unwrap();
        let one = |name: &str| {
            let grant = crate::certificates::Grant::default();
            crate::certificates::issue(place.path(), "lab", &[name.to_owned()], &settings, &grant)
        };
        one("a").unwrap();
        let signer = || Folder::read(&place.path().join("a")).unwrap().signer().map(|_| ());
        let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let (key, authority) = (place.path().join("a/node.key"), place.path().join("authority/ca.key"));
        assert!(signer().is_ok());
        open(&key, 0o644);
        assert_eq!(signer().unwrap_err().fix(), Some(format!("chmod 600 {}", key.display())));
        open(&key, 0o600);
        assert!(signer().is_ok());
        open(&authority, 0o640);
        assert_eq!(one("b").unwrap_err().fix(), Some(format!("chmod 600 {}", authority.display())));
    }

    #[test]
    fn networks_of_samples_are_read_and_what_is_none_is_refused() {
        let read = |networks: &str| {
            toml::from_str::<Settings>(&format!("cluster = 'lab'\nnode = 'a'\nsamples_to = {networks}"))
        };
        assert_eq!(read("['10.1.0.0/16', 'fd00::/8']").unwrap().samples_to.len(), 2);
        let refused = read("['10.1.0.0/40']").unwrap_err().to_string();
        assert!(refused.contains("`10.1.0.0/40` is not a network such as 192.168.10.0/24"), "{refused}");
    }
}
