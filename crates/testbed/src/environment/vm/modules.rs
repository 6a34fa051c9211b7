//! Kernel modules for a guest, in the order in which they can be loaded.
//!
//! A package that was only unpacked has no table of dependencies; each module states its own in its section
//! `.modinfo`, as entries `depends=a,b` between zero bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::super::EnvironmentError;
use super::super::programs::Caller;

#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

/// The modules of these names and whatever they need, each after what it needs. A module that is built into the kernel
/// is left out. `folder` is `lib/modules/RELEASE`.
pub(super) fn resolve(caller: &Caller, folder: &Path, names: &[&str]) -> Result<Vec<Module>, EnvironmentError> {
    let mut files = BTreeMap::new();
    index(&folder.join("kernel"), &mut files).map_err(EnvironmentError::file("listing", folder))?;
    let builtin = fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
    let mut library = Library { caller, folder, files, builtin: builtin.lines().map(module_name).collect() };
    let mut found = Vec::new();
    for name in names {
        library.add(name, &mut found, 0)?;
    }
    Ok(found)
}

struct Library<'a> {
    caller: &'a Caller,
    folder: &'a Path,
    files: BTreeMap<String, PathBuf>,
    builtin: Vec<String>,
}

/// Deeper than any real chain; a circle ends here.
const DEPTH: usize = 16;

impl Library<'_> {
    fn add(&mut self, name: &str, found: &mut Vec<Module>, depth: usize) -> Result<(), EnvironmentError> {
        if found.iter().any(|module| module.name == name) || self.builtin.iter().any(|builtin| builtin == name) {
            return Ok(());
        }
        let Some(path) = self.files.get(name).cloned() else {
            return Err(EnvironmentError::program(self.folder, format!("it has no module {name}")));
        };
        if depth > DEPTH {
            return Err(EnvironmentError::program(&path, "it needs itself"));
        }
        let content = unpacked(self.caller, &path)?;
        for needed in depends(&content) {
            self.add(&needed, found, depth + 1)?;
        }
        found.push(Module { name: name.to_owned(), content });
        Ok(())
    }
}

fn index(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            index(&path, files)?;
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".ko")) {
            files.insert(module_name(&path.to_string_lossy()), path);
        }
    }
    Ok(())
}

/// `kernel/drivers/virtio/virtio-ring.ko.xz` is `virtio_ring`.
fn module_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(".ko").next().unwrap_or(file).replace('-', "_")
}

/// Distributions compress modules with programs that are then installed as well.
fn unpacked(caller: &Caller, path: &Path) -> Result<Vec<u8>, EnvironmentError> {
    let program = match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return fs::read(path).map_err(EnvironmentError::file("reading", path)),
    };
    let out = caller.command(program).arg("-dc").arg(path).stdin(Stdio::null()).output();
    let wrong = |why: String| EnvironmentError::program(path, why);
    match out {
        Ok(out) if out.status.success() => Ok(out.stdout),
        Ok(out) => Err(wrong(format!("{program} -dc: {}", String::from_utf8_lossy(&out.stderr).trim()))),
        Err(error) => Err(wrong(format!("{program}, which unpacks it, can't be called: {error}"))),
    }
}

/// The names behind `depends=`.
fn depends(module: &[u8]) -> Vec<String> {
    let entry = module.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(b"depends="));
    let names = String::from_utf8_lossy(entry.unwrap_or_default()).into_owned();
    names.split(',').filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// A folder of modules: file name and what the module needs.
    fn folder(modules: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("kernel/net")).unwrap();
        fs::write(dir.path().join("modules.builtin"), "kernel/crypto/crc32c-intel.ko\n").unwrap();
        for (name, depends) in modules {
            let content = format!("\x7fELF\0license=GPL\0depends={depends}\0name=x\0");
            fs::write(dir.path().join("kernel/net").join(name), content).unwrap();
        }
        dir
    }

    #[test]
    fn each_comes_after_what_it_needs_and_once() {
        let dir = folder(&[
            ("virtio_pci.ko", "virtio_ring,virtio"),
            ("virtio-ring.ko", "virtio"),
            ("virtio.ko", ""),
            ("virtio_net.ko", "virtio,virtio_ring,crc32c-intel"),
            ("other.ko", ""),
        ]);
        let found = resolve(&Caller::stranger(), dir.path(), &["virtio_pci", "virtio_net"]).unwrap();
        let names: Vec<&str> = found.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["virtio", "virtio_ring", "virtio_pci", "virtio_net"]);
    }

    #[test]
    fn what_is_missing_and_what_needs_itself_is_named() {
        let dir = folder(&[("a.ko", "b"), ("b.ko", "a"), ("c.ko", "none")]);
        let circle = resolve(&Caller::stranger(), dir.path(), &["a"]).unwrap_err().to_string();
        assert!(circle.contains("needs itself"), "{circle}");
        let missing = resolve(&Caller::stranger(), dir.path(), &["c"]).unwrap_err().to_string();
        assert!(missing.contains("no module none"), "{missing}");
        assert!(resolve(&Caller::stranger(), Path::new("/takt/none"), &["a"]).is_err());
    }

    #[test]
    fn compressed_modules_are_unpacked() {
        let dir = folder(&[("a.ko", "")]);
        let file = dir.path().join("kernel/net/a.ko");
        match Command::new("xz").arg(&file).status() {
            Ok(status) if status.success() => {
                let found = resolve(&Caller::stranger(), dir.path(), &["a"]).unwrap();
                assert!(found[0].content.starts_with(b"\x7fELF"));
            }
            failed => return takt_testing::skip(format_args!("xz: {failed:?}   (apt-get install xz-utils)")),
        }
        fs::write(dir.path().join("kernel/net/bad.ko.xz"), "rubbish").unwrap();
        let error = resolve(&Caller::stranger(), dir.path(), &["bad"]).unwrap_err().to_string();
        assert!(error.contains("bad.ko.xz: xz"), "{error}");
    }

    proptest! {
        #[test]
        fn hostile_modules_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = depends(&bytes);
            let _ = depends(&[b"\0depends=".as_slice(), &bytes].concat());
        }
    }
}
