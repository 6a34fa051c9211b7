//! Waveforms on the beat: `waveform`, `longest-packet`, `roles`.

use takt_load::Kind::{LongestPacket, Roles};

use super::{Kind, Setting, Takes};

const BEAT: &[Kind] = &[Kind::Waveform, LongestPacket];

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "waveform",
        takes: Takes::Waveform,
        of: BEAT,
        default: Some("bpsk"),
        about: "what runs: a file, or one that comes with takt",
    },
    Setting {
        name: "components",
        takes: Takes::Whole(2, 1024),
        of: &[Kind::Waveform, LongestPacket, Roles],
        default: Some("2"),
        about: "components of a chain, and of the waveform whose loading is timed",
    },
    Setting {
        name: "packet",
        takes: Takes::Packet,
        of: &[Kind::Waveform],
        default: Some("as-written"),
        about: "what each source makes in a slot",
    },
    Setting {
        name: "slot",
        takes: Takes::Span,
        of: &[Kind::Waveform, LongestPacket, Roles],
        default: Some("1ms"),
        about: "length of a slot, whatever the file says",
    },
    Setting {
        name: "slots",
        takes: Takes::Slots,
        of: &[Kind::Waveform],
        default: Some("by-duration"),
        about: "how many slots are measured",
    },
    Setting {
        name: "workers",
        takes: Takes::Whole(1, 64),
        of: BEAT,
        default: Some("1"),
        about: "workers, each on a core of its own",
    },
    Setting {
        name: "latency",
        takes: Takes::Word(&["fixed", "compact"]),
        of: BEAT,
        default: Some("compact"),
        about: "a slot each hop, or only between workers",
    },
    Setting {
        name: "clock",
        takes: Takes::Word(&["wall", "free"]),
        of: &[Kind::Waveform],
        default: Some("wall"),
        about: "the host's clock, or as fast as can be",
    },
    Setting {
        name: "priority",
        takes: Takes::Word(&["highest", "fifo", "normal"]),
        of: BEAT,
        default: Some("highest"),
        about: "scheduling of the workers; highest is fifo where permitted",
    },
    Setting {
        name: "process",
        takes: Takes::Word(&["shared", "fresh"]),
        of: &[Kind::Waveform],
        default: Some("shared"),
        about: "whether each round has a process of its own, as memory needs it",
    },
];
