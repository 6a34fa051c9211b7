//! Which endpoint id is reached at which address: what hosts advertise (x310.md 6.3, operation 1).
//!
//! An id is good for a session, and the next session may use it for another socket: the last word counts, and nobody keeps a
//! copy (6.2, 15 trap 11).

use std::net::SocketAddr;

/// Each host streamer takes an id. The one that has been there longest makes room.
const ROUTES: usize = 256;

pub(super) struct Routes(Vec<(u16, SocketAddr)>);

impl Routes {
    pub(super) fn new() -> Routes {
        Routes(Vec::with_capacity(ROUTES))
    }

    pub(super) fn set(&mut self, endpoint: u16, to: SocketAddr) {
        self.remove(endpoint);
        if self.0.len() == ROUTES {
            self.0.remove(0);
        }
        self.0.push((endpoint, to));
    }

    /// The id is no host's any more.
    pub(super) fn remove(&mut self, endpoint: u16) {
        self.0.retain(|(known, _)| *known != endpoint);
    }

    pub(super) fn of(&self, endpoint: u16) -> Option<SocketAddr> {
        self.0.iter().rev().find(|(known, _)| *known == endpoint).map(|(_, to)| *to)
    }

    /// A host's socket is gone.
    pub(super) fn forget(&mut self, to: SocketAddr) {
        self.0.retain(|(_, known)| *known != to);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts_and_the_table_is_bounded() {
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let mut routes = Routes::new();
        routes.set(3, at(1000));
        routes.set(3, at(2000));
        assert_eq!(routes.of(3), Some(at(2000)));
        for id in 10..10 + ROUTES as u16 {
            routes.set(id, at(id));
        }
        assert_eq!(routes.of(3), None, "the oldest made room");
        assert_eq!((routes.0.len(), routes.0.capacity()), (ROUTES, ROUTES));
        routes.forget(at(20));
        routes.remove(22);
        assert_eq!([20, 21, 22].map(|id| routes.of(id)), [None, Some(at(21)), None]);
    }
}
