//! Settings of a network card's driver, read and changed: the `SIOCETHTOOL` request, whose structures are rows of 32-bit words, some
//! with a table behind.
#![allow(unsafe_code)]

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// Words of a row that is long enough for every command without a table in it: `ethtool_coalesce` has 23.
pub const WORDS: usize = 32;
/// Words of `ethtool_rxnfc`, in front of its table and with what pads it.
pub const RULE_WORDS: usize = 48;
/// Word of `ethtool_rxnfc` that gives the length of its table; the table follows.
pub const RULES: usize = 46;
/// Words of `ethtool_rxfh_indir` in front of its table; the last of them says how long that is.
pub const TABLE: usize = 2;

/// `SIOCETHTOOL` of linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// The request: the number in linux/ethtool.h.
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
    SetGro = 0x2c,
    GetRings = 0x2d,
    CountRules = 0x2e,
    GetRule = 0x2f,
    ListRules = 0x30,
    DeleteRule = 0x31,
    InsertRule = 0x32,
    GetTable = 0x38,
    SetTable = 0x39,
    GetChannels = 0x3c,
    SetChannels = 0x3d,
    GetEee = 0x44,
    SetEee = 0x45,
}

impl Command {
    /// Words that the kernel may read or write where it is called with this row.
    fn words(self, row: &[u32]) -> usize {
        let stated = |at: usize| row.get(at).map_or(usize::MAX, |&length| length as usize);
        match self {
            Command::GetRings | Command::CountRules | Command::GetRule => RULE_WORDS,
            Command::InsertRule | Command::DeleteRule => RULE_WORDS,
            Command::ListRules => RULE_WORDS.max(stated(RULES).saturating_add(RULES + 1)),
            Command::GetTable | Command::SetTable => stated(TABLE - 1).saturating_add(TABLE),
            _ => WORDS,
        }
    }
}

/// Carries `command` out on `interface`. Word 0 of the row is overwritten with the command; the rest is what the driver
/// reads, or what it answered.
///
/// # Errors
/// There is no such interface, its driver has no such fact, or it may not be changed; or the row is too short.
pub fn request(interface: &str, command: Command, row: &mut [u32]) -> io::Result<()> {
    if row.len() < command.words(row) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the row is shorter than its command's structure"));
    }
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
    // SAFETY: the kernel reads and writes the structure of the command at `row`, which is as long as that with its table, as
    // was just checked, is borrowed for the call, and holds integers only; `ask` outlives the call.
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

    #[test]
    fn a_row_that_is_shorter_than_its_structure_or_its_table_never_reaches_the_kernel() {
        let mut row = [0; RULE_WORDS];
        for command in [Command::GetFlags, Command::GetRule, Command::GetTable, Command::ListRules] {
            let refused = request("lo", command, &mut row[..1]).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
        row[TABLE - 1] = (RULE_WORDS - TABLE) as u32;
        assert_eq!(request("lo", Command::GetTable, &mut row).unwrap_err().raw_os_error(), Some(libc::EOPNOTSUPP));
        row[TABLE - 1] += 1;
        assert_eq!(request("lo", Command::GetTable, &mut row).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        row[RULES] = 2;
        assert_eq!(request("lo", Command::ListRules, &mut row).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
