//! The token that a browser must know if others could reach the page.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::ServeError;

/// Random bytes in a token that takt makes.
const RANDOM_BYTES: usize = 16;
/// Characters that a token has.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=256;

/// A secret of letters, digits, `-` and `_`. It goes into addresses and cookies as it is.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a new one of 128 random bits.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0; RANDOM_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Reads one from a file that only its owner may read.
    ///
    /// # Errors
    /// The file can't be read, is no regular file, others may read it, or its first line is no token.
    pub fn read(path: &Path) -> Result<Token, ServeError> {
        let wrong = |why: String| ServeError::TokenFile { path: path.to_owned(), why };
        let text = read_private(path).map_err(|error| wrong(error.to_string()))?;
        Token::parse(text.trim_end()).map_err(|why| wrong(why.to_owned()))
    }

    fn parse(text: &str) -> Result<Token, &'static str> {
        if !LENGTHS.contains(&text.len()) {
            return Err("it must have 16 to 256 characters");
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !text.chars().all(is_plain) {
            return Err("it may have letters, digits, `-` and `_` only");
        }
        Ok(Token(text.to_owned()))
    }

    /// Whether `offered` is this token. The time that takes says nothing about either.
    #[must_use]
    pub fn matches(&self, offered: &str) -> bool {
        // Digests have one length: no early end, and no hint at the token's length.
        let (own, other) = (Sha256::digest(self.0.as_bytes()), Sha256::digest(offered.as_bytes()));
        black_box(own.iter().zip(other.iter()).fold(0, |differ, (a, b)| differ | (a ^ b))) == 0
    }

    /// The secret itself, for the address that takt prints and for the cookie.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

/// Never prints the secret by accident.
impl std::fmt::Debug for Token {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Token")
    }
}

fn read_private(path: &Path) -> io::Result<String> {
    // A FIFO would hang until somebody writes.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = File::options().read(true).custom_flags(nonblock).open(path)?;
    let about = file.metadata()?;
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why.to_owned()));
    if !about.is_file() {
        return refused("it is not a regular file");
    }
    if about.mode() & 0o077 != 0 {
        return refused("other users may read or write it; expected: mode 0600");
    }
    let mut text = String::new();
    file.take(*LENGTHS.end() as u64 + 2).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_token_itself_matches() {
        let token = Token::random().unwrap();
        let secret = token.secret().to_owned();
        assert_eq!(secret.len(), 2 * RANDOM_BYTES);
        assert!(token.matches(&secret));
        for wrong in
            ["", &secret[1..], &secret.to_uppercase().replace(|c: char| c.is_ascii_digit(), "A"), &format!("{secret} ")]
        {
            assert!(!token.matches(wrong), "{wrong}");
        }
        assert_ne!(Token::random().unwrap().secret(), secret);
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_file_is_refused_unless_it_is_private_and_holds_a_token() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Token::read(&path)
        };
        assert!(write("0123456789abcdef-_\n", 0o600).unwrap().matches("0123456789abcdef-_"));
        for (text, mode, why) in [
            ("0123456789abcdef", 0o640, "other users may read"),
            ("short", 0o600, "16 to 256 characters"),
            ("0123456789 abcdef", 0o600, "letters, digits"),
            (&"a".repeat(9999), 0o600, "16 to 256 characters"),
        ] {
            let error = write(text, mode).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(error.fix().unwrap().contains("umask 077"));
        }
        assert!(Token::read(&dir.path().join("none")).unwrap_err().to_string().contains("No such file"));
        assert!(Token::read(dir.path()).unwrap_err().to_string().contains("not a regular file"));
    }
}
