//! What `split` makes of nothing: GNU makes no file then, the library an empty first one.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use box_sys::path::{os_bytes, os_string};

/// The first file of a call that made none before.
pub(super) struct FirstPiece {
    path: PathBuf,
}

impl FirstPiece {
    /// Returns the file that a rewritten command line writes first, unless there is one already, or the call makes a
    /// fixed number of files.
    pub(super) fn of(line: &[OsString]) -> Option<FirstPiece> {
        let words: Vec<&[u8]> = line.iter().skip(1).map(|word| os_bytes(word)).collect();
        let at = words.iter().position(|word| *word == b"--")?;
        let (options, operands) = (&words[..at], &words[at + 1..]);
        let value = |name: &str| {
            let found = options.iter().rev().find_map(|o| o.strip_prefix(name.as_bytes()))?;
            Some(found.strip_prefix(b"=").unwrap_or(found))
        };
        if value("--number").is_some() {
            return None;
        }
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<usize>().ok();
        let from = [("--numeric-suffixes", 10), ("--hex-suffixes", 16), ("-d", 10), ("-x", 16)];
        let from = from.iter().find_map(|(name, radix)| Some((value(name)?, *radix)));
        let length = value("--suffix-length").and_then(number).filter(|n| *n > 0).unwrap_or(2);
        let suffix = match from {
            None => "a".repeat(length),
            Some((b"", _)) => "0".repeat(length),
            Some((text, 16)) => {
                let text = std::str::from_utf8(text).ok()?;
                format!("{:0length$x}", usize::from_str_radix(text, 16).ok()?)
            }
            Some((text, _)) => format!("{:0length$}", number(text)?),
        };
        let prefix = operands.get(1).copied().unwrap_or(b"x");
        let more = value("--additional-suffix").unwrap_or_default();
        let path = PathBuf::from(os_string([prefix, suffix.as_bytes(), more].concat()));
        (!path.exists()).then_some(FirstPiece { path })
    }

    /// Removes the file if there is nothing in it.
    ///
    /// # Errors
    /// What removing it says.
    pub(super) fn remove_empty(&self) -> std::io::Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(made) if made.is_file() && made.len() == 0 => fs::remove_file(&self.path),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FirstPiece;

    // Names are those that GNU split 9.1 gives.
    #[test]
    fn first_names() {
        let name = |line: &[&str]| {
            let line: Vec<_> = line.iter().map(std::ffi::OsString::from).collect();
            FirstPiece::of(&line).map(|first| first.path.display().to_string())
        };
        let none: Option<String> = None;
        assert_eq!(name(&["split", "--"]).as_deref(), Some("xaa"));
        let line = ["split", "--numeric-suffixes=5", "--suffix-length=3", "--", "f", "no/p"];
        assert_eq!(name(&line).as_deref(), Some("no/p005"));
        let line = ["split", "-x", "--additional-suffix=.t", "--", "f", "no/p"];
        assert_eq!(name(&line).as_deref(), Some("no/p00.t"));
        assert_eq!(name(&["split", "--number=2", "--"]), none);
    }
}
