//! Parameters, packets and values out of a stranger's bytes, for every component of a standard, and the channels. Nothing may panic: what does not
//! go together is refused when the component is made, and what is made takes packets of any length, with any bytes in them.
//!
//! Shared by `tests/together/hostile.rs` and the fuzz target `components`.

use std::sync::LazyLock;

use takt_graph::{Accepts, Catalogue, Domain, Kind, Length, ParamSpec, Params, Shape, Value};
use takt_runtime::{Bench, Registry};

/// The coding, the modems and the channels.
const PREFIXES: [&str; 5] = ["lte-", "umts-", "td-scdma-", "bpsk-", "awgn"];

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    takt_phy::link();
    Registry::of_program().expect("one name each")
});

/// Items of the longest packet that is fed or given; what would be longer is not made, for the sake of time.
const LONGEST: usize = 1 << 15;

/// Items that any component is fed.
const SHORT: usize = 4096;

#[path = "../../../dsp/tests/support/stranger.rs"]
mod stranger;
pub use stranger::Stranger;

impl Stranger<'_> {
    fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Bits of all values, soft values that are extreme, floats that are none.
    fn items(&mut self, bytes: usize) -> Vec<u8> {
        let extremes = self.byte().is_multiple_of(3);
        let extreme = |byte: u8| [0x80, 0x7f, 0, 0xff][usize::from(byte % 4)];
        self.cycled().map(|byte| if extremes { extreme(byte) } else { byte }).take(bytes).collect()
    }

    /// Mostly what is legal and short, often rounded, as lengths are; sometimes the bounds and beyond.
    fn whole(&mut self, min: i64, max: i64) -> i64 {
        let (scale, number) = (self.byte(), self.number());
        match scale {
            250 => min,
            251 => max,
            252 => max.saturating_add(1),
            253 => min.saturating_sub(1),
            _ => {
                let span = (max as u64).wrapping_sub(min as u64).max(1) >> (scale % 16);
                let above = (number % span.max(1)) as i64;
                min.saturating_add(above) >> (scale % 7) << (scale % 7)
            }
        }
    }

    fn value(&mut self, param: &ParamSpec) -> Value {
        match &param.domain {
            Domain::Bool => self.byte().is_multiple_of(2).into(),
            Domain::Int { min, max } => self.whole(*min, *max).into(),
            Domain::Float { min, max } => (min + (max - min) * f64::from(self.byte()) / 250.0).into(),
            Domain::Choice { of } => of[usize::from(self.byte()) % of.len()].as_str().into(),
            Domain::Text => "".into(),
            Domain::Floats { .. } => vec![f64::from(self.byte()); 3].into(),
        }
    }

    fn params(&mut self, kind: &Kind) -> Params {
        let mut params = Params::new();
        for param in &kind.params {
            let name = param.names().nth(usize::from(self.byte() % 4)).unwrap_or(&param.name);
            if !self.byte().is_multiple_of(3) {
                params.set(name, self.value(param));
            }
        }
        params
    }
}

/// Runs what `bytes` select.
pub fn component(bytes: &[u8]) {
    let mut stranger = Stranger::new(bytes);
    let known = |kind: &&Kind| PREFIXES.iter().any(|prefix| kind.name.starts_with(prefix));
    let kinds: Vec<&Kind> = REGISTRY.kinds().into_iter().filter(known).collect();
    let kind = stranger.pick(&kinds);
    let params = stranger.params(kind);
    let Ok(complete) = kind.resolve(&params) else { return };
    let Ok(shape) = REGISTRY.shape(kind, &complete) else { return };
    let room = longest(&shape).max(SHORT);
    if room > LONGEST {
        return;
    }
    let Ok(mut bench) = Bench::sized(&REGISTRY, &kind.name, &complete, room) else { return };
    for _ in 0..2 {
        for (index, input) in shape.inputs.iter().enumerate() {
            let items = packet(&mut stranger, input.accepts).min(room);
            bench.feed_bytes(index, &stranger.items(items * input.item.bytes()));
        }
        bench.try_tick().unwrap_or_else(|error| panic!("{} with {complete:?}: {error}", kind.name));
        for param in kind.params.iter().filter(|param| param.variable) {
            if let Ok(value) = param.admit(&stranger.value(param)) {
                bench.set(&param.name, value);
            }
        }
    }
    let _ = bench.results();
}

fn longest(shape: &Shape) -> usize {
    let taken = shape.inputs.iter().map(|input| match input.accepts {
        Accepts::Exactly(items) | Accepts::MultipleOf(items) => items as usize,
        _ => 0,
    });
    let given = shape.outputs.iter().map(|output| match output.length {
        Length::Fixed(items) | Length::UpTo(items) => items as usize,
        Length::Ratio { num, den, .. } => SHORT * num as usize / den as usize,
    });
    taken.chain(given).max().unwrap_or(0)
}

/// Items of a packet: mostly as many as it takes.
fn packet(stranger: &mut Stranger<'_>, accepts: Accepts) -> usize {
    let any = usize::from(stranger.byte()) << (stranger.byte() % 5);
    let taken = match accepts {
        Accepts::Exactly(items) => items as usize,
        Accepts::MultipleOf(items) => any.next_multiple_of((items as usize).max(1)),
        _ => any,
    };
    match stranger.byte() {
        0..200 => taken,
        200..210 => 0,
        210..220 => taken.saturating_sub(1),
        220..230 => taken + 1,
        _ => any,
    }
}
