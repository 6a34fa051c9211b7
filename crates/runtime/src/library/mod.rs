//! Component types by name: those of this program, and those of shared libraries.
//!
//! A waveform names its components, so that one program runs waveforms it was not built for. A shared library brings more
//! of them. It has one symbol, [`Table`]: functions of the C calling convention over C types, behind a magic word and the
//! version of this interface. No Rust type crosses it, so library and program may come from different compilers and from
//! different versions of this crate, as long as they speak the same version. Component types, ports, parameters and
//! results travel as JSON of that version, outside real time; packets stay where they are, and are lent to the library for
//! one tick. A panic never crosses: it becomes a status on the library's side, and a fault of the component on the program's.
//!
//! - [`Registry::of_program`] has the types that are linked in.
//! - [`crate::export!`] makes the table in a user's `cdylib`: one line exports all its components.
//! - [`Registry::load`] adds the types of such a library, which stays in memory until the program ends. Loading runs its code
//!   in this process with all its rights: load what you would run.

mod abi;
mod export;
mod load;
mod registry;

#[doc(hidden)]
pub use abi::Table;
pub(crate) use abi::Word;
#[doc(hidden)]
pub use export::TABLE;
pub use load::LibraryError;
pub(crate) use load::{LibraryKind, open};
pub use registry::{Equipment, NameTaken, Registration, Registry};

/// Makes a `cdylib` a library of components: all those it declares with `#[component]`, or submits to the inventory.
///
/// ```
/// use takt_runtime::component;
///
/// /// Inverts, in place.
/// #[component(name = "my-invert")]
/// fn invert(mut bits: InOut<takt_runtime::Bit>) {
///     bits.iter_mut().for_each(|bit| bit.0 ^= 1);
/// }
///
/// takt_runtime::export!();
/// ```
///
/// In the crate's `Cargo.toml`: `[lib] crate-type = ["cdylib"]`.
#[macro_export]
macro_rules! export {
    () => {
        /// What `takt` looks for in this library.
        #[allow(unsafe_code, non_upper_case_globals, reason = "a symbol has one name for all")]
        #[unsafe(no_mangle)]
        pub static takt_library: $crate::library::Table = $crate::library::TABLE;
    };
}

#[cfg(test)]
mod tests {
    use takt_graph::{Accepts, Item, Kind, Length, Params, Shape, Value};

    use crate::library::LibraryKind;
    use crate::session::{Bench, LONGEST};
    use crate::{Component, Io, Message, Registration, Scalar};

    #[derive(Default)]
    struct Probe {
        factor: f32,
        received: u64,
    }

    impl Component for Probe {
        fn tick(&mut self, io: &mut Io<'_>) {
            assert!(self.received != 13, "on purpose");
            let input = io.inputs[0].read::<f32>();
            let mut output = io.outputs[0].write::<f32>();
            output.iter_mut().zip(input.with_history()).for_each(|(y, x)| *y = x * self.factor);
            output.truncate(input.len());
            io.outputs[1].bytes_mut().copy_from_slice(&io.inputs[1].bytes()[..2]);
        }
        fn set(&mut self, _: usize, value: Scalar) {
            self.factor = value.as_f64() as f32;
        }
        fn get(&self, _: usize) -> Option<Scalar> {
            Some(Scalar::Float(self.factor.into()))
        }
        fn message(&mut self, message: &Message) {
            self.received = message.words[6];
        }
        fn degrade(&mut self) {
            self.received = 0;
        }
        fn results(&self) -> Vec<(&'static str, Value)> {
            vec![("factor", f64::from(self.factor).into()), ("received", (self.received as i64).into())]
        }
    }

    inventory::submit! {
        Registration {
            kind: || Kind::new("library-probe", "Looks at everything."),
            shape: |_| {
                let shape = Shape::new().input_of("in", Item::F32, Accepts::Any, 2).input("bytes", Item::Byte);
                Ok(shape.output("out", Item::F32, Length::UpTo(8)).output("first", Item::Byte, Length::Fixed(2)))
            },
            make: |_| Ok(Box::new(Probe { factor: 1.0, received: 0 })),
        }
    }

    /// Both sides of the interface in one process, so that Miri sees both.
    #[test]
    fn packets_are_lent_and_taken_back_and_everything_else_is_passed_on() {
        let kind = LibraryKind::of_program(0);
        let shape = kind.shape(&Params::new()).expect("good");
        let mut component = kind.make(&Params::new()).expect("made");
        component.set(0, Scalar::Float(2.0));
        assert_eq!(component.get(0), Some(Scalar::Float(2.0)));
        let mut bench = Bench::boxed(component, shape, if cfg!(miri) { 16 } else { LONGEST }).expect("suits");
        let mut tick = |items: &[f32]| {
            bench.feed("in", items).feed("bytes", &[7_u8, 8, 9]).tick();
            (bench.output::<f32>("out"), bench.output::<u8>("first"))
        };
        assert_eq!(tick(&[1.0, 2.0, 3.0]), (vec![0.0, 0.0, 2.0], vec![7, 8]), "behind a history of nothing");
        assert_eq!(tick(&[4.0]), (vec![4.0], vec![7, 8]), "behind the last packet");
        bench.send(&Message { tag: 0, words: [13; 7] });
        assert_eq!((&bench.results()["factor"], &bench.results()["received"]), (&2.0.into(), &13.into()));
        let mut quiet = || bench.tick().results();
        let fault = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut quiet)).expect_err("the bench says so");
        assert!(fault.downcast_ref::<String>().is_some_and(|text| text.contains("panicked")));
        bench.degrade();
        assert_eq!(bench.results()["received"], 0.into());
    }
}
