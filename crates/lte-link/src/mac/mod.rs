//! The forms of TS 36.321: PDUs with their sub-headers, the answer to random access, reports, messages of control.

pub(crate) mod buffer_status;
pub(crate) mod message;
pub(crate) mod pdu;
pub(crate) mod response;
