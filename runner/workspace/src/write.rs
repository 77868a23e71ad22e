//! Writes the current state of the session's folder as a zip.
//!
//! Files that the session has not changed are copied in packed form. All others are deflated. Names
//! are UTF-8; files with other names are left out and reported, as are kinds of files that a zip
//! cannot represent.

use crate::archive::{Archive, HIDDEN, workspace_path};
use crate::entry::ZipMember;
use crate::error::WorkspaceError;
use crate::kept::{KeepBase, Keeper};
use crate::{leads_out, lossy_path, split_path};
use std::any::Any;
use std::io::{self, Seek, Write};
use std::sync::Arc;
use wasibox_snapshot::export;
use wasibox_vfs::delta::TreeVersion;
use wasibox_vfs::{FileView, PathView, ViewShape};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Number of bytes that are read at once.
const PIECE: usize = 256 << 10;

/// A report of the written files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZipReport {
    /// The number of files, and of those that were copied in packed form.
    pub files: u64,
    pub copied: u64,
    /// Paths that were left out, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

pub(crate) fn write_error(e: impl std::fmt::Display) -> WorkspaceError {
    WorkspaceError::Write(e.to_string())
}

/// Converts nanoseconds since the epoch to a zip's time.
fn dos_time(time: u64) -> zip::DateTime {
    export::dos_time(time / 1_000_000_000)
}

fn file_options(seen: &PathView<'_>) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .unix_permissions(u32::from(seen.stat.mode & 0o777))
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(dos_time(seen.stat.mtime))
}

impl Archive {
    /// Writes the folder at `at`, of a session that began with this zip, as a zip to a seekable
    /// target. `hidden` has files for the host's folder, by name; the other files of that folder in
    /// this zip are kept.
    ///
    /// # Errors
    /// If a file cannot be read or `to` cannot be written.
    pub fn write(
        self: &Arc<Self>,
        snapshot: &TreeVersion,
        at: &str,
        hidden: &[(&str, &[u8])],
        keep: KeepBase,
        to: impl Write + Seek,
    ) -> Result<ZipReport, WorkspaceError> {
        self.write_with(snapshot, at, hidden, keep, ZipWriter::new(to))
    }

    /// Writes the zip to a target that cannot seek, for example a socket to another process.
    ///
    /// # Errors
    /// The same as [`Archive::write`].
    pub fn stream_zip(
        self: &Arc<Self>,
        snapshot: &TreeVersion,
        at: &str,
        hidden: &[(&str, &[u8])],
        keep: KeepBase,
        to: impl Write,
    ) -> Result<ZipReport, WorkspaceError> {
        self.write_with(snapshot, at, hidden, keep, ZipWriter::new_stream(to))
    }

    fn write_with<W: Write + Seek>(
        self: &Arc<Self>,
        snapshot: &TreeVersion,
        at: &str,
        hidden: &[(&str, &[u8])],
        keep: KeepBase,
        mut out: ZipWriter<W>,
    ) -> Result<ZipReport, WorkspaceError> {
        let at = workspace_path(at)?;
        let (mut saved, mut total) = (ZipReport::default(), 0u64);
        out.set_raw_comment(self.zip.comment().into()).map_err(write_error)?;
        self.write_hidden(hidden, &mut out)?;
        let mut keeper = Keeper::default();
        snapshot.each_below::<WorkspaceError>(&at, &mut |path, seen| {
            let mut leave = |why| {
                saved.left_out.push((lossy_path(path), why));
                Ok(())
            };
            let Ok(name) = std::str::from_utf8(path) else { return leave("its name is no UTF-8") };
            if name.contains('\\') {
                return leave("its name has a backslash");
            }
            if name == HIDDEN || name.strip_prefix(HIDDEN).is_some_and(|r| r.starts_with('/')) {
                return leave("this name is the host's");
            }
            let bits = seen.stat.mode & 0o777;
            match &seen.shape {
                ViewShape::Dir => out.add_directory(name, file_options(&seen)).map_err(write_error),
                ViewShape::Symlink(target) => {
                    let Ok(link) = std::str::from_utf8(target) else {
                        return leave("its target is no UTF-8");
                    };
                    if leads_out(split_path(path).0, target) {
                        return leave("the symbolic link leads out of the folder");
                    }
                    keeper.note_written(path, crc32fast::hash(target), target.len() as u64, 0o777);
                    out.add_symlink(name, link, file_options(&seen)).map_err(write_error)
                }
                ViewShape::File(file) => {
                    if file.len() > self.limits().file {
                        return leave("it is larger than a file of a zip may be");
                    }
                    total = total.saturating_add(file.len());
                    if total > self.limits().total {
                        let (have, most) = (total, self.limits().total);
                        return Err(WorkspaceError::TooLarge {
                            what: "bytes unpacked from the zip:",
                            have,
                            most,
                        });
                    }
                    saved.files += 1;
                    if let Some((index, crc)) = self.copy_entry(name, &seen, file, &mut out)? {
                        keeper.note_copied(path, index);
                        keeper.note_written(path, crc, file.len(), bits);
                        saved.copied += 1;
                        return Ok(());
                    }
                    let crc = pack_file(name, &seen, file, &mut out)?;
                    keeper.note_written(path, crc, file.len(), bits);
                    Ok(())
                }
                ViewShape::Other => leave("neither a file, a directory nor a symbolic link"),
            }
        })?;
        keeper.write(self, keep, &mut out)?;
        out.finish().map_err(write_error)?.flush().map_err(write_error)?;
        Ok(saved)
    }

