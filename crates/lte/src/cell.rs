//! A cell: its identity and its bandwidth, and how far its broadcast says more.

use serde::{Deserialize, Serialize};

use crate::{Bandwidth, Error};

/// The physical identity of a cell, 0 to 503: TS 36.211 section 6.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct CellId(u16);

impl CellId {
    /// How many there are.
    pub const COUNT: u16 = 504;

    /// # Errors
    /// Above 503.
    pub fn new(id: u16) -> Result<CellId, Error> {
        if id < Self::COUNT { Ok(CellId(id)) } else { Err(Error::CellId { id }) }
    }

    /// 0 to 503.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0
    }

    /// The identity within the group, 0 to 2: chooses the primary synchronisation signal.
    #[must_use]
    pub fn within_group(self) -> u16 {
        self.0 % 3
    }

    /// The group, 0 to 167: chooses the secondary synchronisation signal.
    #[must_use]
    pub fn group(self) -> u16 {
        self.0 / 3
    }
}

impl TryFrom<u16> for CellId {
    type Error = Error;

    fn try_from(id: u16) -> Result<CellId, Error> {
        CellId::new(id)
    }
}

impl From<CellId> for u16 {
    fn from(id: CellId) -> u16 {
        id.0
    }
}

/// How many groups of acknowledgement channels a cell has, N_g: TS 36.211 section 6.9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhichResource {
    /// 1/6.
    Sixth,
    /// 1/2.
    Half,
    /// 1.
    #[default]
    One,
    /// 2.
    Two,
}

impl PhichResource {
    /// Groups of a carrier: ceil(N_g N_RB / 8).
    #[must_use]
    pub fn groups(self, bandwidth: Bandwidth) -> usize {
        let sixths = match self {
            Self::Sixth => 1,
            Self::Half => 3,
            Self::One => 6,
            Self::Two => 12,
        };
        (sixths * bandwidth.blocks()).div_ceil(48)
    }
}

/// A cell as a terminal knows it from its master information: one antenna port, normal prefixes, FDD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// The physical identity.
    pub id: CellId,
    /// The bandwidth of downlink and uplink alike.
    pub bandwidth: Bandwidth,
    /// The resource of acknowledgements, with their normal duration.
    #[serde(default)]
    pub phich: PhichResource,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_acknowledgements_are_those_of_the_standard() {
        let groups = |resource: PhichResource| Bandwidth::ALL.map(|bandwidth| resource.groups(bandwidth));
        assert_eq!(groups(PhichResource::One), [1, 2, 4, 7, 10, 13]);
        assert_eq!(groups(PhichResource::Sixth), [1, 1, 1, 2, 2, 3]);
    }
}
