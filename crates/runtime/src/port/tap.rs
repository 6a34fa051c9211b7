//! [`PortTap`]: the items of an output, for who watches.

use num_complex::Complex;
use takt_graph::Item;
use takt_live::tap::{TapReader, TapWriter, tap};

use super::{Cell, Llr};

/// Full scale of 16-bit items, and of soft bits.
const FULL_SCALE_16: f32 = 32_768.0;
const FULL_SCALE_8: f32 = 128.0;

/// The worker's end of a tap: it takes items while somebody looks, and drops them otherwise.
pub(crate) struct PortTap {
    writer: TapWriter,
}

/// Both ends, for an output of such items; `None`: they are no samples.
pub(crate) fn port_tap(item: Item) -> Option<(Box<PortTap>, TapReader)> {
    let (writer, reader) = tap();
    is_shown(item).then(|| (Box::new(PortTap { writer }), reader))
}

/// Whether such items are points of a plane or of a line.
pub(crate) fn is_shown(item: Item) -> bool {
    matches!(item, Item::C32 | Item::C16 | Item::F32 | Item::I16 | Item::Llr)
}

impl PortTap {
    /// Offers the packet in a cell. Real items lie on the real axis.
    #[inline(never)]
    pub(super) fn offer(&mut self, item: Item, cell: &Cell) {
        let items = cell.header.items;
        let real = |value: f32| Complex::new(value, 0.0);
        match item {
            Item::C32 => self.writer.offer(first(cell.buffer.items(), items)),
            Item::C16 => self.writer.offer_sc16(first(cell.buffer.items(), items)),
            Item::F32 => self.writer.offer_with(first(cell.buffer.items(), items), real),
            Item::I16 => {
                self.writer
                    .offer_with(first(cell.buffer.items::<i16>(), items), |x| real(f32::from(x) / FULL_SCALE_16));
            }
            Item::Llr => {
                self.writer
                    .offer_with(first(cell.buffer.items::<Llr>(), items), |x| real(f32::from(x.0) / FULL_SCALE_8));
            }
            Item::Bit | Item::Byte => {}
        }
    }
}

fn first<T>(all: &[T], items: usize) -> &[T] {
    all.get(..items).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use takt_base::MonoNs;

    use super::super::packet::{Header, Room};
    use super::*;

    fn cell<T: super::super::Sample>(values: &[T]) -> Cell {
        let mut cell = Cell::new(Room { bytes: size_of_val(values), margin_bytes: 0 });
        cell.buffer.items_mut()[..values.len()].copy_from_slice(values);
        cell.header = Header::new(0, 0, values.len(), false);
        cell
    }

    /// The symbols that a reader sees of an output.
    fn seen<T: super::super::Sample>(values: &[T]) -> Vec<[f32; 2]> {
        let (mut tap, mut reader) = port_tap(T::ITEM).expect("samples");
        let _nothing_yet = reader.look("a.b", None, 1e6, MonoNs(1));
        (0..20).for_each(|_| tap.offer(T::ITEM, &cell(values)));
        reader.look("a.b", None, 1e6, MonoNs(2)).expect("it was offered").1.points
    }

    #[test]
    fn items_of_each_type_are_points() {
        let c32: Vec<Complex<f32>> = (0..100).map(|n| Complex::new(if n % 2 == 0 { 2.0 } else { -2.0 }, 0.0)).collect();
        assert!(seen(&c32).iter().all(|&[i, q]| i.abs() == 1.0 && q == 0.0), "scaled to the root of the mean power");
        let c16 = vec![Complex::new(0_i16, -8192_i16); 100];
        assert!(seen(&c16).iter().all(|&[i, q]| i == 0.0 && q == -1.0));
        assert!(seen(&[0.25_f32; 100]).iter().all(|&point| point == [1.0, 0.0]));
        assert!(seen(&[-100_i16; 100]).iter().all(|&point| point == [-1.0, 0.0]));
        assert!(seen(&[Llr(-128); 100]).iter().all(|&point| point == [-1.0, 0.0]));
    }

    #[test]
    fn bits_are_no_points_and_a_packet_that_is_missing_has_none() {
        assert!(port_tap(Item::Bit).is_none() && port_tap(Item::Byte).is_none());
        let (mut tap, mut reader) = port_tap(Item::F32).expect("samples");
        let _nothing_yet = reader.look("a.b", None, 1e6, MonoNs(1));
        let missing = Cell { header: Header::new(0, 0, 0, true), ..cell(&[1.0_f32; 4000]) };
        tap.offer(Item::F32, &missing);
        assert!(reader.look("a.b", None, 1e6, MonoNs(2)).is_none());
    }
}
