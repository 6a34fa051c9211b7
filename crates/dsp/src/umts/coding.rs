//! The channel codes of TS 25.212 section 4.2.3, by name.

/// How a transport channel is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// Convolutional, K = 9 (section 4.2.3.1).
    Convolutional(ConvolutionalRate),
    /// Turbo, rate 1/3 (section 4.2.3.2).
    Turbo,
}

/// The rate of the convolutional code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvolutionalRate {
    /// Two bits for one.
    Half,
    /// Three bits for one.
    Third,
}

impl Coding {
    /// Coded bits of a block of `block_bits`.
    pub const fn coded_len(self, block_bits: usize) -> usize {
        match self {
            Coding::Convolutional(ConvolutionalRate::Half) => 2 * (block_bits + 8),
            Coding::Convolutional(ConvolutionalRate::Third) => 3 * (block_bits + 8),
            Coding::Turbo => 3 * block_bits + 12,
        }
    }

    /// Z, the longest code block (section 4.2.2.2).
    pub const fn longest_block(self) -> usize {
        match self {
            Coding::Convolutional(_) => 504,
            Coding::Turbo => 5114,
        }
    }
}
