//! The waveforms that need no file.

use std::time::Duration;

use takt_graph::{ComponentSpec, GraphError, Waveform};

/// Names of what comes with the program.
pub const NAMES: &[&str] = &["bpsk", "utran", "utran-ref", "modem", CHAIN];

/// A chain of components that do nothing, as long as requested.
pub const CHAIN: &str = "chain";

/// A waveform by its name: `bpsk`, `utran` and `utran-ref` (the files of those names), `modem` (source, modulator,
/// demodulator, sink: bits to 16-bit samples and back), `chain` (a null source, copies, a null sink: one item a packet, if
/// nothing else is set). `None`: it is none of these.
pub fn named(name: &str, components: usize) -> Option<Result<Waveform, GraphError>> {
    match name {
        "bpsk" => Some(Waveform::parse("bpsk.toml", include_str!("../../../../waveforms/bpsk.toml"))),
        "utran" => Some(Waveform::parse("utran.toml", include_str!("../../../../waveforms/utran.toml"))),
        "utran-ref" => Some(Waveform::parse("utran-ref.toml", include_str!("../../../../waveforms/utran-ref.toml"))),
        "modem" => Some(Ok(modem())),
        CHAIN => Some(Ok(chain(components))),
        _ => None,
    }
}

fn modem() -> Waveform {
    Waveform::new("modem", Duration::from_millis(1))
        .with(ComponentSpec::new("source", "bit-source"))
        .with(ComponentSpec::new("modulator", "bpsk-modulate"))
        .with(ComponentSpec::new("demodulator", "bpsk-demodulate"))
        .with(ComponentSpec::new("sink", "hash-sink"))
        .chain(["source", "modulator", "demodulator", "sink"])
}

fn chain(components: usize) -> Waveform {
    let copies: Vec<String> = (1..components.saturating_sub(1)).map(|n| format!("copy{n}")).collect();
    let source = ComponentSpec::new("source", "null-source").param("items", 1);
    let blank = Waveform::new("chain", Duration::from_millis(1)).with(source);
    let waveform = copies.iter().fold(blank, |waveform, name| waveform.with(ComponentSpec::new(name, "copy")));
    let names = ["source"].into_iter().chain(copies.iter().map(String::as_str)).chain(["sink"]);
    waveform.with(ComponentSpec::new("sink", "null-sink")).chain(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_as_many_components_as_requested_and_two_at_least() {
        let of = |components| named("chain", components).expect("a name").expect("right");
        for (requested, has) in [(2, 2), (3, 3), (64, 64), (0, 2)] {
            let waveform = of(requested);
            assert_eq!((waveform.components.len(), waveform.links.len()), (has, has - 1));
        }
        assert!(NAMES.iter().all(|name| named(name, 4).is_some()));
        assert!(named("bpks", 4).is_none());
    }
}
