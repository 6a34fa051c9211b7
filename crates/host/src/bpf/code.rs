//! A program written out instruction by instruction, and what programs for Ethernet frames begin with.
//!
//! Instructions are 64 bits: operation, two registers, an offset, a constant (kernel documentation, bpf/standardization/
//! instruction-set.rst). The processor must be little-endian, as x86-64 and AArch64 are.

/// A program that leaves everything to the kernel.
pub const PASS: [u64; 2] = [(XDP_PASS as u64) << 32 | MOVE_CONSTANT as u64, EXIT as u64];

// Registers. A call keeps 6 to 9 and the frame's bounds stay valid; 10 is the stack's end.
pub const RESULT: u8 = 0;
pub const CONTEXT: u8 = 1;
pub const SECOND: u8 = 2;
pub const LIMIT: u8 = 4;
pub const VALUE: u8 = 5;
pub const PACKET: u8 = 6;
pub const END: u8 = 7;
pub const STACK: u8 = 10;

// Offsets in a frame without tags, IPv4 without options.
pub const ETHER_TYPE: i16 = 12;
pub const VERSION: i16 = 14;
pub const FRAGMENT: i16 = 20;
pub const TTL: i16 = 22;
pub const PROTOCOL: i16 = 23;
pub const IP_CHECKSUM: i16 = 24;
pub const SOURCE: i16 = 26;
pub const DESTINATION: i16 = 30;
pub const SOURCE_PORT: i16 = 34;
pub const DESTINATION_PORT: i16 = 36;
pub const UDP_CHECKSUM: i16 = 40;
pub const HEADERS_BYTES: i32 = 42;

// Operations (linux/bpf.h, linux/bpf_common.h): class, size or source, what.
pub const LOAD_BYTE: u8 = 0x71;
pub const LOAD_HALF: u8 = 0x69;
pub const LOAD_WORD: u8 = 0x61;
pub const LOAD_CONSTANT_64: u8 = 0x18;
pub const STORE_BYTE: u8 = 0x73;
pub const STORE_HALF: u8 = 0x6b;
pub const STORE_WORD: u8 = 0x63;
pub const STORE_BYTE_CONSTANT: u8 = 0x72;
pub const STORE_HALF_CONSTANT: u8 = 0x6a;
pub const STORE_WORD_CONSTANT: u8 = 0x62;
pub const MOVE: u8 = 0xbf;
pub const MOVE_CONSTANT: u8 = 0xb7;
pub const ADD: u8 = 0x0f;
pub const ADD_CONSTANT: u8 = 0x07;
pub const AND_CONSTANT: u8 = 0x57;
pub const XOR_CONSTANT: u8 = 0xa7;
pub const SHIFT_RIGHT_CONSTANT: u8 = 0x77;
pub const IF_GREATER: u8 = 0x2d;
pub const IF_BELOW_CONSTANT: u8 = 0xa5;
pub const IF_NOT_CONSTANT: u8 = 0x55;
pub const IF_CONSTANT: u8 = 0x15;
pub const IF_NOT_CONSTANT_32: u8 = 0x56;
pub const JUMP: u8 = 0x05;
pub const LOAD_LONG: u8 = 0x79;
pub const STORE_LONG: u8 = 0x7b;
/// To the byte order of networks, as many bits as the constant says.
pub const TO_NETWORK_ORDER: u8 = 0xdc;
pub const CALL: u8 = 0x85;
pub const EXIT: u8 = 0x95;

/// In the source register of [`LOAD_CONSTANT_64`]: the constant is the descriptor of a table.
pub const IS_TABLE: u8 = 1;
pub const HELPER_LOOK_UP: i32 = 1;
pub const HELPER_TIME: i32 = 5;
pub const HELPER_REDIRECT: i32 = 23;
pub const HELPER_REDIRECT_BY_TABLE: i32 = 51;
pub const HELPER_MAKE_METADATA: i32 = 54;
pub const XDP_PASS: i32 = 2;
/// Back by the interface it came by.
pub const XDP_TX: i32 = 3;
/// As it lies in a frame, read by a little-endian processor.
pub const IPV4: i32 = 0x0008;
pub const UDP: i32 = 17;
/// "More fragments" and the offset (RFC 791), as they lie in a frame.
pub const ANY_FRAGMENT: i32 = 0xff3f;

