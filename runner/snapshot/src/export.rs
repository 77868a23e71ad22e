//! The files of a state as an archive that other programs can read: tar in a Zstandard frame, zip.
//!
//! It contains the files that a session has made or changed, by path, with the permission bits,
//! times and links that the format supports. Where a file still has bytes of the image, an
//! [`ImageSource`] supplies them.
//!
//! # Deliberately absent
//! Removed files, and files of the image that were moved unchanged, because an archive cannot
//! represent them. Named pipes in a zip.

use crate::commit::FileTree;
use crate::delta::{CHUNK, Id, NodeContent, TreeNode};
use crate::error::SnapshotError;
use crate::files;
use crate::files::walk::{TreeEntry, walk_tree};
use crate::object::Objects;
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Number of bytes that are read at once.
const PIECE: usize = 16 * CHUNK as usize;

/// A source of the image's files.
pub trait ImageSource {
    /// Returns the first `len` bytes of a file of the image, by its path there.
    ///
    /// # Errors
    /// If there is no such file.
    fn read_file(&self, path: &[ByteBuf], len: u64) -> Result<Vec<u8>, SnapshotError>;
}

/// A source without an image: files that need its bytes are left out.
pub struct NoImage;

impl ImageSource for NoImage {
    fn read_file(&self, _: &[ByteBuf], _: u64) -> Result<Vec<u8>, SnapshotError> {
        Err(SnapshotError::Malformed("a file of the image"))
    }
}

/// The paths of files that were left out.
pub type LeftOut = Vec<Vec<u8>>;

/// A reader of a file's bytes.
struct ExportReader<'a> {
    objects: &'a dyn Objects,
    files: &'a FileTree,
    id: &'a Id,
    node: &'a TreeNode,
    image: Vec<u8>,
    at: u64,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for ExportReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            let root = &self.files.root;
            let piece =
                files::read(self.objects, root, self.id, self.node, self.at, PIECE, &self.image);
            let piece = piece.map_err(io::Error::other)?;
            self.at += piece.len() as u64;
            self.piece = io::Cursor::new(piece);
        }
        self.piece.read(out)
    }
}

/// Subtracts a file's bytes from those that may still be written.
fn count_bytes(left: &mut u64, len: u64) -> Result<(), SnapshotError> {
    *left = left.checked_sub(len).ok_or(SnapshotError::TooLarge("the files"))?;
    Ok(())
}

/// Returns a reader of a file; `None` if it needs bytes of an image that is not available.
fn file_reader<'a>(
    objects: &'a dyn Objects,
    files: &'a FileTree,
    image: &dyn ImageSource,
    id: &'a Id,
    node: &'a TreeNode,
) -> Option<ExportReader<'a>> {
    let image = match (&node.what, id) {
        (NodeContent::File { base: Some(len @ 1..), .. }, Id::Given(path)) => {
            image.read_file(path, *len).ok()?
        }
        (NodeContent::File { base: Some(1..), .. }, _) => return None,
        _ => Vec::new(),
    };
    Some(ExportReader { objects, files, id, node, image, at: 0, piece: io::Cursor::default() })
}

/// Returns the modification time in seconds since the epoch.
fn mtime_seconds(node: &TreeNode) -> u64 {
    node.mtime / 1_000_000_000
}

/// Writes the files as compressed tar, with at most `most` bytes of contents in total. The limit is
/// needed because a hole in a file takes no space in a session, but is written as zeros here.
///
/// # Errors
/// TooLarge beyond `most`; if objects are damaged or `to` cannot be written.
pub fn tar_zst(
    objects: &dyn Objects,
    files: &FileTree,
    image: &dyn ImageSource,
    most: u64,
    to: impl Write,
) -> Result<LeftOut, SnapshotError> {
    let mut to = crate::zstd::ZstdStream::new(to)?;
    let left = write_tar(objects, files, image, most, &mut to)?;
    to.finish()?;
    Ok(left)
}

