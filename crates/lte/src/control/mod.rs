//! The control region of a downlink subframe: how long it is, who may send and receive what, and acknowledgements.
//!
//! | channel | in | clause |
//! | --- | --- | --- |
//! | PCFICH: how many symbols | `pcfich` | 36.212 5.3.4, 36.211 6.7 |
//! | PHICH: acknowledgements of the uplink | `phich` | 36.212 5.3.5, 36.211 6.9, 36.213 9.1.2 |
//! | PDCCH: grants | `dci`, `riv`, `message`, `search_space` | 36.212 5.3.3, 36.211 6.8, 36.213 9.1.1 |
//! | the elements of all three | `regions` | 36.211 6.2.4 |
//!
//! [`ControlEncoder`] is the base station's side, [`ControlDecoder`] the terminal's. No foreign program checked the contents of
//! the PHICH: it is written from the standard.

mod dci;
mod decoder;
mod encoder;
mod message;
mod pcfich;
mod phich;
mod regions;
mod riv;
mod search_space;
mod soft;

pub use dci::{Dci, DciFormat, DownlinkGrant, DownlinkGrantBitmap, UplinkGrant};
pub use decoder::{ControlDecoder, FoundDci};
pub use encoder::ControlEncoder;
pub use regions::{control_elements, control_symbols};
pub use riv::{decode_riv, encode_riv, riv_bits};
pub use search_space::{Rnti, SearchSpace};

pub(crate) use message::MessageCode;
pub(crate) use soft::{Matched, SoftBits};
