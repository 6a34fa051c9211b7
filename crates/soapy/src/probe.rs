//! A device described: what it is, what it can do, what it is set to.

use serde::Serialize;
use takt_radio::board::{Range, Side};

use crate::error::call;
use crate::{About, Settings, SoapyError, SoapyRadio};

/// A device described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoapyProbe {
    /// As a user named it.
    pub device: String,
    /// The description that it gives of itself.
    #[serde(flatten)]
    pub about: About,
    /// The clock from which it makes its rates, Hz; `None`: its driver does not say.
    pub master_clock_hz: Option<f64>,
    /// Its clock, nanoseconds; `None`: it has none that can be read.
    pub time_ns: Option<i64>,
    /// Its receive channels.
    pub rx: Vec<ChannelReport>,
    /// Its transmit channels.
    pub tx: Vec<ChannelReport>,
}

/// One channel. A value that its driver does not say is `None`, or an empty list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelReport {
    /// Its rates, samples a second.
    pub rates_sps: Vec<Range>,
    /// Frequencies it can be tuned to, Hz.
    pub frequencies_hz: Vec<Range>,
    /// Its gains, dB; `None`: it has none, or its driver does not say.
    pub gains_db: Option<Range>,
    /// Its antennas.
    pub antennas: Vec<String>,
    /// The formats in which its samples can be had.
    pub formats: Vec<String>,
    /// It transmits while it receives.
    pub full_duplex: Option<bool>,
    /// Its settings.
    pub settings: Settings,
}

/// Describes a device.
///
/// # Errors
/// `Call` if its driver does not say what it is, or how many channels it has.
pub fn probe(radio: &SoapyRadio) -> Result<SoapyProbe, SoapyError> {
    Ok(SoapyProbe {
        device: radio.name().to_owned(),
        about: radio.about()?,
        master_clock_hz: radio.device().master_clock_hz().ok().flatten(),
        time_ns: radio.time_ns().ok().flatten(),
        rx: channels(radio, Side::Rx)?,
        tx: channels(radio, Side::Tx)?,
    })
}

fn channels(radio: &SoapyRadio, side: Side) -> Result<Vec<ChannelReport>, SoapyError> {
    let count = radio.device().channels(side).map_err(call("asking for the channels"))?;
    Ok((0..count).map(|channel| report(radio, side, channel)).collect())
}

fn report(radio: &SoapyRadio, side: Side, channel: usize) -> ChannelReport {
    let device = radio.device();
    ChannelReport {
        rates_sps: device.rates(side, channel).unwrap_or_default(),
        frequencies_hz: device.frequencies(side, channel).unwrap_or_default(),
        gains_db: device.gains(side, channel).ok().filter(|gains| gains.low < gains.high),
        antennas: device.antennas(side, channel).unwrap_or_default(),
        formats: device.formats(side, channel).unwrap_or_default(),
        full_duplex: device.full_duplex(side, channel).ok(),
        settings: radio.settings(side, channel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_device_is_described_channel_by_channel() {
        let described = probe(&Fake::new(&[]).without_clock().radio()).unwrap();
        assert_eq!((described.rx.len(), described.tx.len()), (2, 1));
        assert_eq!((described.time_ns, described.master_clock_hz), (None, None), "not known is not 0");
        let rx = &described.rx[0];
        assert_eq!((rx.rates_sps.len(), rx.antennas.len(), rx.full_duplex), (3, 2, Some(true)));
        assert_eq!(rx.settings.frequency_hz, Some(100e6));
    }
}
