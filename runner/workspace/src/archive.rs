//! Reads a zip: its directory is checked as a whole, and then its entries form a tree.
//!
//! The central directory is trusted only if everything else agrees: local headers are consistent
//! with it, entries do not overlap, no name occurs twice, no entry is unlisted.

use crate::entry::{Cache, ZipMember};
use crate::error::WorkspaceError;
use crate::leads_out;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wasibox_vfs::walk::MAX_NAME;
use wasibox_vfs::{BaseFile, BaseKind, Folder, FolderEntry};
use zip::{CompressionMethod, ZipArchive};

/// The host's folder in a zip, which guests do not see.
pub const HIDDEN: &str = ".wasibox";
/// Maximum length of a path, length of a link's target, and depth of directories.
const PATH: usize = 4096;
const TARGET: u64 = 4095;
const DEPTH: usize = 200;
/// Maximum ratio by which deflated data can grow.
const RATIO: u64 = 1032;
/// Number of bytes that are read from the file at once: few after a seek, and more with each
/// sequential read.
const FEW: usize = 512;
const MANY: usize = 64 << 10;

/// The limits on a zip.
#[derive(Clone, Copy, Debug)]
pub struct ZipLimits {
    pub entries: u64,
    /// Maximum bytes of the central directory and of the headers.
    pub directory: u64,
    /// Maximum unpacked bytes of one file, and of all files together.
    pub file: u64,
    pub total: u64,
}

impl Default for ZipLimits {
    /// Returns the limits: 200,000 entries, 64 MiB, files of 512 MiB, 8 GiB.
    fn default() -> ZipLimits {
        ZipLimits { entries: 200_000, directory: 64 << 20, file: 512 << 20, total: 8 << 30 }
    }
}

/// A reader of a shared file with its own position, and with a bound on the bytes it may read in
/// total.
#[derive(Clone)]
pub(crate) struct ArchiveReader {
    file: Arc<File>,
    at: u64,
    len: u64,
    /// Bytes that may still be read; `None` means no limit.
    left: Option<Arc<AtomicU64>>,
    block: Vec<u8>,
    block_at: u64,
}

impl ArchiveReader {
    fn new(file: Arc<File>, left: Option<u64>) -> io::Result<ArchiveReader> {
        let len = file.metadata()?.len();
        let left = left.map(|n| Arc::new(AtomicU64::new(n)));
        Ok(ArchiveReader { file, at: 0, len, left, block: Vec::new(), block_at: 0 })
    }

    fn buffered_bytes(&self) -> &[u8] {
        let skip = self.at.checked_sub(self.block_at).and_then(|n| usize::try_from(n).ok());
        skip.and_then(|n| self.block.get(n..)).unwrap_or(&[])
    }
}

impl Read for ArchiveReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.buffered_bytes().is_empty() && !out.is_empty() {
            let goes_on = self.at == self.block_at + self.block.len() as u64;
            let block = if goes_on { (self.block.len() * 2).clamp(FEW, MANY) } else { FEW };
            let want = block.max(out.len().min(1 << 20));
            self.block.resize(want, 0);
            let n = self.file.read_at(&mut self.block, self.at)?;
            self.block.truncate(n);
            self.block_at = self.at;
        }
        let have = self.buffered_bytes();
        let n = have.len().min(out.len());
        out[..n].copy_from_slice(&have[..n]);
        self.at += n as u64;
        if let Some(left) = &self.left {
            let spent = |left: u64| left.checked_sub(n as u64);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent)
                .map_err(|_| io::Error::other("its directory is too large"))?;
        }
        Ok(n)
    }
}

impl Seek for ArchiveReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(n) => Some(n),
            SeekFrom::End(n) => self.len.checked_add_signed(n),
            SeekFrom::Current(n) => self.at.checked_add_signed(n),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// A node in the tree of entries.
#[derive(Clone, Debug)]
pub(crate) enum ArchiveNode {
    Dir { mode: u16, time: u64, entries: BTreeMap<Vec<u8>, ArchiveNode>, listed: bool },
    File { index: usize, size: u64, mode: u16, time: u64 },
    Link { target: Vec<u8>, time: u64 },
}

/// An open zip.
pub struct Archive {
    pub(crate) zip: ZipArchive<ArchiveReader>,
    pub(crate) root: Arc<ArchiveNode>,
    /// The files with which the first session began, if the zip has kept them.
    pub(crate) original: Option<Arc<ArchiveNode>>,
    /// Entries of the host's folder, by name.
    pub(crate) hidden: BTreeMap<Vec<u8>, usize>,
    pub(crate) cache: Cache,
    file: Arc<File>,
    limits: ZipLimits,
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Archive({} entries)", self.zip.len())
    }
}

