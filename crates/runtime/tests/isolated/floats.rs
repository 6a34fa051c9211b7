//! Components of numbers, as a user writes them.

use takt_graph::{Item, Kind, Length, Shape, Value};
use takt_runtime::{Component, Io, MakeError, Message, Registration, component};

/// Multiplies and adds.
#[component(name = "float-saxpy")]
fn saxpy(
    input: In<f32>,
    mut output: Out<f32>,
    /// Factor.
    #[param(default = 1.5, variable)]
    a: f32,
    /// Term.
    #[param(default = 0.1)]
    b: f32,
) {
    output.iter_mut().zip(input).for_each(|(y, x)| *y = a * x + b);
}

/// Gives numbers that follow on, as many as the slot says.
#[component(name = "float-source")]
fn source(
    slot: u64,
    #[port(up_to = items)] mut output: Out<f32>,
    /// At most so many.
    #[param(range = 1..=100_000, default = 64)]
    items: u32,
    /// Whether there are none, one, two, ... of them, or always as many as may be.
    #[param(default = true)]
    varying: bool,
) {
    let first = output.first_item();
    output.iter_mut().zip(first..).for_each(|(y, n)| *y = (n % 1000) as f32);
    if varying {
        output.truncate((slot % u64::from(items)) as usize);
    }
}

struct Average {
    window: usize,
    panic_in: Option<u64>,
    received: i64,
}

/// Sums a sliding window; panics in slot `panic_in`.
#[component(name = "float-average")]
impl Average {
    fn new(
        #[param(range = 1..=64, default = 2)] window: usize,
        #[param(unit = "slots", default = -1)] panic_in: i64,
    ) -> Result<Average, MakeError> {
        if window == 13 {
            return Err(MakeError { what: "thirteen is refused".into(), fix: "take 12 or 14".into() });
        }
        Ok(Average { window, panic_in: u64::try_from(panic_in).ok(), received: 0 })
    }

    fn tick(&mut self, slot: u64, #[port(history = window - 1)] input: In<f32>, mut output: Out<f32>) {
        assert!(self.panic_in != Some(slot), "on purpose");
        let windows = input.with_history().windows(self.window);
        output.iter_mut().zip(windows).for_each(|(y, window)| *y = window.iter().sum());
    }

    fn message(&mut self, message: &Message) {
        self.received += message.words[0] as i64;
    }

    fn degrade(&mut self) {
        self.received = -1;
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("received", self.received.into()), ("window", (self.window as i64).into())]
    }
}

/// Gives too few numbers in slot 3, too many in slot 5, none in slot 6, and says that it lost slot 7, and the packet of slot 8.
struct Aerial;

impl Component for Aerial {
    fn tick(&mut self, io: &mut Io<'_>) {
        let slot = io.slot;
        let mut output = io.outputs[0].write::<f32>();
        output.fill(slot as f32);
        match slot {
            3 => output.truncate(3),
            5 => output.truncate(5),
            6 => output.truncate(0),
            7 => io.lose(),
            8 => output.lose(),
            _ => {}
        }
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || Kind::new("float-aerial", "Brings numbers from outside, as far as they come."),
        shape: |_| Ok(Shape::new().output("out", Item::F32, Length::Fixed(4))),
        make: |_| Ok(Box::new(Aerial)),
    }
}

/// Negates, in place.
#[component(name = "float-negate")]
fn negate(mut items: InOut<f32>) {
    items.iter_mut().for_each(|x| *x = -*x);
}

/// Passes packets of four numbers on, and no others.
#[component(name = "float-whole")]
fn whole(input: In<f32>, #[port(fixed = 4)] mut output: Out<f32>) {
    match input.len() {
        4 => output.copy_from_slice(&input),
        _ => output.truncate(0),
    }
}

/// Takes packets.
#[component(name = "float-sink")]
fn sink(input: In<f32>) {
    let _ = input;
}
