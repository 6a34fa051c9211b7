//! Settings of a cell, as the parameters of components state them.

use takt_graph::Value;
use takt_lte::{Bandwidth, Cell, CellId, Numerology, PhichResource, Sampling, UplinkConfig};
use takt_lte_link::SystemInformation;
use takt_lte_radio::{AirSettings, CellSizes, TerminalSettings, demo::AMPLITUDE, usual_cfi};
use takt_runtime::MakeError;

/// Iterations of the turbo decoder.
pub(crate) const ITERATIONS: usize = 8;

/// The carrier of `prb` resource blocks.
pub(crate) fn bandwidth(prb: u32) -> Result<Bandwidth, MakeError> {
    let known = u8::try_from(prb).ok().and_then(|blocks| Bandwidth::try_from(blocks).ok());
    known.ok_or_else(|| {
        refused(format!("no LTE carrier has {prb} resource blocks"), "set prb to 6, 15, 25, 50, 75 or 100")
    })
}

/// Its samples.
pub(crate) fn numerology(prb: u32) -> Result<Numerology, MakeError> {
    Numerology::new(bandwidth(prb)?, Sampling::Standard)
        .map_err(|error| refused(error.to_string(), "give another `prb`"))
}

/// Samples of a subframe; of the narrowest carrier where there is none of `prb` blocks, which then no component is made for.
pub(crate) fn subframe_len(prb: u32) -> u32 {
    numerology(prb).map_or(1920, |numerology| numerology.subframe_len() as u32)
}

/// Bytes of a packet that holds all that is said of a subframe: its blocks, 752 bits a resource block at most, and some lists.
pub(crate) fn record_bytes(prb: u32) -> u32 {
    2 * (4096 + 100 * prb)
}

/// A base station's.
pub(crate) fn station(prb: u32, cell: u16) -> Result<AirSettings, MakeError> {
    let bandwidth = bandwidth(prb)?;
    let id = CellId::new(cell).map_err(|error| refused(error.to_string(), "set cell to 0 to 503"))?;
    let cell = Cell { id, bandwidth, phich: PhichResource::One };
    Ok(AirSettings {
        cell,
        numerology: numerology(prb)?,
        cfi: usual_cfi(&cell),
        uplink: UplinkConfig::new(cell),
        prach: SystemInformation::for_bandwidth(bandwidth).prach,
        amplitude: AMPLITUDE,
        iterations: ITERATIONS,
    })
}

/// A terminal's.
pub(crate) fn terminal(prb: u32) -> Result<TerminalSettings, MakeError> {
    Ok(TerminalSettings {
        bandwidth: bandwidth(prb)?,
        numerology: numerology(prb)?,
        amplitude: AMPLITUDE,
        iterations: ITERATIONS,
        frequency_ratio: 1.0,
    })
}

/// Sizes of the blocks of a cell. They do not depend on its identity.
pub(crate) fn sizes(prb: u32) -> Result<CellSizes, MakeError> {
    let AirSettings { cell, cfi, .. } = station(prb, 0)?;
    Ok(CellSizes { cell, cfi })
}

/// Parameters that make no component.
pub(crate) fn refused(what: impl ToString, fix: &str) -> MakeError {
    MakeError { what: what.to_string(), fix: fix.to_owned() }
}

/// Counts of a component, by name.
pub(crate) fn counts<const N: usize>(counts: [(&'static str, u64); N]) -> Vec<(&'static str, Value)> {
    counts.map(|(name, count)| (name, Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))).into()
}
