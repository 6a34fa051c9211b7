//! Certificates: an authority of the cluster's own, and a folder for each node that it vouches for.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use takt_graph::limits::is_name;

use crate::ClusterError;
use crate::folder::{Folder, Settings};
use crate::private_key;
use crate::tenant::Tenant;
use crate::trust::member_of;

/// Folder of the authority's own files, beside the nodes' folders.
pub const AUTHORITY_FOLDER: &str = "authority";

/// Whom certificates are for, and when they are valid.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// The tenant that gives orders with them; without one they are nodes' and the operator's.
    pub tenant: Option<Tenant>,
    /// From when; without it always.
    pub from: Option<SystemTime>,
    /// Until when; without it always.
    pub until: Option<SystemTime>,
}

/// Makes folders for nodes below `out`, and the authority that vouches for them if there is none there yet. Copy each folder to
/// its machine and no other; the authority's stays.
///
/// # Errors
/// A name is none, a node has a folder already, a file can't be written.
pub fn issue(
    out: &Path,
    cluster: &str,
    nodes: &[String],
    settings: &Settings,
    grant: &Grant,
) -> Result<Vec<PathBuf>, ClusterError> {
    for name in nodes.iter().map(String::as_str).chain([cluster]) {
        if !is_name(name) || name == AUTHORITY_FOLDER {
            return Err(ClusterError::Name { name: name.to_owned() });
        }
    }
    if let Some(path) = nodes.iter().map(|node| out.join(node)).find(|path| path.exists()) {
        return Err(ClusterError::Exists { path });
    }
    let authority = Authority::at(&out.join(AUTHORITY_FOLDER), cluster)?;
    let mut made = Vec::new();
    for node in nodes {
        let path = out.join(node);
        let settings = Settings { cluster: cluster.to_owned(), node: node.clone(), ..settings.clone() };
        authority.admit(&path, &settings, grant)?;
        made.push(path);
    }
    Ok(made)
}

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// The one whose files are there, or a new one.
    fn at(path: &Path, cluster: &str) -> Result<Authority, ClusterError> {
        let (certificate, key) = (path.join("ca.pem"), path.join("ca.key"));
        if certificate.exists() {
            let read = |path: &Path| fs::read_to_string(path).map_err(|source| file(path, source));
            let (pem, key) = (read(&certificate)?, KeyPair::from_pem(&private_key::read(&key)?).map_err(refused)?);
            let issuer = Issuer::from_ca_cert_pem(&pem, key).map_err(refused)?;
            return Ok(Authority { pem, issuer });
        }
        let own = KeyPair::generate().map_err(refused)?;
        let mut params = CertificateParams::new(Vec::new()).map_err(refused)?;
        params.distinguished_name.push(DnType::CommonName, format!("takt cluster {cluster}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pem = params.self_signed(&own).map_err(refused)?.pem();
        folder(path)?;
        write(&key, &own.serialize_pem(), SECRET)?;
        write(&certificate, &pem, PUBLIC)?;
        Ok(Authority { pem, issuer: Issuer::new(params, own) })
    }

    /// A folder with which a node, or who gives orders, is let in.
    fn admit(&self, path: &Path, settings: &Settings, grant: &Grant) -> Result<(), ClusterError> {
        let key = KeyPair::generate().map_err(refused)?;
        let mut params = CertificateParams::new(vec![settings.node.clone()]).map_err(refused)?;
        params.distinguished_name.push(DnType::CommonName, member_of(&settings.cluster));
        if let Some(tenant) = &grant.tenant {
            params.distinguished_name.push(DnType::OrganizationName, tenant.name());
        }
        params.not_before = grant.from.map_or(params.not_before, Into::into);
        params.not_after = grant.until.map_or(params.not_after, Into::into);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let certificate = params.signed_by(&key, &self.issuer).map_err(refused)?;
        folder(path)?;
        write(&path.join(Folder::KEY), &key.serialize_pem(), SECRET)?;
        write(&path.join(Folder::CERTIFICATE), &certificate.pem(), PUBLIC)?;
        write(&path.join(Folder::AUTHORITY), &self.pem, PUBLIC)?;
        // Texts and a flag in a table: always TOML.
        write(&path.join(Folder::SETTINGS), &toml::to_string(settings).unwrap_or_default(), PUBLIC)
    }
}

const SECRET: u32 = 0o600;
const PUBLIC: u32 = 0o644;

fn write(path: &Path, text: &str, mode: u32) -> Result<(), ClusterError> {
    let open = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    open.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|source| file(path, source))
}

fn folder(path: &Path) -> Result<(), ClusterError> {
    fs::create_dir_all(path).map_err(|source| file(path, source))
}

fn file(path: &Path, source: std::io::Error) -> ClusterError {
    ClusterError::File { path: path.to_owned(), source }
}

fn refused(source: rcgen::Error) -> ClusterError {
    ClusterError::Certificate { source }
}
