//! The original files that a zip keeps: those with which its first session began, so that the zip
//! alone carries a history.
//!
//! A session's changes, as data (`wasibox_vfs::delta`), refer to the files that it began with. A
//! zip that was saved no longer contains all of them. So, if requested, they are kept in the host's
//! folder: a list of all, and the packed data of those that are not at their original places in the
//! zip. A later session begins with the same files, applies the changes, and can return to any
//! earlier state.
//!
//! The list is trusted only while the zip's visible files are those that were written with it,
//! because another program may have changed the zip. A damaged list counts as missing.

use crate::archive::{
    Archive, ArchiveNode, ArchiveReader, HIDDEN, ZipLimits, insert_entry, name_parts, unpack_entry,
};
use crate::error::WorkspaceError;
use crate::leads_out;
use crate::write::write_error;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

/// The name of the list, and the prefix of the names of kept entries.
const LIST: &str = "base.list";
const ENTRY: &str = "base-";
/// Maximum size in bytes of the list.
const LIST_BYTES: u64 = 128 << 20;

/// The files that the session began with, as far as a saved zip keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepBase {
    /// Not kept: a later session begins with the zip's files at that time.
    No,
    /// The session began with [`Archive::base_folder`].
    Present,
    /// The session began with [`Archive::original_folder`].
    Original,
}

/// Returns whether a name in the host's folder is reserved for the files written here.
pub(crate) fn is_reserved(name: &[u8]) -> bool {
    name == LIST.as_bytes() || name.starts_with(ENTRY.as_bytes())
}

/// An entry with which the first session began.
#[derive(Serialize, Deserialize)]
enum KeptOriginal {
    Dir,
    Link(ByteBuf),
    /// A file, which is kept, or still at its place.
    File {
        kept: bool,
    },
}

#[derive(Serialize, Deserialize)]
struct KeptItem {
    path: ByteBuf,
    mode: u16,
    time: u64,
    was: KeptOriginal,
}

#[derive(Default, Serialize, Deserialize)]
struct KeptList {
    /// The fingerprint of the zip's visible files and links.
    shown: u64,
    items: Vec<KeptItem>,
}

/// Updates an FNV-1a hash. It protects against accidents, not against attackers, who could change
/// the list as well if they can change the zip.
fn mix_hash(hash: &mut u64, bytes: &[u8]) {
    for b in bytes {
        *hash = (*hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    }
}

/// Returns the share of one name in the fingerprint of a zip; the shares are added.
fn name_fingerprint(path: &[u8], crc: u32, size: u64, mode: u16) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    mix_hash(&mut hash, path);
    mix_hash(&mut hash, &[0]);
    mix_hash(&mut hash, &crc.to_le_bytes());
    mix_hash(&mut hash, &size.to_le_bytes());
    mix_hash(&mut hash, &mode.to_le_bytes());
    hash
}

/// A recorder of the written files, which then writes the files to keep.
#[derive(Default)]
pub(crate) struct Keeper {
    shown: u64,
    /// Paths to which entries were copied, with the entries' numbers.
    copied: BTreeSet<(Vec<u8>, usize)>,
}

impl Keeper {
    /// Records a file that was written to the zip.
    pub fn note_written(&mut self, path: &[u8], crc: u32, size: u64, mode: u16) {
        self.shown = self.shown.wrapping_add(name_fingerprint(path, crc, size, mode));
    }

    /// Records an entry of the archive that was copied to that path.
    pub fn note_copied(&mut self, path: &[u8], index: usize) {
        self.copied.insert((path.to_vec(), index));
    }

    /// Writes the files of the archive that are to be kept.
    ///
    /// # Errors
    /// If the zip does not have the files that `keep` requests, or cannot be written.
    pub fn write<W: Write + Seek>(
        self,
        archive: &Archive,
        keep: KeepBase,
        out: &mut ZipWriter<W>,
    ) -> Result<(), WorkspaceError> {
        let root = match keep {
            KeepBase::No => return Ok(()),
            KeepBase::Present => &archive.root,
            KeepBase::Original => archive.original.as_ref().ok_or_else(|| {
                WorkspaceError::Write(
                    "the zip has not kept what its first session began with".into(),
                )
            })?,
        };
        let mut list = KeptList { shown: self.shown, items: Vec::new() };
        let mut zip = archive.zip.clone();
        let mut todo = vec![(Vec::new(), &**root)];
        while let Some((path, node)) = todo.pop() {
            let (mode, time, was) = match node {
                ArchiveNode::Dir { mode, time, entries, .. } => {
                    let below = |name: &Vec<u8>| crate::overlay::join_path(&path, name);
                    todo.extend(entries.iter().rev().map(|(name, node)| (below(name), node)));
                    (*mode, *time, KeptOriginal::Dir)
                }
                ArchiveNode::Link { target, time } => {
                    (0o777, *time, KeptOriginal::Link(ByteBuf::from(target.clone())))
                }
                ArchiveNode::File { index, mode, time, .. } => {
                    let kept = !self.copied.contains(&(path.clone(), *index));
                    if kept {
                        let name = format!("{HIDDEN}/{ENTRY}{}", list.items.len());
                        let entry = zip.by_index_raw(*index)?;
                        out.raw_copy_file_rename(entry, name).map_err(write_error)?;
                    }
                    (*mode, *time, KeptOriginal::File { kept })
                }
            };
            list.items.push(KeptItem { path: ByteBuf::from(path), mode, time, was });
        }
        let bytes = postcard::to_stdvec(&list).map_err(write_error)?;
        let how = SimpleFileOptions::default().unix_permissions(0o600);
        out.start_file(format!("{HIDDEN}/{LIST}"), how).map_err(write_error)?;
        out.write_all(&bytes).map_err(write_error)
    }
}

