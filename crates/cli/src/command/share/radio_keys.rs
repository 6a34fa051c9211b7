//! `--radio KEY=VALUE,...`: a `[[radio]]` table in one argument.

/// The table, as a file has it. Numbers, `true`, `false` and lists stay as they are; anything else becomes a text.
pub fn to_toml(text: &str) -> Result<String, String> {
    let mut table = "[[radio]]\n".to_owned();
    for pair in pairs(text) {
        let (key, value) = pair.split_once('=').ok_or_else(|| format!("\"{pair}\" is not KEY=VALUE"))?;
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return Err(format!("\"{key}\" is not a key such as name or addr"));
        }
        table += &format!("{key} = {}\n", value_of(value)?);
    }
    Ok(table)
}

fn value_of(value: &str) -> Result<String, String> {
    let is_plain = matches!(value, "true" | "false") || value.parse::<f64>().is_ok_and(f64::is_finite);
    let is_list = value.starts_with('[') && value.ends_with(']');
    if is_plain || is_list {
        return Ok(value.to_owned());
    }
    if value.contains(['"', '\\']) || value.chars().any(char::is_control) {
        return Err(format!("\"{}\" has a quote, a backslash or a control character", value.escape_debug()));
    }
    Ok(format!("\"{value}\""))
}

/// Parts between commas that stand outside of brackets.
fn pairs(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_a_table() {
        let table = to_toml("name=third,addr=127.0.0.13,rate=1e6,frequency=[2.39e9, 2.41e9],transmit=true").unwrap();
        let want = "[[radio]]\nname = \"third\"\naddr = \"127.0.0.13\"\nrate = 1e6\nfrequency = [2.39e9, 2.41e9]\n\
                    transmit = true\n";
        assert_eq!(table, want);
    }

    #[test]
    fn what_is_no_key_and_value_is_refused() {
        for wrong in ["", "third", "name=a,", "na me=x", "name=a\"b", "name=a\nb", "[x]=1"] {
            assert!(to_toml(wrong).is_err(), "{wrong}");
        }
    }
}
