//! Warnings of threads in the background, on standard error: what they could not do has no caller to return to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use takt_base::{Clock, Notes, WallClock};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::streams::{self, Ink, Lines};

/// From now on warnings are shown.
pub fn show() {
    let ours = |metadata: &Metadata<'_>| *metadata.level() <= Level::WARN && !is_zenoh(metadata);
    let format = tracing_subscriber::fmt::layer().with_writer(|| Lines).without_time().with_target(false);
    // Only a second subscriber can be refused, and main calls once.
    let _ = tracing_subscriber::registry().with(format.with_filter(filter_fn(ours))).with(Strangers).try_init();
}

fn is_zenoh(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("zenoh")
}

/// Whoever knocks again and again is not to fill the log.
static REFUSED: Mutex<Notes> = Mutex::new(Notes::new("refused   "));

/// How many were.
static REFUSED_PEERS: AtomicU64 = AtomicU64::new(0);

/// Peers that TLS has refused since the program began.
#[cfg(feature = "cluster")]
pub fn refused_peers() -> u64 {
    REFUSED_PEERS.load(Ordering::Relaxed)
}

/// Says that a stranger was refused. A person must know that, of all that Zenoh warns of. The rest is about peers that
/// come and go, and takt itself says what follows.
struct Strangers;

impl<S: Subscriber> Layer<S> for Strangers {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= Level::WARN && is_zenoh(event.metadata()) {
            let mut text = Text(String::new());
            event.record(&mut text);
            if let Some(why) = refusal(&text.0) {
                REFUSED_PEERS.fetch_add(1, Ordering::Relaxed);
                let mut notes = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
                let now_ns = WallClock.now().0;
                notes.add(now_ns, &format!("a peer without a certificate of this cluster: {why}"));
                for line in notes.take(now_ns) {
                    streams::err(&format!("{line}\n"), Ink::None);
                }
            }
        }
    }
}

/// Why TLS refused a peer, if the warning says that it did. The words are those of rustls.
fn refusal(warning: &str) -> Option<&str> {
    const SIGNS: [&str; 4] = ["fatal alert", "invalid peer certificate", "peer sent no certificates", "UnknownIssuer"];
    let why = warning.split(". Hint:").next().unwrap_or(warning);
    SIGNS.iter().any(|sign| why.contains(sign)).then_some(why)
}

/// The message of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_other_warnings() {
        let refused = "received fatal alert: DecryptError. Hint: increase the system open file limit.";
        assert_eq!(refusal(refused), Some("received fatal alert: DecryptError"));
        assert_eq!(refusal("Skipping name verification of TLS server"), None);
    }
}
