//! When engine `uring` offers what it sends by zero copy, and what came of it.
//!
//! Zero copy has a price: a message is answered twice, and memory is held and let go. It pays where datagrams are long and the path
//! really leaves them where they are. The kernel says of each message whether it did: on the way to a socket of this host, through
//! loopback or a virtual cable, it copies all the same, since no receiver may see the sender's memory. So the rule is:
//!
//! 1. The kernel has such sends (its probe says so), or all is copied.
//! 2. Datagrams of at least [`LEAST_BYTES`] are offered, alone or as an aggregate.
//! 3. When of [`TRIAL`] messages more than half were copied all the same, all is copied from then on.
//! 4. A message that the kernel refuses by zero copy is copied; after that, or the [`STRIKES`]th time where the reason
//!    may pass, all is.
//!
//! It never begins anew: a path that comes to be better wants a new engine.

use rustix::io::Errno;

use crate::sys::ring::Usage;
use crate::{Config, Way, ZeroCopy};

/// From here on it costs less than the copy, on a device that leaves bytes where they are (`cargo bench --bench zero_copy`).
const LEAST_BYTES: usize = 4096;
/// Messages (a datagram each, or an aggregate) by which a path is judged.
const TRIAL: u64 = 64;
/// Refusals for reasons that may pass (memory, a full queue) until it is left.
const STRIKES: u32 = 16;

/// How the bytes of what is sent come to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// Copied, as was requested for, or since it is little beside what is received.
    Copied,
    /// Copied: the kernel has nothing else (before Linux 6.1, or its probe is kept from this process).
    CopiedByOldKernel,
    /// Copied: nothing long enough was sent, or can be.
    CopiedShort,
    /// Copied: the path copies what is offered by zero copy, too.
    CopiedByPath,
    /// Copied: the kernel refused zero copy.
    CopiedRefused,
    /// By zero copy, of which the kernel has not yet reported whether it was any.
    Unconfirmed,
    /// By zero copy, most of it, as the kernel says.
    ZeroCopy,
}

/// The rule of this page.
#[derive(Debug)]
pub(crate) struct Rule {
    requested: ZeroCopy,
    /// Why all is copied, if it is.
    copies: Option<Sending>,
    /// Whether something has been offered.
    offered: bool,
    /// Counts at the beginning of the present trial.
    trial: Usage,
    strikes: u32,
}

impl Rule {
    /// For an engine as it is requested for; `kernel`: whether it has such sends.
    pub(crate) fn new(config: &Config, kernel: bool) -> Rule {
        let requested = config.zero_copy;
        let copies = match (requested, kernel) {
            (ZeroCopy::Never, _) => Some(Sending::Copied),
            (ZeroCopy::Auto, _) if config.way == Way::Receive => Some(Sending::Copied),
            (_, false) => Some(Sending::CopiedByOldKernel),
            (ZeroCopy::Auto, true) if config.max_payload_bytes < LEAST_BYTES => Some(Sending::CopiedShort),
            _ => None,
        };
        Rule { requested, copies, offered: false, trial: Usage::default(), strikes: 0 }
    }

    /// Bytes of the shortest datagram that is offered; `None` if none is.
    pub(crate) fn least_bytes(&self) -> Option<usize> {
        // An empty one has nothing to leave where it is.
        let least = if self.requested == ZeroCopy::Always { 1 } else { LEAST_BYTES };
        self.copies.is_none().then_some(least)
    }

    /// Something is offered.
    pub(crate) fn offer(&mut self) {
        self.offered = true;
    }

    /// Judges the path by what the kernel has reported so far.
    pub(crate) fn judge(&mut self, usage: Usage) {
        let Usage { zero_copy, copied } = usage;
        let (zero_copy, copied) = (zero_copy - self.trial.zero_copy, copied - self.trial.copied);
        if self.requested != ZeroCopy::Auto || self.copies.is_some() || zero_copy + copied < TRIAL {
            return;
        }
        self.trial = usage;
        if copied > zero_copy {
            self.copies = Some(Sending::CopiedByPath);
        }
    }

    /// A message was refused with `errno`, and then taken as a copy.
    pub(crate) fn refuse(&mut self, errno: Errno) {
        self.strikes += 1;
        let passes = matches!(errno, Errno::NOMEM | Errno::NOBUFS | Errno::MSGSIZE);
        if !passes || self.strikes >= STRIKES {
            self.copies = self.copies.or(Some(Sending::CopiedRefused));
        }
    }

    /// How messages leave, for records.
    pub(crate) fn sending(&self, usage: Usage) -> Sending {
        match (self.copies, usage) {
            (Some(why), _) => why,
            (None, Usage { zero_copy: 0, copied: 0 }) if self.offered => Sending::Unconfirmed,
            (None, Usage { zero_copy: 0, copied: 0 }) => Sending::CopiedShort,
            (None, Usage { zero_copy, copied }) if copied > zero_copy => Sending::CopiedByPath,
            _ => Sending::ZeroCopy,
        }
    }
}

