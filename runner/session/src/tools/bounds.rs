//! Bounds on the result of parsing a JSON text, checked before it is parsed.

/// Maximum nesting of arrays and objects in arguments, and maximum number of values. The length of
/// a text does not bound the memory of its values.
const DEPTH: usize = 64;
const VALUES: usize = 100_000;

/// Checks a text, which need not be valid JSON.
///
/// # Errors
/// If it is nested too deeply, or has too many values.
pub(super) fn check_json(text: &[u8]) -> Result<(), String> {
    let (mut depth, mut values, mut in_string) = (0_usize, 1_usize, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // An escaped character never ends a string.
            b'\\' if in_string => drop(bytes.next()),
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                values += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > DEPTH {
            return Err(format!("the arguments are deeper than {DEPTH} levels"));
        }
        if values > VALUES {
            return Err(format!("the arguments have more than {VALUES} values"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        let objects = |n: usize| "{\"a\":".repeat(n) + "1" + &"}".repeat(n);
        let wide = |n: usize| format!("[{}1]", "1,".repeat(n));
        assert!(
            check_json(nested(64).as_bytes()).is_ok() && check_json(objects(64).as_bytes()).is_ok()
        );
        assert!(check_json(nested(65).as_bytes()).unwrap_err().contains("deeper"));
        assert!(check_json(objects(65).as_bytes()).is_err());
        assert!(check_json("[".repeat(1 << 20).as_bytes()).is_err());
        assert!(check_json(wide(99_000).as_bytes()).is_ok());
        assert!(check_json(wide(100_000).as_bytes()).unwrap_err().contains("more than"));
        // Brackets and commas inside a string do not count.
        let text = format!("{{\"a\": \"{}\\\"{}\"}}", "[".repeat(1000), ",".repeat(200_000));
        assert_eq!(check_json(text.as_bytes()), Ok(()));
        assert!(check_json(b"\xff\\\"").is_ok() && check_json(b"").is_ok());
    }
}
