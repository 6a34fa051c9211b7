//! Downlink control information: what grants say, and their bits. TS 36.212 sections 5.3.3.1.1 (format 0), 5.3.3.1.2 (format 1)
//! and 5.3.3.1.3 (format 1A), for FDD and one antenna port.

use super::riv::{decode_riv, encode_riv, riv_bits};
use crate::Bandwidth;

/// A grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dci {
    /// Format 0.
    UplinkGrant(UplinkGrant),
    /// Format 1A with localised resource blocks.
    Compact(DownlinkGrant),
    /// Format 1 with resource allocation type 0.
    Bitmap(DownlinkGrantBitmap),
}

/// Resource blocks of the uplink for a terminal, without hopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UplinkGrant {
    /// The lowest resource block.
    pub first_block: u8,
    /// How many resource blocks.
    pub blocks: u8,
    /// Modulation and coding scheme with redundancy version, 0 to 31.
    pub mcs: u8,
    /// Toggles with each new transport block.
    pub new_data: bool,
    /// Power control command, 0 to 3.
    pub power: u8,
    /// Cyclic shift of the reference signals, 0 to 7.
    pub cyclic_shift: u8,
    /// Asks for a report of the channel's quality.
    pub cqi_request: bool,
}

/// A run of resource blocks of the downlink for a terminal, or for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DownlinkGrant {
    /// The lowest resource block.
    pub first_block: u8,
    /// How many resource blocks.
    pub blocks: u8,
    /// Modulation and coding scheme, 0 to 31.
    pub mcs: u8,
    /// HARQ process, 0 to 7.
    pub process: u8,
    /// Toggles with each new transport block.
    pub new_data: bool,
    /// 0 to 3.
    pub redundancy_version: u8,
    /// Power control command, 0 to 3. For an identifier of all terminals its lowest bit chooses a column of transport block sizes.
    pub power: u8,
}

/// Groups of resource blocks of the downlink for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DownlinkGrantBitmap {
    /// As the standard writes it: of [`DciFormat::groups`] bits the highest is group 0. Not 0.
    pub bitmap: u32,
    /// Modulation and coding scheme, 0 to 31.
    pub mcs: u8,
    /// HARQ process, 0 to 7.
    pub process: u8,
    /// Toggles with each new transport block.
    pub new_data: bool,
    /// 0 to 3.
    pub redundancy_version: u8,
    /// Power control command, 0 to 3.
    pub power: u8,
}

/// Grants of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DciFormat {
    /// Formats 0 and 1A.
    Compact,
    /// Format 1.
    Bitmap,
}

/// Lengths with which a terminal could confuse aggregation levels (TS 36.212 table 5.3.3.1.2-1).
const AMBIGUOUS: [usize; 10] = [12, 14, 16, 20, 24, 26, 32, 40, 44, 56];

impl DciFormat {
    /// Bits of a grant with its padding, without CRC.
    #[must_use]
    pub fn bits(self, bandwidth: Bandwidth) -> usize {
        let run = riv_bits(bandwidth.blocks());
        // Format 0 is always shorter by one, and padded.
        let compact = 15 + run + usize::from(AMBIGUOUS.contains(&(15 + run)));
        match self {
            DciFormat::Compact => compact,
            DciFormat::Bitmap => {
                let fields = header_bits(bandwidth) + Self::groups(bandwidth) + 13;
                (fields..).find(|bits| *bits != compact && !AMBIGUOUS.contains(bits)).unwrap_or(fields)
            }
        }
    }

    /// Groups of resource blocks, the last perhaps smaller: TS 36.213 section 7.1.6.1.
    #[must_use]
    pub fn groups(bandwidth: Bandwidth) -> usize {
        bandwidth.blocks().div_ceil(Self::blocks_of_group(bandwidth))
    }

    /// P, resource blocks of a group.
    #[must_use]
    pub fn blocks_of_group(bandwidth: Bandwidth) -> usize {
        match bandwidth.blocks() {
            ..=10 => 1,
            11..=26 => 2,
            27..=63 => 3,
            _ => 4,
        }
    }
}

/// A narrow carrier has only resource allocation type 0, and no bit to say so.
fn header_bits(bandwidth: Bandwidth) -> usize {
    usize::from(bandwidth.blocks() > 10)
}

impl Dci {
    /// Its format.
    #[must_use]
    pub fn format(&self) -> DciFormat {
        match self {
            Dci::UplinkGrant(_) | Dci::Compact(_) => DciFormat::Compact,
            Dci::Bitmap(_) => DciFormat::Bitmap,
        }
    }

