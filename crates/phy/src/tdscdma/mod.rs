//! The exchange of TD-SCDMA, 3GPP TS 25.221 to 25.223: a slot is a subframe of 5 ms.
//!
//! ```text
//!  base station   td-scdma-downlink -> td-scdma-to-samples          chips, 1.25 MS/s
//!  terminal       td-scdma-to-chips -> td-scdma-receive -> td-scdma-answer
//! ```
mod base_station;
mod terminal;
