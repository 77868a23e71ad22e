//! Node's library: an archive of its JavaScript files, made by `cargo xtask dist` of the pinned release.
//!
//! Format: `WBJS1\n`, then for each file `u16 length, name, u32 raw length, u32 packed length`, all little
//! endian, a zero `u16`, then the packed files (raw deflate) one after the other.

use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Where the image has it.
pub const PATH: &str = "/usr/lib/js/node.lib";
/// Another place, for tests outside of an image.
pub const VARIABLE: &str = "WASIBOX_NODE_LIB";

const MAGIC: &[u8] = b"WBJS1\n";

/// The archive, unpacked file by file as they are asked for.
pub struct Library {
    bytes: Vec<u8>,
    /// Start, packed and raw length of each file.
    files: BTreeMap<String, (usize, usize, usize)>,
}

impl Library {
    /// Reads the archive of the image.
    ///
    /// # Errors
    /// It is missing or damaged.
    pub fn open() -> io::Result<Library> {
        let path = std::env::var_os(VARIABLE).unwrap_or_else(|| PATH.into());
        Library::parse(std::fs::read(path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not Node's library"))
    }

    fn parse(bytes: Vec<u8>) -> Option<Library> {
        let mut at = MAGIC.len();
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let take = |at: &mut usize, n: usize| {
            let part = bytes.get(*at..at.checked_add(n)?)?;
            *at += n;
            Some(part)
        };
        let number = |part: &[u8]| part.iter().rev().fold(0usize, |n, b| n << 8 | usize::from(*b));
        let mut sizes = Vec::new();
        loop {
            let length = number(take(&mut at, 2)?);
            if length == 0 {
                break;
            }
            let name = String::from_utf8(take(&mut at, length)?.to_vec()).ok()?;
            let raw = number(take(&mut at, 4)?);
            sizes.push((name, raw, number(take(&mut at, 4)?)));
        }
        let mut files = BTreeMap::new();
        for (name, raw, packed) in sizes {
            files.insert(name, (at, packed, raw));
            take(&mut at, packed)?;
        }
        Some(Library { bytes, files })
    }

    /// The names of all modules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A module's source.
    pub fn source(&self, name: &str) -> Option<String> {
        let (start, packed, raw) = *self.files.get(name)?;
        let mut text = String::with_capacity(raw);
        let packed = &self.bytes[start..start + packed];
        DeflateDecoder::new(packed).take(raw as u64).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_archives_are_refused() {
        assert!(Library::parse(b"WBJS1\n\0\0".to_vec()).is_some_and(|l| l.names().count() == 0));
        for bad in [&b""[..], b"WBJS2\n\0\0", b"WBJS1\n", b"WBJS1\n\x01\0a\x01\0\0\0\x09\0\0\0\0\0"]
        {
            assert!(Library::parse(bad.to_vec()).is_none(), "{bad:?}");
        }
    }
}
