//! Benches whose kernels `tests/instructions/run` counts: which kernel is called, and how often.

/// A call, with its memory made.
pub type Kernel = Box<dyn FnMut()>;

/// Makes it.
pub type Make = fn() -> Kernel;

/// Calls the kernel that the first argument names as often as the second says; without arguments, each once.
pub fn run(kernels: &[(&str, Make)]) {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let (name, calls) = match &arguments[..] {
        [name, calls] => (Some(name), calls.parse().expect("a number of calls")),
        _ => (None, 1),
    };
    let chosen = kernels.iter().filter(|(kernel, _)| name.is_none_or(|name| name == kernel));
    assert!(chosen.clone().next().is_some(), "no kernel {name:?}");
    for (_, make) in chosen {
        let mut kernel = make();
        (0..calls).for_each(|_| kernel());
    }
}
