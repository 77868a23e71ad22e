//! Owners and groups that the command line sets with `--owner`, `--group`, `--owner-map` or
//! `--group-map`.

use box_sys::AccountNames;

/// A name and a number that replace those of a file; either may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerChoice {
    pub name: Option<Vec<u8>>,
    pub id: Option<u64>,
}

/// The kind of account: an owner or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    User,
    Group,
}

impl OwnerKind {
    /// Returns the number of the account with a name.
    fn id_of(self, names: &AccountNames, name: &[u8]) -> Option<u64> {
        let name = std::str::from_utf8(name).ok()?;
        match self {
            OwnerKind::User => names.user_id(name).map(|(uid, _)| uid.into()),
            OwnerKind::Group => names.group_id(name).map(u64::from),
        }
    }

    /// Returns the word for a number in messages.
    fn number_name(self) -> &'static str {
        match self {
            OwnerKind::User => "UID",
            OwnerKind::Group => "GID",
        }
    }

    /// Returns the name of the account with a number.
    fn name_of(self, names: &AccountNames, id: u64) -> Option<Vec<u8>> {
        let id = u32::try_from(id).ok()?;
        let name = match self {
            OwnerKind::User => names.user(id),
            OwnerKind::Group => names.group(id),
        };
        name.map(|n| n.as_bytes().to_vec())
    }
}

impl OwnerChoice {
    /// Parses `NAME`, `NAME:ID`, `:ID` or `ID`. A missing part comes from the list of accounts if
    /// the account is listed. The error is the part that is not a number.
    pub fn parse(
        text: &[u8],
        kind: OwnerKind,
        names: &AccountNames,
    ) -> Result<OwnerChoice, Vec<u8>> {
        let is_number = text.first().is_some_and(u8::is_ascii_digit);
        let (name, id) = match text.iter().position(|c| *c == b':') {
            Some(colon) => (&text[..colon], Some(&text[colon + 1..])),
            None if is_number => (&text[..0], Some(text)),
            None => (text, None),
        };
        let id = match id {
            Some(digits) => Some(parse_id(digits).ok_or_else(|| digits.to_vec())?),
            None => kind.id_of(names, name),
        };
        let name = match (name, id) {
            (b"", Some(id)) => Some(kind.name_of(names, id).unwrap_or_default()),
            _ => Some(name.to_vec()),
        };
        Ok(OwnerChoice { name, id })
    }
}

/// Parses a text of decimal digits as a number.
fn parse_id(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The lines of `--owner-map` or `--group-map`.
#[derive(Clone, Debug, Default)]
pub struct OwnerMap(Vec<(u64, OwnerChoice)>);

impl OwnerMap {
    /// Parses lines of the form `NAME NEW[:ID]` or `+ID NEW[:ID]`; `#` begins a comment. The error
    /// is the number of a line and the message about it.
    pub fn parse(
        text: &[u8],
        kind: OwnerKind,
        names: &AccountNames,
    ) -> Result<OwnerMap, (usize, String)> {
        let mut map = OwnerMap::default();
        for (i, line) in text.split(|c| *c == b'\n').enumerate() {
            let words = split_words(line);
            let error = |text: String| (i + 1, text);
            match &words[..] {
                [] => {}
                [from, to] => {
                    let from = Self::id_or_error(from, kind, names).map_err(error)?;
                    let to = Self::parse_target(to, kind, names).map_err(error)?;
                    map.0.push((from, to));
                }
                _ => return Err(error("malformed line".into())),
            }
        }
        Ok(map)
    }

    fn id_or_error(word: &[u8], kind: OwnerKind, names: &AccountNames) -> Result<u64, String> {
        let id = match word.strip_prefix(b"+") {
            Some(digits) => parse_id(digits),
            None => kind.id_of(names, word),
        };
        let what = kind.number_name();
        id.ok_or_else(|| format!("can't obtain {what} of {}", String::from_utf8_lossy(word)))
    }

    fn parse_target(
        word: &[u8],
        kind: OwnerKind,
        names: &AccountNames,
    ) -> Result<OwnerChoice, String> {
        if let Some(colon) = word.iter().position(|c| *c == b':') {
            let digits = &word[colon + 1..];
            let id = parse_id(digits).ok_or_else(|| {
                format!("invalid {}: {}", kind.number_name(), String::from_utf8_lossy(digits))
            })?;
            let name = Some(word[..colon].to_vec()).filter(|n| !n.is_empty());
            return Ok(OwnerChoice { name, id: Some(id) });
        }
        let id = Self::id_or_error(word, kind, names)?;
        let name = match word.first() {
            Some(b'+') => kind.name_of(names, id).unwrap_or_default(),
            _ => word.to_vec(),
        };
        Ok(OwnerChoice { name: Some(name), id: Some(id) })
    }

    /// Returns the replacement for a number.
    pub fn find_choice(&self, id: u64) -> Option<&OwnerChoice> {
        self.0.iter().find(|(from, _)| *from == id).map(|(_, to)| to)
    }
}

/// Splits a line into words. Quotes keep blanks within a word.
fn split_words(line: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut quote = None;
    let mut is_inside = false;
    for &c in line {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, b'"' | b'\'') => {
                quote = Some(c);
                if !is_inside {
                    words.push(Vec::new());
                    is_inside = true;
                }
            }
            (None, b' ' | b'\t' | b'\r') => is_inside = false,
            (None, b'#') if !is_inside => break,
            _ => {
                if !is_inside {
                    words.push(Vec::new());
                    is_inside = true;
                }
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_map() {
        assert_eq!(split_words(b"  a \"b c\":9 # d"), [&b"a"[..], b"b c:9"]);
        assert!(split_words(b"# comment").is_empty());
    }
}
