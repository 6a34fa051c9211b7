//! The frequency, gain and antenna that a session asks of a front end. A setting that it does not name stays as it is.

use crate::board::Side;
use crate::n200::{N200, TxWish};
use crate::{Radio, RadioError, TuneRequest, Tuned};

/// A wish about one side of a front end. Only an N200's front end has a driver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontEnd {
    /// Radio frequency of 0 Hz.
    pub frequency_hz: Option<f64>,
    /// Gain, dB.
    pub gain_db: Option<f64>,
    /// By the name that the daughterboard gives it.
    pub antenna: Option<String>,
}

/// How a front end was set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontEndSet {
    /// The frequencies that it is tuned to now.
    pub tuned: Option<Tuned>,
    /// The gain it has now, which may be the nearest.
    pub gain_db: Option<f64>,
}

impl FrontEnd {
    /// The same, for the question whether the radio may transmit.
    #[must_use]
    pub fn tx_wish(&self) -> TxWish<'_> {
        TxWish { frequency_hz: self.frequency_hz, gain_db: self.gain_db, antenna: self.antenna.as_deref() }
    }

    /// Sets one side of a radio's front end. `channel` is the receive DSP behind it, 0 or 1, and 0 to transmit.
    ///
    /// # Errors
    /// `NoModel` for a wish about an X310; the board lacks the antenna, or can't be tuned there; the radio does not answer.
    pub fn set(&self, radio: &mut Radio, side: Side, channel: u8) -> Result<FrontEndSet, RadioError> {
        match radio {
            Radio::N200(radio) => self.set_n200(radio, side, channel),
            Radio::X310(_) => self.refuse().map(|()| FrontEndSet::default()),
        }
    }

    fn refuse(&self) -> Result<(), RadioError> {
        let wishes = [
            ("antenna", self.antenna.is_some()),
            ("gain", self.gain_db.is_some()),
            ("frequency", self.frequency_hz.is_some()),
        ];
        match wishes.into_iter().find(|(_, wished)| *wished) {
            Some((what, _)) => Err(RadioError::NoModel { boards: "those of an X310".to_owned(), what }),
            None => Ok(()),
        }
    }

    fn set_n200(&self, radio: &mut N200, side: Side, channel: u8) -> Result<FrontEndSet, RadioError> {
        if let Some(antenna) = &self.antenna {
            radio.set_antenna(side, antenna)?;
        }
        let gain_db = self.gain_db.map(|gain_db| radio.set_gain_db(side, gain_db)).transpose()?;
        let request = self.frequency_hz.map(TuneRequest::new);
        let tuned = request.map(|request| match side {
            Side::Rx => radio.tune_rx(channel, request),
            Side::Tx => radio.tune_tx(request),
        });
        let tuned = tuned.transpose()?;
        radio.flush()?;
        Ok(FrontEndSet { tuned, gain_db })
    }
}
