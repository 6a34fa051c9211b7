//! The base station's side of the control region.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, modulate, scramble};

use super::phich::{self, Place};
use super::regions::{BITS_OF_ELEMENT, GROUPS_OF_ELEMENT, Group, Regions};
use super::{Dci, DciFormat, MessageCode, Rnti, SearchSpace, control_elements, pcfich};
use crate::{Cell, ResourceGrid, Tti};

/// Fills the control region of a cell's subframes: `begin`, then what is to be sent, then `map`.
///
/// ```
/// use takt_lte::{Bandwidth, Cell, CellId, ControlEncoder, Dci, ResourceGrid, Rnti, SearchSpace, Tti, UplinkGrant};
/// let cell = Cell { id: CellId::new(1)?, bandwidth: Bandwidth::Prb25, phich: Default::default() };
/// let mut control = ControlEncoder::new(&cell);
/// let grant = UplinkGrant { first_block: 0, blocks: 25, mcs: 9, new_data: true, power: 1, cyclic_shift: 0, cqi_request: false };
/// control.begin(Tti::of(0, 3), 2);
/// assert!(control.add(&Dci::UplinkGrant(grant), Rnti(0x46), SearchSpace::Own, 4));
/// control.acknowledge(0, 0, true);
/// control.map(&mut ResourceGrid::new(cell.bandwidth));
/// # Ok::<_, takt_lte::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ControlEncoder {
    cell: Cell,
    regions: Regions,
    compact: MessageCode,
    bitmap: MessageCode,
    tti: Tti,
    cfi: u8,
    /// Whether each control channel element is in use.
    used: Vec<bool>,
    bits: Vec<u8>,
    scrambled: Vec<u8>,
    first_element: usize,
    /// The sum of the acknowledgements of each group, if there are any.
    acknowledgements: Vec<Option<[Complex32; phich::LEN]>>,
}

impl ControlEncoder {
    /// For a cell.
    #[must_use]
    pub fn new(cell: &Cell) -> ControlEncoder {
        let most = control_elements(cell, 3);
        let code = |format: DciFormat| MessageCode::new(format.bits(cell.bandwidth), 0);
        ControlEncoder {
            cell: *cell,
            regions: Regions::new(cell),
            compact: code(DciFormat::Compact),
            bitmap: code(DciFormat::Bitmap),
            tti: Tti::default(),
            cfi: 1,
            used: Vec::with_capacity(most),
            bits: Vec::with_capacity(most * BITS_OF_ELEMENT),
            scrambled: Vec::with_capacity(most * BITS_OF_ELEMENT),
            first_element: 0,
            acknowledgements: vec![None; cell.phich.groups(cell.bandwidth)],
        }
    }

    /// Begins a subframe whose control region is as long as `cfi` says, see [`control_symbols`](super::control_symbols).
    ///
    /// # Panics
    /// If `cfi` is not 1 to 3.
    pub fn begin(&mut self, tti: Tti, cfi: u8) {
        let elements = control_elements(&self.cell, cfi);
        (self.tti, self.cfi) = (tti, cfi);
        self.used.clear();
        self.used.resize(elements, false);
        self.bits.clear();
        self.bits.resize(elements * BITS_OF_ELEMENT, 0);
        self.acknowledgements.fill(None);
    }

    /// Adds a grant with `aggregation` control channel elements: 1, 2, 4 or 8, or 4 or 8 in the common space. Says false if
    /// the terminal's candidates are all in use, or if the terminal cannot receive such a grant.
    pub fn add(&mut self, dci: &Dci, rnti: Rnti, space: SearchSpace, aggregation: u8) -> bool {
        let format = dci.format();
        let sent_here = space == SearchSpace::Own || format == DciFormat::Compact;
        let Some(message) = dci.pack(self.cell.bandwidth).filter(|_| sent_here) else { return false };
        let size = usize::from(aggregation);
        let free = |first: &usize| !self.used[*first..][..size].contains(&true);
        let Some(first) = space.candidates(rnti, self.tti, aggregation, self.used.len()).find(free) else {
            return false;
        };
        let code = match format {
            DciFormat::Compact => &mut self.compact,
            DciFormat::Bitmap => &mut self.bitmap,
        };
        code.encode(message, rnti.0, &mut self.bits[first * BITS_OF_ELEMENT..][..size * BITS_OF_ELEMENT]);
        self.used[first..][..size].fill(true);
        self.first_element = first;
        true
    }

    /// The first control channel element of the grant that was added last: the terminal's uplink acknowledgement depends on it
    /// (TS 36.213 section 10.1).
    #[must_use]
    pub fn first_element(&self) -> usize {
        self.first_element
    }

    /// Answers the transmission of the uplink whose lowest resource block was `first_block` and whose grant had this cyclic
    /// shift. Once for each in a subframe.
    pub fn acknowledge(&mut self, first_block: u8, cyclic_shift: u8, ack: bool) {
        let place = Place::of(first_block, cyclic_shift, self.acknowledgements.len());
        let sum = self.acknowledgements[place.group].get_or_insert_default();
        let sign = if ack { -1.0 } else { 1.0 };
        sum.iter_mut().zip(place.symbols(self.cell.id, self.tti)).for_each(|(sum, symbol)| *sum += symbol * sign);
    }

    /// Writes all of it. Elements without use stay as they are.
    ///
    /// # Panics
    /// If the grid has another bandwidth, or before [`ControlEncoder::begin`].
    pub fn map(&mut self, grid: &mut ResourceGrid) {
        assert_eq!(grid.subcarriers(), self.cell.bandwidth.subcarriers(), "a grid of the cell");
        assert!(!self.used.is_empty(), "a subframe that has begun");
        put(&self.regions.pcfich, &pcfich::symbols(self.cell.id, self.tti, self.cfi), grid);
        for (groups, sum) in self.regions.phich.iter().zip(&self.acknowledgements) {
            if let Some(sum) = sum {
                put(groups, sum, grid);
            }
        }
        self.map_grants(grid);
    }

    fn map_grants(&mut self, grid: &mut ResourceGrid) {
        self.scrambled.clone_from(&self.bits);
        scramble(c_init(&self.cell, self.tti), &mut self.scrambled);
        let groups = self.regions.pdcch[usize::from(self.cfi) - 1].chunks(GROUPS_OF_ELEMENT);
        let elements = self.scrambled.chunks(BITS_OF_ELEMENT).zip(groups).zip(&self.used);
        for ((bits, groups), _) in elements.filter(|(_, used)| **used) {
            let mut symbols = [Complex32::default(); BITS_OF_ELEMENT / 2];
            modulate(Modulation::Qpsk, bits, &mut symbols);
            put(groups, &symbols, grid);
        }
    }
}

/// c_init of the control channel elements (TS 36.211 section 6.8.2).
pub(super) fn c_init(cell: &Cell, tti: Tti) -> u32 {
    ((tti.subframe() as u32) << 9) + u32::from(cell.id.get())
}

fn put(groups: &[Group], symbols: &[Complex32], grid: &mut ResourceGrid) {
    let elements = grid.elements_mut();
    groups.iter().flatten().zip(symbols).for_each(|(&place, &symbol)| elements[usize::from(place)] = symbol);
}
