//! What else may live at an address where an N200 was expected.

use crate::RadioError;
use crate::n200::control::Control;

/// The discovery hello of the X300 series: flags = "acknowledge", sequence, address, data, as four big-endian words. It
/// comes back unchanged.
const X300_HELLO: [u8; 16] = [0, 0, 0, 1, b't', b'a', b'k', b't', 0, 0, 0, 0, 0, 0, 0, 0];

/// The kind of radio that does not understand an N200's hello but answers its own.
pub(crate) fn kind_of(control: &mut Control) -> Result<Option<&'static str>, RadioError> {
    let answered = control.ask_raw(&X300_HELLO, |answer| answer.starts_with(&X300_HELLO))?;
    Ok(answered.then_some("an X300 or X310"))
}
