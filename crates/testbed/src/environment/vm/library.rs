//! A program with the libraries it needs, for a root that has nothing else.
//!
//! A static build of the agent would need a second compiler target and, for SQLite, a C compiler for it: neither is on
//! a fresh machine with Rust. The program that is running now is there, and so are its libraries, and the dynamic
//! linker lists them. A static program is taken as it is.

use std::path::{Path, PathBuf};

use elf::ElfBytes;
use elf::abi::{PT_INTERP, PT_LOAD};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::segment::ProgramHeader;

use super::super::EnvironmentError;
use super::super::programs::Caller;

/// A file for the guest: where it is here, and there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Library {
    pub(super) source: PathBuf,
    pub(super) target: String,
}

/// The dynamic linker and the libraries of `program`, whose bytes are `content`; nothing for a static program.
pub(super) fn libraries(caller: &Caller, program: &Path, content: &[u8]) -> Result<Vec<Library>, EnvironmentError> {
    let wrong = |why: String| EnvironmentError::program(program, why);
    let Some(linker) = interpreter(content).map_err(|why| EnvironmentError::program(program, why))? else {
        return Ok(Vec::new());
    };
    let listed = caller.command(&linker).arg("--list").arg(program).output();
    let listed = listed.map_err(|error| wrong(format!("asking {linker} for its libraries: {error}")))?;
    let text = String::from_utf8_lossy(&listed.stdout);
    if !listed.status.success() {
        return Err(wrong(format!("{linker} --list: {}", String::from_utf8_lossy(&listed.stderr).trim())));
    }
    let mut found = vec![Library { source: PathBuf::from(&linker), target: linker.clone() }];
    for line in text.lines() {
        match library(line) {
            Line::Found(path) if path != linker => {
                found.push(Library { source: PathBuf::from(path), target: path.to_owned() });
            }
            Line::Missing(name) => return Err(wrong(format!("library {name} is not found"))),
            Line::Found(_) | Line::Virtual => {}
        }
    }
    Ok(found)
}

enum Line<'a> {
    Found(&'a str),
    Missing(&'a str),
    Virtual,
}

/// `NAME => /path (0x...)`, `/path (0x...)`, `NAME => not found`, `linux-vdso.so.1 (0x...)`.
fn library(line: &str) -> Line<'_> {
    let line = line.trim();
    let (name, rest) = line.split_once(" => ").unwrap_or((line, line));
    let path = rest.split(" (").next().unwrap_or(rest);
    match path {
        path if path.starts_with('/') => Line::Found(path),
        "not found" => Line::Missing(name),
        _ => Line::Virtual,
    }
}

/// The dynamic linker that a program names; `None`: it is static.
fn interpreter(program: &[u8]) -> Result<Option<String>, &'static str> {
    let elf = parse(program)?;
    let Some(segment) = segments(&elf).find(|segment| segment.p_type == PT_INTERP) else { return Ok(None) };
    let text = elf.segment_data(&segment).map_err(|_| "the name of its dynamic linker is cut off")?;
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8(text.to_vec()).map(Some).map_err(|_| "the name of its dynamic linker is no text")
}

/// The part of a program that is loaded: without symbols and debug information, which may be most of it.
pub(super) fn loaded(program: &[u8]) -> Result<Vec<u8>, &'static str> {
    let elf = parse(program)?;
    let ends = segments(&elf).filter(|segment| segment.p_type == PT_LOAD);
    let end = ends.map(|segment| segment.p_offset.saturating_add(segment.p_filesz)).max();
    let end = usize::try_from(end.ok_or("it has nothing to load")?).unwrap_or(usize::MAX);
    let mut bytes = program.get(..end).ok_or(CUT_OFF)?.to_vec();
    // The table of sections is gone: no offset, no entries (System V ABI, chapter 4).
    for range in [40..48, 60..64] {
        bytes.get_mut(range).ok_or(CUT_OFF)?.fill(0);
    }
    Ok(bytes)
}

const CUT_OFF: &str = "it is cut off";

type Elf<'a> = ElfBytes<'a, LittleEndian>;

fn parse(program: &[u8]) -> Result<Elf<'_>, &'static str> {
    match Elf::minimal_parse(program) {
        Ok(elf) if elf.ehdr.class == Class::ELF64 => Ok(elf),
        Err(_) if program.starts_with(b"\x7fELF\x02\x01") => Err(CUT_OFF),
        _ => Err("it is no 64-bit little-endian ELF program"),
    }
}

fn segments<'a>(elf: &Elf<'a>) -> impl Iterator<Item = ProgramHeader> + use<'a> {
    elf.segments().into_iter().flat_map(|table| table.iter())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_very_program_comes_with_its_linker_and_its_libc() {
        let own = std::env::current_exe().unwrap();
        let content = fs::read(&own).unwrap();
        let libraries = libraries(&Caller::stranger(), &own, &content).unwrap();
        match interpreter(&content).unwrap() {
            Some(linker) => {
                assert_eq!(libraries[0].target, linker);
                assert!(libraries.iter().any(|library| library.target.contains("libc")), "{libraries:?}");
                assert!(libraries.iter().all(|library| library.source.exists()), "{libraries:?}");
            }
            None => assert!(libraries.is_empty(), "static"),
        }
    }

    #[test]
    fn what_is_left_of_a_program_still_runs() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("true");
        let whole = fs::read("/bin/true").unwrap();
        let part = loaded(&whole).unwrap();
        assert!(part.len() <= whole.len());
        fs::write(&file, part).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        // A program that another test starts at this instant still has the file open for writing.
        let status = takt_testing::wait_for("the program to be closed", || match Command::new(&file).status() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
            started => Some(started.unwrap()),
        });
        assert!(status.success());
    }

    #[test]
    fn lines_of_the_linker_are_understood() {
        assert!(matches!(library("\tlibc.so.6 => /lib/libc.so.6 (0x7f)"), Line::Found("/lib/libc.so.6")));
        assert!(matches!(library("\t/lib64/ld-linux-x86-64.so.2 (0x7f)"), Line::Found("/lib64/ld-linux-x86-64.so.2")));
        assert!(matches!(library("\tlinux-vdso.so.1 (0x7ffe)"), Line::Virtual));
        assert!(matches!(library("\tlibx.so => not found"), Line::Missing("libx.so")));
        assert!(matches!(library("\tstatically linked"), Line::Virtual));
    }

    #[test]
    fn a_script_is_no_program() {
        let error = libraries(&Caller::stranger(), Path::new("/x"), b"#!/bin/sh\n").unwrap_err();
        assert!(error.to_string().contains("/x: it is no 64-bit"), "{error}");
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (interpreter(&bytes), loaded(&bytes));
            if let Some(start) = bytes.get_mut(..6) {
                start.copy_from_slice(b"\x7fELF\x02\x01");
            }
            let _ = (interpreter(&bytes), loaded(&bytes));
        }
    }
}
