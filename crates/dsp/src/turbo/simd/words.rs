//! [`Lanes`] by instructions on 16-bit integers. A value of a level stands for its features (`mod.rs`), and every block here
//! rests on that.

use super::super::batch::OfBytes;
use super::super::lanes::{Lanes, memory};
use super::super::row::{LANES, Row};
use super::{Avx2, Avx512, Sse41};
use std::arch::x86_64::*;
use std::convert::identity;

/// A level by its intrinsics.
macro_rules! words {
    ($level:ident, $vector:ident, $lanes:literal,
     $add:ident $sub:ident $max:ident $min:ident $scale:ident, $($rest:tt)*) => {
        impl Lanes for $level {
            memory!($vector, $lanes);
            type Bytes = OfBytes<$level>;
            type Line = __m128i;

            #[inline(always)]
            fn in_turn(self, a: __m128i, b: __m128i) -> [__m128i; 2] {
                // SAFETY: the only condition is SSE2, which every level has.
                #[allow(unsafe_code)]
                unsafe {
                    [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)]
                }
            }

            #[inline(always)]
            fn bytes(self) -> OfBytes<$level> {
                OfBytes(self)
            }

            by! {
                add(a, b) -> $vector = $add(a, b);
                sub(a, b) -> $vector = $sub(a, b);
                max(a, b) -> $vector = $max(a, b);
                min(a, b) -> $vector = $min(a, b);
                scale(a, factor) -> $vector = $scale(a, factor);
            }
            $($rest)*
        }
    };
}

/// Lanes of a row in any order: bytes are looked up in each quarter of the row. A byte that is in another quarter is looked up
/// with its top bit set, which gives 0. `$table` brings a quarter to each half of a vector.
macro_rules! permute_by_quarters {
    ($groups:literal, $table:path, $zero:ident $add:ident $or:ident $xor:ident $shift:ident $all_words:ident $all_bytes:ident
     $saturating_add:ident $shuffle:ident) => {
        #[inline(always)]
        fn permute(self, row: &Row, from: &Row) -> Row {
            let quarters: &[[i16; 8]; 4] = bytemuck::cast_ref(&row.0);
            let mut out = Row::ZERO;
            for group in 0..$groups {
                let lanes = self.load(from, group);
                // SAFETY: the only condition is the features that `self` stands for.
                #[allow(unsafe_code)]
                let permuted = unsafe {
                    let doubled = $add(lanes, lanes);
                    let bytes = $or($or(doubled, $shift::<8>(doubled)), $all_words(0x100));
                    let mut sum = $zero();
                    for (q, quarter) in quarters.iter().enumerate() {
                        let within = $xor(bytes, $all_bytes(16 * q as i8));
                        let wanted = $saturating_add(within, $all_bytes(0x70));
                        sum = $or(sum, $shuffle($table(bytemuck::cast(*quarter)), wanted));
                    }
                    sum
                };
                self.store(&mut out, group, permuted);
            }
            out
        }
    };
}

words!(Sse41, __m128i, 8,
    _mm_add_epi16 _mm_sub_epi16 _mm_max_epi16 _mm_min_epi16 _mm_mulhrs_epi16,
    by! { negative(a) -> u32 = _mm_movemask_epi8(_mm_packs_epi16(a, a)) as u32 & 0xff; }
    permute_by_quarters!(4, identity, _mm_setzero_si128 _mm_add_epi16 _mm_or_si128 _mm_xor_si128 _mm_slli_epi16
        _mm_set1_epi16 _mm_set1_epi8 _mm_adds_epu8 _mm_shuffle_epi8);
);

words!(Avx2, __m256i, 16,
    _mm256_add_epi16 _mm256_sub_epi16 _mm256_max_epi16 _mm256_min_epi16 _mm256_mulhrs_epi16,
    by! {
        negative(a) -> u32 = {
            let eights = _mm256_movemask_epi8(_mm256_packs_epi16(a, a)) as u32;
            eights & 0xff | eights >> 8 & 0xff00
        };
    }
    permute_by_quarters!(2, _mm256_broadcastsi128_si256, _mm256_setzero_si256 _mm256_add_epi16 _mm256_or_si256 _mm256_xor_si256
        _mm256_slli_epi16 _mm256_set1_epi16 _mm256_set1_epi8 _mm256_adds_epu8 _mm256_shuffle_epi8);
);

words!(Avx512, __m512i, 32,
    _mm512_add_epi16 _mm512_sub_epi16 _mm512_max_epi16 _mm512_min_epi16 _mm512_mulhrs_epi16,
    by! { negative(a) -> u32 = _mm512_movepi16_mask(a); }

    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        // SAFETY: the only condition is the features that `self` stands for.
        #[allow(unsafe_code)]
        let permuted = unsafe { _mm512_permutexvar_epi16(bytemuck::cast(from.0), bytemuck::cast(row.0)) };
        Row(bytemuck::cast(permuted))
    }
);
