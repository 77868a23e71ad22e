//! Placeholders: `{}` path, `{/}` name, `{//}` folder, `{.}` path without extension, `{/.}` name
//! without extension; `{{` and `}}` are braces.

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Path,
    Name,
    Parent,
    Stem,
    NameStem,
}

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

const PLACEHOLDERS: &[(&[u8], Piece)] = &[
    (b"{}", Piece::Path),
    (b"{/}", Piece::Name),
    (b"{//}", Piece::Parent),
    (b"{.}", Piece::Stem),
    (b"{/.}", Piece::NameStem),
];

impl Template {
    /// Parses a text.
    pub(crate) fn parse(text: &[u8]) -> Template {
        let mut pieces = Vec::new();
        let mut plain = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.first() {
            if rest.starts_with(b"{{") || rest.starts_with(b"}}") {
                plain.push(*first);
                rest = &rest[2..];
                continue;
            }
            let found = PLACEHOLDERS.iter().find(|(word, _)| rest.starts_with(word));
            match found {
                // The closing brace is one of a pair, so it is no placeholder.
                Some((word, _)) if rest[word.len()..].starts_with(b"}") => {
                    plain.extend_from_slice(word);
                    rest = &rest[word.len() + 1..];
                }
                Some((word, piece)) => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(piece.clone());
                    rest = &rest[word.len()..];
                }
                None => {
                    plain.push(*first);
                    rest = &rest[1..];
                }
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Template(pieces)
    }

    /// Returns the template of a lone `{}`.
    pub(crate) fn path() -> Template {
        Template(vec![Piece::Path])
    }

    /// Returns whether there is a placeholder.
    pub(crate) fn has_placeholder(&self) -> bool {
        self.0.iter().any(|piece| !matches!(piece, Piece::Text(_)))
    }

    /// Returns the text for a path, in which `separator` stands for each slash.
    pub(crate) fn fill(&self, path: &[u8], separator: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.0 {
            let part = match piece {
                Piece::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Piece::Path => path,
                Piece::Name => base_name(path),
                Piece::Parent => parent(path),
                Piece::Stem => without_extension(path),
                Piece::NameStem => without_extension(base_name(path)),
            };
            out.extend_from_slice(&with_separator(part, separator));
        }
        out
    }
}

/// Replaces the slashes of a path.
pub(crate) fn with_separator(path: &[u8], separator: Option<&[u8]>) -> Vec<u8> {
    match separator {
        None => path.to_vec(),
        Some(text) => path.split(|b| *b == b'/').collect::<Vec<_>>().join(text),
    }
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// Returns the folder of a path, `.` for a name alone.
fn parent(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|b| *b == b'/') {
        Some(0) => b"/",
        Some(at) => &path[..at],
        None => b".",
    }
}

fn without_extension(path: &[u8]) -> &[u8] {
    let name = base_name(path);
    match name.iter().rposition(|b| *b == b'.') {
        Some(at) if at > 0 => &path[..path.len() - name.len() + at],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fd's own tests, in its `src/fmt`.
    #[test]
    fn placeholders() {
        for (text, path, expected) in [
            ("{}", "one/two.txt", "one/two.txt"),
            ("{/}", "one/two.txt", "two.txt"),
            ("{//}", "one/two.txt", "one"),
            ("{//}", "two.txt", "."),
            ("{.}", "one/two.txt", "one/two"),
            ("{/.}", "one/two.tar.gz", "two.tar"),
            ("{.}", ".foo", ".foo"),
            ("a{{}}{}", "x", "a{}x"),
            ("{}}}", "x", "{}}"),
            ("none", "x", "none"),
        ] {
            let filled = Template::parse(text.as_bytes()).fill(path.as_bytes(), None);
            assert_eq!(String::from_utf8_lossy(&filled), expected, "{text}");
        }
        assert_eq!(Template::parse(b"{}").fill(b"a/b", Some(b"#")), b"a#b");
    }
}