    /// Its bits, of [`DciFormat::bits`] the first one highest; `None` if a field is beyond its range or a block beyond the carrier.
    #[must_use]
    pub fn pack(&self, bandwidth: Bandwidth) -> Option<u64> {
        let mut fields = Writer::default();
        match self {
            Dci::UplinkGrant(grant) => grant.write(bandwidth, &mut fields)?,
            Dci::Compact(grant) => grant.write(bandwidth, &mut fields)?,
            Dci::Bitmap(grant) => grant.write(bandwidth, &mut fields)?,
        }
        Some(fields.bits << (self.format().bits(bandwidth) - fields.count))
    }

    /// The grant that these bits say; `None` if no terminal can follow it, or if padding is not 0.
    #[must_use]
    pub fn unpack(format: DciFormat, bits: u64, bandwidth: Bandwidth) -> Option<Dci> {
        let mut fields = Reader { bits, left: format.bits(bandwidth) };
        let dci = match format {
            DciFormat::Bitmap => Dci::Bitmap(DownlinkGrantBitmap::read(bandwidth, &mut fields)?),
            DciFormat::Compact if fields.flag() => Dci::Compact(DownlinkGrant::read(bandwidth, &mut fields)?),
            DciFormat::Compact => Dci::UplinkGrant(UplinkGrant::read(bandwidth, &mut fields)?),
        };
        (fields.take(fields.left) == 0).then_some(dci)
    }
}

impl UplinkGrant {
    /// The change of power in decibels: TS 36.213 table 5.1.1.1-2.
    #[must_use]
    pub fn power_step_db(&self) -> i8 {
        [-1, 0, 1, 3][usize::from(self.power & 3)]
    }

    fn write(&self, bandwidth: Bandwidth, fields: &mut Writer) -> Option<()> {
        fields.put(0, 2)?; // format 0, no hopping
        fields.put_run(bandwidth, self.first_block, self.blocks)?;
        fields.put(self.mcs.into(), 5)?;
        fields.put(self.new_data.into(), 1)?;
        fields.put(self.power.into(), 2)?;
        fields.put(self.cyclic_shift.into(), 3)?;
        fields.put(self.cqi_request.into(), 1)
    }

    fn read(bandwidth: Bandwidth, fields: &mut Reader) -> Option<UplinkGrant> {
        if fields.flag() {
            return None;
        }
        let (first_block, blocks) = fields.take_run(bandwidth)?;
        Some(UplinkGrant {
            first_block,
            blocks,
            mcs: fields.take_small(5),
            new_data: fields.flag(),
            power: fields.take_small(2),
            cyclic_shift: fields.take_small(3),
            cqi_request: fields.flag(),
        })
    }
}

impl DownlinkGrant {
    fn write(&self, bandwidth: Bandwidth, fields: &mut Writer) -> Option<()> {
        fields.put(0b10, 2)?; // format 1A, localised
        fields.put_run(bandwidth, self.first_block, self.blocks)?;
        fields.put(self.mcs.into(), 5)?;
        fields.put(self.process.into(), 3)?;
        fields.put(self.new_data.into(), 1)?;
        fields.put(self.redundancy_version.into(), 2)?;
        fields.put(self.power.into(), 2)
    }

    fn read(bandwidth: Bandwidth, fields: &mut Reader) -> Option<DownlinkGrant> {
        if fields.flag() {
            return None;
        }
        let (first_block, blocks) = fields.take_run(bandwidth)?;
        Some(DownlinkGrant {
            first_block,
            blocks,
            mcs: fields.take_small(5),
            process: fields.take_small(3),
            new_data: fields.flag(),
            redundancy_version: fields.take_small(2),
            power: fields.take_small(2),
        })
    }
}

impl DownlinkGrantBitmap {
    fn write(&self, bandwidth: Bandwidth, fields: &mut Writer) -> Option<()> {
        fields.put(0, header_bits(bandwidth))?; // resource allocation type 0
        fields.put((self.bitmap > 0).then_some(self.bitmap)?, DciFormat::groups(bandwidth))?;
        fields.put(self.mcs.into(), 5)?;
        fields.put(self.process.into(), 3)?;
        fields.put(self.new_data.into(), 1)?;
        fields.put(self.redundancy_version.into(), 2)?;
        fields.put(self.power.into(), 2)
    }