/// Returns the files with which the first session began, if the zip has kept them and its visible
/// files are unchanged.
///
/// # Errors
/// If the list makes no sense.
pub(crate) fn original_entries(
    zip: &ZipArchive<ArchiveReader>,
    root: &ArchiveNode,
    hidden: &BTreeMap<Vec<u8>, usize>,
    limits: &ZipLimits,
) -> Result<Option<ArchiveNode>, WorkspaceError> {
    let Some(index) = hidden.get(LIST.as_bytes()) else { return Ok(None) };
    let wrong = |why: &str| WorkspaceError::Malformed(format!("its list of what was kept: {why}"));
    let mut zip = zip.clone();
    let entry = zip.by_index(*index)?;
    let size = entry.size();
    if size > LIST_BYTES.min(2 * limits.directory) {
        return Err(wrong("it is too large"));
    }
    let bytes = unpack_entry(entry, size).map_err(|_| wrong("it is damaged"))?;
    let list: KeptList = postcard::from_bytes(&bytes).map_err(|_| wrong("it cannot be read"))?;
    if list.shown != zip_fingerprint(&mut zip, root)? {
        return Ok(None);
    }
    if list.items.len() as u64 > limits.entries + 1 {
        return Err(wrong("it has too many entries"));
    }
    let mut out = None;
    for (n, item) in list.items.into_iter().enumerate() {
        let KeptItem { path, mode, time, was } = item;
        if n == 0 {
            match was {
                KeptOriginal::Dir if path.is_empty() => {
                    out = Some(ArchiveNode::empty_dir(mode & 0o777, time))
                }
                _ => return Err(wrong("it does not begin with the folder")),
            }
            continue;
        }
        let Some(out) = &mut out else { break };
        if path.ends_with(b"/") {
            return Err(wrong("an invalid name"));
        }
        let path = name_parts(&path).map_err(wrong)?;
        let node = match was {
            KeptOriginal::Dir => ArchiveNode::empty_dir(mode & 0o777, time),
            KeptOriginal::Link(target) => {
                let dir = path[..path.len() - 1].join(&b'/');
                let good = !target.is_empty() && target.len() <= 4095 && !target.contains(&0);
                if !good || leads_out(&dir, &target) {
                    return Err(wrong("a symbolic link that leads out"));
                }
                ArchiveNode::Link { target: target.into_vec(), time }
            }
            KeptOriginal::File { kept } => {
                let index = match (kept, root.node_at(&path)) {
                    (true, _) => hidden.get(format!("{ENTRY}{n}").as_bytes()).copied(),
                    (false, Some(ArchiveNode::File { index, .. })) => Some(*index),
                    _ => None,
                };
                let index = index.ok_or_else(|| wrong("a file that is not there"))?;
                let size = zip.by_index_raw(index)?.size();
                ArchiveNode::File { index, size, mode: mode & 0o777, time }
            }
        };
        insert_entry(out, &path, node, time).map_err(wrong)?;
    }
    Ok(out)
}

/// Returns the fingerprint of a zip's visible files.
fn zip_fingerprint(
    zip: &mut ZipArchive<ArchiveReader>,
    root: &ArchiveNode,
) -> Result<u64, WorkspaceError> {
    let mut sum = 0u64;
    let mut todo = vec![(Vec::new(), root)];
    while let Some((path, node)) = todo.pop() {
        match node {
            ArchiveNode::Dir { entries, .. } => {
                let below = |name: &Vec<u8>| crate::overlay::join_path(&path, name);
                todo.extend(entries.iter().map(|(name, node)| (below(name), node)));
            }
            ArchiveNode::Link { target, .. } => {
                let crc = crc32fast::hash(target);
                sum = sum.wrapping_add(name_fingerprint(&path, crc, target.len() as u64, 0o777));
            }
            ArchiveNode::File { index, size, mode, .. } => {
                let crc = zip.by_index_raw(*index)?.crc32();
                sum = sum.wrapping_add(name_fingerprint(&path, crc, *size, *mode));
            }
        }
    }
    Ok(sum)
}
