//! Manual pages and completions of takt, made from its own commands: `takt-pages FOLDER` writes them there, as a package has them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap_complete::Shell;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("give the folder to write to: takt-pages FOLDER"))?;
    clap_mangen::generate_to(takt::commands(), made(&folder, "man/man1")?)?;
    for (shell, place) in [
        (Shell::Bash, "bash-completion/completions"),
        (Shell::Zsh, "zsh/vendor-completions"),
        (Shell::Fish, "fish/vendor_completions.d"),
    ] {
        clap_complete::generate_to(shell, &mut takt::commands(), "takt", made(&folder, place)?)?;
    }
    // bash loads completions by the name of the program.
    let bash = folder.join("bash-completion/completions");
    fs::rename(bash.join("takt.bash"), bash.join("takt"))
}

fn made(folder: &Path, place: &str) -> io::Result<PathBuf> {
    let place = folder.join(place);
    fs::create_dir_all(&place)?;
    Ok(place)
}