    fn read(bandwidth: Bandwidth, fields: &mut Reader) -> Option<DownlinkGrantBitmap> {
        if fields.take(header_bits(bandwidth)) != 0 {
            return None;
        }
        let bitmap = fields.take(DciFormat::groups(bandwidth)) as u32;
        (bitmap > 0).then(|| DownlinkGrantBitmap {
            bitmap,
            mcs: fields.take_small(5),
            process: fields.take_small(3),
            new_data: fields.flag(),
            redundancy_version: fields.take_small(2),
            power: fields.take_small(2),
        })
    }
}

/// Fields one after the other, the first highest.
#[derive(Default)]
struct Writer {
    bits: u64,
    count: usize,
}

impl Writer {
    /// `None` if the value has more bits.
    fn put(&mut self, value: u32, bits: usize) -> Option<()> {
        (u64::from(value) >> bits == 0).then(|| {
            self.bits = self.bits << bits | u64::from(value);
            self.count += bits;
        })
    }

    fn put_run(&mut self, bandwidth: Bandwidth, first: u8, blocks: u8) -> Option<()> {
        let carrier = bandwidth.blocks();
        self.put(encode_riv(carrier, first.into(), blocks.into())?, riv_bits(carrier))
    }
}

/// The same back. Bits beyond the last are 0.
struct Reader {
    bits: u64,
    left: usize,
}

impl Reader {
    fn take(&mut self, bits: usize) -> u64 {
        self.left = self.left.saturating_sub(bits);
        self.bits >> self.left & ((1 << bits) - 1)
    }

    fn take_small(&mut self, bits: usize) -> u8 {
        self.take(bits) as u8
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }

    fn take_run(&mut self, bandwidth: Bandwidth) -> Option<(u8, u8)> {
        let carrier = bandwidth.blocks();
        let (first, blocks) = decode_riv(carrier, self.take(riv_bits(carrier)) as u32)?;
        Some((first as u8, blocks as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_those_of_the_standard() {
        assert_eq!(Bandwidth::ALL.map(|width| DciFormat::Compact.bits(width)), [21, 22, 25, 27, 27, 28]);
        assert_eq!(Bandwidth::ALL.map(|width| DciFormat::Bitmap.bits(width)), [19, 23, 27, 31, 33, 39]);
        assert_eq!(Bandwidth::ALL.map(DciFormat::groups), [6, 8, 13, 17, 19, 25]);
    }

    #[test]
    fn a_field_beyond_its_range_is_refused() {
        let grant =
            DownlinkGrantBitmap { bitmap: 1, mcs: 31, process: 7, new_data: true, redundancy_version: 3, power: 3 };
        let packs = |grant| Dci::Bitmap(grant).pack(Bandwidth::Prb25).is_some();
        assert!(packs(grant) && packs(DownlinkGrantBitmap { bitmap: (1 << 13) - 1, ..grant }));
        assert!(
            !packs(DownlinkGrantBitmap { bitmap: 0, ..grant })
                && !packs(DownlinkGrantBitmap { bitmap: 1 << 13, ..grant })
        );
        assert!(
            !packs(DownlinkGrantBitmap { mcs: 32, ..grant }) && !packs(DownlinkGrantBitmap { process: 8, ..grant })
        );
    }

    proptest! {
        /// A grant read from any bits is written with the same bits.
        #[test]
        fn any_bits_are_refused_or_come_back(bits in any::<u64>(), width in prop::sample::select(&Bandwidth::ALL[..])) {
            for format in [DciFormat::Compact, DciFormat::Bitmap] {
                let bits = bits & ((1 << format.bits(width)) - 1);
                if let Some(dci) = Dci::unpack(format, bits, width) {
                    prop_assert_eq!((dci.pack(width), dci.format()), (Some(bits), format));
                }
            }
        }

        #[test]
        fn an_uplink_grant_comes_back(
            width in prop::sample::select(&Bandwidth::ALL[..]), run in (0.0f64..1.0, 0.0f64..1.0), mcs in 0u8..32, small in any::<u8>(),
        ) {
            let blocks = 1 + (run.0 * width.blocks() as f64) as u8;
            let first_block = (run.1 * (width.blocks() as f64 - f64::from(blocks) + 1.0)) as u8;
            let (new_data, cqi_request) = (small & 1 == 1, small & 2 == 2);
            let grant = UplinkGrant { first_block, blocks, mcs, new_data, power: small >> 2 & 3, cyclic_shift: small >> 4 & 7, cqi_request };
            let sent = Dci::UplinkGrant(grant);
            prop_assert_eq!(Dci::unpack(DciFormat::Compact, sent.pack(width).unwrap(), width), Some(sent));
        }
    }
}
