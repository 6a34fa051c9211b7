//! Meaning of the kernel's answers for a datagram socket. An answer about one datagram, or about an earlier one, never
//! ends an engine; only an answer about the socket itself does.

use rustix::io::Errno;

/// Meaning of a failed receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecvTrouble {
    /// Nothing is there.
    Nothing,
    /// Ask again: a signal came between.
    Again,
    /// An ICMP answer to something sent earlier; it is in the error queue.
    Reported,
    /// The socket is gone.
    Gone,
}

/// Meaning of a failed send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendTrouble {
    /// The send buffer is full: the socket becomes writable again.
    Full,
    /// A queue below the socket is full, and nothing will say when it is not.
    Congested,
    /// Ask again: a signal came between.
    Again,
    /// This datagram can't go where it should, or an earlier one could not: the error queue knows which.
    Datagram,
    /// The socket is gone.
    Gone,
}

/// Sorts what `recvmsg` answers. ICMP errors: `icmp_err_convert` in net/ipv4/icmp.c, `icmpv6_err_convert` likewise.
pub(crate) fn of_recv(errno: Errno) -> RecvTrouble {
    match errno {
        Errno::AGAIN | Errno::NOMEM | Errno::NOBUFS => RecvTrouble::Nothing,
        Errno::INTR => RecvTrouble::Again,
        Errno::CONNREFUSED
        | Errno::HOSTUNREACH
        | Errno::NETUNREACH
        | Errno::HOSTDOWN
        | Errno::NONET
        | Errno::NOPROTOOPT
        | Errno::OPNOTSUPP
        | Errno::PROTO
        | Errno::MSGSIZE
        | Errno::ACCESS => RecvTrouble::Reported,
        _ => RecvTrouble::Gone,
    }
}

/// Sorts what `sendmsg` answers.
pub(crate) fn of_send(errno: Errno) -> SendTrouble {
    match errno {
        Errno::AGAIN => SendTrouble::Full,
        Errno::NOBUFS | Errno::NOMEM => SendTrouble::Congested,
        Errno::INTR => SendTrouble::Again,
        Errno::BADF | Errno::NOTSOCK | Errno::FAULT | Errno::PIPE | Errno::CONNABORTED | Errno::NXIO => {
            SendTrouble::Gone
        }
        _ => SendTrouble::Datagram,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_about_a_datagram_never_ends_the_socket() {
        for errno in [Errno::CONNREFUSED, Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::MSGSIZE, Errno::ACCESS] {
            assert_eq!(of_recv(errno), RecvTrouble::Reported, "{errno:?}");
            assert_eq!(of_send(errno), SendTrouble::Datagram, "{errno:?}");
        }
        // A reply to a datagram whose source port was 0, or one a firewall forbids.
        assert_eq!(of_send(Errno::INVAL), SendTrouble::Datagram);
        assert_eq!(of_send(Errno::PERM), SendTrouble::Datagram);
        assert_eq!(of_recv(Errno::CONNABORTED), RecvTrouble::Gone);
        assert_eq!(of_send(Errno::BADF), SendTrouble::Gone);
    }
}
