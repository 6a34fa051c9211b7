//! `#[component]` on functions and on structs.

use takt_graph::{Catalogue, Domain, Params, Value};
use takt_runtime::{Bench, MakeError, Registry, component};

/// Multiplies by a constant.
#[component]
fn gain(
    input: In<f32>,
    mut output: Out<f32>,
    /// How much.
    #[param(unit = "dB", range = -100.0..=100.0, default = 0.0, variable)]
    gain_db: f32,
) {
    let factor = 10_f32.powf(gain_db / 20.0);
    output.iter_mut().zip(input).for_each(|(y, x)| *y = x * factor);
}

/// Counts up.
#[component(name = "ramp")]
fn ramp_of_bytes(
    slot: u64,
    #[port(fixed = items)] mut output: Out<u8>,
    #[param(name = "N", alias = "items", alias = "length", range = 1..=100)] items: u32,
) {
    output.iter_mut().enumerate().for_each(|(n, byte)| *byte = (slot * u64::from(items) + n as u64) as u8);
}

/// Inverts, in place.
#[component]
fn invert(mut bits: InOut<takt_runtime::Bit>) {
    bits.iter_mut().for_each(|bit| bit.0 ^= 1);
}

struct Average {
    window: usize,
    packets: i64,
}

/// Sums a sliding window.
#[component]
impl Average {
    fn new(#[param(range = 1..=64, default = 2)] window: usize) -> Result<Average, MakeError> {
        if window == 13 {
            return Err(MakeError { what: "thirteen is refused".into(), fix: "take 12 or 14".into() });
        }
        Ok(Average { window, packets: 0 })
    }

    fn tick(&mut self, #[port(history = window - 1)] input: In<f32>, mut output: Out<f32>) {
        self.packets += 1;
        let windows = input.with_history().windows(self.window);
        output.iter_mut().zip(windows).for_each(|(y, window)| *y = window.iter().sum());
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("packets", self.packets.into())]
    }
}

fn registry() -> Registry {
    Registry::of_program().expect("one name each")
}

#[test]
fn a_function_is_a_documented_component_type() {
    let registry = registry();
    let kind = registry.kind("gain").expect("registered");
    assert_eq!((kind.summary.as_str(), kind.stateless), ("Multiplies by a constant.", true));
    let param = &kind.params[0];
    assert_eq!((param.name.as_str(), param.unit.as_str(), param.doc.as_str()), ("gain_db", "dB", "How much."));
    assert_eq!((&param.domain, param.variable), (&Domain::Float { min: -100.0, max: 100.0 }, true));
    let mut gain = Bench::named(&registry, "gain", &Params::new().with("gain_db", 20.0)).expect("made");
    assert_eq!(gain.feed("in", &[1.0_f32, -2.0]).tick().output::<f32>("out"), [10.0, -20.0]);
    gain.set("gain_db", -20.0);
    assert_eq!(gain.feed("in", &[1.0_f32]).tick().output::<f32>("out"), [0.1]);
}

#[test]
fn an_output_without_an_input_has_the_length_its_parameter_says() {
    let mut ramp = Bench::named(&registry(), "ramp", &Params::new().with("items", 3)).expect("made"); // an alias of N
    assert_eq!(ramp.tick().output::<u8>("out"), [0, 1, 2]);
    assert_eq!(ramp.tick().output::<u8>("out"), [3, 4, 5]);
}

#[test]
fn a_port_changed_in_place_is_an_input_and_an_output() {
    let mut invert = Bench::named(&registry(), "invert", &Params::new()).expect("made");
    let bits = [0, 1, 1].map(takt_runtime::Bit);
    assert_eq!(invert.feed("in", &bits).tick().output::<takt_runtime::Bit>("out"), [1, 0, 0].map(takt_runtime::Bit));
}

#[test]
fn a_struct_keeps_its_state_and_sees_its_history() {
    let registry = registry();
    assert!(!registry.kind("average").expect("registered").stateless);
    let mut average = Bench::named(&registry, "average", &Params::new().with("window", 3)).expect("made");
    assert_eq!(average.feed("in", &[1.0_f32, 2.0]).tick().output::<f32>("out"), [1.0, 3.0]);
    assert_eq!(average.feed("in", &[4.0_f32]).tick().output::<f32>("out"), [7.0]);
    assert_eq!(average.results()["packets"], 2.into());
    let refused = Bench::named(&registry, "average", &Params::new().with("window", 13)).expect_err("refused");
    assert_eq!(refused.to_string(), "thirteen is refused");
}
