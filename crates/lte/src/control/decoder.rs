//! The terminal's side of the control region.

use num_complex::Complex32;
use takt_dsp::lte::descramble;

use super::encoder::c_init;
use super::phich::Place;
use super::regions::{BITS_OF_ELEMENT, GROUPS_OF_ELEMENT, Group, Regions};
use super::{Dci, DciFormat, Matched, MessageCode, Rnti, SearchSpace, SoftBits, control_elements, pcfich};
use crate::{Cell, ResourceGrid, Tti};

/// A grant counts only if its soft values come to this share of what the channel lets expect: below, noise is likelier.
const LEAST_LEVEL: f32 = 0.5;
/// The least share of them, each weighed by its size, that agrees. Half of the decisions on noise are below, and next to none of
/// those on a grant. With one element there are hardly more bits than parity, and nearly anything is near to some grant.
fn least_likeness(aggregation: u8) -> f32 {
    if aggregation == 1 { 0.8 } else { 0.66 }
}

/// Grants that a search keeps. There are no more candidates.
const MOST: usize = 32;

/// A grant and where it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundDci {
    /// The grant.
    pub dci: Dci,
    /// Its first control channel element: the uplink acknowledgement depends on it (TS 36.213 section 10.1).
    pub first_element: usize,
    /// The least number of elements with which it was read. The base station may have sent more.
    pub aggregation: u8,
    /// Its soft values over what the channel lets expect, about 1.
    pub level: f32,
    /// The share of its soft values that agrees with it, 1 without noise.
    pub likeness: f32,
}

/// Reads the control region of a cell's subframes: `receive`, then what is looked for.
#[derive(Clone, Debug)]
pub struct ControlDecoder {
    cell: Cell,
    regions: Regions,
    compact: MessageCode,
    bitmap: MessageCode,
    tti: Tti,
    elements: usize,
    matched: Matched,
    soft: SoftBits,
    /// By group of acknowledgements.
    acknowledgements: Vec<([Complex32; 12], [f32; 12])>,
    found: Vec<FoundDci>,
}

impl ControlDecoder {
    /// For a cell.
    #[must_use]
    pub fn new(cell: &Cell) -> ControlDecoder {
        let most = control_elements(cell, 3) * GROUPS_OF_ELEMENT * 4;
        let code = |format: DciFormat| MessageCode::new(format.bits(cell.bandwidth), 8 * BITS_OF_ELEMENT);
        ControlDecoder {
            cell: *cell,
            regions: Regions::new(cell),
            compact: code(DciFormat::Compact),
            bitmap: code(DciFormat::Bitmap),
            tti: Tti::default(),
            elements: 0,
            matched: Matched::with_capacity(most),
            soft: SoftBits::with_capacity(most),
            acknowledgements: vec![Default::default(); cell.phich.groups(cell.bandwidth)],
            found: Vec::with_capacity(MOST),
        }
    }

    /// Takes a subframe: what was received, the channel at each element, and the power of the noise of an element. Returns the
    /// likeliest control format indicator, 1 to 3.
    ///
    /// # Panics
    /// If a grid has another bandwidth than the cell.
    pub fn receive(&mut self, tti: Tti, received: &ResourceGrid, gains: &ResourceGrid, noise_power: f32) -> u8 {
        let width = self.cell.bandwidth.subcarriers();
        assert_eq!((received.subcarriers(), gains.subcarriers()), (width, width), "grids of the cell");
        self.tti = tti;
        self.found.clear();
        for (groups, (symbols, weights)) in self.regions.phich.iter().zip(&mut self.acknowledgements) {
            self.matched.gather(received, gains, places(groups));
            symbols.copy_from_slice(&self.matched.symbols);
            weights.copy_from_slice(&self.matched.weights);
        }
        self.matched.gather(received, gains, places(&self.regions.pcfich));
        let mut format = [Complex32::default(); pcfich::LEN];
        format.copy_from_slice(&self.matched.symbols);
        let cfi = pcfich::detect(self.cell.id, tti, &format);
        self.elements = control_elements(&self.cell, cfi);
        let groups = &self.regions.pdcch[usize::from(cfi) - 1][..self.elements * GROUPS_OF_ELEMENT];
        self.matched.gather(received, gains, places(groups));
        self.soft.demodulate(&self.matched, noise_power);
        descramble(c_init(&self.cell, tti), &mut self.soft.llrs);
        cfi
    }

    /// Looks for the grants of an identifier in the subframe received last: formats 0 and 1A in both spaces, format 1 in the
    /// terminal's own. Each comes once, even if it can be read in several places.
    pub fn find(&mut self, rnti: Rnti, space: SearchSpace) -> impl Iterator<Item = Dci> + '_ {
        self.found.clear();
        for &(aggregation, _) in space.levels() {
            for first in space.candidates(rnti, self.tti, aggregation, self.elements) {
                self.try_candidate(rnti, space, first, aggregation);
            }
        }
        self.found.iter().map(|found| found.dci)
    }

    /// The grants of the last search, and their places.
    #[must_use]
    pub fn found(&self) -> &[FoundDci] {
        &self.found
    }

    /// The answer to the transmission of the uplink whose lowest resource block was `first_block` and whose grant had this
    /// cyclic shift: true if it was received, `None` if hardly anything was sent.
    #[must_use]
    pub fn acknowledgement(&self, first_block: u8, cyclic_shift: u8) -> Option<bool> {
        let place = Place::of(first_block, cyclic_shift, self.acknowledgements.len());
        let (symbols, weights) = &self.acknowledgements[place.group];
        place.detect(self.cell.id, self.tti, symbols, weights)
    }

    fn try_candidate(&mut self, rnti: Rnti, space: SearchSpace, first: usize, aggregation: u8) {
        let size = usize::from(aggregation) * BITS_OF_ELEMENT;
        let begin = first * BITS_OF_ELEMENT;
        let llrs = &self.soft.llrs[begin..][..size];
        let expected = self.soft.expected(&self.matched.weights[begin / 2..][..size / 2]);
        let present: i32 = llrs.iter().map(|llr| i32::from(llr.unsigned_abs())).sum();
        // No message can agree with more than there is.
        if present as f32 <= LEAST_LEVEL * expected || present == 0 {
            return;
        }
        let both = [(DciFormat::Compact, &mut self.compact), (DciFormat::Bitmap, &mut self.bitmap)];
        for (format, code) in both.into_iter().take(if space == SearchSpace::Own { 2 } else { 1 }) {
            code.clear();
            code.add(llrs);
            let Some(message) = code.decide(rnti.0) else { continue };
            let Some(dci) = Dci::unpack(format, message, self.cell.bandwidth) else { continue };
            let (level, likeness) = (code.agreement(llrs) / expected, code.likeness());
            let meant = !(rnti.is_common() && matches!(dci, Dci::UplinkGrant(_)));
            let known = self.found.iter().any(|found| found.dci == dci) || self.found.len() == MOST;
            if meant && !known && level > LEAST_LEVEL && likeness > least_likeness(aggregation) {
                self.found.push(FoundDci { dci, first_element: first, aggregation, level, likeness });
            }
        }
    }
}

fn places(groups: &[Group]) -> impl Iterator<Item = usize> {
    groups.iter().flatten().map(|&place| place.into())
}
