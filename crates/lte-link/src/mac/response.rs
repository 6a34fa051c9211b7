//! The answer to random access: TS 36.321 sections 6.1.5, 6.2.2 and 6.2.3, its grant of 20 bits TS 36.213 section 6.2.

use takt_lte::Bandwidth;

use crate::{ParseError, Rnti, UplinkGrant};
use takt_lte::{decode_riv, encode_riv};

/// The answer to a terminal that sent a preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// 0 to 63.
    pub(crate) preamble: u8,
    /// 0 to 1282, units of 16 T_s.
    pub(crate) timing_advance: u16,
    /// For message 3.
    pub(crate) grant: UplinkGrant,
    /// Becomes the terminal's own if it wins.
    pub(crate) temporary: Rnti,
}

/// An answer as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// How long those wait at most whom it does not answer, subframes.
    pub(crate) back_off: Option<u16>,
    pub(crate) responses: Vec<Response>,
}

/// Subframes by index: TS 36.321 table 7.2-1.
const BACK_OFF: [u16; 13] = [0, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 960];

/// Bytes of an answer.
pub(crate) fn answer_len(responses: usize, has_back_off: bool) -> usize {
    7 * responses + usize::from(has_back_off)
}

/// The bytes of an answer, `size` of them. The index of the back-off is 0 to 12.
pub(crate) fn compose(back_off: Option<u8>, responses: &[Response], bandwidth: Bandwidth, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    let mut more = responses.len() + usize::from(back_off.is_some());
    let mut header = |low: u8| {
        more -= 1;
        if more > 0 { 0x80 | low } else { low }
    };
    bytes.extend(back_off.map(|index| header(index & 0x0f)));
    for response in responses {
        bytes.push(header(0x40 | (response.preamble & 0x3f)));
    }
    for response in responses {
        let timing = u64::from(response.timing_advance & 0x7ff);
        let grant = u64::from(grant_bits(&response.grant, bandwidth));
        let all = timing << 36 | grant << 16 | u64::from(response.temporary.0);
        bytes.extend_from_slice(&all.to_be_bytes()[2..]);
    }
    bytes.resize(size.max(bytes.len()), 0);
    bytes
}

/// # Errors
/// If the bytes end early. Responses with an impossible grant or identifier are left out.
pub(crate) fn parse(bytes: &[u8], bandwidth: Bandwidth) -> Result<Answer, ParseError> {
    let short = || ParseError::Short { what: "an answer to random access", have: bytes.len() };
    let (mut answer, mut preambles, mut rest) = (Answer::default(), Vec::new(), bytes);
    loop {
        let (&first, after) = rest.split_first().ok_or_else(short)?;
        rest = after;
        if first & 0x40 == 0 {
            answer.back_off = BACK_OFF.get(usize::from(first & 0x0f)).copied();
        } else {
            preambles.push(first & 0x3f);
        }
        if first & 0x80 == 0 {
            break;
        }
    }
    for preamble in preambles {
        let (&[a, b, c, d, e, f], after) = rest.split_first_chunk::<6>().ok_or_else(short)?;
        rest = after;
        let all = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let timing_advance = (all >> 36 & 0x7ff) as u16;
        let temporary = Rnti(all as u16);
        let grant = grant_of_bits((all >> 16 & 0xf_ffff) as u32, bandwidth);
        if let Some(grant) = grant.filter(|_| temporary.is_own() && timing_advance <= 1282) {
            answer.responses.push(Response { preamble, timing_advance, grant, temporary });
        }
    }
    Ok(answer)
}

/// Hopping 0, blocks 10 bits, MCS 4 bits, power 3 bits, delay 0, CQI 0.
fn grant_bits(grant: &UplinkGrant, bandwidth: Bandwidth) -> u32 {
    let run = encode_riv(bandwidth.blocks(), grant.first_block.into(), grant.blocks.max(1).into());
    let blocks = run.unwrap_or_default() & 0x3ff;
    // Three bits in steps of 2 dB from -6: 0 dB.
    blocks << 9 | u32::from(grant.mcs & 0x0f) << 5 | 3 << 2
}

/// A delay or a request for CQI is none of ours.
fn grant_of_bits(bits: u32, bandwidth: Bandwidth) -> Option<UplinkGrant> {
    let hopping_or_delay = bits & (1 << 19 | 0b11) != 0;
    let (first_block, blocks) = decode_riv(bandwidth.blocks(), bits >> 9 & 0x3ff)?;
    let (first_block, blocks) = (first_block as u8, blocks as u8);
    let mcs = (bits >> 5 & 0x0f) as u8;
    (!hopping_or_delay).then_some(UplinkGrant { first_block, blocks, mcs, power: 1, ..UplinkGrant::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn response(preamble: u8, first_block: u8) -> Response {
        let grant = UplinkGrant { first_block, blocks: 3, power: 1, ..UplinkGrant::default() };
        Response { preamble, timing_advance: 77, grant, temporary: Rnti(0x1234) }
    }

    #[test]
    fn one_response_has_seven_bytes() {
        let bytes = compose(None, &[response(5, 2)], Bandwidth::Prb25, 7);
        // Type and preamble 5; advance 77, blocks 25 * 2 + 2 = 52, MCS 0, 0 dB; identifier.
        assert_eq!(bytes, [0x45, 0x04, 0xd0, 0x68, 0x0c, 0x12, 0x34]);
    }

    #[test]
    fn every_prefix_is_refused() {
        let bytes = compose(Some(2), &[response(5, 2), response(63, 0)], Bandwidth::Prb25, 0);
        assert_eq!(bytes.len(), answer_len(2, true));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end], Bandwidth::Prb25).is_err(), "{end}");
        }
        let heard = parse(&bytes, Bandwidth::Prb25).unwrap();
        assert_eq!(heard, Answer { back_off: Some(20), responses: vec![response(5, 2), response(63, 0)] });
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), n in 0usize..6) {
            let bandwidth = Bandwidth::ALL[n];
            if let Ok(answer) = parse(&bytes, bandwidth) {
                for one in answer.responses {
                    prop_assert!(usize::from(one.grant.first_block + one.grant.blocks) <= bandwidth.blocks());
                    prop_assert!(one.temporary.is_own() && one.preamble < 64);
                }
            }
        }
    }
}
