//! Items between memory, little-endian, and the wire, big-endian.

use takt_graph::Item;

/// Bytes of the numbers that an item is made of.
fn number_bytes(item: Item) -> usize {
    match item {
        Item::Bit | Item::Byte | Item::Llr => 1,
        Item::I16 | Item::C16 => 2,
        Item::F32 | Item::C32 => 4,
    }
}

/// Turns items round, from either order into the other.
pub(super) fn turn(item: Item, bytes: &mut [u8]) {
    match number_bytes(item) {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|number| number.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|number| number.reverse()),
        _ => {}
    }
}

/// Takes items from the wire. A stranger's bytes become items that a component can read: a bit is 0 or 1.
pub(super) fn take(item: Item, bytes: &mut [u8]) {
    if item == Item::Bit {
        bytes.iter_mut().for_each(|bit| *bit &= 1);
    }
    turn(item, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_turned_and_bits_are_bits() {
        for (item, expected) in [
            (Item::Byte, [1, 2, 3, 4, 5, 6, 7, 8]),
            (Item::Bit, [1, 0, 1, 0, 1, 0, 1, 0]),
            (Item::C16, [2, 1, 4, 3, 6, 5, 8, 7]),
            (Item::C32, [4, 3, 2, 1, 8, 7, 6, 5]),
        ] {
            let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
            take(item, &mut bytes);
            assert_eq!(bytes, expected, "{item}");
        }
    }
}
