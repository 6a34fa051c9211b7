//! Places of lost datagrams: a pure function of what each end counted.
//!
//! Each place is given what was **observed** missing there, never what would make the sum come out; a loss that nobody
//! observed stays unplaced. Counters of one end cover the span from before the first datagram to after the last
//! had arrived (traffic stopped in between), so nothing is in flight when they are compared.

use serde::{Deserialize, Serialize};

/// Lost datagrams, by the place where they were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// In the sender's host: refused by its kernel, or dropped by a queue or device on its way out.
    pub sender: u64,
    /// Between the two devices, in the receiver's device, or damaged on the way.
    pub path: u64,
    /// In the receiving socket: its buffer was full.
    pub receiver_buffer: u64,
    /// In the receiving program: arrived, and not counted because it could not be placed in its flow.
    pub application: u64,
}

impl Places {
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sender + self.path + self.receiver_buffer + self.application
    }

    #[must_use]
    pub fn and(self, other: Places) -> Places {
        Places {
            sender: self.sender + other.sender,
            path: self.path + other.path,
            receiver_buffer: self.receiver_buffer + other.receiver_buffer,
            application: self.application + other.application,
        }
    }
}

/// Losses observed at each place. `None`: nothing could be read there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Sent by the program and refused or dropped by the sender's kernel.
    pub sender: u64,
    /// Frames that left the sender's device and did not reach the receiver's.
    pub between: Option<u64>,
    /// Dropped by the receiver's device and its queue, or damaged.
    pub receiver_device: u64,
    pub receiver_buffer: Option<u64>,
    pub application: u64,
}

/// Places `lost` datagrams; returns what stays unplaced as well. A place never gets more than was lost, so counters that
/// others share (a device's) may over-report without harm; those that only we use come first.
#[must_use]
pub fn place(lost: u64, observed: &Observed) -> (Places, u64) {
    let mut rest = lost;
    let mut take = |count: u64| {
        let taken = count.min(rest);
        rest -= taken;
        taken
    };
    let receiver_buffer = take(observed.receiver_buffer.unwrap_or(0));
    let application = take(observed.application);
    let sender = take(observed.sender);
    let path = take(observed.receiver_device) + take(observed.between.unwrap_or(0));
    (Places { sender, path, receiver_buffer, application }, rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_loss_goes_where_it_was_seen_to_go() {
        let observed = Observed {
            sender: 1,
            between: Some(20),
            receiver_device: 300,
            receiver_buffer: Some(4000),
            application: 50_000,
        };
        let (places, unplaced) = place(54_321, &observed);
        assert_eq!(places, Places { sender: 1, path: 320, receiver_buffer: 4000, application: 50_000 });
        assert_eq!(unplaced, 0);
    }

    #[test]
    fn what_nobody_saw_is_not_given_to_anybody() {
        let (places, unplaced) = place(7, &Observed { receiver_buffer: Some(2), ..Observed::default() });
        assert_eq!((places.receiver_buffer, places.sum(), unplaced), (2, 2, 5));
        assert_eq!(place(7, &Observed::default()).1, 7, "no counter at all");
    }

    #[test]
    fn a_shared_counter_that_claims_too_much_takes_nothing_from_our_own() {
        let observed = Observed { between: Some(1_000_000), receiver_buffer: Some(10), ..Observed::default() };
        assert_eq!(place(10, &observed), (Places { receiver_buffer: 10, ..Places::default() }, 0));
        assert_eq!(place(0, &observed), (Places::default(), 0));
    }

    proptest! {
        #[test]
        fn every_loss_is_placed_or_reported_as_not_placed(
            lost in 0..1000_u64, counts in prop::array::uniform5(0..500_u64), visible: [bool; 2],
        ) {
            let [sender, between, receiver_device, buffer, application] = counts;
            let observed = Observed {
                sender,
                between: visible[0].then_some(between),
                receiver_device,
                receiver_buffer: visible[1].then_some(buffer),
                application,
            };
            let (places, unplaced) = place(lost, &observed);
            prop_assert_eq!(places.sum() + unplaced, lost);
            prop_assert!(places.sender <= sender && places.application <= application);
        }
    }
}
