//! Libraries of the system, in C.

#[cfg(feature = "fec")]
pub use fec::Viterbi;
#[cfg(feature = "fftw")]
pub use fftw::Fftw;
#[cfg(feature = "liquid")]
pub use liquid::Modem;

#[cfg(feature = "fftw")]
mod fftw {
    use std::ffi::c_void;

    use rustfft::num_complex::Complex32;

    #[link(name = "fftw3f")]
    unsafe extern "C" {
        fn fftwf_alloc_complex(n: usize) -> *mut Complex32;
        fn fftwf_plan_dft_1d(
            n: i32,
            input: *mut Complex32,
            output: *mut Complex32,
            sign: i32,
            flags: u32,
        ) -> *mut c_void;
        fn fftwf_execute(plan: *mut c_void);
    }

    const FORWARD: i32 = -1;
    const PATIENT: u32 = 1 << 5;

    /// A transform in place, in memory aligned as FFTW likes it; both live as long as the program.
    pub struct Fftw {
        plan: *mut c_void,
        data: &'static mut [Complex32],
    }

    impl Fftw {
        pub fn new(length: usize) -> Fftw {
            // SAFETY: FFTW's memory holds `length` complex numbers, is written here first, and is never freed.
            let data = unsafe {
                let data = fftwf_alloc_complex(length);
                assert!(!data.is_null());
                data.write_bytes(0, length);
                std::slice::from_raw_parts_mut(data, length)
            };
            let at = data.as_mut_ptr();
            // SAFETY: both ends are that memory.
            let plan = unsafe { fftwf_plan_dft_1d(length as i32, at, at, FORWARD, PATIENT) };
            assert!(!plan.is_null());
            Fftw { plan, data }
        }

        pub fn run(&mut self, signal: &[Complex32]) -> &[Complex32] {
            self.data.copy_from_slice(signal);
            // SAFETY: the plan is of that memory, which nobody else looks at meanwhile.
            unsafe { fftwf_execute(self.plan) };
            self.data
        }
    }
}

#[cfg(feature = "liquid")]
mod liquid {
    use std::ffi::c_void;

    use takt_base::Complex32;

    #[link(name = "liquid")]
    unsafe extern "C" {
        fn liquid_getopt_str2mod(name: *const std::ffi::c_char) -> i32;
        fn modemcf_create(scheme: i32) -> *mut c_void;
        fn modemcf_modulate(modem: *mut c_void, bits: u32, symbol: *mut Complex32) -> i32;
        fn modemcf_demodulate_soft(modem: *mut c_void, symbol: Complex32, hard: *mut u32, soft: *mut u8) -> i32;
    }

    /// A modem that lives as long as the program.
    pub struct Modem {
        modem: *mut c_void,
        bits: usize,
    }

    impl Modem {
        pub fn new(bits: usize) -> Modem {
            let name = match bits {
                2 => c"qpsk",
                4 => c"qam16",
                _ => c"qam64",
            };
            // SAFETY: a string that ends with a zero; the scheme is one that liquid named.
            let modem = unsafe { modemcf_create(liquid_getopt_str2mod(name.as_ptr())) };
            assert!(!modem.is_null());
            Modem { modem, bits }
        }

        /// It finds the bits that it sent.
        pub fn check(&self) {
            for number in 0..1_u32 << self.bits {
                let (mut symbol, mut hard, mut soft) = (Complex32::default(), 0, [0; 8]);
                // SAFETY: a live modem; places for a symbol, a number and, at most 6, soft bits.
                unsafe {
                    modemcf_modulate(self.modem, number, &mut symbol);
                    modemcf_demodulate_soft(self.modem, symbol, &mut hard, soft.as_mut_ptr());
                }
                assert_eq!(hard, number, "liquid demodulates it");
            }
        }

        pub fn demodulate(&self, symbols: &[Complex32], soft: &mut [u8]) {
            for (symbol, soft) in symbols.iter().zip(soft.chunks_exact_mut(self.bits)) {
                let mut hard = 0;
                // SAFETY: a live modem; `soft` has a place for each bit of a symbol.
                unsafe { modemcf_demodulate_soft(self.modem, *symbol, &mut hard, soft.as_mut_ptr()) };
            }
        }
    }
}

#[cfg(feature = "fec")]
mod fec {
    use std::ffi::c_void;

    #[link(name = "fec")]
    unsafe extern "C" {
        fn create_viterbi39(len: i32) -> *mut c_void;
        fn set_viterbi39_polynomial(polynomials: *mut i32);
        fn init_viterbi39(decoder: *mut c_void, state: i32) -> i32;
        fn update_viterbi39_blk(decoder: *mut c_void, symbols: *mut u8, bits: i32) -> i32;
        fn chainback_viterbi39(decoder: *mut c_void, data: *mut u8, bits: u32, state: u32) -> i32;
    }

    /// The decoder of the code of TS 25.212 at rate 1/3 for blocks of one length; lives as long as the program.
    pub struct Viterbi {
        decoder: *mut c_void,
        bits: usize,
        packed: Vec<u8>,
        symbols: Vec<u8>,
    }

    impl Viterbi {
        pub fn new(bits: usize) -> Viterbi {
            // 557, 663, 711 (octal), the newest bit lowest.
            let mut polynomials = [0x1ed, 0x19b, 0x127];
            // SAFETY: three polynomials, and room for as many bits as are decoded.
            let decoder = unsafe {
                set_viterbi39_polynomial(polynomials.as_mut_ptr());
                create_viterbi39(bits as i32)
            };
            assert!(!decoder.is_null());
            Viterbi { decoder, bits, packed: vec![0; bits.div_ceil(8) + 1], symbols: vec![0; 3 * (bits + 8)] }
        }

        /// The bits stay packed, as the library leaves them.
        pub fn run(&mut self, symbols: &[u8]) {
            self.symbols.copy_from_slice(symbols);
            let steps = self.bits as i32 + 8;
            // SAFETY: a live decoder; three symbols a step, and a place for each bit.
            unsafe {
                init_viterbi39(self.decoder, 0);
                update_viterbi39_blk(self.decoder, self.symbols.as_mut_ptr(), steps);
                chainback_viterbi39(self.decoder, self.packed.as_mut_ptr(), self.bits as u32, 0);
            }
        }

        pub fn decode(&mut self, symbols: &[u8]) -> Vec<u8> {
            self.run(symbols);
            (0..self.bits).map(|at| self.packed[at / 8] >> (7 - at % 8) & 1).collect()
        }
    }
}
