//! [`Lanes`] and [`ByteLanes`] by instructions of NEON, 128 bits at a time. A value of [`Neon`] stands for the feature
//! (`mod.rs`), and every block here rests on that.

use std::arch::aarch64::*;

use super::super::batch::{ByteLanes, OfBytes};
use super::super::lanes::{Lanes, memory};
use super::super::row::{LANES, Row};
use super::Neon;

impl Lanes for Neon {
    memory!(int16x8_t, 8);
    type Bytes = OfBytes<Neon>;
    type Line = uint8x16_t;

    #[inline(always)]
    fn bytes(self) -> OfBytes<Neon> {
        OfBytes(self)
    }

    by! {
        add(a, b) -> int16x8_t = vaddq_s16(a, b);
        sub(a, b) -> int16x8_t = vsubq_s16(a, b);
        max(a, b) -> int16x8_t = vmaxq_s16(a, b);
        min(a, b) -> int16x8_t = vminq_s16(a, b);
        scale(a, factor) -> int16x8_t = vqrdmulhq_s16(a, factor);
        negative(a) -> u32 = {
            let of_lane: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
            u32::from(vaddvq_u16(vandq_u16(vcltzq_s16(a), bytemuck::cast(of_lane))))
        };
    }

    #[inline(always)]
    fn in_turn(self, a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        // SAFETY: the only condition is the feature that `self` stands for.
        #[allow(unsafe_code)]
        unsafe {
            [vzip1q_u8(a, b), vzip2q_u8(a, b)]
        }
    }

    /// A row is 64 bytes, which is the longest table that a look-up takes.
    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        let [a, b, c, d]: [uint8x16_t; 4] = bytemuck::cast(row.0);
        let table = uint8x16x4_t(a, b, c, d);
        let mut out = Row::ZERO;
        for group in 0..Self::GROUPS {
            let lanes = self.load(from, group);
            // SAFETY: the only condition is the feature that `self` stands for.
            #[allow(unsafe_code)]
            let permuted = unsafe {
                // The bytes of lane n are 2n, and above it 2n + 1.
                let doubled = vshlq_n_u16::<1>(vreinterpretq_u16_s16(lanes));
                let bytes = vorrq_u16(vsliq_n_u16::<8>(doubled, doubled), vdupq_n_u16(0x100));
                vreinterpretq_s16_u8(vqtbl4q_u8(table, vreinterpretq_u8_u16(bytes)))
            };
            self.store(&mut out, group, permuted);
        }
        out
    }
}

impl ByteLanes for OfBytes<Neon> {
    type Group = uint8x16_t;

    #[inline(always)]
    fn all(self, value: u8) -> uint8x16_t {
        bytemuck::cast([value; 16])
    }

    by! {
        add(a, b) -> uint8x16_t = vaddq_u8(a, b);
        sub(a, b) -> uint8x16_t = vsubq_u8(a, b);
        min(a, b) -> uint8x16_t = vminq_u8(a, b);
        sum(a, b) -> uint8x16_t = vqaddq_u8(a, b);
        mean(a, b) -> uint8x16_t = vrhaddq_u8(a, b);
        signed_sum(a, b) -> uint8x16_t = bytemuck::cast(vqaddq_s8(bytemuck::cast(a), bytemuck::cast(b)));
        signed_difference(a, b) -> uint8x16_t = bytemuck::cast(vqsubq_s8(bytemuck::cast(a), bytemuck::cast(b)));
        signed_max(a, b) -> uint8x16_t = bytemuck::cast(vmaxq_s8(bytemuck::cast(a), bytemuck::cast(b)));
    }
}
