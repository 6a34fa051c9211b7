//! [`ByteLanes`] by instructions. A value of a level stands for its features (`mod.rs`), and every block here rests on that.

use super::super::batch::{ByteLanes, OfBytes};
use super::{Avx2, Avx512, Sse41};
use std::arch::x86_64::*;

/// The operations, by their intrinsics.
macro_rules! bytes {
    ($level:ident, $vector:ident,
     $add:ident $sub:ident $min:ident $sum:ident $mean:ident $signed_sum:ident $signed_difference:ident $signed_max:ident) => {
        impl ByteLanes for OfBytes<$level> {
            type Group = $vector;

            #[inline(always)]
            fn all(self, value: u8) -> $vector {
                bytemuck::cast([value; size_of::<$vector>()])
            }

            by! {
                add(a, b) -> $vector = $add(a, b);
                sub(a, b) -> $vector = $sub(a, b);
                min(a, b) -> $vector = $min(a, b);
                sum(a, b) -> $vector = $sum(a, b);
                mean(a, b) -> $vector = $mean(a, b);
                signed_sum(a, b) -> $vector = $signed_sum(a, b);
                signed_difference(a, b) -> $vector = $signed_difference(a, b);
                signed_max(a, b) -> $vector = $signed_max(a, b);
            }
        }
    };
}

bytes!(Sse41, __m128i,
    _mm_add_epi8 _mm_sub_epi8 _mm_min_epu8 _mm_adds_epu8 _mm_avg_epu8 _mm_adds_epi8 _mm_subs_epi8 _mm_max_epi8);
bytes!(Avx2, __m256i,
    _mm256_add_epi8 _mm256_sub_epi8 _mm256_min_epu8 _mm256_adds_epu8 _mm256_avg_epu8 _mm256_adds_epi8 _mm256_subs_epi8
    _mm256_max_epi8);
bytes!(Avx512, __m512i,
    _mm512_add_epi8 _mm512_sub_epi8 _mm512_min_epu8 _mm512_adds_epu8 _mm512_avg_epu8 _mm512_adds_epi8 _mm512_subs_epi8
    _mm512_max_epi8);
