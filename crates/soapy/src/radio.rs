//! A device that is open: what it is set to, and its streams.

use std::sync::Arc;

use serde::Serialize;
use takt_base::{Clock, WallClock};
use takt_radio::FrontEnd;
use takt_radio::board::{Range, Side};
use takt_radio::n200::Emission;

use crate::device::way;
use crate::error::{call, refuse_own};
use crate::grid::Grid;
use crate::ranges::{around, ends, same};
use crate::{About, Device, DeviceSpec, SoapyError, SoapyRx, SoapyTx, StreamFormat, library};

/// The text that stands for daughterboards, which SoapySDR does not name.
const BOARDS: &str = "not named by SoapySDR";

/// The settings of a side of a device, as its driver says; `None`: it does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Radio frequency of 0 Hz.
    pub frequency_hz: Option<f64>,
    /// Gain, dB.
    pub gain_db: Option<f64>,
    /// Antenna.
    pub antenna: Option<String>,
}

/// A device of SoapySDR that is open. It is closed when it and its streams are dropped.
pub struct SoapyRadio {
    device: Box<dyn Device>,
    clock: Arc<dyn Clock>,
    name: String,
}

impl SoapyRadio {
    /// Opens a device.
    ///
    /// # Errors
    /// `NotBuilt` in a build without SoapySDR; `Own` for takt's own driver; `Unnamed` for a device without keys; `NoModule` and
    /// `NoDevice` where there is none such, with those that there are.
    pub fn open(spec: &DeviceSpec) -> Result<SoapyRadio, SoapyError> {
        refuse_own(spec.get("driver"), spec)?;
        let device = library::open(spec)?;
        // Without the name of a driver SoapySDR takes the first that fits.
        let driver = device.about().map(|about| about.driver).unwrap_or_default();
        refuse_own(Some(&driver), spec)?;
        Ok(SoapyRadio::over(device, Arc::new(WallClock), spec.to_string()))
    }

    /// The radio of a device of whatever kind, which is called `name`. `clock` is that of this host.
    #[must_use]
    pub fn over(device: Box<dyn Device>, clock: Arc<dyn Clock>, name: String) -> SoapyRadio {
        SoapyRadio { device, clock, name }
    }

    /// As a user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// This host's clock.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The description that it gives of itself. Fails if its driver does.
    pub fn about(&self) -> Result<About, SoapyError> {
        self.device.about().map_err(call("asking the device what it is"))
    }

    /// Its clock, nanoseconds; `None`: it has none. Fails if its driver does.
    pub fn time_ns(&self) -> Result<Option<i64>, SoapyError> {
        self.device.time_ns().map_err(call("reading the device's clock"))
    }

    /// The settings of a channel.
    #[must_use]
    pub fn settings(&self, side: Side, channel: usize) -> Settings {
        let device = &self.device;
        Settings {
            frequency_hz: device.frequency(side, channel).ok(),
            gain_db: device.gain(side, channel).ok(),
            antenna: device.antenna(side, channel).ok().filter(|name| !name.is_empty()),
        }
    }

    /// Sets a channel, as far as something is wished for. Returns what it is set to then.
    ///
    /// # Errors
    /// `Channel`, `Range` or `Antenna` for what the device does not have; `Call` if its driver refuses.
    pub fn set(&self, side: Side, channel: usize, wish: &FrontEnd) -> Result<Settings, SoapyError> {
        self.check_channel(side, channel)?;
        let device = &self.device;
        if let Some(name) = &wish.antenna {
            let known = device.antennas(side, channel).map_err(call("asking for the antennas"))?;
            if !known.contains(name) {
                return Err(SoapyError::Antenna { got: name.clone(), known });
            }
            device.set_antenna(side, channel, name).map_err(call("setting the antenna"))?;
        }
        if let Some(db) = wish.gain_db {
            let gains = device.gains(side, channel).map_err(call("asking for the gains"))?;
            within(&[gains], "gain in dB", db)?;
            device.set_gain(side, channel, db).map_err(call("setting the gain"))?;
        }
        if let Some(hz) = wish.frequency_hz {
            let frequencies = device.frequencies(side, channel).map_err(call("asking for the frequencies"))?;
            within(&frequencies, "frequency in Hz", hz)?;
            device.set_frequency(side, channel, hz).map_err(call("setting the frequency"))?;
        }
        Ok(self.settings(side, channel))
    }

