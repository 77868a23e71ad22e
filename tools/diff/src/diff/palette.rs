//! The colours of the output (`--color`, `--palette`).

use box_text::escape::ansi_c;

/// The escape sequences before the parts of the output, and the one after each; all are empty
/// without colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    pub header: String,
    pub hunk: String,
    pub add: String,
    pub delete: String,
    pub reset: String,
}

/// A value of `--palette` that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PaletteFault {
    Malformed,
    /// A part of this name is not known.
    UnknownPart(String),
}

impl Palette {
    /// Returns the colours that there are without `--palette`.
    pub(super) fn standard() -> Palette {
        Palette {
            header: sequence(b"1"),
            hunk: sequence(b"36"),
            add: sequence(b"32"),
            delete: sequence(b"31"),
            reset: sequence(b"0"),
        }
    }

    /// Parses pairs such as `ad=32:de=31`; parts that are not named keep their colours. The values
    /// may have C escapes, and `^X` for control characters.
    ///
    /// # Errors
    /// A pair that is invalid, or whose name is not known.
    pub(super) fn parse(text: &[u8]) -> Result<Palette, PaletteFault> {
        let mut palette = Palette::standard();
        for pair in text.split(|byte| *byte == b':').filter(|pair| !pair.is_empty()) {
            // GNU diff also accepts colours of files, which it once had.
            if pair.starts_with(b"*") {
                continue;
            }
            let [first, second, b'=', value @ ..] = pair else {
                return Err(PaletteFault::Malformed);
            };
            let color = match [*first, *second] {
                [b'h', b'd'] => &mut palette.header,
                [b'l', b'n'] => &mut palette.hunk,
                [b'a', b'd'] => &mut palette.add,
                [b'd', b'e'] => &mut palette.delete,
                [b'r', b's'] => &mut palette.reset,
                name => {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    return Err(PaletteFault::UnknownPart(name));
                }
            };
            *color = sequence(&unescape(value));
        }
        Ok(palette)
    }
}

/// Returns the sequence that selects a rendition, for example `1;32`.
fn sequence(rendition: &[u8]) -> String {
    format!("\x1b[{}m", String::from_utf8_lossy(rendition))
}

fn unescape(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let control = match (byte, after.first()) {
            (b'^', Some(letter @ b'@'..=b'~')) => Some(letter & 0x1f),
            _ => None,
        };
        match control {
            Some(control) => {
                out.push(control);
                rest = after.get(1..).unwrap_or_default();
            }
            None => out.push(*byte),
        }
    }
    ansi_c(&out)
}

#[cfg(test)]
mod tests {
    use super::{Palette, PaletteFault};

    // The expected results are those of GNU diff 3.8.
    #[test]
    fn palettes() {
        let parse = |text: &str| Palette::parse(text.as_bytes());
        assert_eq!(parse(":"), Ok(Palette::standard()));
        assert_eq!(
            parse("ad=38;5;200::rs=1").map(|p| (p.add, p.reset)),
            Ok(("\x1b[38;5;200m".into(), "\x1b[1m".into()))
        );
        assert_eq!(parse("ad=a\\x41;b").map(|p| p.add), Ok("\x1b[aA;bm".into()));
        assert_eq!(parse("ad=^[").map(|p| p.add), Ok("\x1b[\x1bm".into()));
        for bad in ["ad", "a=1", "adx=1", "=", "hd=1:a"] {
            assert_eq!(parse(bad), Err(PaletteFault::Malformed), "{bad}");
        }
        assert_eq!(parse("xx=1"), Err(PaletteFault::UnknownPart("xx".into())));
    }
}