/// Offsets in `struct xdp_md`, the context.
pub const CONTEXT_DATA: i16 = 0;
pub const CONTEXT_END: i16 = 4;
pub const CONTEXT_METADATA: i16 = 8;
pub const CONTEXT_QUEUE: i16 = 16;

/// Instructions, and which of them jump to the end.
#[derive(Default)]
pub struct Code {
    words: Vec<u64>,
    passes: Vec<usize>,
}

impl Code {
    /// Adds one instruction.
    pub fn emit(&mut self, operation: u8, to: u8, from: u8, offset: i16, constant: i32) {
        let [o0, o1] = offset.to_le_bytes();
        let [c0, c1, c2, c3] = constant.to_le_bytes();
        self.words.push(u64::from_le_bytes([operation, to | from << 4, o0, o1, c0, c1, c2, c3]));
    }

    /// Adds a jump whose target follows: see [`Code::land`].
    #[must_use]
    pub fn jump(&mut self, operation: u8, left: u8, right: u8, constant: i32) -> usize {
        self.emit(operation, left, right, 0, constant);
        self.words.len() - 1
    }

    /// The jump goes to the next instruction.
    pub fn land(&mut self, jump: usize) {
        let far = self.words.len() - jump - 1;
        if let (Some(word), Ok(far)) = (self.words.get_mut(jump), u16::try_from(far)) {
            *word |= u64::from(far) << 16;
        }
    }

    /// A jump to where the kernel's stack takes over.
    pub fn pass_if(&mut self, operation: u8, left: u8, right: u8, constant: i32) {
        let jump = self.jump(operation, left, right, constant);
        self.passes.push(jump);
    }

    /// Goes on if the field of the frame has this value.
    pub fn pass_unless(&mut self, load: u8, offset: i16, constant: i32) {
        self.emit(load, VALUE, PACKET, offset, 0);
        self.pass_if(IF_NOT_CONSTANT_32, VALUE, 0, constant);
    }

    /// Goes on with a whole UDP datagram over IPv4, without options. [`PACKET`] is its front, [`END`] its end.
    pub fn is_whole_udp(&mut self) {
        self.emit(LOAD_WORD, PACKET, CONTEXT, CONTEXT_DATA, 0);
        self.emit(LOAD_WORD, END, CONTEXT, CONTEXT_END, 0);
        self.emit(MOVE, LIMIT, PACKET, 0, 0);
        self.emit(ADD_CONSTANT, LIMIT, 0, 0, HEADERS_BYTES);
        self.pass_if(IF_GREATER, LIMIT, END, 0);
        self.pass_unless(LOAD_HALF, ETHER_TYPE, IPV4);
        self.pass_unless(LOAD_BYTE, VERSION, 0x45);
        self.pass_unless(LOAD_BYTE, PROTOCOL, UDP);
        self.emit(LOAD_HALF, VALUE, PACKET, FRAGMENT, 0);
        self.emit(AND_CONSTANT, VALUE, 0, 0, ANY_FRAGMENT);
        self.pass_if(IF_NOT_CONSTANT, VALUE, 0, 0);
    }

    /// The first argument of a call is this table.
    pub fn argument_table(&mut self, table: i32) {
        self.emit(LOAD_CONSTANT_64, 1, IS_TABLE, 0, table);
        self.emit(0, 0, 0, 0, 0);
    }

    /// Fills in how far it is to the end, where the kernel's stack takes over.
    #[must_use]
    pub fn end(mut self) -> Vec<u64> {
        for at in std::mem::take(&mut self.passes) {
            self.land(at);
        }
        self.words.extend(PASS);
        self.words
    }
}

/// An address in a frame, as a little-endian processor reads it.
#[must_use]
pub fn in_frame(address: std::net::Ipv4Addr) -> i32 {
    i32::from_le_bytes(address.octets())
}

/// Two bytes each, as a little-endian processor reads them.
#[must_use]
pub fn halves(address: [u8; 6]) -> [i32; 3] {
    let [a, b, c, d, e, f] = address;
    [[a, b], [c, d], [e, f]].map(|half| u16::from_le_bytes(half).into())
}
