//! Which instructions this processor has.
//!
//! The kernels are plain loops over slices. [`Simd::run`] executes them inside a function compiled for a level, where the
//! compiler turns them into that level's vector instructions; so there is one source and one result, and the only
//! promise to keep is that a level is never entered on a processor without it.

#![allow(unsafe_code)] // calling a function compiled for a level; the argument stands at the calls

/// A set of instructions that this processor has. Values come only from detection, so holding one is the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse41,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Simd {
    /// Instructions of every processor of this architecture (SSE2, NEON).
    pub const PORTABLE: Simd = Simd(Level::Portable);

    /// The best this processor has. Detection is cached: a load and a few tests.
    #[must_use]
    #[cfg(target_arch = "x86_64")]
    pub fn best() -> Self {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq") {
            Simd(Level::Avx512)
        } else if has!("avx2") {
            Simd(Level::Avx2)
        } else if has!("sse4.1") && has!("ssse3") {
            Simd(Level::Sse41)
        } else {
            Self::PORTABLE
        }
    }

    /// The best this processor has.
    #[must_use]
    #[cfg(not(target_arch = "x86_64"))]
    pub fn best() -> Self {
        Self::PORTABLE
    }

    /// Every level this processor has, [`Simd::PORTABLE`] first.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let all = [Level::Portable, Level::Sse41, Level::Avx2, Level::Avx512];
        #[cfg(not(target_arch = "x86_64"))]
        let all = [Level::Portable];
        // A processor with a level has those below it: AVX-512 implies AVX2, that SSE4.1.
        all.into_iter().take_while(|level| *level as u8 <= Self::best().0 as u8).map(Simd)
    }

    /// For messages and benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Sse41 => "sse4.1",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    /// Runs a kernel compiled for this level. The kernel must be `#[inline(always)]` down to its loop.
    #[inline]
    pub(super) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        match self.0 {
            Level::Portable => kernel(),
            // SAFETY: `self` proves that detection found these features on this processor.
            #[cfg(target_arch = "x86_64")]
            Level::Sse41 => unsafe { sse41(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.1,ssse3")]
fn sse41<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn avx512<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}