/// Whether an answer can mean "not by zero copy": so much memory may not be pinned (`mm_account_pinned_pages`), the message has more
/// pieces than a frame refers to, or this protocol has none.
pub(crate) fn refuses_zero_copy(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::OPNOTSUPP | Errno::MSGSIZE | Errno::NOMEM | Errno::NOBUFS)
}

impl Sending {
    /// In words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Sending::Copied => "kernel sockets, copied",
            Sending::CopiedByOldKernel => "kernel sockets, copied: this kernel has no zero copy",
            Sending::CopiedShort => "kernel sockets, copied: nothing long was sent",
            Sending::CopiedByPath => "kernel sockets, copied: this path always copies",
            Sending::CopiedRefused => "kernel sockets, copied: zero copy was refused",
            Sending::Unconfirmed => "kernel sockets, zero copy not yet confirmed",
            Sending::ZeroCopy => "kernel sockets, sent by zero copy",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(zero_copy: ZeroCopy, kernel: bool) -> Rule {
        Rule::new(&Config { zero_copy, max_payload_bytes: 8000, ..Config::new(Vec::new()) }, kernel)
    }

    fn after(rule: &mut Rule, zero_copy: u64, copied: u64) -> Sending {
        rule.offer();
        rule.judge(Usage { zero_copy, copied });
        rule.sending(Usage { zero_copy, copied })
    }

    #[test]
    fn a_kernel_without_it_or_one_that_is_not_to_is_offered_nothing() {
        for (requested, kernel, sending) in [
            (ZeroCopy::Never, true, Sending::Copied),
            (ZeroCopy::Never, false, Sending::Copied),
            (ZeroCopy::Auto, false, Sending::CopiedByOldKernel),
            (ZeroCopy::Always, false, Sending::CopiedByOldKernel),
        ] {
            let rule = rule_of(requested, kernel);
            assert_eq!((rule.least_bytes(), rule.sending(Usage::default())), (None, sending));
        }
        assert_eq!(rule_of(ZeroCopy::Auto, true).least_bytes(), Some(LEAST_BYTES));
        assert_eq!(rule_of(ZeroCopy::Always, true).least_bytes(), Some(1));
    }

    #[test]
    fn an_engine_that_sends_little_or_short_datagrams_offers_none_unless_requested() {
        let short = Config::new(Vec::new());
        let receives = Config { way: Way::Receive, max_payload_bytes: 8000, ..short.clone() };
        for (config, sending) in [(short, Sending::CopiedShort), (receives, Sending::Copied)] {
            let rule = Rule::new(&config, true);
            assert_eq!((rule.least_bytes(), rule.sending(Usage::default())), (None, sending));
            let rule = Rule::new(&Config { zero_copy: ZeroCopy::Always, ..config }, true);
            assert_eq!(rule.least_bytes(), Some(1));
        }
    }

    #[test]
    fn a_path_is_judged_by_the_trial_and_again_by_each_that_follows() {
        let mut rule = rule_of(ZeroCopy::Auto, true);
        assert_eq!(rule.sending(Usage::default()), Sending::CopiedShort);
        assert_eq!(after(&mut rule, 0, 0), Sending::Unconfirmed);
        assert_eq!(after(&mut rule, 0, TRIAL - 1), Sending::CopiedByPath);
        assert!(rule.least_bytes().is_some(), "a trial is not over before its end");
        assert_eq!(after(&mut rule, TRIAL, TRIAL - 1), Sending::ZeroCopy);
        // The route leads through another device now.
        assert_eq!(after(&mut rule, TRIAL + 10, 2 * TRIAL - 1), Sending::CopiedByPath);
        assert_eq!(rule.least_bytes(), None);
        assert_eq!(after(&mut rule, 1000 * TRIAL, 2 * TRIAL), Sending::CopiedByPath, "for good");
    }

    #[test]
    fn who_insists_is_offered_all_and_still_learns_that_it_was_copied() {
        let mut rule = rule_of(ZeroCopy::Always, true);
        assert_eq!(after(&mut rule, 0, 100 * TRIAL), Sending::CopiedByPath);
        assert_eq!(rule.least_bytes(), Some(1));
    }

    #[test]
    fn a_refusal_that_may_pass_is_forgiven_some_times_and_another_is_not() {
        let mut rule = rule_of(ZeroCopy::Always, true);
        (1..STRIKES).for_each(|_| rule.refuse(Errno::NOBUFS));
        assert!(rule.least_bytes().is_some());
        rule.refuse(Errno::NOBUFS);
        assert_eq!((rule.least_bytes(), rule.sending(Usage::default())), (None, Sending::CopiedRefused));
        let mut rule = rule_of(ZeroCopy::Auto, true);
        rule.refuse(Errno::INVAL);
        assert_eq!(rule.least_bytes(), None);
    }
}
