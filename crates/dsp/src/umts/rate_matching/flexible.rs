//! Flexible positions in the downlink, TS 25.212 section 4.2.7.2.2: formats share a radio frame as each combination needs.

use super::shares::{Demand, check, shares, weight};
use super::{Error, Tti};

/// A transport channel with its formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats<'a> {
    /// RM, the rate matching attribute, 1 to 256.
    pub attribute: u16,
    /// Over how many radio frames blocks are spread.
    pub tti: Tti,
    /// Coded bits a TTI of each transport format.
    pub bits: &'a [usize],
}

/// To how many bits a TTI each format of each channel is matched, so that no combination of formats exceeds the `frame_bits`
/// data bits of a radio frame, and the largest has the least DTX (section 4.2.7.2.2.1). A combination names the format of
/// each channel; combinations come in the order of their TFCI, on which the result depends. Match with
/// [`RateMatching::downlink`](super::RateMatching::downlink), each format being its own longest.
///
/// # Errors
/// [`Error::Attribute`], [`Error::TooLong`], or [`Error::Combination`] for one that names no format of each channel.
pub fn flexible_lengths(
    channels: &[Formats<'_>],
    combinations: &[&[usize]],
    frame_bits: usize,
) -> Result<Vec<Vec<usize>>, Error> {
    for channel in channels {
        check(channel.attribute, channel.bits.iter().copied().fold(frame_bits, usize::max))?;
    }
    let demand = |channel: &Formats<'_>, format: usize| {
        let bits = *channel.bits.get(format)?;
        Some(Demand { attribute: channel.attribute, bits, tti: channel.tti })
    };
    let demands_of = |number: usize| {
        let formats = combinations[number];
        let demands = channels.iter().zip(formats).map(|(channel, &format)| demand(channel, format)).collect();
        let demands: Option<Vec<Demand>> = if formats.len() == channels.len() { demands } else { None };
        demands.ok_or(Error::Combination { combination: number })
    };
    let mut most = 0;
    for number in 0..combinations.len() {
        most = most.max(demands_of(number)?.iter().map(weight).sum());
    }
    // First phase: as if the combination that asks for most filled the frame, and rounded up.
    let tentative = |channel: &Formats<'_>| {
        let frames = channel.tti.frames();
        let length = |&bits: &usize| {
            if most == 0 {
                return 0;
            }
            let demanded = 8 * frame_bits as u128 * u128::from(channel.attribute) * bits as u128;
            frames * demanded.div_ceil(frames as u128 * most) as usize
        };
        channel.bits.iter().map(length).collect::<Vec<_>>()
    };
    let mut lengths: Vec<Vec<usize>> = channels.iter().map(tentative).collect();
    let mut given = vec![0; channels.len()];
    // Second phase: combinations that are too long by then are cut to their shares.
    for (number, formats) in combinations.iter().enumerate() {
        let together: usize =
            channels.iter().zip(&lengths).zip(*formats).map(|((c, l), &f)| l[f] / c.tti.frames()).sum();
        if together > frame_bits {
            shares(&demands_of(number)?, frame_bits, &mut given)?;
            for (((channel, lengths), &format), &given) in channels.iter().zip(&mut lengths).zip(*formats).zip(&given) {
                lengths[format] = lengths[format].min(channel.tti.frames() * given);
            }
        }
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_combination_exceeds_the_frame_and_the_largest_nearly_fills_it(
            channels in prop::collection::vec((
                1u16..=256,
                prop::sample::select(&Tti::ALL[..]),
                prop::collection::vec(0usize..5000, 1..5),
            ), 1..6),
            picks in prop::collection::vec(prop::collection::vec(0usize..60, 6), 1..20),
            frame_bits in 0usize..20_000,
        ) {
            let channels: Vec<Formats<'_>> =
                channels.iter().map(|(attribute, tti, bits)| Formats { attribute: *attribute, tti: *tti, bits }).collect();
            let combinations: Vec<Vec<usize>> =
                picks.iter().map(|pick| channels.iter().zip(pick).map(|(c, p)| p % c.bits.len()).collect()).collect();
            let combinations: Vec<&[usize]> = combinations.iter().map(|c| &c[..]).collect();
            let lengths = flexible_lengths(&channels, &combinations, frame_bits).unwrap();
            let demanded = |formats: &[usize]| -> usize {
                channels.iter().zip(formats).map(|(c, &f)| usize::from(c.attribute) * c.bits[f] * 8 / c.tti.frames()).sum()
            };
            let sent = |formats: &[usize]| -> usize {
                channels.iter().zip(&lengths).zip(formats).map(|((c, l), &f)| l[f] / c.tti.frames()).sum()
            };
            for (channel, lengths) in channels.iter().zip(&lengths) {
                prop_assert!(lengths.iter().all(|length| length % channel.tti.frames() == 0));
                prop_assert!(lengths.iter().zip(channel.bits).all(|(&length, &bits)| bits != 0 || length == 0));
            }
            prop_assert!(combinations.iter().all(|formats| sent(formats) <= frame_bits));
            let largest = combinations.iter().max_by_key(|formats| demanded(formats)).unwrap();
            // Cutting another combination may take a bit a channel from this one.
            prop_assert!(demanded(largest) == 0 || sent(largest) + 2 * channels.len() >= frame_bits, "{}", sent(largest));
        }
    }

    #[test]
    fn a_single_format_fills_its_frame_and_others_have_their_part_of_it() {
        let channels = [Formats { attribute: 256, tti: Tti::Ms40, bits: &[0, 360, 720] }];
        let lengths = flexible_lengths(&channels, &[&[0], &[1], &[2]], 142).unwrap();
        assert_eq!(lengths, [[0, 284, 568]]);
    }

    #[test]
    fn combinations_of_what_is_not_there_are_refused() {
        let channels = [Formats { attribute: 256, tti: Tti::Ms40, bits: &[0, 360] }];
        let lengths = |combinations: &[&[usize]]| flexible_lengths(&channels, combinations, 142).map(drop);
        assert_eq!(lengths(&[&[0], &[2]]), Err(Error::Combination { combination: 1 }));
        assert_eq!(lengths(&[&[0, 0]]), Err(Error::Combination { combination: 0 }));
        assert_eq!(lengths(&[]), Ok(()));
    }
}
