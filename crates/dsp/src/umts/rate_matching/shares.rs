//! How many bits each transport channel gets, TS 25.212 section 4.2.7.

use super::{Error, Tti};

/// Demand of a transport channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// RM, the rate matching attribute, 1 to 256.
    pub attribute: u16,
    /// Coded bits a TTI: in the uplink of the present transport format, equalised ([`Tti::equalised`]); in the downlink with
    /// fixed positions of the longest.
    pub bits: usize,
    /// Over how many radio frames they are spread.
    pub tti: Tti,
}

/// Divides the `frame_bits` data bits of a radio frame among the transport channels: `shares[i]` is N + delta N of channel i
/// (equation 1 of section 4.2.7; in the downlink for fixed positions, section 4.2.7.2.1). A channel's block of F frames is
/// matched to F times its share. All bits are given away, unless nobody asks for any.
///
/// # Errors
/// [`Error::Attribute`] or [`Error::TooLong`].
///
/// # Panics
/// If `shares` is not as long as `demands`.
///
/// ```
/// use takt_dsp::umts::{Demand, Tti, shares};
/// let dtch = Demand { attribute: 256, bits: 11_580, tti: Tti::Ms10 };
/// let dcch = Demand { attribute: 256, bits: 360, tti: Tti::Ms40 };
/// let mut uplink = [0; 2];
/// shares(&[dtch, dcch], 9600, &mut uplink)?; // the 384 kb/s reference channel of TS 25.101
/// assert_eq!(uplink, [9525, 75]);
/// # Ok::<_, takt_dsp::umts::Error>(())
/// ```
pub fn shares(demands: &[Demand], frame_bits: usize, shares: &mut [usize]) -> Result<(), Error> {
    assert_eq!(demands.len(), shares.len(), "a share for each channel");
    for demand in demands {
        check(demand.attribute, demand.bits.max(frame_bits))?;
    }
    let all: u128 = demands.iter().map(weight).sum();
    let (mut demanded, mut given) = (0, 0);
    for (share, demand) in shares.iter_mut().zip(demands) {
        demanded += weight(demand);
        let until = (frame_bits as u128 * demanded).checked_div(all).unwrap_or(0) as usize; // Z
        *share = until - given;
        given = until;
    }
    Ok(())
}

pub(super) fn check(attribute: u16, bits: usize) -> Result<(), Error> {
    if !(1..=256).contains(&attribute) {
        return Err(Error::Attribute { attribute });
    }
    if bits > super::MAX_BITS {
        return Err(Error::TooLong { bits, most: super::MAX_BITS });
    }
    Ok(())
}

/// RM N, N being bits a radio frame in eighths.
pub(super) fn weight(demand: &Demand) -> u128 {
    u128::from(demand.attribute) * (demand.bits * 8 / demand.tti.frames()) as u128
}
