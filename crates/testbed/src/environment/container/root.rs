//! The root of a container: this machine's programs and libraries, nothing else of it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::super::EnvironmentError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bind {
    pub(super) source: PathBuf,
    pub(super) target: String,
}

/// Folders of programs and libraries; on most systems all but the first are links into it.
const SHARED: [&str; 9] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "gnu"];
/// Folders on which the runtime mounts.
const EMPTY: [&str; 5] = ["proc", "sys", "dev", "tmp", "etc"];
/// The one file of /etc that a program needs: where the dynamic linker has found libraries.
const LINKER_CACHE: &str = "etc/ld.so.cache";

/// Lays out the folder `root`, and says what is to be visible in it. `program` becomes `/takt`.
pub(super) fn lay_out(root: &Path, program: &Path) -> Result<Vec<Bind>, EnvironmentError> {
    fn failed(path: &Path) -> impl Fn(io::Error) -> EnvironmentError {
        EnvironmentError::file("making", path)
    }
    for name in EMPTY {
        let path = root.join(name);
        fs::create_dir_all(&path).map_err(failed(&path))?;
    }
    let mut binds = Vec::new();
    for name in SHARED {
        let (source, inside) = (Path::new("/").join(name), root.join(name));
        match fs::symlink_metadata(&source) {
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(&source).map_err(failed(&source))?;
                symlink(target, &inside).or_else(exists_is_fine).map_err(failed(&inside))?;
            }
            Ok(_) => {
                fs::create_dir_all(&inside).map_err(failed(&inside))?;
                binds.push(Bind { source, target: format!("/{name}") });
            }
            Err(_) => {}
        }
    }
    let program = fs::canonicalize(program).map_err(failed(program))?;
    let files = [(program, "takt".to_owned()), (Path::new("/").join(LINKER_CACHE), LINKER_CACHE.to_owned())];
    for (source, name) in files.into_iter().filter(|(source, _)| source.exists()) {
        let inside = root.join(&name);
        fs::write(&inside, []).map_err(failed(&inside))?;
        binds.push(Bind { source, target: format!("/{name}") });
    }
    Ok(binds)
}

fn exists_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_holds_programs_and_the_agent_and_nothing_personal() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let binds = lay_out(dir.path(), &own).unwrap();
        let targets: Vec<&str> = binds.iter().map(|bind| bind.target.as_str()).collect();
        assert!(targets.contains(&"/usr") && targets.contains(&"/takt"), "{targets:?}");
        for personal in ["/home", "/root", "/etc", "/var", "/"] {
            assert!(!targets.contains(&personal), "{personal}");
        }
        assert!(dir.path().join("proc").is_dir() && dir.path().join("takt").is_file());
        lay_out(dir.path(), &own).expect("twice is fine");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = lay_out(dir.path(), Path::new("/takt/none")).unwrap_err();
        assert!(error.to_string().contains("/takt/none"), "{error}");
    }
}
