//! One algorithm, compiled twice.
//!
//! A kernel is written once in plain Rust, in blocks that the compiler turns into vectors, and [`vectorised!`] compiles it
//! a second time with AVX2 where the processor has it. No fused multiply-add is enabled, so both give the same bits:
//! what a sample is never depends on the machine.

/// Defines `fn name(args)` that runs `body(args)`, compiled for AVX2 if the processor has it.
macro_rules! vectorised {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:path) => {
        $(#[$doc])*
        $vis fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $ty),*) {
                    $body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the only condition of `wide` is that the processor has AVX2, and the line above asked it.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

pub(crate) use vectorised;