impl Archive {
    /// Opens and checks a zip. Nothing is unpacked except the targets of symbolic links.
    ///
    /// # Errors
    /// If it is not a valid zip, or exceeds the limits.
    pub fn open(file: File, limits: &ZipLimits) -> Result<Arc<Archive>, WorkspaceError> {
        let file = Arc::new(file);
        let wrong = |e: io::Error| WorkspaceError::Malformed(e.to_string());
        let reader = ArchiveReader::new(file.clone(), Some(limits.directory)).map_err(wrong)?;
        let mut zip = ZipArchive::new(reader)?;
        let have = zip.len() as u64;
        if have > limits.entries {
            let most = limits.entries;
            return Err(WorkspaceError::TooLarge { what: "entries of the zip:", have, most });
        }
        if zip.offset() != 0 {
            return Err(WorkspaceError::Malformed("there are bytes before its first entry".into()));
        }
        // The reader has a new allowance, because headers are read again.
        let again = ArchiveReader::new(file.clone(), Some(limits.directory)).map_err(wrong)?;
        let mut checked = ZipArchive::new(again)?;
        checked.validate_header_consistency()?;
        let (root, hidden) = entry_tree(&mut zip, limits)?;
        // From here on reads have no common bound, because each is bounded by its entry's size.
        let reader = ArchiveReader::new(file.clone(), None).map_err(wrong)?;
        let zip = ZipArchive::new(reader)?;
        // A damaged list must not prevent access to the files.
        let original = crate::kept::original_entries(&zip, &root, &hidden, limits);
        let original = original.unwrap_or(None).map(Arc::new);
        let root = Arc::new(root);
        Ok(Arc::new(Archive {
            zip,
            root,
            original,
            hidden,
            cache: Cache::default(),
            file,
            limits: *limits,
        }))
    }

    /// Opens the zip's file again, for another process, which passes it to [`Archive::open`]. It is
    /// the same file, even if another one has taken its name.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn reopen_file(&self) -> io::Result<File> {
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        // A clone shares the lock with this process, which is acceptable where there is no /proc.
        File::open(own).or_else(|_| self.file.try_clone())
    }

    pub(crate) fn limits(&self) -> &ZipLimits {
        &self.limits
    }

    /// Returns the folder for [`wasibox_vfs::Vfs::new`], at an absolute plain path, for example
    /// `/work`.
    ///
    /// # Errors
    /// If a workspace may not be at that path.
    pub fn base_folder(self: &Arc<Self>, at: &str) -> Result<BaseFile, WorkspaceError> {
        self.base_of(&self.root, at)
    }

    /// Returns the folder with which the first session began, if the zip has kept it and no other
    /// program has changed the zip since. A session's changes, as data, fit this folder
    /// ([`crate::KeepBase`]).
    ///
    /// # Errors
    /// If a workspace may not be at that path.
    pub fn original_folder(self: &Arc<Self>, at: &str) -> Result<Option<BaseFile>, WorkspaceError> {
        self.original.as_ref().map(|root| self.base_of(root, at)).transpose()
    }

    fn base_of(
        self: &Arc<Self>,
        root: &Arc<ArchiveNode>,
        at: &str,
    ) -> Result<BaseFile, WorkspaceError> {
        let path = workspace_path(at)?;
        let ArchiveNode::Dir { mode, time, .. } = &**root else {
            return Err(WorkspaceError::Malformed("it has no directory".into()));
        };
        let dir = ArchiveDir { archive: self.clone(), root: root.clone(), path: Vec::new() };
        Ok(BaseFile { path, mode: *mode, time: *time, kind: BaseKind::Dir(Arc::new(dir)) })
    }

    /// Returns a file of the host's folder.
    ///
    /// # Errors
    /// If it is larger than `most` or damaged.
    pub fn hidden_file(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let Some(index) = self.hidden.get(name.as_bytes()) else { return Ok(None) };
        let mut zip = self.zip.clone();
        let entry = zip.by_index(*index)?;
        let size = entry.size();
        if size > most {
            return Err(WorkspaceError::TooLarge {
                what: "bytes of a hidden file:",
                have: size,
                most,
            });
        }
        unpack_entry(entry, size).map(Some).map_err(|e| WorkspaceError::Malformed(e.to_string()))
    }
}

impl ArchiveNode {
    /// Returns a directory that has an entry of its own.
    pub(crate) fn empty_dir(mode: u16, time: u64) -> ArchiveNode {
        ArchiveNode::Dir { mode, time, entries: BTreeMap::new(), listed: true }
    }

