//! Values as bytes of a packet, little-endian, and back. A packet may come from another process, so reading checks every length.

use takt_lte::{Cell, CellId, DownlinkGrant, PhichResource, Rnti, Tti, UplinkGrant};
use takt_lte_link::SearchSpace;

/// Fills a packet. It leaves out a value that does not fit, and [`Writer::finish`] says so.
pub(crate) struct Writer<'a> {
    packet: &'a mut [u8],
    len: usize,
    is_full: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(packet: &'a mut [u8]) -> Writer<'a> {
        Writer { packet, len: 0, is_full: false }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        match self.packet.get_mut(self.len..self.len + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.is_full = true,
        }
    }

    /// Bytes of the packet; `None` if something did not fit.
    pub(crate) fn finish(self) -> Option<usize> {
        (!self.is_full).then_some(self.len)
    }
}

/// Reads a packet from its beginning.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
}

/// A value that a packet can carry.
pub(crate) trait Coded<'a>: Sized {
    fn put(&self, to: &mut Writer<'_>);

    /// `None`: the packet is cut, or holds no such value.
    fn get(from: &mut Reader<'a>) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl<'a> Coded<'a> for $number {
            fn put(&self, to: &mut Writer<'_>) {
                to.bytes(&self.to_le_bytes());
            }

            fn get(from: &mut Reader<'a>) -> Option<$number> {
                let bytes = from.bytes(size_of::<$number>())?;
                Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )* };
}
numbers!(u8, u16, u32, u64, i8, i16, f32);

impl<'a> Coded<'a> for bool {
    fn put(&self, to: &mut Writer<'_>) {
        u8::from(*self).put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<bool> {
        match u8::get(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<'a, T: Coded<'a>> Coded<'a> for Option<T> {
    fn put(&self, to: &mut Writer<'_>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn get(from: &mut Reader<'a>) -> Option<Option<T>> {
        if bool::get(from)? { T::get(from).map(Some) } else { Some(None) }
    }
}

impl<'a, A: Coded<'a>, B: Coded<'a>> Coded<'a> for (A, B) {
    fn put(&self, to: &mut Writer<'_>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<(A, B)> {
        Some((A::get(from)?, B::get(from)?))
    }
}

/// A list, item by item.
pub(crate) fn put_list<'a, T: Coded<'a>>(items: &[T], to: &mut Writer<'_>) {
    (items.len() as u32).put(to);
    items.iter().for_each(|item| item.put(to));
}

impl<'a, T: Coded<'a>> Coded<'a> for Vec<T> {
    fn put(&self, to: &mut Writer<'_>) {
        put_list(self, to);
    }

    fn get(from: &mut Reader<'a>) -> Option<Vec<T>> {
        let count = u32::get(from)? as usize;
        // Each item has a byte at least.
        let mut items = Vec::with_capacity(count.min(from.0.len()).min(64));
        for _ in 0..count {
            items.push(T::get(from)?);
        }
        Some(items)
    }
}

impl<'a> Coded<'a> for &'a [u8] {
    fn put(&self, to: &mut Writer<'_>) {
        (self.len() as u32).put(to);
        to.bytes(self);
    }

    fn get(from: &mut Reader<'a>) -> Option<&'a [u8]> {
        let count = u32::get(from)? as usize;
        from.bytes(count)
    }
}

/// Makes a struct [`Coded`]: its fields, one after the other.
macro_rules! coded {
    ($($name:ty { $($field:ident),* $(,)? })*) => { $(
        impl<'a> $crate::codec::Coded<'a> for $name {
            fn put(&self, to: &mut $crate::codec::Writer<'_>) {
                $($crate::codec::Coded::put(&self.$field, to);)*
            }

            fn get(from: &mut $crate::codec::Reader<'a>) -> Option<Self> {
                Some(Self { $($field: $crate::codec::Coded::get(from)?),* })
            }
        }
    )* };
}
pub(crate) use coded;

coded! {
    DownlinkGrant { first_block, blocks, mcs, process, new_data, redundancy_version, power }
    UplinkGrant { first_block, blocks, mcs, new_data, power, cyclic_shift, cqi_request }
    Cell { id, bandwidth, phich }
}

impl<'a> Coded<'a> for Tti {
    fn put(&self, to: &mut Writer<'_>) {
        self.get().put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<Tti> {
        u32::get(from).map(|number| Tti::new(number.into()))
    }
}

impl<'a> Coded<'a> for Rnti {
    fn put(&self, to: &mut Writer<'_>) {
        self.0.put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<Rnti> {
        u16::get(from).map(Rnti)
    }
}

impl<'a> Coded<'a> for CellId {
    fn put(&self, to: &mut Writer<'_>) {
        self.get().put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<CellId> {
        CellId::new(u16::get(from)?).ok()
    }
}

impl<'a> Coded<'a> for takt_lte::Bandwidth {
    fn put(&self, to: &mut Writer<'_>) {
        u8::from(*self).put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<takt_lte::Bandwidth> {
        takt_lte::Bandwidth::try_from(u8::get(from)?).ok()
    }
}

/// Values of an enum, by their place in a list.
macro_rules! listed {
    ($($name:ty [ $($value:path),* ])*) => { $(
        impl<'a> Coded<'a> for $name {
            fn put(&self, to: &mut Writer<'_>) {
                let all = [$($value),*];
                (all.iter().position(|one| one == self).unwrap_or_default() as u8).put(to);
            }

            fn get(from: &mut Reader<'a>) -> Option<$name> {
                [$($value),*].get(usize::from(u8::get(from)?)).copied()
            }
        }
    )* };
}
listed! {
    SearchSpace [SearchSpace::Common, SearchSpace::Own]
    PhichResource [PhichResource::Sixth, PhichResource::Half, PhichResource::One, PhichResource::Two]
    takt_lte_link::Feedback [
        takt_lte_link::Feedback::Ack, takt_lte_link::Feedback::Nack, takt_lte_link::Feedback::Dtx
    ]
}
