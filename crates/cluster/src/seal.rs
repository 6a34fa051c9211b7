//! Orders as they travel: signed by who gives them.
//!
//! TLS says who may speak to a node, but not who does: Zenoh carries a question over routers, and tells the one who answers
//! nothing of certificates. So an order brings its own proof: the certificate of who gives it and a signature with its key, both
//! the ones that TLS uses, so there is no second kind of secret to hand out. The signature covers for which cluster and node the
//! order is, in which life of the node, at what moment of the node's own clock, and a number drawn for it: [`crate::gate`] takes
//! each once, and none later. The node's clock is the one that counts as machines do not agree on the time of day; the one who
//! gives the order asks for it first ([`Request::Moment`]). Questions that change nothing need no signature.
//!
//! ECDSA over P-256, by ring, is what the certificates have, and ring is what TLS here is made of.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, SigningKey};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::message::{Moment, PROTOCOL, Request};
pub use crate::sealed::Sealed;
use crate::sealed::{Context, signed};
use crate::statement::Statement;

/// The signed text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The cluster, and the node in it, for which the order is.
    pub cluster: String,
    /// The same.
    pub node: String,
    /// The node's life, and when that was requested.
    pub moment: Moment,
    /// Drawn for this order alone; of what is written to an agent its place, from 0.
    pub number: u64,
    /// The order itself.
    pub order: Request,
}

/// A message with an order.
#[derive(Serialize)]
struct Message<'a> {
    protocol: u32,
    order: &'a Sealed,
}

impl Sealed {
    /// As it travels.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        crate::message::document(&Message { protocol: PROTOCOL, order: self })
    }
}

/// Signer of orders: the certificate and the key of a cluster's folder.
pub struct Signer {
    certificate: String,
    key: KeyPair,
}

impl Signer {
    /// From PEM texts.
    ///
    /// # Errors
    /// The key is none, or not of the kind that takt makes.
    pub fn new(certificate: String, key: &str) -> Result<Signer, rcgen::Error> {
        let key = KeyPair::from_pem(key)?;
        if key.algorithm() != &PKCS_ECDSA_P256_SHA256 {
            return Err(rcgen::Error::UnsupportedSignatureAlgorithm);
        }
        Ok(Signer { certificate, key })
    }

    /// An order for a node, as it travels.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn message(&self, cluster: &str, node: &str, moment: Moment, order: &Request) -> Result<Vec<u8>, rcgen::Error> {
        self.numbered(cluster, node, (moment, number()?), order)
    }

    /// The same with a number of who gives it: the place of a message among those to an agent.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn numbered(
        &self,
        cluster: &str,
        node: &str,
        (moment, number): (Moment, u64),
        order: &Request,
    ) -> Result<Vec<u8>, rcgen::Error> {
        let (cluster, node, order) = (cluster.to_owned(), node.to_owned(), order.clone());
        let given = Given { cluster, node, moment, number, order };
        Ok(self.seal(crate::message::text(&given))?.message())
    }

    /// Signs a text, whatever it says: that it is a [`Given`] is for who reads it to find.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn seal(&self, text: String) -> Result<Sealed, rcgen::Error> {
        self.seal_as(Context::Order, text)
    }

    /// Signs what a node says of itself.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn state(&self, statement: &Statement) -> Result<Sealed, rcgen::Error> {
        self.seal_as(Context::Statement, crate::message::text(statement))
    }

    fn seal_as(&self, context: Context, text: String) -> Result<Sealed, rcgen::Error> {
        let signature = STANDARD.encode(self.key.sign(&signed(context, &text))?);
        Ok(Sealed { text, certificate: self.certificate.clone(), signature })
    }
}

/// A number that nobody can guess or has drawn before.
pub(crate) fn number() -> Result<u64, rcgen::Error> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).map_err(|_| rcgen::Error::RingUnspecified)?;
    Ok(u64::from_ne_bytes(bytes))
}
