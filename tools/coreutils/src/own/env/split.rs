//! `env -S`: a string split into words, with quotes, escapes and `${VAR}` (GNU manual,
//! "-S/--split-string syntax").

use box_applet::Env;

/// Splits; the message of what is wrong otherwise.
pub(super) fn split(text: &[u8], env: &Env) -> Result<Vec<Vec<u8>>, String> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = 0u8;
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        at += 1;
        match c {
            b'\'' | b'"' if quote == 0 => {
                quote = c;
                word.get_or_insert_default();
            }
            c if quote != 0 && c == quote => quote = 0,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c if quote == 0 => words.extend(word.take()),
            b'#' if quote == 0 && word.is_none() => break,
            b'$' if quote != b'\'' => {
                let rest = &text[at..];
                let end = rest.iter().position(|c| *c == b'}');
                let name = match (rest.first(), end) {
                    (Some(b'{'), Some(e)) => &rest[1..e],
                    _ => {
                        return Err("only ${VARNAME} expansion is supported, error at: $"
                            .to_string()
                            + &String::from_utf8_lossy(rest));
                    }
                };
                let valid = name.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_')
                    && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
                if !valid {
                    return Err("only ${VARNAME} expansion is supported, error at: $".to_string()
                        + &String::from_utf8_lossy(rest));
                }
                at += name.len() + 2;
                match env.get(name) {
                    Some(v) => word.get_or_insert_default().extend_from_slice(v),
                    // An unset variable inside quotes is an empty word.
                    None if quote != 0 => drop(word.get_or_insert_default()),
                    None => {}
                }
            }
            b'\\' if quote == b'\'' && !matches!(text.get(at), Some(b'\\' | b'\'')) => {
                word.get_or_insert_default().push(c)
            }
            b'\\' => {
                let Some(&e) = text.get(at) else {
                    return Err("invalid backslash at end of string in -S".to_string());
                };
                at += 1;
                let plain = match e {
                    b'"' | b'#' | b'$' | b'\'' | b'\\' => e,
                    // Outside quotes it separates words, inside it is a space.
                    b'_' if quote == 0 => {
                        words.extend(word.take());
                        continue;
                    }
                    b'_' => b' ',
                    b'c' if quote == 0 => break,
                    b'c' => {
                        return Err("'\\c' must not appear in double-quoted -S string".to_string());
                    }
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 0x0b,
                    other => {
                        return Err(format!("invalid sequence '\\{}' in -S", char::from(other)));
                    }
                };
                word.get_or_insert_default().push(plain);
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote != 0 {
        return Err("no terminating quote in -S string".to_string());
    }
    words.extend(word);
    Ok(words)
}
