//! What a zip keeps of what its first session began with, so that the zip alone carries a history.
//!
//! What a session has changed, as data (`wasibox_vfs::delta`), names the files that it began with. A zip that was saved has
//! not all of them any more. So, if that is wanted, they are kept in the host's folder: a list of all, and the packed data of
//! those that are not in the zip at their places as they were. A later session begins with the same
//! files, takes up the changes, and can go back to any state before.
//!
//! The list is believed only while what the zip shows is what was written with it: another program may have changed it. A
//! list that is damaged is as none.

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

/// The list, and the beginning of the names of kept entries.
const LIST: &str = "base.list";
const ENTRY: &str = "base-";
/// Largest list.
const LIST_BYTES: u64 = 128 << 20;

/// Whether a saved zip keeps what the session began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepBase {
    /// No: a later session begins with what the zip has then.
    No,
    /// What [`Archive::base_folder`] gives: the session began with that.
    Present,
    /// What [`Archive::original_folder`] gives: the session began with that.
    Original,
}

/// Whether a name in the host's folder is one of those that are written here.
pub(crate) fn is_reserved(name: &[u8]) -> bool {
    name == LIST.as_bytes() || name.starts_with(ENTRY.as_bytes())
}

/// Something that the first session began with.
#[derive(Serialize, Deserialize)]
enum KeptOriginal {
    Dir,
    Link(ByteBuf),
    /// A file; it is kept, or else at its place.
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
    /// What the zip shows: files and links.
    shown: u64,
    items: Vec<KeptItem>,
}

/// FNV-1a, which is for accidents, not for enemies: whoever can write the zip can write the list.
fn mix_hash(hash: &mut u64, bytes: &[u8]) {
    for b in bytes {
        *hash = (*hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    }
}

/// A name's part of what a zip shows; the parts are added up.
fn name_fingerprint(path: &[u8], crc: u32, size: u64, mode: u16) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    mix_hash(&mut hash, path);
    mix_hash(&mut hash, &[0]);
    mix_hash(&mut hash, &crc.to_le_bytes());
    mix_hash(&mut hash, &size.to_le_bytes());
    mix_hash(&mut hash, &mode.to_le_bytes());
    hash
}

/// Takes note of what is written, and writes what is to be kept.
#[derive(Default)]
pub(crate) struct Keeper {
    shown: u64,
    /// Paths at which entries were copied, with the entries' numbers.
    copied: BTreeSet<(Vec<u8>, usize)>,
}

impl Keeper {
    /// A file was written to the zip.
    pub fn note_written(&mut self, path: &[u8], crc: u32, size: u64, mode: u16) {
        self.shown = self.shown.wrapping_add(name_fingerprint(path, crc, size, mode));
    }

    /// An entry of the archive was copied to that path.
    pub fn note_copied(&mut self, path: &[u8], index: usize) {
        self.copied.insert((path.to_vec(), index));
    }

    /// Writes what is to be kept of the archive.
    ///
    /// # Errors
    /// If the zip has not kept what `keep` asks for, or cannot be written.
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

/// What the first session began with, if the zip has kept it and shows what was written with that.
///
/// # Errors
/// A list that makes no sense.
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
    let list: KeptList = postcard::from_bytes(&bytes).map_err(|_| wrong("it is none"))?;
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
            return Err(wrong("a name that is none"));
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

/// The fingerprint of what a zip shows.
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
