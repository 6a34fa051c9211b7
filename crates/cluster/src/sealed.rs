//! A text as it travels with the proof of whose it is.

use serde::{Deserialize, Serialize};

/// A kind of text that a member signs. Its name stands before the text: so no signature that TLS makes with the same key is one of
/// an order, and no signature of an order is one of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Order of a tenant to a node.
    Order,
    /// Statement of a node about itself ([`crate::statement`]).
    Statement,
}

impl Context {
    fn prefix(self) -> &'static [u8] {
        match self {
            Context::Order => b"takt order 1\0",
            Context::Statement => b"takt statement 1\0",
        }
    }
}

/// An order or a statement, and the proof of whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// A `Given` or a `Statement` in JSON: a text, as the signature is one of bytes.
    pub text: String,
    /// The certificate of who signed it, PEM.
    pub certificate: String,
    /// ECDSA P-256 with SHA-256 over `takt order 1` or `takt statement 1`, a zero byte, and the text; ASN.1, base64.
    pub signature: String,
}

/// The bytes that a signature covers.
pub(crate) fn signed(context: Context, text: &str) -> Vec<u8> {
    [context.prefix(), text.as_bytes()].concat()
}
