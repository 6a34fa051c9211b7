//! Cookies: numbers that only the receiver at an address can send back.
//!
//! A cookie is a keyed hash (`SipHash`, a key drawn when the server starts) of address, session and time, so that the
//! server keeps nothing about an address that has not answered. It holds for 8 to 16 seconds.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

use takt_base::MonoNs;

#[derive(Debug, Default)]
pub struct Cookies(RandomState);

const SLOT_NS: u64 = 8_000_000_000;

impl Cookies {
    #[must_use]
    pub fn bake(&self, to: SocketAddr, session: u64, now: MonoNs) -> u64 {
        self.of(to, session, now.0 / SLOT_NS)
    }

    #[must_use]
    pub fn accepts(&self, cookie: u64, from: SocketAddr, session: u64, now: MonoNs) -> bool {
        let slot = now.0 / SLOT_NS;
        cookie == self.of(from, session, slot)
            || slot.checked_sub(1).is_some_and(|s| cookie == self.of(from, session, s))
    }

    fn of(&self, addr: SocketAddr, session: u64, slot: u64) -> u64 {
        self.0.hash_one((addr.ip(), addr.port(), session, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5);
    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_cookie_holds_for_its_address_its_session_and_a_while() {
        let (cookies, at) = (Cookies::default(), MonoNs(100 * SECOND));
        let cookie = cookies.bake(HERE, 7, at);
        assert!(cookies.accepts(cookie, HERE, 7, at));
        assert!(cookies.accepts(cookie, HERE, 7, MonoNs(at.0 + 8 * SECOND)));
        assert!(!cookies.accepts(cookie, HERE, 7, MonoNs(at.0 + 16 * SECOND)));
        assert!(!cookies.accepts(cookie, HERE, 8, at));
        assert!(!cookies.accepts(cookie, ([127, 0, 0, 1], 6).into(), 7, at));
        assert!(!cookies.accepts(cookie ^ 1, HERE, 7, at));
        assert!(!Cookies::default().accepts(cookie, HERE, 7, at), "another server's");
        assert!(cookies.accepts(cookies.bake(HERE, 7, MonoNs(0)), HERE, 7, MonoNs(1)));
    }
}
