//! Whom the cluster's authority vouches for: the certificate that a signed text brings along, and the signature on it.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use crate::sealed::{Context, Sealed, signed};
use crate::tenant::Tenant;

/// Bytes of a certificate.
const MOST_CERTIFICATE: usize = 16 << 10;

/// A signed text that does not count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Untrusted {
    #[error("its certificate is not valid: {why}")]
    Certificate { why: String },
    #[error("it differs from what `{tenant}` signed")]
    Signature { tenant: Tenant },
}

/// Signer of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signatory {
    /// The tenant; the operator for a node's certificate.
    pub(crate) tenant: Tenant,
    /// The name of the folder that the certificate was made for: the node's name.
    pub(crate) node: String,
}

/// The authority of one cluster.
pub(crate) struct Trust {
    cluster: String,
    authority: CertificateDer<'static>,
}

impl Trust {
    /// `authority`: its certificate, PEM.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn new(cluster: &str, authority: &str) -> Result<Trust, Untrusted> {
        let why = |why: String| Untrusted::Certificate { why };
        let authority = CertificateDer::from_pem_slice(authority.as_bytes()).map_err(|e| why(format!("{e:?}")))?;
        anchor_from_trusted_cert(&authority).map_err(|error| why(error.to_string()))?;
        Ok(Trust { cluster: cluster.to_owned(), authority })
    }

    /// The cluster whose members it vouches for.
    pub(crate) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Signer of a text as one of this kind.
    ///
    /// # Errors
    /// Nobody whom the authority vouches for `today`.
    pub(crate) fn signatory(
        &self,
        sealed: &Sealed,
        context: Context,
        today: SystemTime,
    ) -> Result<Signatory, Untrusted> {
        let why = |why: String| Untrusted::Certificate { why };
        if sealed.certificate.len() > MOST_CERTIFICATE {
            return Err(why(format!("{} bytes; at most {MOST_CERTIFICATE} are allowed", sealed.certificate.len())));
        }
        let der =
            CertificateDer::from_pem_slice(sealed.certificate.as_bytes()).map_err(|error| why(format!("{error:?}")))?;
        let certificate = EndEntityCert::try_from(&der).map_err(|error| why(error.to_string()))?;
        let anchor = anchor_from_trusted_cert(&self.authority).map_err(|error| why(error.to_string()))?;
        let since = today.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (algorithms, usage) = (webpki::ALL_VERIFICATION_ALGS, KeyUsage::client_auth());
        let today = UnixTime::since_unix_epoch(since);
        certificate
            .verify_for_usage(algorithms, &[anchor], &[], today, usage, None, None)
            .map_err(|error| why(unverified(&error)))?;
        // One authority may serve several clusters; and where a router carries this one, TLS has not looked at it.
        if common_name(&der) != Some(member_of(&self.cluster)) {
            return Err(why(format!("it is of no member of cluster `{}`", self.cluster)));
        }
        let signatory = signatory_of(&der).map_err(why)?;
        let signature = STANDARD.decode(&sealed.signature).unwrap_or_default();
        certificate
            .verify_signature(webpki::ring::ECDSA_P256_SHA256, &signed(context, &sealed.text), &signature)
            .map_err(|_| Untrusted::Signature { tenant: signatory.tenant.clone() })?;
        Ok(signatory)
    }
}

/// Why a certificate does not count.
fn unverified(error: &webpki::Error) -> String {
    match error {
        webpki::Error::UnknownIssuer | webpki::Error::InvalidSignatureForPublicKey => {
            "another authority signed it".to_owned()
        }
        webpki::Error::CertExpired { .. } => "it has expired".to_owned(),
        webpki::Error::CertNotValidYet { .. } => "it is not valid yet".to_owned(),
        other => other.to_string(),
    }
}

/// Whom a certificate names. The caller has found the authority's signature on it to be good.
fn signatory_of(der: &CertificateDer<'_>) -> Result<Signatory, String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(der).map_err(|error| error.to_string())?;
    Ok(Signatory { tenant: tenant_in(&certificate)?, node: node_in(&certificate) })
}

/// The tenant that a certificate names: its organisation; without one it is the operator's.
fn tenant_in(certificate: &X509Certificate<'_>) -> Result<Tenant, String> {
    let mut names = certificate.subject().iter_organization();
    match (names.next(), names.next()) {
        (None, _) => Ok(Tenant::operator()),
        (Some(name), None) => {
            let name = name.as_str().map_err(|error| error.to_string())?;
            Tenant::named(name).ok_or_else(|| format!("`{}` is no tenant", takt_graph::limits::shortened(name)))
        }
        (Some(_), Some(_)) => Err("it names two tenants".to_owned()),
    }
}

/// The node that a certificate is for; empty where it names none, which is no node's name.
fn node_in(certificate: &X509Certificate<'_>) -> String {
    let names = certificate.subject_alternative_name().ok().flatten();
    let mut names = names.into_iter().flat_map(|names| &names.value.general_names);
    match (names.next(), names.next()) {
        (Some(GeneralName::DNSName(name)), None) => (*name).to_owned(),
        _ => String::new(),
    }
}

/// Name of the certificate of each member of a cluster. Zenoh takes the public authorities of the web for its peers' as
/// well; none of these vouches for a name like this.
pub(crate) fn member_of(cluster: &str) -> String {
    format!("takt member of {cluster}")
}

/// The tenant of a certificate that is this machine's own, PEM.
///
/// # Errors
/// It is none, or names none.
pub(crate) fn tenant_of(certificate: &str) -> Result<Tenant, String> {
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(|error| format!("{error:?}"))?;
    signatory_of(&der).map(|signatory| signatory.tenant)
}

/// The common name in a certificate that is this machine's own, PEM.
pub(crate) fn common_name_of(certificate: &str) -> Option<String> {
    common_name(&CertificateDer::from_pem_slice(certificate.as_bytes()).ok()?)
}

fn common_name(der: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(der).ok()?;
    Some(certificate.subject().iter_common_name().next()?.as_str().ok()?.to_owned())
}
