//! Which instructions are used: chosen at run time, from what the processor has.
//!
//! A value of a level (`Sse41`, `Avx2` and `Avx512`, or `Neon`) is made here alone, after detection; so the owner of one may
//! execute the instructions. [`Level::run`] compiles the task as a whole for the extension: all of [`Lanes`](super::lanes::Lanes)
//! is inlined into it.

/// Operations by intrinsics. The safety of each is that of its level.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! by {
    ($($name:ident($($arg:ident),*) -> $out:ty = $intrinsic:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, $($arg: Self::Group),*) -> $out {
            // SAFETY: the only condition is the features that `self` stands for.
            #[allow(unsafe_code)]
            unsafe {
                $intrinsic
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod words;

use super::batch::ByteLanes;
use super::lanes::{Lanes, Plain, Task};

/// The instructions that a decoder uses. All give the same bits.
#[derive(Clone, Copy, Debug)]
pub struct Level(Kind);

/// The levels beyond plain Rust, the fastest last: how they are found, called and run.
macro_rules! levels {
    ($($arch:literal $level:ident = $name:literal),*) => {
        #[derive(Clone, Copy, Debug)]
        enum Kind {
            Plain(Plain),
            $(#[cfg(target_arch = $arch)] $level($level),)*
        }

        impl Level {
            /// All that this processor has, the fastest last.
            pub fn all() -> impl Iterator<Item = Level> {
                let found = [
                    Some(Kind::Plain(Plain)),
                    $(#[cfg(target_arch = $arch)] $level::found().map(Kind::$level),)*
                ];
                found.into_iter().flatten().map(Level)
            }

            /// `plain`, `sse4.1`, `avx2`, `avx512` or `neon`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    Kind::Plain(_) => "plain",
                    $(#[cfg(target_arch = $arch)] Kind::$level(_) => $name,)*
                }
            }

            /// How many blocks of a batch are decoded at once.
            pub(super) fn blocks(self) -> usize {
                match self.0 {
                    Kind::Plain(_) => <Plain as Lanes>::Bytes::BLOCKS,
                    $(#[cfg(target_arch = $arch)] Kind::$level(_) => <$level as Lanes>::Bytes::BLOCKS,)*
                }
            }

            /// Runs `task` with these.
            #[inline]
            pub(super) fn run<T: Task>(self, task: T) -> T::Output {
                match self.0 {
                    Kind::Plain(plain) => task.run(plain),
                    $(#[cfg(target_arch = $arch)] Kind::$level(level) => level.run(task),)*
                }
            }
        }
    };
}

levels!("x86_64" Sse41 = "sse4.1", "x86_64" Avx2 = "avx2", "x86_64" Avx512 = "avx512", "aarch64" Neon = "neon");

impl Level {
    /// The fastest that this processor has.
    pub fn best() -> Level {
        Level::all().last().expect("plain Rust is always there")
    }

    /// The same, or what does not leave half of its lanes idle with so many blocks.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "one width of vectors is all there is"))]
    pub(super) fn for_blocks(self, blocks: usize) -> Level {
        match self.0 {
            // A processor with AVX-512 was asked for AVX2, too.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512(_) if blocks <= <Avx2 as Lanes>::Bytes::BLOCKS => Level(Kind::Avx2(Avx2(()))),
            _ => self,
        }
    }
}

/// Defines a level by its features.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! level {
    ($(#[$doc:meta])* $name:ident: $has:ident, $($feature:tt),* = $features:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name(());

        impl $name {
            fn found() -> Option<$name> {
                ($(std::arch::$has!($feature))&&*).then_some($name(()))
            }

            #[inline]
            fn run<T: Task>(self, task: T) -> T::Output {
                #[target_feature(enable = $features)]
                fn compiled<T: Task>(task: T, level: $name) -> T::Output {
                    task.run(level)
                }
                // SAFETY: the only condition is these features, for which `self` stands.
                #[allow(unsafe_code)]
                unsafe {
                    compiled(task, self)
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
level!(
    /// SSE4.1: 128 bits at a time.
    Sse41: is_x86_feature_detected, "sse4.1", "ssse3" = "sse4.1,ssse3"
);
#[cfg(target_arch = "x86_64")]
level!(
    /// AVX2: 256 bits at a time.
    Avx2: is_x86_feature_detected, "avx2" = "avx2"
);
#[cfg(target_arch = "x86_64")]
level!(
    /// AVX-512 BW and VL: 512 bits at a time.
    Avx512: is_x86_feature_detected, "avx512f", "avx512bw", "avx512vl", "avx2" = "avx512f,avx512bw,avx512vl,avx2"
);
#[cfg(target_arch = "aarch64")]
level!(
    /// NEON: 128 bits at a time.
    Neon: is_aarch64_feature_detected, "neon" = "neon"
);