    fn dir_at(&self, path: &[Vec<u8>]) -> Option<&BTreeMap<Vec<u8>, ArchiveNode>> {
        match self.node_at(path)? {
            ArchiveNode::Dir { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// Returns the node at a path.
    pub(crate) fn node_at(&self, path: &[Vec<u8>]) -> Option<&ArchiveNode> {
        let mut at = self;
        for name in path {
            let ArchiveNode::Dir { entries, .. } = at else { return None };
            at = entries.get(name)?;
        }
        Some(at)
    }
}

/// Checks the path of a workspace, and returns it as a path of the tree.
pub(crate) fn workspace_path(at: &str) -> Result<Vec<u8>, WorkspaceError> {
    let parts: Vec<&str> = at.split('/').skip(1).collect();
    let plain =
        |p: &&str| !matches!(*p, "" | "." | "..") && p.len() <= MAX_NAME && !p.contains('\0');
    let reserved = matches!(parts.first(), Some(&("dev" | "proc" | ".box")));
    if !at.starts_with('/') || !parts.iter().all(plain) || reserved {
        return Err(WorkspaceError::Place(at.to_owned()));
    }
    Ok(at.as_bytes().to_vec())
}

/// A directory of the zip.
struct ArchiveDir {
    archive: Arc<Archive>,
    root: Arc<ArchiveNode>,
    path: Vec<Vec<u8>>,
}

impl Folder for ArchiveDir {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let entries = self.root.dir_at(&self.path).ok_or("the zip has no such directory")?;
        Ok(entries
            .iter()
            .map(|(name, node)| {
                let (mode, time, kind) = match node {
                    ArchiveNode::Dir { mode, time, .. } => {
                        let path = [&self.path[..], std::slice::from_ref(name)].concat();
                        let dir = ArchiveDir {
                            archive: self.archive.clone(),
                            root: self.root.clone(),
                            path,
                        };
                        (*mode, *time, BaseKind::Dir(Arc::new(dir)))
                    }
                    ArchiveNode::File { index, size, mode, time } => {
                        let entry =
                            ZipMember::new(self.archive.clone(), *index, *size, *mode, *time);
                        (*mode, *time, BaseKind::Lazy(entry))
                    }
                    ArchiveNode::Link { target, time } => {
                        (0o777, *time, BaseKind::Symlink(target.clone()))
                    }
                };
                FolderEntry { name: name.clone(), mode, time, kind }
            })
            .collect())
    }
}

/// Reads all bytes of an entry, and checks their number and their checksum.
pub(crate) fn unpack_entry(mut from: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(size.min(1 << 20) as usize);
    from.by_ref().take(size).read_to_end(&mut out)?;
    // The checksum is verified when reading past the end.
    let mut more = [0];
    if out.len() as u64 != size || from.read(&mut more)? != 0 {
        return Err(io::Error::other("an entry has another length than it says"));
    }
    Ok(out)
}

/// Returns the entries as a tree, and the indices of those in the host's folder by name.
fn entry_tree(
    zip: &mut ZipArchive<ArchiveReader>,
    limits: &ZipLimits,
) -> Result<(ArchiveNode, BTreeMap<Vec<u8>, usize>), WorkspaceError> {
    let mut root = ArchiveNode::empty_dir(0o755, 0);
    let (mut hidden, mut total) = (BTreeMap::new(), 0u64);
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index)?;
        let name = entry_name(&entry)?;
        let refuse = |why| WorkspaceError::Entry { name: crate::lossy_path(&name), why };
        let path = name_parts(&name).map_err(refuse)?;
        let size = entry.size();
        let packed = entry.compressed_size();
        if entry.encrypted() {
            return Err(refuse("it is encrypted"));
        }
        let possible = match entry.compression() {
            CompressionMethod::Stored => size == packed,
            CompressionMethod::Deflated => size <= packed.saturating_mul(RATIO),
            _ => return Err(refuse("only stored and deflated entries are read")),
        };
        if !possible {
            return Err(refuse("it states a length that its data cannot have"));
        }
        if size > limits.file {
            return Err(refuse("it is larger than a file may be"));
        }
        total = total.saturating_add(size);
        if total > limits.total {
            let (have, most) = (total, limits.total);
            return Err(WorkspaceError::TooLarge {
                what: "bytes unpacked from the zip:",
                have,
                most,
            });
        }
        let bits = entry.unix_mode();
        let time = zip_nanoseconds(entry.last_modified());
        let mode = |default| bits.map_or(default, |m| (m & 0o777) as u16);
        let (is_dir, is_link) = (name.ends_with(b"/"), entry.is_symlink());
        match bits.map(|m| m & 0o170_000) {
            Some(0o040_000) if is_dir => {}
            Some(0o100_000 | 0) | None => {}
            Some(0o120_000) if !is_dir => {}
            _ => return Err(refuse("it is neither a file, a directory nor a symbolic link")),
        }
        drop(entry);
        if path[0] == HIDDEN.as_bytes() {
            if let ([_, name], false, false) = (&path[..], is_dir, is_link) {
                hidden.insert(name.clone(), index);
            } else if !is_dir || path.len() > 1 {
                return Err(refuse("the host's folder has files only"));
            }
            continue;
        }
        let node = if is_dir {
            if size != 0 {
                return Err(refuse("a directory has no bytes"));
            }
            ArchiveNode::empty_dir(mode(0o755), time)
        } else if is_link {
            if size == 0 || size > TARGET {
                return Err(refuse("a symbolic link has a target of 1 to 4095 bytes"));
            }
            let target = unpack_entry(zip.by_index(index)?, size)
                .map_err(|_| refuse("its data is damaged"))?;
            let dir = path[..path.len() - 1].join(&b'/');
            if target.contains(&0) || leads_out(&dir, &target) {
                return Err(refuse("the symbolic link leads out of the zip"));
            }
            ArchiveNode::Link { target, time }
        } else {
            ArchiveNode::File { index, size, mode: mode(0o644), time }
        };
        insert_entry(&mut root, &path, node, time).map_err(refuse)?;
    }
    Ok((root, hidden))
}