    /// The settings that it will transmit with once `wish` is set.
    ///
    /// # Errors
    /// `Transmit` unless the user `allowed` it: nobody can say here whether the device has an antenna.
    pub fn may_transmit(&self, allowed: bool, channel: usize, wish: &FrontEnd) -> Result<Emission, SoapyError> {
        let now = self.settings(Side::Tx, channel);
        let emission = Emission {
            radio: self.name.clone(),
            boards: BOARDS.to_owned(),
            frequency_hz: wish.frequency_hz.or(now.frequency_hz),
            gain_db: wish.gain_db.or(now.gain_db),
            antenna: wish.antenna.clone().or(now.antenna),
        };
        if allowed { Ok(emission) } else { Err(SoapyError::Transmit { emission: Box::new(emission) }) }
    }

    /// Makes a receive stream, which has yet to be started. `wire`: the format between device and host, for drivers that have a
    /// choice.
    ///
    /// # Errors
    /// `Channel`, `Rate` or `Format` for what the device does not have; `Call` if its driver refuses.
    pub fn rx_stream(&self, channels: &[usize], sps: f64, wire: Option<&str>) -> Result<SoapyRx, SoapyError> {
        let (grid, format) = self.prepare(Side::Rx, channels, sps)?;
        let port = self.device.rx_port(channels, format, wire).map_err(call("making a receive stream"))?;
        SoapyRx::new(port, self.clock(), grid, channels.len()).map_err(call("asking the receive stream for its size"))
    }

    /// Makes a transmit stream, which has yet to be started. Ask [`SoapyRadio::may_transmit`] before.
    ///
    /// # Errors
    /// As [`SoapyRadio::rx_stream`].
    pub fn tx_stream(&self, channels: &[usize], sps: f64, wire: Option<&str>) -> Result<SoapyTx, SoapyError> {
        let (grid, format) = self.prepare(Side::Tx, channels, sps)?;
        let port = self.device.tx_port(channels, format, wire).map_err(call("making a transmit stream"))?;
        SoapyTx::new(port, self.clock(), grid, channels.len()).map_err(call("asking the transmit stream for its size"))
    }

    /// The format in which a channel's samples are had.
    ///
    /// # Errors
    /// `Format` if the driver has none that takt takes; `Call` if it fails.
    pub fn format(&self, side: Side, channel: usize) -> Result<StreamFormat, SoapyError> {
        let offered = self.device.formats(side, channel).map_err(call("asking for the formats of samples"))?;
        let known = StreamFormat::ALL.into_iter().find(|format| offered.iter().any(|name| name == format.name()));
        known.ok_or(SoapyError::Format { offered })
    }

    fn prepare(&self, side: Side, channels: &[usize], sps: f64) -> Result<(Grid, StreamFormat), SoapyError> {
        let Some(&first) = channels.first() else { return Err(SoapyError::NoChannel { way: way(side) }) };
        for &channel in channels {
            self.check_channel(side, channel)?;
        }
        let grid = self.set_rate(side, channels, sps)?;
        Ok((grid, self.format(side, first)?))
    }

    fn check_channel(&self, side: Side, channel: usize) -> Result<(), SoapyError> {
        let channels = self.device.channels(side).map_err(call("asking for the channels"))?;
        if channel < channels { Ok(()) } else { Err(SoapyError::Channel { way: way(side), channel, channels }) }
    }

    /// Sets the rate of all these channels. A driver that takes another rate has not got this one.
    fn set_rate(&self, side: Side, channels: &[usize], sps: f64) -> Result<Grid, SoapyError> {
        let refused = |channel: usize, chosen_sps: Option<f64>| {
            let known = self.device.rates(side, channel).unwrap_or_default();
            let nearest_sps = around(&known, sps);
            SoapyError::Rate { way: way(side), requested_sps: sps, chosen_sps, nearest_sps }
        };
        let mut grid = None;
        for &channel in channels {
            if Grid::new(sps).is_none() {
                return Err(refused(channel, None));
            }
            let chosen = self.device.set_rate(side, channel, sps).map_err(|_| refused(channel, None))?;
            grid = Grid::new(chosen).filter(|_| same(sps, chosen));
            if grid.is_none() {
                return Err(refused(channel, Some(chosen)));
            }
        }
        grid.ok_or(SoapyError::NoChannel { way: way(side) })
    }
}

