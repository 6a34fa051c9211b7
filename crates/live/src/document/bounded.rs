//! A snapshot within its limits, and without numbers that JSON can't carry.

use super::{Component, Constellation, FLOOR_DBFS, Hello, Slots, Snapshot, Spectrum, VariableValue};
use crate::limits;

impl Snapshot {
    /// Cuts each list and text to its limit and counts what goes in [`Snapshot::left_out`]. Numbers that are not finite become
    /// unknown.
    #[must_use]
    pub fn bounded(mut self) -> Snapshot {
        let mut out = 0;
        cut(&mut self.radios, limits::RADIOS, &mut out);
        cut(&mut self.components, limits::COMPONENTS, &mut out);
        cut(&mut self.links, limits::LINKS, &mut out);
        cut(&mut self.nodes, limits::NODES, &mut out);
        cut(&mut self.variables, limits::VARIABLES, &mut out);
        cut(&mut self.outputs, limits::OUTPUTS, &mut out);
        cut(&mut self.spectra, limits::TAPS, &mut out);
        cut(&mut self.constellations, limits::TAPS, &mut out);
        self.components.iter_mut().for_each(|component| bound_component(component, &mut out));
        self.slots.iter_mut().for_each(|slots| bound_slots(slots, &mut out));
        self.spectra.iter_mut().for_each(|spectrum| bound_spectrum(spectrum, &mut out));
        self.constellations.iter_mut().for_each(|points| bound_points(points, &mut out));
        self.nodes.iter_mut().for_each(|node| cut(&mut node.waveforms, limits::WAVEFORMS, &mut out));
        self.drop_numbers_that_are_none();
        self.cut_texts();
        self.left_out += out;
        self
    }

    fn drop_numbers_that_are_none(&mut self) {
        let finite = |number: &mut Option<f64>| *number = number.filter(|number| number.is_finite());
        finite(&mut self.speed);
        for radio in &mut self.radios {
            [&mut radio.rate_sps, &mut radio.freq_hz].into_iter().for_each(finite);
        }
        for link in &mut self.links {
            [&mut link.snr_db, &mut link.bler, &mut link.throughput_bps].into_iter().for_each(finite);
        }
        self.components.iter_mut().for_each(|component| finite(&mut component.load_share));
        self.nodes.iter_mut().for_each(|node| finite(&mut node.load));
        self.spectra.iter_mut().for_each(|spectrum| finite(&mut spectrum.freq_hz));
        for variable in &mut self.variables {
            let is_none = |value: &VariableValue| matches!(value, VariableValue::Float(x) if !x.is_finite());
            variable.value = variable.value.take().filter(|value| !is_none(value));
            variable.range = variable.range.filter(|range| range.iter().all(|end| end.is_finite()));
        }
    }

    fn cut_texts(&mut self) {
        self.radios.iter_mut().for_each(|radio| cut_text(&mut radio.name, limits::TEXT_CHARS));
        for component in &mut self.components {
            let texts = [&mut component.name].into_iter().chain(&mut component.kind).chain(&mut component.edges);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
        }
        for miss in self.slots.iter_mut().flat_map(|slots| &mut slots.recent_misses) {
            let texts = miss.component.iter_mut().chain(&mut miss.stage);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
        }
        for link in &mut self.links {
            let texts = [&mut link.name].into_iter().chain(&mut link.state).chain(&mut link.loss_reason);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
        }
        for node in &mut self.nodes {
            let texts = [&mut node.name].into_iter().chain(&mut node.waveforms);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
        }
        for variable in &mut self.variables {
            let texts = [&mut variable.name].into_iter().chain(&mut variable.unit).chain(&mut variable.expected);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
            if let Some(VariableValue::Text(text)) = &mut variable.value {
                cut_text(text, limits::TEXT_CHARS);
            }
        }
        self.outputs.iter_mut().for_each(|output| cut_text(output, limits::TEXT_CHARS));
        self.spectra.iter_mut().for_each(|spectrum| cut_text(&mut spectrum.name, limits::TEXT_CHARS));
        for tap in &mut self.constellations {
            let texts = [&mut tap.name].into_iter().chain(&mut tap.modulation);
            texts.for_each(|text| cut_text(text, limits::TEXT_CHARS));
        }
    }
}

impl Hello {
    /// Cuts each text to its limit.
    #[must_use]
    pub fn bounded(mut self) -> Hello {
        cut_text(&mut self.title, limits::TEXT_CHARS);
        cut_text(&mut self.command, limits::COMMAND_CHARS);
        cut_text(&mut self.version, limits::TEXT_CHARS);
        self
    }
}

fn bound_component(component: &mut Component, out: &mut u64) {
    cut(&mut component.edges, limits::EDGES, out);
}

/// The newest misses stand last: the first go.
fn bound_slots(slots: &mut Slots, out: &mut u64) {
    cut(&mut slots.lateness, limits::BARS, out);
    let old = slots.recent_misses.len().saturating_sub(limits::MISSES);
    slots.recent_misses.drain(..old);
}

fn bound_spectrum(spectrum: &mut Spectrum, out: &mut u64) {
    cut(&mut spectrum.dbfs, limits::BINS, out);
    for bin in &mut spectrum.dbfs {
        *bin = if bin.is_finite() { bin.max(FLOOR_DBFS) } else { FLOOR_DBFS };
    }
}

fn bound_points(tap: &mut Constellation, out: &mut u64) {
    tap.points.retain(|point| point.iter().all(|part| part.is_finite()));
    cut(&mut tap.points, limits::POINTS, out);
}

fn cut<T>(list: &mut Vec<T>, most: usize, out: &mut u64) {
    *out += list.len().saturating_sub(most) as u64;
    list.truncate(most);
}

pub(crate) fn cut_text(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
}