/// Writes the files as tar.
///
/// # Errors
/// The same as [`tar_zst`].
pub fn write_tar(
    objects: &dyn Objects,
    files: &FileTree,
    image: &dyn ImageSource,
    most: u64,
    to: impl Write,
) -> Result<LeftOut, SnapshotError> {
    let mut out = tar::Builder::new(to);
    // A sparse file is written with all its zeros.
    out.sparse(false);
    let (mut left, mut names) = (LeftOut::new(), HashMap::<Id, Vec<u8>>::new());
    let mut room = most;
    walk_tree(objects, &files.root, &mut |found: TreeEntry<'_>| {
        let Some(node) = found.node else { return Ok(()) };
        let path = &found.path[1..];
        let mut head = tar::Header::new_gnu();
        head.set_mode(u32::from(node.mode));
        head.set_mtime(mtime_seconds(node));
        head.set_uid(1000);
        head.set_gid(1000);
        head.set_size(0);
        if let Some(first) = names.get(found.id) {
            head.set_entry_type(tar::EntryType::Link);
            return Ok(out.append_link(&mut head, as_path(path), as_path(first))?);
        }
        let linked = node.nlink > 1 && !matches!(node.what, NodeContent::Dir { .. });
        match &node.what {
            NodeContent::Dir { .. } => {
                head.set_entry_type(tar::EntryType::Directory);
                out.append_data(&mut head, as_path(path), io::empty())?;
            }
            NodeContent::File { len, .. } => {
                let Some(bytes) = file_reader(objects, files, image, found.id, node) else {
                    left.push(found.path.to_vec());
                    return Ok(());
                };
                count_bytes(&mut room, *len)?;
                head.set_size(*len);
                out.append_data(&mut head, as_path(path), bytes)?;
            }
            NodeContent::Symlink(target) => {
                head.set_entry_type(tar::EntryType::Symlink);
                out.append_link(&mut head, as_path(path), as_path(target))?;
            }
            NodeContent::Fifo => {
                head.set_entry_type(tar::EntryType::Fifo);
                out.append_data(&mut head, as_path(path), io::empty())?;
            }
            NodeContent::Same => return Ok(()),
        }
        if linked {
            names.insert(found.id.clone(), path.to_vec());
        }
        Ok::<_, SnapshotError>(())
    })?;
    out.into_inner()?.flush()?;
    Ok(left)
}

#[cfg(unix)]
fn as_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Converts a name to text, because the format requires it; invalid bytes are replaced.
#[cfg(not(unix))]
fn as_path(bytes: &[u8]) -> std::path::PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Writes the files as zip. A file with two names is written twice. Files whose names are not text
/// are left out, because a zip cannot represent them.
///
/// # Errors
/// The same as [`tar_zst`].
pub fn write_zip(
    objects: &dyn Objects,
    files: &FileTree,
    image: &dyn ImageSource,
    most: u64,
    to: impl Write,
) -> Result<LeftOut, SnapshotError> {
    let mut out = ZipWriter::new_stream(to);
    let (mut left, mut room) = (LeftOut::new(), most);
    walk_tree(objects, &files.root, &mut |found: TreeEntry<'_>| {
        let Some(node) = found.node else { return Ok(()) };
        let options = SimpleFileOptions::default()
            .unix_permissions(u32::from(node.mode))
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(dos_time(mtime_seconds(node)));
        let target = match &node.what {
            NodeContent::Symlink(target) => std::str::from_utf8(target),
            _ => Ok(""),
        };
        let (Ok(path), Ok(target)) = (std::str::from_utf8(&found.path[1..]), target) else {
            left.push(found.path.to_vec());
            return Ok(());
        };
        let done = match &node.what {
            NodeContent::Dir { .. } => out.add_directory(path, options),
            NodeContent::Symlink(_) => out.add_symlink(path, target, options),
            NodeContent::File { len, .. } => {
                match file_reader(objects, files, image, found.id, node) {
                    Some(mut bytes) => {
                        count_bytes(&mut room, *len)?;
                        let large = *len >= u64::from(u32::MAX);
                        out.start_file(path, options.large_file(large)).map_err(io::Error::from)?;
                        io::copy(&mut bytes, &mut out)?;
                        Ok(())
                    }
                    None => {
                        left.push(found.path.to_vec());
                        Ok(())
                    }
                }
            }
            NodeContent::Fifo => {
                left.push(found.path.to_vec());
                Ok(())
            }
            NodeContent::Same => Ok(()),
        };
        Ok::<_, SnapshotError>(done.map_err(io::Error::from)?)
    })?;
    out.finish().map_err(io::Error::from)?.into_inner().flush()?;
    Ok(left)
}

/// Converts seconds since the epoch to a zip's time, which is assumed to be UTC. A time that zip
/// cannot represent becomes 1980-01-01.
pub fn dos_time(seconds: u64) -> zip::DateTime {
    // Converts days to a date by Howard Hinnant's `civil_from_days`, for days since the epoch.
    let (days, rest) = (seconds / 86400, seconds % 86400);
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u8;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u8;
    let year = yoe + era * 400 + u64::from(month <= 2);
    let (hour, minute) = ((rest / 3600) as u8, (rest / 60 % 60) as u8);
    let year = u16::try_from(year).unwrap_or(u16::MAX);
    let time = zip::DateTime::from_date_and_time(year, month, day, hour, minute, (rest % 60) as u8);
    time.unwrap_or_default()
}
