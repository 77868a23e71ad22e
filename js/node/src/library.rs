//! Node's library: an archive of its JavaScript files, which `cargo xtask dist` makes from the
//! pinned release.
//!
//! The format, with all numbers in little endian:
//!
//! 1. `WBJS2\n`
//! 2. for each file the length of its name (`u16`), the name, and the length of its text (`u32`)
//! 3. a zero (`u16`)
//! 4. the unpacked length of a piece (`u32`)
//! 5. the packed length of each piece (`u32`)
//! 6. the pieces
//!
//! The texts, one after another, are cut into pieces of the same unpacked length, and each piece is
//! a frame of Zstandard. To read a file, the pieces that contain it must be unpacked. An archive in
//! which each file was compressed by itself (deflate) was a third larger.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

/// A file with an archive: its path in the image, and the environment variable with another path,
/// for tests outside of an image.
pub struct ArchiveFile {
    path: &'static str,
    variable: &'static str,
}

/// The archive of Node's library.
pub const LIBRARY: ArchiveFile =
    ArchiveFile { path: "/usr/lib/js/node.lib", variable: "WASIBOX_NODE_LIB" };
/// The archive of locale data.
pub const INTL: ArchiveFile =
    ArchiveFile { path: "/usr/lib/js/intl.lib", variable: "WASIBOX_INTL_LIB" };

const MAGIC: &[u8] = b"WBJS2\n";
/// The maximum unpacked length of a piece.
const MOST: usize = 16 << 20;

/// The archive. Pieces are unpacked when a file in them is read.
pub struct NodeLibrary {
    bytes: Vec<u8>,
    /// For each file, the start of its text in all unpacked pieces, and the length of the text.
    files: BTreeMap<String, (usize, usize)>,
    /// For each packed piece, its start and end in `bytes`.
    pieces: Vec<(usize, usize)>,
    /// The length of an unpacked piece; the last one may be shorter.
    piece: usize,
    /// The number and the text of the piece that was unpacked last.
    last: RefCell<Option<(usize, Vec<u8>)>>,
}

/// A cursor over the head of an archive.
struct LibraryReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> LibraryReader<'a> {
    fn take_bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(part)
    }

    fn take_number(&mut self, size: usize) -> Option<usize> {
        Some(self.take_bytes(size)?.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b)))
    }
}

impl NodeLibrary {
    /// Reads an archive.
    ///
    /// # Errors
    /// Returns an error if the archive is missing, or its head is damaged.
    pub fn open(file: &ArchiveFile) -> io::Result<NodeLibrary> {
        let path = std::env::var_os(file.variable).unwrap_or_else(|| file.path.into());
        NodeLibrary::parse(std::fs::read(path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not such an archive"))
    }

    fn parse(bytes: Vec<u8>) -> Option<NodeLibrary> {
        let mut from = LibraryReader { bytes: &bytes, at: 0 };
        if from.take_bytes(MAGIC.len())? != MAGIC {
            return None;
        }
        let (mut files, mut whole) = (BTreeMap::new(), 0usize);
        loop {
            let length = from.take_number(2)?;
            if length == 0 {
                break;
            }
            let name = String::from_utf8(from.take_bytes(length)?.to_vec()).ok()?;
            let text = from.take_number(4)?;
            files.insert(name, (whole, text));
            whole = whole.checked_add(text)?;
        }
        let piece = from.take_number(4)?.max(1);
        let count = whole.div_ceil(piece);
        // Such numbers are corrupt, and allocating memory by them would take too much.
        if count > bytes.len() || piece > MOST {
            return None;
        }
        let lengths = (0..count).map(|_| from.take_number(4)).collect::<Option<Vec<_>>>()?;
        let mut pieces = Vec::new();
        for length in lengths {
            let start = from.at;
            from.take_bytes(length)?;
            pieces.push((start, from.at));
        }
        Some(NodeLibrary { bytes, files, pieces, piece, last: RefCell::default() })
    }

    /// Returns the names of all modules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns a module's source, or `None` if there is no such module or its pieces are damaged.
    pub fn module_source(&self, name: &str) -> Option<String> {
        let (start, length) = *self.files.get(name)?;
        let (mut text, end) = (Vec::with_capacity(length), start + length);
        let mut last = self.last.borrow_mut();
        while start + text.len() < end {
            let at = start + text.len();
            let number = at / self.piece;
            if last.as_ref().is_none_or(|(n, _)| *n != number) {
                *last = Some((number, self.unpack_piece(number)?));
            }
            let (_, unpacked) = last.as_ref()?;
            let begin = number * self.piece;
            text.extend_from_slice(unpacked.get(at - begin..unpacked.len().min(end - begin))?);
        }
        String::from_utf8(text).ok()
    }

    /// Returns an unpacked piece, which is never empty.
    fn unpack_piece(&self, number: usize) -> Option<Vec<u8>> {
        let (start, end) = *self.pieces.get(number)?;
        let mut text = vec![0; self.piece];
        let length = zstd_safe::decompress(&mut text[..], &self.bytes[start..end]).ok()?;
        text.truncate(length);
        (length > 0).then_some(text)
    }

    /// Frees the last unpacked piece.
    pub fn forget_piece(&self) {
        self.last.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an archive of files, in pieces of `piece` bytes.
    fn archive(files: &[(&str, &str)], piece: usize) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let whole: String = files.iter().map(|(_, text)| *text).collect();
        for (name, text) in files {
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name.as_bytes());
            out.extend((text.len() as u32).to_le_bytes());
        }
        out.extend([0, 0]);
        out.extend((piece as u32).to_le_bytes());
        let pack = |piece: &[u8]| {
            let mut packed = vec![0; zstd_safe::compress_bound(piece.len())];
            let length = zstd_safe::compress(&mut packed[..], piece, 3).unwrap();
            packed.truncate(length);
            packed
        };
        let pieces: Vec<Vec<u8>> = whole.as_bytes().chunks(piece).map(pack).collect();
        out.extend(pieces.iter().flat_map(|p| (p.len() as u32).to_le_bytes()));
        out.extend(pieces.concat());
        out
    }

    #[test]
    fn files_lie_across_pieces() {
        let files =
            [("a", "one"), ("b", ""), ("c", "a text of several pieces \u{e9}"), ("d", "end")];
        for piece in [1, 4, 7, 1000] {
            let library = NodeLibrary::parse(archive(&files, piece)).unwrap();
            assert_eq!(library.names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
            for (name, text) in files.iter().rev() {
                assert_eq!(library.module_source(name).as_deref(), Some(*text), "{name} {piece}");
            }
            library.forget_piece();
            assert_eq!(library.module_source("e"), None);
        }
    }

    #[test]
    fn damaged_archives_are_refused() {
        let good = archive(&[("a", "one"), ("b", "two")], 4);
        for length in 0..good.len() {
            assert!(NodeLibrary::parse(good[..length].to_vec()).is_none(), "{length}");
        }
        assert!(NodeLibrary::parse(b"WBJS1\n\0\0\x04\0\0\0".to_vec()).is_none());
        let mut bad = good.clone();
        let at = bad.len() - 8;
        bad[at..].fill(0xff);
        let library = NodeLibrary::parse(bad).unwrap();
        assert!(library.module_source("b").is_none());
    }
}
