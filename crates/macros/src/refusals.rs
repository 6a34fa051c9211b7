//! Every bad use is a compile error that names what there is.

use proc_macro2::TokenStream;
use quote::quote;

use crate::read::component;

fn refused(attribute: TokenStream, item: TokenStream) -> String {
    component(attribute, item).expect_err("refused").to_string()
}

/// On `#[component] fn f(arguments)`.
fn of_arguments(arguments: TokenStream) -> String {
    refused(quote!(), quote!(fn f(#arguments) {}))
}

/// On `#[component] impl C { methods }`.
fn of_methods(methods: TokenStream) -> String {
    refused(quote!(), quote!(impl C { #methods }))
}

#[test]
fn what_is_neither_function_nor_impl_block_is_no_component() {
    let what = "a component is a function, or an `impl` block with `new` and `tick`";
    assert_eq!(
        refused(
            quote!(),
            quote!(
                struct C;
            )
        ),
        what
    );
    assert_eq!(
        refused(
            quote!(),
            quote!(
                enum C {}
            )
        ),
        what
    );
}

#[test]
fn the_attribute_takes_a_name() {
    let function = quote!(
        fn f(input: In<f32>) {}
    );
    let what = "a component has a name: #[component(name = \"..\")]";
    assert_eq!(refused(quote!(nam = "g"), function.clone()), what);
    assert_eq!(refused(quote!(name = 3), function), "expected string literal");
}

#[test]
fn an_impl_block_has_new_and_tick() {
    let new = quote!(
        fn new() -> C {
            C
        }
    );
    assert_eq!(
        of_methods(quote!(
            fn tick(&mut self, input: In<f32>) {}
        )),
        "the `impl` block of a component has a `new`"
    );
    assert_eq!(of_methods(new.clone()), "the `impl` block of a component has a `tick`");
    assert_eq!(of_methods(quote!(#new fn tick(input: In<f32>) {})), "`tick` has a receiver: `&mut self`");
}

#[test]
fn an_argument_is_a_port_a_parameter_the_slot_or_the_outbox() {
    let what = "an argument is a port (In<T>, Out<T>, InOut<T>), #[param(..)], `slot: u64`, or `outbox: &mut Outbox`";
    for arguments in [quote!(gain: f32), quote!(slot: u32), quote!(input: Vec<f32>), quote!(input: In)] {
        assert_eq!(of_arguments(arguments), what);
    }
    assert_eq!(of_arguments(quote!((a, b): In<f32>)), "an argument of a component has a plain name");
    let new = quote!(
        fn new(x: f32) -> C {
            C
        }
    );
    assert_eq!(of_methods(new), "an argument of `new` is a parameter: #[param(..)]");
}

#[test]
fn what_is_called_each_slot_is_a_plain_function() {
    let generic = "a component has no type parameters: one for each item type";
    assert_eq!(
        refused(
            quote!(),
            quote!(
                fn f<T>(input: In<T>) {}
            )
        ),
        generic
    );
    assert_eq!(
        refused(
            quote!(),
            quote!(
                async fn f(input: In<f32>) {}
            )
        ),
        "a component can't wait: no `async`"
    );
    let returns = "a component returns nothing: it fills its outputs";
    assert_eq!(
        refused(
            quote!(),
            quote!(
                fn f(input: In<f32>) -> f32 {
                    0.0
                }
            )
        ),
        returns
    );
    let methods = quote!(
        fn new() -> C {
            C
        }
        fn tick(&mut self, input: In<f32>) -> bool {
            true
        }
    );
    assert_eq!(of_methods(methods), returns);
    let block = quote!(
        impl<T> C<T> {
            fn new() -> Self {
                C
            }
            fn tick(&mut self, input: In<f32>) {}
        }
    );
    assert_eq!(refused(quote!(), block), generic);
}

#[test]
fn a_parameter_has_a_type_a_file_can_say() {
    let what = "a parameter is a bool, an integer, a float, a String or a Vec<f64>";
    for ty in [quote!(u128), quote!(Option<f32>), quote!(&str), quote!(Vec<f32>)] {
        assert_eq!(of_arguments(quote!(input: In<f32>, #[param] x: #ty)), what);
    }
}

#[test]
fn a_setting_of_a_parameter_is_one_there_is() {
    let of = |setting: TokenStream| of_arguments(quote!(input: In<f32>, #[param(#setting)] x: u32));
    assert_eq!(of(quote!(units = "dB")), "a parameter has name, alias, unit, range, choice, default, variable");
    for open in [quote!(1..10), quote!(1..), quote!(..=10)] {
        assert_eq!(of(quote!(range = #open)), "a range has both ends: `range = 1..=10`");
    }
    assert_eq!(of(quote!(unit = 3)), "expected string literal");
    let variable = of_arguments(quote!(input: In<f32>, #[param(variable)] x: String));
    assert_eq!(variable, "a variable is a bool or a number");
}

#[test]
fn a_setting_of_a_port_is_one_that_its_side_has() {
    let input = "an input has name, history, exactly, multiple_of";
    assert_eq!(of_arguments(quote!(#[port(fixed = 3)] input: In<f32>)), input);
    assert_eq!(of_arguments(quote!(#[port(hist = 3)] input: In<f32>)), input);
    let output = "an output has name, fixed, up_to, ratio, length";
    assert_eq!(of_arguments(quote!(#[port(exactly = 3)] output: Out<f32>)), output);
    assert_eq!(of_arguments(quote!(#[port(fixed = 3)] both: InOut<f32>)), "a port changed in place has a name");
}

#[test]
fn an_output_says_how_long_it_is_where_no_input_does() {
    let what = "without an input, an output says how long it is: #[port(fixed = items)]";
    assert_eq!(of_arguments(quote!(output: Out<f32>)), what);
}

#[test]
fn ports_of_one_side_have_different_names() {
    let twice = of_arguments(quote!(input: In<f32>, #[port(name = "in")] other: In<f32>));
    assert_eq!(twice, "two inputs are called `in`: #[port(name = \"..\")] gives one another name");
    let beside = of_arguments(quote!(both: InOut<f32>, output: Out<f32>));
    assert_eq!(beside, "two outputs are called `out`: #[port(name = \"..\")] gives one another name");
    let good = component(
        quote!(),
        quote!(
            fn f(input: In<f32>, output: Out<f32>, #[port(name = "x")] b: InOut<u8>) {}
        ),
    );
    assert!(good.is_ok(), "an input and an output may share a name");
}
