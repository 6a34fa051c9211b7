//! Names of runs, which are names of folders, too.

use super::StoreError;

/// The longest name of a folder.
const NAME_BYTES: usize = 255;

/// Refuses a name that no run has. A store may come from somebody else, and a run's name in it is only text: as a path it could
/// lead anywhere.
///
/// `2026-11-21T100412-check`: a digit first, and no more than one name of a file.
pub(super) fn expect_run_name(id: &str) -> Result<(), StoreError> {
    let begins_with_year = id.starts_with(|c: char| c.is_ascii_digit());
    let is_plain = id.chars().all(|c| c != '/' && !c.is_control());
    if begins_with_year && is_plain && id.len() <= NAME_BYTES {
        return Ok(());
    }
    Err(StoreError::RunName { id: id.chars().take(80).map(|c| if c.is_control() { '?' } else { c }).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_takt_gives_are_taken_and_paths_are_not() {
        let long = "2".repeat(NAME_BYTES + 1);
        for id in [
            "2026-11-21T100412-check",
            "2026-11-21T100412-check-2",
            "2026-11-21T100412-größe 7=x",
            "2026-11-21T100412-",
        ] {
            expect_run_name(id).unwrap();
        }
        for id in [
            "",
            ".",
            "..",
            "/etc/cron.d/x",
            "../x",
            "2026/../../x",
            "takt.db",
            "takt.db-wal",
            ".x",
            "2026\n",
            "2026\0",
            &long,
        ] {
            let error = expect_run_name(id).unwrap_err().to_string();
            assert!(!error.contains('\n') && !error.contains('\0'), "{error:?}");
        }
    }
}
