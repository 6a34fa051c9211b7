//! Every bad use is a compile error that names what there is.

use crate::read::component;

/// Message that refuses `#[component(attribute)] item`; both are Rust.
fn refused(attribute: &str, item: &str) -> String {
    let [attribute, item] = [attribute, item].map(|text| text.parse().expect("tokens"));
    component(attribute, item).expect_err("refused").to_string()
}

/// On `#[component] fn f(arguments)`.
fn of_arguments(arguments: &str) -> String {
    refused("", &format!("fn f({arguments}) {{}}"))
}

/// On `#[component] impl C { methods }`.
fn of_methods(methods: &str) -> String {
    refused("", &format!("impl C {{ {methods} }}"))
}

const NEW: &str = "fn new() -> C { C }";

#[test]
fn what_is_neither_function_nor_impl_block_is_no_component() {
    for item in ["struct C;", "enum C {}"] {
        assert_eq!(refused("", item), "a component is a function, or an `impl` block with `new` and `tick`", "{item}");
    }
}

#[test]
fn the_attribute_takes_a_name() {
    let function = "fn f(input: In<f32>) {}";
    assert_eq!(refused("nam = \"g\"", function), "a component has a name: #[component(name = \"..\")]");
    assert_eq!(refused("name = 3", function), "expected string literal");
}

#[test]
fn an_impl_block_has_new_and_tick() {
    for (methods, what) in [
        ("fn tick(&mut self, input: In<f32>) {}", "the `impl` block of a component has a `new`"),
        (NEW, "the `impl` block of a component has a `tick`"),
        (&format!("{NEW} fn tick(input: In<f32>) {{}}"), "`tick` has a receiver: `&mut self`"),
        ("fn new(x: f32) -> C { C }", "an argument of `new` is a parameter: #[param(..)]"),
    ] {
        assert_eq!(of_methods(methods), what, "{methods}");
    }
}

#[test]
fn an_argument_is_a_port_a_parameter_the_slot_or_the_outbox() {
    let what = "an argument is a port (In<T>, Out<T>, InOut<T>), #[param(..)], `slot: u64`, or `outbox: &mut Outbox`";
    for arguments in ["gain: f32", "slot: u32", "input: Vec<f32>", "input: In"] {
        assert_eq!(of_arguments(arguments), what, "{arguments}");
    }
    assert_eq!(of_arguments("(a, b): In<f32>"), "an argument of a component has a plain name");
}

#[test]
fn what_is_called_each_slot_is_a_plain_function() {
    let generic = "a component has no type parameters: one for each item type";
    let returns = "a component returns nothing: it fills its outputs";
    for (item, what) in [
        ("fn f<T>(input: In<T>) {}", generic),
        ("impl<T> C<T> { fn new() -> Self { C } fn tick(&mut self, input: In<f32>) {} }", generic),
        ("async fn f(input: In<f32>) {}", "a component can't wait: no `async`"),
        ("fn f(input: In<f32>) -> f32 { 0.0 }", returns),
        ("impl C { fn new() -> C { C } fn tick(&mut self, input: In<f32>) -> bool { true } }", returns),
    ] {
        assert_eq!(refused("", item), what, "{item}");
    }
}

#[test]
fn a_parameter_has_a_type_a_file_can_say() {
    let what = "a parameter is a bool, an integer, a float, a String or a Vec<f64>";
    for ty in ["u128", "Option<f32>", "&str", "Vec<f32>"] {
        assert_eq!(of_arguments(&format!("input: In<f32>, #[param] x: {ty}")), what, "{ty}");
    }
}

#[test]
fn a_setting_of_a_parameter_is_one_there_is() {
    let range = "a range has both ends: `range = 1..=10`";
    for (setting, what) in [
        ("units = \"dB\"", "a parameter has name, alias, unit, range, choice, default, variable"),
        ("range = 1..10", range),
        ("range = 1..", range),
        ("range = ..=10", range),
        ("unit = 3", "expected string literal"),
    ] {
        assert_eq!(of_arguments(&format!("input: In<f32>, #[param({setting})] x: u32")), what, "{setting}");
    }
    let variable = of_arguments("input: In<f32>, #[param(variable)] x: String");
    assert_eq!(variable, "a variable is a bool or a number");
}

#[test]
fn a_setting_of_a_port_is_one_that_its_side_has() {
    let input = "an input has name, history, exactly, multiple_of";
    for (port, what) in [
        ("#[port(fixed = 3)] input: In<f32>", input),
        ("#[port(hist = 3)] input: In<f32>", input),
        ("#[port(exactly = 3)] output: Out<f32>", "an output has name, fixed, up_to, ratio, length"),
        ("#[port(fixed = 3)] both: InOut<f32>", "a port changed in place has a name"),
        ("output: Out<f32>", "without an input, an output says how long it is: #[port(fixed = items)]"),
    ] {
        assert_eq!(of_arguments(port), what, "{port}");
    }
}

#[test]
fn ports_of_one_side_have_different_names() {
    let twice = of_arguments("input: In<f32>, #[port(name = \"in\")] other: In<f32>");
    assert_eq!(twice, "two inputs are called `in`: #[port(name = \"..\")] gives one another name");
    let beside = of_arguments("both: InOut<f32>, output: Out<f32>");
    assert_eq!(beside, "two outputs are called `out`: #[port(name = \"..\")] gives one another name");
    let good = "fn f(input: In<f32>, output: Out<f32>, #[port(name = \"x\")] b: InOut<u8>) {}";
    let good = component(Default::default(), good.parse().expect("tokens"));
    assert!(good.is_ok(), "an input and an output may share a name");
}
