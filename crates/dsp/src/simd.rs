//! One algorithm, compiled twice.
//!
//! A kernel is written once in plain Rust, in blocks that the compiler turns into vectors, and [`vectorised!`] compiles it
//! a second time with AVX2 where the processor has it, and a third with AVX-512 where the kernel asks for it: those that do
//! were measured to gain by it. Nothing is fused into multiply-adds, so all give the same bits. The last bit of the
//! system's sine, of which taps are made, is another matter.

/// Defines `fn name(args)` that runs `body(args)`, compiled for AVX2 if the processor has it; after `512,` for AVX-512 too.
macro_rules! vectorised {
    (512, $(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:path) => {
        $(#[$doc])*
        $vis fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
                fn widest($($arg: $ty),*) {
                    $body($($arg),*)
                }
                if $crate::simd::avx512() {
                    // SAFETY: the only condition of `widest` is what the line above asked the processor for.
                    #[allow(unsafe_code)]
                    return unsafe { widest($($arg),*) };
                }
            }
            $crate::simd::vectorised!(fn narrower($($arg: $ty),*) = $body);
            narrower($($arg),*)
        }
    };
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

/// Whether the processor has what `widest` is compiled for.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    #[cfg(test)]
    if HIDDEN.get() {
        return false;
    }
    has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq")
}

#[cfg(test)]
std::thread_local!(static HIDDEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });

/// Result of `f` without AVX-512.
#[cfg(test)]
pub(crate) fn without_avx512<R>(f: impl FnOnce() -> R) -> R {
    HIDDEN.set(true);
    let result = f();
    HIDDEN.set(false);
    result
}

pub(crate) use vectorised;
