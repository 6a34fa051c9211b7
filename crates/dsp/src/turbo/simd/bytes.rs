//! [`ByteLanes`] by instructions. A value of a level stands for its features (`mod.rs`), and every block here rests on that.
//! AVX-512 has nothing faster than AVX2 for 32 bytes; only more registers, which the compiler uses.

use super::super::batch::{BLOCKS, ByteLanes, ByteRow, OfBytes};
use super::super::lanes::{Arithmetic, memory};
use super::{Avx2, Sse41};
use std::arch::x86_64::*;

/// The operations, by their intrinsics.
macro_rules! bytes {
    ($level:ident, $vector:ident, $lanes:literal,
     $add:ident $sub:ident $max:ident $sum:ident $difference:ident
     $abs:ident $min:ident $less:ident $mean:ident $sign:ident $signs:ident $zero:ident $all:ident) => {
        impl Arithmetic for OfBytes<$level> {
            memory!(ByteRow, BLOCKS, i8, $vector, $lanes);
            by! {
                add(a, b) -> $vector = $add(a, b);
                sub(a, b) -> $vector = $sub(a, b);
                max(a, b) -> $vector = $max(a, b);
            }
        }

        impl ByteLanes for OfBytes<$level> {
            by! {
                sum(a, b) -> $vector = $sum(a, b);
                difference(a, b) -> $vector = $difference(a, b);
                three_quarters(a, most) -> $vector = {
                    let size = $min($abs(a), most);
                    let less = $mean($mean($less(size, $all(1)), $zero()), $zero());
                    $sign($sub(size, less), a)
                };
                negative(a) -> u32 = $signs(a) as u32;
            }
        }
    };
}

bytes!(Sse41, __m128i, 16,
    _mm_add_epi8 _mm_sub_epi8 _mm_max_epi8 _mm_adds_epi8 _mm_subs_epi8
    _mm_abs_epi8 _mm_min_epu8 _mm_subs_epu8 _mm_avg_epu8 _mm_sign_epi8 _mm_movemask_epi8 _mm_setzero_si128 _mm_set1_epi8);
bytes!(Avx2, __m256i, 32,
    _mm256_add_epi8 _mm256_sub_epi8 _mm256_max_epi8 _mm256_adds_epi8 _mm256_subs_epi8
    _mm256_abs_epi8 _mm256_min_epu8 _mm256_subs_epu8 _mm256_avg_epu8 _mm256_sign_epi8 _mm256_movemask_epi8 _mm256_setzero_si256
    _mm256_set1_epi8);