    fn write_hidden<W: Write + Seek>(
        &self,
        hidden: &[(&str, &[u8])],
        out: &mut ZipWriter<W>,
    ) -> Result<(), WorkspaceError> {
        for (name, bytes) in hidden {
            let reserved = crate::kept::is_reserved(name.as_bytes());
            let dots = matches!(*name, "" | "." | "..");
            if reserved || dots || name.contains(['/', '\\', '\0']) {
                return Err(WorkspaceError::Write(format!("no name of a hidden file: '{name}'")));
            }
            let large = bytes.len() as u64 >= u64::from(u32::MAX);
            let how = SimpleFileOptions::default().unix_permissions(0o600).large_file(large);
            out.start_file(format!("{HIDDEN}/{name}"), how).map_err(write_error)?;
            out.write_all(bytes).map_err(write_error)?;
        }
        let mut zip = self.zip.clone();
        for (name, index) in &self.hidden {
            let given = hidden.iter().any(|(new, _)| new.as_bytes() == name);
            if !given && !crate::kept::is_reserved(name) {
                let entry = zip.by_index_raw(*index)?;
                out.raw_copy_file(entry).map_err(write_error)?;
            }
        }
        Ok(())
    }

    /// Copies an entry of this zip in packed form, if the file is still that entry, and returns its
    /// number and checksum.
    fn copy_entry<W: Write + Seek>(
        self: &Arc<Self>,
        name: &str,
        seen: &PathView<'_>,
        file: &FileView<'_>,
        out: &mut ZipWriter<W>,
    ) -> Result<Option<(usize, u32)>, WorkspaceError> {
        let Some(lazy) = file.untouched_bytes() else { return Ok(None) };
        let lazy: &dyn Any = &**lazy;
        let Some(entry) = lazy.downcast_ref::<ZipMember>() else { return Ok(None) };
        if !Arc::ptr_eq(&entry.archive, self) {
            return Ok(None);
        }
        let mut zip = self.zip.clone();
        let packed = zip.by_index_raw(entry.index)?;
        let as_it_was = entry.mode == seen.stat.mode & 0o777 && entry.time == seen.stat.mtime;
        let crc = packed.crc32();
        let named = packed.name_raw() == name.as_bytes();
        match (named, as_it_was) {
            (true, true) => out.raw_copy_file(packed).map_err(write_error)?,
            (false, true) => out.raw_copy_file_rename(packed, name).map_err(write_error)?,
            (true, false) => out
                .raw_copy_file_touch(
                    packed,
                    dos_time(seen.stat.mtime),
                    Some(u32::from(seen.stat.mode & 0o777)),
                )
                .map_err(write_error)?,
            (false, false) => return Ok(None),
        }
        Ok(Some((entry.index, crc)))
    }
}

/// Packs a file, and returns its checksum.
fn pack_file<W: Write + Seek>(
    name: &str,
    seen: &PathView<'_>,
    file: &FileView<'_>,
    out: &mut ZipWriter<W>,
) -> Result<u32, WorkspaceError> {
    let mut crc = crc32fast::Hasher::new();
    let large = file.len() >= u64::from(u32::MAX);
    out.start_file(name, file_options(seen).large_file(large)).map_err(write_error)?;
    each_piece(name.as_bytes(), file, &mut |piece| {
        crc.update(piece);
        out.write_all(piece).map_err(write_error)
    })?;
    Ok(crc.finalize())
}

/// Calls `each` with a file's bytes, piece by piece.
pub(crate) fn each_piece(
    path: &[u8],
    file: &FileView<'_>,
    each: &mut dyn FnMut(&[u8]) -> Result<(), WorkspaceError>,
) -> Result<(), WorkspaceError> {
    let (mut piece, mut at) = (vec![0; PIECE.min(file.len().max(1) as usize)], 0);
    while at < file.len() {
        let n = file
            .read(at, &mut piece)
            .map_err(|errno| WorkspaceError::Session { path: lossy_path(path), errno })?;
        if n == 0 {
            return Err(write_error(io::Error::from(io::ErrorKind::UnexpectedEof)));
        }
        each(&piece[..n])?;
        at += n as u64;
    }
    Ok(())
}
