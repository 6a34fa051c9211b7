//! Resource element groups, and which of them each control channel has: TS 36.211 sections 6.2.4, 6.7.4, 6.8.5 and 6.9.3.
//!
//! Places are kept as indices into the elements of a grid, four a group.

use takt_dsp::lte::convolutional_order;

use crate::{Bandwidth, Cell};

/// Groups of a control channel element.
pub(super) const GROUPS_OF_ELEMENT: usize = 9;
/// Bits of a control channel element: QPSK on 9 groups.
pub(super) const BITS_OF_ELEMENT: usize = 8 * GROUPS_OF_ELEMENT;

/// Symbols of the control region for a control format indicator: one more than it says up to 10 resource blocks (TS 36.212
/// section 5.3.4).
///
/// # Panics
/// If the indicator is not 1 to 3.
#[must_use]
pub fn control_symbols(bandwidth: Bandwidth, cfi: u8) -> usize {
    assert!((1..=3).contains(&cfi), "a control format indicator of {cfi}: it is 1 to 3");
    usize::from(cfi) + usize::from(bandwidth.blocks() <= 10)
}

/// Control channel elements of a subframe, N_CCE, for a control format indicator of 1 to 3.
///
/// # Panics
/// If the indicator is not 1 to 3.
#[must_use]
pub fn control_elements(cell: &Cell, cfi: u8) -> usize {
    let blocks = cell.bandwidth.blocks();
    let first = 2 * blocks - 4 - 3 * cell.phich.groups(cell.bandwidth);
    (first + (control_symbols(cell.bandwidth, cfi) - 1) * 3 * blocks) / GROUPS_OF_ELEMENT
}

/// The elements of a group, the lowest subcarrier first.
pub(super) type Group = [u16; 4];

/// The groups of each control channel of a cell.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    pub(super) pcfich: [Group; 4],
    /// By group of acknowledgements.
    pub(super) phich: Vec<[Group; 3]>,
    /// By control format indicator, less one: the groups in the order in which control channel elements fill them.
    pub(super) pdcch: [Vec<Group>; 3],
}

impl Regions {
    pub(super) fn new(cell: &Cell) -> Regions {
        let (id, first) = (usize::from(cell.id.get()), groups_of(cell, 0));
        let count = first.len();
        let format = std::array::from_fn(|i| (id % count + i * cell.bandwidth.blocks() / 2) % count);
        let free: Vec<usize> = (0..count).filter(|group| !format.contains(group)).collect();
        let acknowledging = (0..cell.phich.groups(cell.bandwidth))
            .map(|m| std::array::from_fn(|i| free[(id + m + i * free.len() / 3) % free.len()]));
        let acknowledging: Vec<[usize; 3]> = acknowledging.collect();
        let taken = |group: &usize| format.contains(group) || acknowledging.iter().flatten().any(|one| one == group);
        let left: Vec<Group> = (0..count).filter(|group| !taken(group)).map(|group| first[group]).collect();
        Regions {
            pcfich: format.map(|group| first[group]),
            phich: acknowledging.iter().map(|groups| groups.map(|group| first[group])).collect(),
            pdcch: [1, 2, 3].map(|cfi| in_order_of_sending(cell, cfi, left.clone())),
        }
    }
}

/// The groups of a symbol, the lowest first. The first symbol has two a resource block, since those reference signals of a
/// second port are left out that one port does not send.
fn groups_of(cell: &Cell, symbol: usize) -> Vec<Group> {
    let subcarriers = cell.bandwidth.subcarriers();
    let id = usize::from(cell.id.get());
    let used = |k: &usize| symbol > 0 || k % 3 != id % 3;
    let places: Vec<u16> = (0..subcarriers).filter(used).map(|k| (symbol * subcarriers + k) as u16).collect();
    places.as_chunks::<4>().0.to_vec()
}

/// The groups that are left for grants: permuted and turned, so that each element is all over the region.
fn in_order_of_sending(cell: &Cell, cfi: u8, left_of_first: Vec<Group>) -> Vec<Group> {
    let subcarriers = cell.bandwidth.subcarriers();
    // A group of the first symbol may begin behind a reference signal; its clause counts from the signal's six subcarriers.
    let begin = |symbol: usize, group: &Group| {
        let k = usize::from(group[0]) % subcarriers;
        if symbol == 0 { k / 6 * 6 } else { k }
    };
    let mut groups: Vec<(usize, usize, Group)> =
        left_of_first.into_iter().map(|group| (begin(0, &group), 0, group)).collect();
    for symbol in 1..control_symbols(cell.bandwidth, cfi) {
        groups.extend(groups_of(cell, symbol).into_iter().map(|group| (begin(symbol, &group), symbol, group)));
    }
    groups.sort_unstable_by_key(|&(k, symbol, _)| (k, symbol));
    let count = groups.len();
    let order: Vec<usize> = convolutional_order(count).collect();
    let mut sent = vec![Group::default(); count];
    for (i, (_, _, group)) in groups.into_iter().enumerate() {
        sent[order[(i + usize::from(cell.id.get())) % count]] = group;
    }
    sent
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{CellId, PhichResource};

    #[test]
    fn elements_are_as_many_as_published_for_wide_carriers() {
        let count = |bandwidth| {
            let cell = Cell { id: CellId::new(0).unwrap(), bandwidth, phich: PhichResource::One };
            [1, 2, 3].map(|cfi| control_elements(&cell, cfi))
        };
        assert_eq!(count(Bandwidth::Prb25), [3, 12, 20]);
        assert_eq!(count(Bandwidth::Prb50), [8, 25, 41]);
        assert_eq!(count(Bandwidth::Prb100), [17, 50, 84]);
        assert_eq!(count(Bandwidth::Prb6), [2, 4, 6]);
    }

    #[test]
    fn no_element_has_two_uses_and_none_is_a_reference_signal() {
        for bandwidth in Bandwidth::ALL {
            for id in [0, 1, 2, 5, 49, 301, 503] {
                for phich in [PhichResource::Sixth, PhichResource::Half, PhichResource::One, PhichResource::Two] {
                    let cell = Cell { id: CellId::new(id).unwrap(), bandwidth, phich };
                    let regions = Regions::new(&cell);
                    for cfi in 1..=3 {
                        let sent = &regions.pdcch[usize::from(cfi) - 1];
                        assert_eq!(sent.len() / 9, control_elements(&cell, cfi));
                        let all = regions.pcfich.iter().chain(regions.phich.iter().flatten()).chain(sent);
                        let places: Vec<usize> = all.flatten().map(|&place| place.into()).collect();
                        let width = bandwidth.subcarriers();
                        assert_eq!(places.iter().collect::<HashSet<_>>().len(), places.len(), "{cell:?} {cfi}");
                        let symbols = control_symbols(bandwidth, cfi);
                        assert_eq!(places.len(), symbols * width - width / 3, "{cell:?} {cfi}");
                        assert!(places.iter().all(|&at| at < symbols * width));
                        assert!(places.iter().all(|&at| at >= width || at % 3 != usize::from(id) % 3));
                    }
                }
            }
        }
    }
}