/// Returns the name's bytes: unchanged if they are UTF-8, otherwise decoded from code page 437.
fn entry_name<R: Read>(entry: &zip::read::ZipFile<'_, R>) -> Result<Vec<u8>, WorkspaceError> {
    let raw = entry.name_raw();
    match std::str::from_utf8(raw) {
        Ok(_) => Ok(raw.to_vec()),
        Err(_) => Ok(entry.name()?.into_owned().into_bytes()),
    }
}

/// Splits a name into its parts, and checks that it lies inside a folder.
pub(crate) fn name_parts(name: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    if name.is_empty() || name.len() > PATH {
        return Err("its name is empty or too long");
    }
    if name.starts_with(b"/") {
        return Err("its name is an absolute path");
    }
    if name.contains(&b'\\') {
        return Err("its name has a backslash");
    }
    if name.contains(&0) {
        return Err("its name has a NUL");
    }
    let plain = name.strip_suffix(b"/").unwrap_or(name);
    let parts: Vec<Vec<u8>> = plain.split(|b| *b == b'/').map(<[u8]>::to_vec).collect();
    for part in &parts {
        match part.as_slice() {
            b".." => return Err("its name has '..'"),
            b"" | b"." => return Err("its name has an empty part or '.'"),
            p if p.len() > MAX_NAME => return Err("a part of its name is too long"),
            _ => {}
        }
    }
    if parts.len() > DEPTH {
        return Err("it lies too deep");
    }
    Ok(parts)
}

/// Inserts an entry into the tree, together with its parent directories.
pub(crate) fn insert_entry(
    root: &mut ArchiveNode,
    path: &[Vec<u8>],
    node: ArchiveNode,
    time: u64,
) -> Result<(), &'static str> {
    let (last, above) = path.split_last().ok_or("its name is empty")?;
    let mut at = root;
    for name in above {
        let ArchiveNode::Dir { entries, .. } = at else {
            return Err("it lies in what is no directory");
        };
        at = entries.entry(name.clone()).or_insert_with(|| ArchiveNode::Dir {
            mode: 0o755,
            time,
            entries: BTreeMap::new(),
            listed: false,
        });
    }
    let ArchiveNode::Dir { entries, .. } = at else {
        return Err("it lies in what is no directory");
    };
    match (entries.get_mut(last), node) {
        (None, node) => {
            entries.insert(last.clone(), node);
            Ok(())
        }
        // The directory's entry comes after those of its contents.
        (
            Some(ArchiveNode::Dir { mode, time, listed, .. }),
            ArchiveNode::Dir { mode: m, time: t, .. },
        ) if !*listed => {
            (*mode, *time, *listed) = (m, t, true);
            Ok(())
        }
        _ => Err("its name comes twice"),
    }
}

/// Returns a zip's time, which is assumed to be UTC, in nanoseconds.
fn zip_nanoseconds(time: Option<zip::DateTime>) -> u64 {
    let Some(t) = time else { return 0 };
    // Howard Hinnant's `days_from_civil`.
    let (y, m) = (i64::from(t.year()), i64::from(t.month()));
    let y = if m <= 2 { y - 1 } else { y };
    let (era, yoe) = (y.div_euclid(400), y.rem_euclid(400));
    let doy = (153 * (m + if m > 2 { -3 } else { 9 }) + 2) / 5 + i64::from(t.day()) - 1;
    let days = era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468;
    let hms = i64::from(t.hour()) * 3600 + i64::from(t.minute()) * 60 + i64::from(t.second());
    u64::try_from(days * 86_400 + hms).unwrap_or(0) * 1_000_000_000
}
