//! [`Lanes`] by instructions on 16-bit integers. A value of a level stands for its features (`mod.rs`), and every block here
//! rests on that.

use super::super::batch::OfBytes;
use super::super::lanes::{Arithmetic, Lanes};
use super::super::row::{LANES, Row};
use super::{Avx2, Avx512, Sse41};
use std::arch::x86_64::*;

/// Memory is read and written as arrays.
macro_rules! arrays {
    ($lanes:literal) => {
        const GROUPS: usize = LANES / $lanes;

        #[inline(always)]
        fn load(self, row: &Row, group: usize) -> Self::Group {
            bytemuck::cast(row.0.as_chunks::<$lanes>().0[group])
        }

        #[inline(always)]
        fn store(self, row: &mut Row, group: usize, values: Self::Group) {
            row.0.as_chunks_mut::<$lanes>().0[group] = bytemuck::cast(values);
        }

        #[inline(always)]
        fn all(self, value: i16) -> Self::Group {
            bytemuck::cast([value; $lanes])
        }
    };
}

impl Arithmetic for Sse41 {
    type Group = __m128i;
    by! {
        add(a, b) -> __m128i = _mm_add_epi16(a, b);
        sub(a, b) -> __m128i = _mm_sub_epi16(a, b);
        max(a, b) -> __m128i = _mm_max_epi16(a, b);
    }
}

impl Lanes for Sse41 {
    arrays!(8);
    type Bytes = OfBytes<Sse41>;

    #[inline(always)]
    fn bytes(self) -> OfBytes<Sse41> {
        OfBytes(self)
    }

    by! {
        min(a, b) -> __m128i = _mm_min_epi16(a, b);
        scale(a, factor) -> __m128i = _mm_mulhrs_epi16(a, factor);
        negative(a) -> u32 = _mm_movemask_epi8(_mm_packs_epi16(a, a)) as u32 & 0xff;
    }

    /// Bytes are looked up in each quarter of the row. A byte that is in another quarter is asked for with its top bit set,
    /// which gives 0.
    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        let quarters: &[[i16; 8]; 4] = bytemuck::cast_ref(&row.0);
        let mut out = Row::ZERO;
        for group in 0..4 {
            let lanes = self.load(from, group);
            // SAFETY: the only condition is the features that `self` stands for.
            #[allow(unsafe_code)]
            let permuted = unsafe {
                let doubled = _mm_add_epi16(lanes, lanes);
                let bytes = _mm_or_si128(_mm_or_si128(doubled, _mm_slli_epi16::<8>(doubled)), _mm_set1_epi16(0x100));
                let mut sum = _mm_setzero_si128();
                for (q, quarter) in quarters.iter().enumerate() {
                    let within = _mm_xor_si128(bytes, _mm_set1_epi8(16 * q as i8));
                    let asked = _mm_adds_epu8(within, _mm_set1_epi8(0x70));
                    sum = _mm_or_si128(sum, _mm_shuffle_epi8(bytemuck::cast(*quarter), asked));
                }
                sum
            };
            self.store(&mut out, group, permuted);
        }
        out
    }
}

impl Arithmetic for Avx2 {
    type Group = __m256i;
    by! {
        add(a, b) -> __m256i = _mm256_add_epi16(a, b);
        sub(a, b) -> __m256i = _mm256_sub_epi16(a, b);
        max(a, b) -> __m256i = _mm256_max_epi16(a, b);
    }
}

impl Lanes for Avx2 {
    arrays!(16);
    type Bytes = OfBytes<Avx2>;

    #[inline(always)]
    fn bytes(self) -> OfBytes<Avx2> {
        OfBytes(self)
    }

    by! {
        min(a, b) -> __m256i = _mm256_min_epi16(a, b);
        scale(a, factor) -> __m256i = _mm256_mulhrs_epi16(a, factor);
        negative(a) -> u32 = {
            let eights = _mm256_movemask_epi8(_mm256_packs_epi16(a, a)) as u32;
            eights & 0xff | eights >> 8 & 0xff00
        };
    }

    /// As with SSE4.1.
    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        let quarters: &[[i16; 8]; 4] = bytemuck::cast_ref(&row.0);
        let mut out = Row::ZERO;
        for group in 0..2 {
            let lanes = self.load(from, group);
            // SAFETY: the only condition is the features that `self` stands for.
            #[allow(unsafe_code)]
            let permuted = unsafe {
                let doubled = _mm256_add_epi16(lanes, lanes);
                let bytes = _mm256_or_si256(doubled, _mm256_slli_epi16::<8>(doubled));
                let bytes = _mm256_or_si256(bytes, _mm256_set1_epi16(0x100));
                let mut sum = _mm256_setzero_si256();
                for (q, quarter) in quarters.iter().enumerate() {
                    let table = _mm256_broadcastsi128_si256(bytemuck::cast(*quarter));
                    let within = _mm256_xor_si256(bytes, _mm256_set1_epi8(16 * q as i8));
                    let asked = _mm256_adds_epu8(within, _mm256_set1_epi8(0x70));
                    sum = _mm256_or_si256(sum, _mm256_shuffle_epi8(table, asked));
                }
                sum
            };
            self.store(&mut out, group, permuted);
        }
        out
    }
}

impl Arithmetic for Avx512 {
    type Group = __m512i;
    by! {
        add(a, b) -> __m512i = _mm512_add_epi16(a, b);
        sub(a, b) -> __m512i = _mm512_sub_epi16(a, b);
        max(a, b) -> __m512i = _mm512_max_epi16(a, b);
    }
}

impl Lanes for Avx512 {
    arrays!(32);
    type Bytes = OfBytes<Avx2>;

    #[inline(always)]
    fn bytes(self) -> OfBytes<Avx2> {
        OfBytes(self.avx2())
    }

    by! {
        min(a, b) -> __m512i = _mm512_min_epi16(a, b);
        scale(a, factor) -> __m512i = _mm512_mulhrs_epi16(a, factor);
        negative(a) -> u32 = _mm512_movepi16_mask(a);
    }

    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        // SAFETY: the only condition is the features that `self` stands for.
        #[allow(unsafe_code)]
        let permuted = unsafe { _mm512_permutexvar_epi16(bytemuck::cast(from.0), bytemuck::cast(row.0)) };
        Row(bytemuck::cast(permuted))
    }
}
