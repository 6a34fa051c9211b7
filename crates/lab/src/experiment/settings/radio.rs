//! Sample streams and answers: `rate` and `round-trip`.

use takt_load::Kind::RoundTrip;

use super::{Kind, Setting, Takes};

const RADIO: &[Kind] = &[Kind::Rate, RoundTrip];

pub(super) const ROWS: &[Setting] = &[
    Setting { name: "model", takes: Takes::Word(&["n200"]), of: RADIO, default: Some("n200"), about: "the radio" },
    Setting {
        name: "mode",
        takes: Takes::Word(&["rx", "tx", "duplex"]),
        of: &[Kind::Rate],
        default: None,
        about: "which way samples flow",
    },
    Setting {
        name: "rate_sps",
        takes: Takes::Rate,
        of: RADIO,
        default: None,
        about: "samples a second, each direction",
    },
    Setting {
        name: "format",
        takes: Takes::Word(&["sc16", "sc8"]),
        of: &[Kind::Rate],
        default: Some("sc16"),
        about: "sample format on the wire",
    },
    Setting {
        name: "source",
        takes: Takes::Word(&["tone", "counter"]),
        of: &[Kind::Rate],
        default: Some("tone"),
        about: "what an emulated radio plays; of a counter each sample is its number, and the receiver looks for gaps",
    },
    Setting {
        name: "recv_buffer",
        takes: Takes::Buffer,
        of: &[Kind::Rate],
        default: Some("usual"),
        about: "receive buffer of the socket that samples come to; usual: what an ordinary program gets",
    },
    Setting {
        name: "policy",
        takes: Takes::Word(&["normal", "fifo"]),
        of: RADIO,
        default: Some("normal"),
        about: "scheduling of the threads that stream",
    },
    Setting {
        name: "delay",
        takes: Takes::Span,
        of: &[RoundTrip],
        default: None,
        about: "time between the samples and the answer to them",
    },
];
