//! Asking a network card's driver, and telling it: the `SIOCETHTOOL` request, whose structures are rows of 32-bit words.
#![allow(unsafe_code)]

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// Words of the longest structure that is used here, with room to spare: `ethtool_coalesce` has 23.
pub const WORDS: usize = 32;

/// `SIOCETHTOOL` of linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// What is asked: the number in linux/ethtool.h. No command is here whose structure is longer than [`WORDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Command {
    GetCoalesce = 0x0e,
    SetCoalesce = 0x0f,
    GetRing = 0x10,
    SetRing = 0x11,
    GetPause = 0x12,
    SetPause = 0x13,
    SetTxChecksum = 0x17,
    SetTso = 0x1f,
    GetFlags = 0x25,
    SetFlags = 0x26,
    SetGro = 0x2c,
    GetEee = 0x44,
    SetEee = 0x45,
}

/// Carries `command` out on `interface`. Word 0 of the row is overwritten with the command; the rest is what the driver
/// reads, or what it answered.
///
/// # Errors
/// There is no such interface, its driver has no such fact, or it may not be changed.
pub fn request(interface: &str, command: Command, row: &mut [u32; WORDS]) -> io::Result<()> {
    row[0] = command as u32;
    // Any socket names the network namespace whose interfaces are meant.
    let socket = UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"))?;
    // SAFETY: all-zero bytes are a valid `ifreq`: it holds integers, arrays of them, and pointers that may be null.
    let mut ask: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= ask.ifr_name.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an interface's name has at most 15 bytes"));
    }
    for (to, from) in ask.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    ask.ifr_ifru.ifru_data = row.as_mut_ptr().cast();
    // SAFETY: the kernel reads and writes the structure of the command at `row`, which is at least as long for every
    // command there is a name for, is borrowed for the call, and holds integers only; `ask` outlives the call.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut ask) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_answers_for_flags_and_has_no_ring() {
        let mut row = [0; WORDS];
        request("lo", Command::GetFlags, &mut row).unwrap();
        assert_eq!(row[2..], [0; WORDS - 2], "nothing beyond the structure");
        let refused = request("lo", Command::GetRing, &mut row).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EOPNOTSUPP));
        assert!(request("a-name-that-is-too-long", Command::GetFlags, &mut row).is_err());
        assert_eq!(request("takt-none", Command::GetFlags, &mut row).unwrap_err().raw_os_error(), Some(libc::ENODEV));
    }
}
