//! The program that numbers frames and sends them.
//!
//! ```text
//!   frame --> long enough? --> the number, plus one --> number and time into it --> out by the interface
//! ```

use takt_host::bpf::code::{
    ADD_CONSTANT, CALL, CONTEXT, CONTEXT_DATA, CONTEXT_END, Code, END, EXIT, HEADERS_BYTES, HELPER_LOOK_UP,
    HELPER_TIME, IF_CONSTANT, IF_GREATER, LIMIT, LOAD_LONG, LOAD_WORD, MOVE, MOVE_CONSTANT, PACKET, RESULT, SECOND,
    STACK, STORE_LONG, STORE_WORD_CONSTANT, TO_NETWORK_ORDER, VALUE, XDP_TX,
};

/// Bytes at the front of a payload that are written: number and time, 8 each.
pub(super) const NUMBERED_BYTES: usize = 16;
const LONG: i16 = 8;

/// The program; `number` is the descriptor of the number.
pub(super) fn program(number: i32) -> Vec<u64> {
    let mut code = Code::default();
    let payload = HEADERS_BYTES as i16;
    code.emit(LOAD_WORD, PACKET, CONTEXT, CONTEXT_DATA, 0);
    code.emit(LOAD_WORD, END, CONTEXT, CONTEXT_END, 0);
    code.emit(MOVE, LIMIT, PACKET, 0, 0);
    code.emit(ADD_CONSTANT, LIMIT, 0, 0, HEADERS_BYTES + NUMBERED_BYTES as i32);
    code.pass_if(IF_GREATER, LIMIT, END, 0);
    // Entry 0.
    code.emit(STORE_WORD_CONSTANT, STACK, 0, -4, 0);
    code.emit(MOVE, SECOND, STACK, 0, 0);
    code.emit(ADD_CONSTANT, SECOND, 0, 0, -4);
    code.argument_table(number);
    code.emit(CALL, 0, 0, 0, HELPER_LOOK_UP);
    code.pass_if(IF_CONSTANT, RESULT, 0, 0);
    code.emit(LOAD_LONG, VALUE, RESULT, 0, 0);
    code.emit(MOVE, LIMIT, VALUE, 0, 0);
    code.emit(ADD_CONSTANT, LIMIT, 0, 0, 1);
    code.emit(STORE_LONG, RESULT, LIMIT, 0, 0);
    code.emit(TO_NETWORK_ORDER, VALUE, 0, 0, 64);
    code.emit(STORE_LONG, PACKET, VALUE, payload, 0);
    code.emit(CALL, 0, 0, 0, HELPER_TIME);
    code.emit(TO_NETWORK_ORDER, RESULT, 0, 0, 64);
    code.emit(STORE_LONG, PACKET, RESULT, payload + LONG, 0);
    code.emit(MOVE_CONSTANT, RESULT, 0, 0, XDP_TX);
    code.emit(EXIT, 0, 0, 0, 0);
    code.end()
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use takt_host::bpf::{BpfError, Number, load_xdp};

    use super::*;

    #[test]
    fn the_kernels_verifier_takes_it() {
        if let Err(error) = Number::new().and_then(|number| load_xdp(&program(number.descriptor()), false)) {
            assert!(!matches!(error, BpfError::Refused { .. }), "{error}");
            takt_testing::skip(format_args!("{error}   (run as root)"));
        }
    }
}
