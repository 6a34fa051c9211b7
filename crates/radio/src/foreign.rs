//! Other devices that may live at an address where an N200 was expected.

use crate::RadioError;
use crate::n200::control::Control;

/// The discovery hello of the X300 series: flags = "acknowledge", sequence, address, data, as four big-endian words. It
/// comes back unchanged.
const X300_HELLO: [u8; 16] = [0, 0, 0, 1, b't', b'a', b'k', b't', 0, 0, 0, 0, 0, 0, 0, 0];

/// Its name.
pub(crate) const X300: &str = "an X300 or X310";

/// Writes that hello.
pub(crate) fn write_hello(frame: &mut [u8]) -> usize {
    match frame.first_chunk_mut() {
        Some(room) => {
            *room = X300_HELLO;
            X300_HELLO.len()
        }
        None => 0,
    }
}

/// Whether a host answers it.
pub(crate) fn is_answer(bytes: &[u8]) -> bool {
    bytes.starts_with(&X300_HELLO)
}

/// The kind of radio that does not understand an N200's hello but answers its own.
pub(crate) fn kind_of(control: &mut Control) -> Result<Option<&'static str>, RadioError> {
    let answered = control.ask_raw(&X300_HELLO, is_answer)?;
    Ok(answered.then_some(X300))
}
