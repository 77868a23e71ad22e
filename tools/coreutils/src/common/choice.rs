//! Parses option arguments that are words from a list. The words may be abbreviated, as long
//! options may.

use super::quote;

/// Returns the value in `choices` for `word`, which may be abbreviated. Synonyms must be adjacent
/// and have the same value. `option` is the option's name in messages.
///
/// # Errors
/// The word is unknown or ambiguous. The error holds the message, after which GNU's tools end with
/// status 1.
pub(crate) fn choice<T: Copy + PartialEq>(
    choices: &[(&str, T)],
    word: &[u8],
    option: &str,
) -> Result<T, Vec<u8>> {
    if let Some((_, meaning)) = choices.iter().find(|(name, _)| name.as_bytes() == word) {
        return Ok(*meaning);
    }
    let mut near = choices.iter().filter(|(name, _)| name.as_bytes().starts_with(word));
    let first = near.next().map(|(_, meaning)| *meaning);
    match first {
        Some(meaning) if near.all(|(_, other)| *other == meaning) => Ok(meaning),
        found => {
            let fault = if found.is_some() { "ambiguous" } else { "invalid" };
            let mut text =
                [fault.as_bytes(), b" argument ", &quote::quote_in_sentence(word)].concat();
            text.extend(format!(" for '{option}'\nValid arguments are:").bytes());
            let mut before = None;
            for (name, meaning) in choices {
                let start = if before == Some(*meaning) { ", " } else { "\n  - " };
                text.extend(format!("{start}'{name}'").bytes());
                before = Some(*meaning);
            }
            Err(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::choice;

    // Expected values: `--check=` of GNU sort 9.1.
    #[test]
    fn words() {
        let find = |word: &[u8]| {
            choice(&[("quiet", 1), ("silent", 1), ("diagnose-first", 2)], word, "--check")
                .map_err(|text| String::from_utf8_lossy(&text).into_owned())
        };
        assert_eq!(find(b"silent"), Ok(1));
        assert_eq!(find(b"d"), Ok(2));
        let list = "Valid arguments are:\n  - 'quiet', 'silent'\n  - 'diagnose-first'";
        assert_eq!(find(b"x"), Err(format!("invalid argument 'x' for '--check'\n{list}")));
        assert_eq!(find(b""), Err(format!("ambiguous argument '' for '--check'\n{list}")));
    }
}
