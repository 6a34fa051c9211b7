//! Text kept in a file, to be read by people: a difference is shown, `UPDATE_GOLDEN=1` accepts it.
#![allow(dead_code)]

use std::path::Path;

/// Panics with the first difference unless `got` is what `tests/golden/NAME` holds.
pub fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).unwrap();
        return;
    }
    let want =
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}; UPDATE_GOLDEN=1 writes it", path.display()));
    if want == got {
        return;
    }
    let lines = want.lines().zip(got.lines());
    let at = lines.clone().take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
    panic!(
        "{name} differs in line {}\n  want: {}\n   got: {}\nUPDATE_GOLDEN=1 accepts it",
        at + 1,
        line(&want),
        line(got)
    );
}
