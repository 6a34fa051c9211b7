//! The one place from which text leaves the program. Nothing that passes here commands a terminal, whoever wrote it: names, files,
//! stored records and what other machines answer are hostile.
//!
//! Control characters leave as `\u001b` and the like ([`takt_base::plain`]), also in a JSON document, which says the
//! same with it. Colours are takt's own only if others' text was made plain before they were put around it
//! ([`Ink::Colours`]).
//!
//! Not text, and so not here: samples on standard output (`component run --out -`), the shell in an environment, whose
//! terminal is the user's own, and the lines by which a program asks an agent.

use std::io::{self, Write, stderr, stdout};

use takt_base::plain::{plain, plain_but_colours};

/// Whether a text may have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    None,
    /// Others' text in it is plain already.
    Colours,
}

/// Prints on standard output at once, also into a pipe: the reader may wait for it.
pub fn out(text: &str, ink: Ink) -> io::Result<()> {
    write(&mut stdout().lock(), text, ink)
}

/// Prints on standard error. A reader who has left is not an error.
pub fn err(text: &str, ink: Ink) {
    let _ = write(&mut stderr().lock(), text, ink);
}

fn write(to: &mut dyn Write, text: &str, ink: Ink) -> io::Result<()> {
    let text = match ink {
        Ink::None => plain(text),
        Ink::Colours => plain_but_colours(text),
    };
    to.write_all(text.as_bytes()).and_then(|()| to.flush())
}

/// Standard error for writers of lines.
#[derive(Clone, Copy, Debug)]
pub struct Lines;

impl Write for Lines {
    /// Takes all of it, which is one line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        write(&mut stderr().lock(), &String::from_utf8_lossy(line), Ink::None)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_written_and_colours_only_where_they_may() {
        let written = |text: &str, ink| {
            let mut to = Vec::new();
            write(&mut to, text, ink).expect("memory takes it");
            String::from_utf8(to).expect("text")
        };
        let text = "\u{1b}[31mevil\u{1b}[0m \u{1b}]0;x\u{7}\u{9b}2J\u{202e}\n";
        assert_eq!(written(text, Ink::None), "\\u001b[31mevil\\u001b[0m \\u001b]0;x\\u0007\\u009b2J\\u202e\n");
        assert_eq!(written(text, Ink::Colours), "\u{1b}[31mevil\u{1b}[0m \\u001b]0;x\\u0007\\u009b2J\\u202e\n");
    }

    /// Files that have a stream at hand without this one: for its kind, for help, for samples, for the lines of an
    /// agent.
    const OTHERS: [&str; 4] = ["output.rs", "lib.rs", "command/component/ports.rs", "command/agent.rs"];

    #[test]
    fn text_leaves_the_program_here_alone() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let (mut folders, mut found) = (vec![root.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("sources").map(|entry| entry.expect("an entry").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                    continue;
                }
                let text = std::fs::read_to_string(&entry).expect("text");
                let name = entry.strip_prefix(&root).expect("below it").to_str().expect("a name").to_owned();
                let writes = ["stdout()", "stderr()", "io::stdout", "io::stderr", "print!(", "println!("];
                if writes.iter().any(|way| text.contains(way)) && name != "streams.rs" {
                    found.push(name);
                }
            }
        }
        found.sort_unstable();
        let mut others = OTHERS.to_vec();
        others.sort_unstable();
        assert_eq!(found, others);
    }
}