/// Whether a value lies in one of these ranges. A driver that names none is asked for it all the same.
fn within(ranges: &[Range], what: &'static str, got: f64) -> Result<(), SoapyError> {
    match ends(ranges) {
        Some((low, high)) if !ranges.iter().any(|range| range.contains(got)) => {
            Err(SoapyError::Range { what, got, low, high })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use takt_radio::RxStream;

    use super::*;
    use crate::fake::Fake;

    fn radio() -> SoapyRadio {
        Fake::new(&[]).radio()
    }

    #[test]
    fn a_rate_is_exact_or_refused_with_its_neighbours() {
        let rx = radio().rx_stream(&[0, 1], 2e6, None).unwrap();
        assert_eq!((rx.rate_sps(), rx.channels(), rx.ticks_per_sample().0), (2e6, 2, 1));
        let Err(refused) = radio().rx_stream(&[0], 3e6, None) else { panic!("there is no such rate") };
        let SoapyError::Rate { requested_sps, chosen_sps, nearest_sps, .. } = refused else { panic!("{refused:?}") };
        assert_eq!((requested_sps, chosen_sps, nearest_sps), (3e6, Some(2e6), [Some(2e6), Some(5e6)]));
        for sps in [f64::NAN, -1e6, 0.0, 1e12] {
            let refused = radio().tx_stream(&[0], sps, None).err();
            assert!(matches!(refused, Some(SoapyError::Rate { .. })), "{sps}: {refused:?}");
        }
    }

    #[test]
    fn what_the_device_does_not_have_is_refused() {
        let radio = radio();
        let channel = radio.rx_stream(&[2], 1e6, None).err();
        assert!(matches!(channel, Some(SoapyError::Channel { channel: 2, channels: 2, .. })), "{channel:?}");
        let none = radio.rx_stream(&[], 1e6, None).err();
        assert!(matches!(none, Some(SoapyError::NoChannel { way: "receive" })), "{none:?}");
        let set = |wish: FrontEnd| radio.set(Side::Rx, 0, &wish).err();
        let antenna = set(FrontEnd { antenna: Some("roof".to_owned()), ..FrontEnd::default() });
        assert!(matches!(antenna, Some(SoapyError::Antenna { .. })), "{antenna:?}");
        let frequency = set(FrontEnd { frequency_hz: Some(2e9), ..FrontEnd::default() });
        assert!(matches!(frequency, Some(SoapyError::Range { what: "frequency in Hz", .. })), "{frequency:?}");
        let gain = set(FrontEnd { gain_db: Some(-1.0), ..FrontEnd::default() });
        assert!(matches!(gain, Some(SoapyError::Range { what: "gain in dB", .. })), "{gain:?}");
    }

    #[test]
    fn a_front_end_is_set_and_read_back() {
        let wish = FrontEnd { frequency_hz: Some(433e6), gain_db: Some(20.4), antenna: Some("TX/RX".to_owned()) };
        let settings = radio().set(Side::Tx, 0, &wish).unwrap();
        let expected = Settings { frequency_hz: Some(433e6), gain_db: Some(20.0), antenna: Some("TX/RX".to_owned()) };
        assert_eq!(settings, expected);
    }

    #[test]
    fn a_device_transmits_only_if_it_was_allowed_to() {
        let wish = FrontEnd { frequency_hz: Some(433e6), ..FrontEnd::default() };
        let refused = radio().may_transmit(false, 0, &wish).unwrap_err();
        assert!(refused.to_string().contains("433 MHz") && refused.fix().is_some_and(|fix| fix.contains("--transmit")));
        let emission = radio().may_transmit(true, 0, &wish).unwrap();
        assert_eq!((emission.frequency_hz, emission.gain_db), (Some(433e6), Some(0.0)));
        assert_eq!(emission.antenna.as_deref(), Some("RX"));
    }

    #[test]
    fn integers_are_taken_where_there_are_no_floats_and_nothing_else_is() {
        let format = |formats: &[&'static str]| Fake::new(&[]).with_formats(formats).radio().format(Side::Rx, 0);
        assert_eq!(format(&["CS16", "CF32"]).unwrap(), StreamFormat::Cf32);
        assert_eq!(format(&["CS16"]).unwrap(), StreamFormat::Cs16);
        let refused = format(&["CU8"]).unwrap_err();
        assert!(refused.to_string().contains("CU8"), "{refused}");
    }
}
