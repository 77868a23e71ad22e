//! Interpreters between two cells as bytes: the state that is written beside their memory, and its
//! format.
//!
//! Every host parks in the same way, so that one host can resume a process that another has parked:
//! the memory as layers ([`crate::layer`]) upon its initial content, and a [`ParkedProcess`]. Each
//! host finds the changes of a memory in its own way.
//!
//! | state | restored as |
//! |---|---|
//! | globals, the size of the memory | unchanged |
//! | descriptors of files: path, offset, flags | opened again, at their offsets |
//! | other descriptors: pipes, a file that was renamed or removed | *closed*: every use is EBADF |
//! | signals that are handled or ignored, clocks | unchanged |
//!
//! The number of a closed descriptor stays taken.
//!
//! # Invariants
//! - Parked state fits one program with one initial content of its memory, which [`module_of`]
//!   identifies.
//! - Parked data is as hostile as a guest: files are opened as the guest would open them.

use super::border::Fd;
use super::cells::can_be_named;
use super::descriptors::{Descriptor, Descriptors, OpenDescription, ROOT_FD};
use crate::layer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::{Budget, Errno, FileKind, Loc, OpenFlags, OpenResult, Vfs, VfsFile};

/// The reason why bytes are not a valid [`ParkedProcess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it was parked by another version")]
    Version,
    #[error("what was parked is damaged")]
    Malformed,
}

/// The numbers of each layer's parts in ascending order, for the lowest layer first.
pub type Layers = Vec<Vec<u32>>;

/// The number of layers that are kept before some of them are joined, because restoring reads all
/// layers.
const LAYERS: usize = 16;

/// Returns the number of layers that stay beneath a new layer with `parts`. The new layer replaces
/// the layers at the top that are not much larger, and their parts are added to `parts`. So the
/// number of times that a part is written grows with the logarithm of the number of all parts, and
/// there are at most about twice [`LAYERS`] layers.
fn join_layers(layers: &[Vec<u32>], parts: &mut Vec<u32>) -> usize {
    let mut keep = layers.len();
    if keep < LAYERS {
        return keep;
    }
    while let Some(top) = keep.checked_sub(1).and_then(|n| layers.get(n))
        && top.len() <= parts.len() * 2
    {
        parts.extend(top);
        parts.sort_unstable();
        parts.dedup();
        keep -= 1;
    }
    keep
}

/// The first byte of a [`ParkedProcess`].
const VERSION: u8 = 1;
/// The maximum length in bytes of the encoded body.
const MAX_REST: usize = 16 << 20;

/// The parked state of a process other than its pages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedProcess {
    /// The program's name in the image.
    pub atom: String,
    /// Whether it began with the prepared memory.
    pub is_prepared: bool,
    /// Bytes of memory.
    pub size: u64,
    pub globals: Vec<u64>,
    pub files: Vec<ParkedDescriptor>,
    pub handles: bool,
    pub ignored: u64,
    pub monotonic: u64,
    /// CPU time: user, system, sum.
    pub cpu: [u64; 3],
    pub next_pid: u32,
}

/// A descriptor that is parked.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedDescriptor {
    pub fd: Fd,
    pub cloexec: bool,
    pub what: ParkedFile,
}

/// The file of a parked descriptor.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParkedFile {
    Closed,
    /// The open file of a descriptor with a lower number.
    Same(Fd),
    File {
        path: Vec<u8>,
        offset: u64,
        read: bool,
        write: bool,
        append: bool,
        nonblock: bool,
    },
}

/// Each cell has its own standard streams, and its own root directory, whose number follows them.
const FIRST_FD: Fd = Fd(ROOT_FD.0 + 1);

impl ParkedProcess {
    /// Encodes the state as bytes.
    pub fn encode(&self) -> Vec<u8> {
        // Writing into a vector does not fail.
        postcard::to_extend(self, vec![VERSION]).unwrap_or_default()
    }

    /// Decodes bytes, which are not trusted.
    ///
    /// # Errors
    /// If they are not a parked process of this version.
    pub fn decode(bytes: &[u8]) -> Result<ParkedProcess, Unreadable> {
        let (version, body) = bytes.split_first().ok_or(Unreadable::Malformed)?;
        if *version != VERSION {
            return Err(Unreadable::Version);
        }
        if body.len() > MAX_REST {
            return Err(Unreadable::Malformed);
        }
        match postcard::take_from_bytes(body) {
            Ok((rest, [])) => Ok(rest),
            _ => Err(Unreadable::Malformed),
        }
    }
}

/// Returns the parked form of a table.
pub fn park_descriptors(fds: &Descriptors, vfs: &Vfs) -> Vec<ParkedDescriptor> {
    let root = Loc::Tree(wasibox_vfs::tree::ROOT);
    let of = |open: &Arc<OpenDescription>| {
        let closed = ParkedFile::Closed;
        let Some(path) = open.name() else { return closed };
        if !can_be_named(&open.file) {
            return closed;
        }
        // By now another file may have that path.
        let there = vfs.stat(&root, path, true).ok().zip(open.file.stat().ok());
        let is_same = |(a, b): (wasibox_vfs::Stat, wasibox_vfs::Stat)| {
            a.kind == b.kind && (a.dev, a.ino) == (b.dev, b.ino)
        };
        if !matches!(open.file, VfsFile::Meta(_)) && !there.is_some_and(is_same) {
            return closed;
        }
        ParkedFile::File {
            path: path.to_vec(),
            offset: open.offset(),
            read: open.read,
            write: open.write,
            append: open.append.load(Ordering::Relaxed),
            nonblock: open.is_nonblocking(),
        }
    };
    let mut all: Vec<(Fd, &Arc<OpenDescription>, ParkedDescriptor)> = Vec::new();
    for (fd, d) in fds.iter().filter(|(n, _)| *n >= FIRST_FD) {
        let first = all.iter().find(|(_, open, _)| Arc::ptr_eq(open, &d.open)).map(|(n, ..)| *n);
        let what = first.map_or_else(|| of(&d.open), ParkedFile::Same);
        all.push((fd, &d.open, ParkedDescriptor { fd, cloexec: d.cloexec, what }));
    }
    all.into_iter().map(|(.., parked)| parked).collect()
}

/// Returns a table with the parked descriptors.
///
/// # Errors
/// If there is no room for it.
pub fn unpark_descriptors(
    files: &[ParkedDescriptor],
    vfs: &Vfs,
    limit: usize,
    budget: &Arc<Budget>,
) -> Result<Descriptors, Errno> {
    let root = Loc::Tree(wasibox_vfs::tree::ROOT);
    let mut fds = Descriptors::new(limit);
    let open = |what: &ParkedFile| {
        let ParkedFile::File { path, offset, read, write, append, nonblock } = what else {
            return None;
        };
        let how = OpenFlags {
            read: *read,
            write: *write,
            append: *append,
            follow: true,
            ..OpenFlags::default()
        };
        // A file whose opening would wait, such as a FIFO, is not opened.
        let kind = vfs.stat(&root, path, true).ok()?.kind;
        if !matches!(kind, FileKind::File | FileKind::CharDevice) {
            return None;
        }
        let opened = vfs.open(&root, path, how, 0).ok()?;
        let OpenResult::File(file) = opened else { return None };
        if !can_be_named(&file) {
            return None;
        }
        let open = OpenDescription::new_charged(file, *read, *write, budget).ok()?;
        open.set_name(path.clone(), budget).ok()?;
        open.append.store(*append, Ordering::Relaxed);
        open.nonblock.store(*nonblock, Ordering::Relaxed);
        open.set_offset(*offset);
        Some(open)
    };
    for parked in files.iter().filter(|p| p.fd >= FIRST_FD) {
        let found = match &parked.what {
            ParkedFile::Same(n) => {
                fds.get(*n).ok().filter(|_| *n >= FIRST_FD).map(|d| d.open.clone())
            }
            what => open(what),
        };
        // A descriptor that is closed for good keeps its number, so that another file is not taken
        // for it.
        let found = match found {
            Some(found) => found,
            None => {
                let (end, _) = vfs.pipe()?;
                OpenDescription::new_charged(VfsFile::PipeRead(end), false, false, budget)?
            }
        };
        fds.set(parked.fd, Descriptor { open: found, cloexec: parked.cloexec })?;
    }
    Ok(fds)
}

/// Computes the key of layers from the digests of the module and of the memory that the
/// interpreters begin with (zeros for the module's own). Layers can be used only with the same key.
pub fn module_of(module: &[u8; 32], memory: &[u8; 32]) -> [u8; 32] {
    let mut h = Sha256::new_with_prefix("wasibox cell 1");
    h.update(module);
    h.update(memory);
    h.finalize().into()
}

/// Alignment of a prepared memory's content: WebAssembly's page.
pub const ALIGN: usize = 64 << 10;

/// Returns whether bytes of a memory are zeros only. It compares words, because code compiled
/// without optimisation, as in a browser at first, would be too slow otherwise.
pub fn is_zero(bytes: &[u8]) -> bool {
    let is_zero = |line: &[u8; 64]| {
        let words = line.as_chunks().0.iter();
        words.fold(0, |all, word| all | u64::from_ne_bytes(*word)) == 0
    };
    let (lines, rest) = bytes.as_chunks();
    lines.iter().all(is_zero) && rest.iter().all(|byte| *byte == 0)
}

/// Returns the range of a memory's content in bytes; `pages` is the number of pages. `is_zero`
/// returns whether a page holds only zeros. Pages between those with content are not examined.
pub fn content_range(pages: usize, mut is_zero: impl FnMut(usize) -> bool) -> Range<usize> {
    let Some(first) = (0..pages).find(|n| !is_zero(*n)) else { return 0..0 };
    let last = (first + 1..pages).rfind(|n| !is_zero(*n)).unwrap_or(first);
    first * ALIGN..(last + 1) * ALIGN
}

/// The description of a prepared memory without its content: the first bytes of its file and of the
/// digested data.
#[derive(Clone, Copy, Debug)]
pub struct PreparedHeader {
    /// The address at which the content begins; a multiple of [`ALIGN`].
    pub start: usize,
    /// The content's length, also a multiple of [`ALIGN`]. The content is surrounded by zeros.
    pub len: usize,
    /// Whether an instance may be used again once memory and globals are reset.
    pub is_reusable: bool,
    /// Whether memory and globals are all that its processes can change.
    pub is_plain: bool,
    /// Bytes of the memory.
    pub size: usize,
}

impl PreparedHeader {
    /// Describes a whole memory.
    pub fn from_memory(memory: &[u8], is_reusable: bool, is_plain: bool) -> PreparedHeader {
        let page = |n| &memory[n * ALIGN..(n + 1) * ALIGN];
        let Range { start, end } = content_range(memory.len() / ALIGN, |n| is_zero(page(n)));
        PreparedHeader { start, len: end - start, is_reusable, is_plain, size: memory.len() }
    }

    /// Encodes the header as bytes.
    pub fn header_bytes(&self) -> [u8; 41] {
        let mut out = [0; 41];
        out[..16].copy_from_slice(b"wasibox memory 1");
        out[16..24].copy_from_slice(&(self.start as u64).to_le_bytes());
        out[24..32].copy_from_slice(&(self.len as u64).to_le_bytes());
        out[32] = u8::from(self.is_reusable) | u8::from(self.is_plain) << 1;
        out[33..].copy_from_slice(&(self.size as u64).to_le_bytes());
        out
    }

    /// Computes the digest for [`module_of`]. `content` has `len` bytes.
    pub fn content_digest(&self, content: &[u8]) -> [u8; 32] {
        let mut digest = blake3::Hasher::new();
        digest.update(&self.header_bytes()).update(content);
        *digest.finalize().as_bytes()
    }
}

/// Returns the parts of each layer; `None` if one is not a valid layer.
pub fn layer_numbers(layers: &[impl AsRef<[u8]>]) -> Option<Layers> {
    let of = |layer: &[u8]| {
        let all: Option<Vec<u32>> = layer::layer_parts(layer).map(|p| Some(p?.number)).collect();
        all.filter(|all| all.is_sorted_by(|a, b| a < b))
    };
    layers.iter().map(|l| of(l.as_ref())).collect()
}

/// Returns the number of the `reported` layers that stay, which is 0 if `whole` is set, and the
/// layer to put on them. That layer has `parts`, which have changed since `reported`. Updates
/// `reported` to the new layers. `look` passes the current and the initial content of a part to its
/// callback, if they are available.
pub fn layer_change(
    reported: &mut Layers,
    mut parts: Vec<u32>,
    whole: bool,
    mut look: impl FnMut(u32, &mut dyn FnMut(&[u8], &[u8])),
) -> (usize, Vec<u8>) {
    let keep = if whole {
        parts.extend(reported.iter().flatten());
        parts.sort_unstable();
        parts.dedup();
        0
    } else {
        join_layers(reported, &mut parts)
    };
    reported.truncate(keep);
    let mut out = Vec::new();
    parts.retain(|n| {
        let mut says = false;
        look(*n, &mut |now, then| {
            // In the lowest layer, parts that equal the initial content are left out.
            says = keep > 0 || now != then;
            if says {
                layer::add_part(&mut out, *n, now, then);
            }
        });
        says
    });
    if !parts.is_empty() {
        reported.push(parts);
    }
    (keep, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest() -> ParkedProcess {
        let file = ParkedFile::File {
            path: b"/home/user/a".to_vec(),
            offset: 7,
            read: true,
            write: false,
            append: false,
            nonblock: false,
        };
        let parked = |fd, what| ParkedDescriptor { fd, cloexec: true, what };
        ParkedProcess {
            atom: "python".into(),
            is_prepared: true,
            size: 1 << 20,
            globals: vec![1, u64::MAX],
            files: vec![
                parked(Fd(4), file),
                parked(Fd(5), ParkedFile::Same(Fd(4))),
                parked(Fd(9), ParkedFile::Closed),
            ],
            handles: true,
            ignored: 1 << 13,
            monotonic: 5,
            cpu: [1, 2, 3],
            next_pid: 17,
        }
    }

    #[test]
    fn the_rest_comes_back_as_it_was() {
        let bytes = rest().encode();
        assert_eq!(ParkedProcess::decode(&bytes).unwrap(), rest());
    }

    #[test]
    fn what_is_no_rest_is_refused() {
        let bytes = rest().encode();
        for end in 0..bytes.len() {
            assert!(ParkedProcess::decode(&bytes[..end]).is_err(), "{end}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(ParkedProcess::decode(&longer), Err(Unreadable::Malformed)));
        let mut other = bytes;
        other[0] = VERSION + 1;
        assert!(matches!(ParkedProcess::decode(&other), Err(Unreadable::Version)));
    }

    #[test]
    fn layers_are_joined_before_they_are_many() {
        let (mut reported, mut memory) = (Layers::new(), vec![[0_u8; layer::PART]; 40]);
        let first = memory.clone();
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for round in 0..200_usize {
            let changed: Vec<usize> = (0..3).map(|n| (round * 7 + n * 5) % 40).collect();
            changed.iter().for_each(|n| memory[*n][round] ^= 1 + round as u8);
            let mut parts: Vec<u32> = changed.iter().map(|n| *n as u32).collect();
            parts.sort_unstable();
            let (keep, layer) = layer_change(&mut reported, parts, false, |n, add| {
                add(&memory[n as usize], &first[n as usize]);
            });
            kept.truncate(keep);
            kept.push(layer);
            assert!(kept.len() <= 2 * LAYERS, "{}", kept.len());
            assert_eq!(layer_numbers(&kept).unwrap(), reported);
        }
        let mut again = first.clone();
        let mut seen = std::collections::HashSet::new();
        for part in kept.iter().rev().flat_map(|l| layer::layer_parts(l)).map(Option::unwrap) {
            if seen.insert(part.number) {
                part.apply_to(&mut again[part.number as usize]);
            }
        }
        assert!(again == memory);
        // In the lowest layer, parts that equal the initial content are left out.
        let (keep, layer) =
            layer_change(&mut reported, vec![], true, |_, add| add(&first[0], &first[0]));
        assert_eq!((keep, layer, reported), (0, vec![], Layers::new()));
    }

    #[test]
    fn content_lies_between_zeros() {
        let found = |content: &[usize]| {
            let mut memory = vec![0; 4 * ALIGN];
            content.iter().for_each(|at| memory[*at] = 1);
            let PreparedHeader { start, len, .. } =
                PreparedHeader::from_memory(&memory, true, true);
            start..start + len
        };
        assert_eq!(found(&[]), 0..0);
        assert_eq!(found(&[0]), 0..ALIGN);
        assert_eq!(found(&[ALIGN - 1]), 0..ALIGN);
        assert_eq!(found(&[ALIGN]), ALIGN..2 * ALIGN);
        assert_eq!(found(&[2 * ALIGN - 1, 4 * ALIGN - 1]), ALIGN..4 * ALIGN);
        assert_eq!(found(&[8, 2 * ALIGN + 63]), 0..3 * ALIGN);
    }

    #[test]
    fn a_prepared_memory_has_a_digest() {
        let mut memory = vec![0; 4 * ALIGN];
        (memory[ALIGN + 7], memory[2 * ALIGN]) = (1, 2);
        let prepared = PreparedHeader::from_memory(&memory, true, true);
        assert_eq!((prepared.start, prepared.len, prepared.size), (ALIGN, 2 * ALIGN, 4 * ALIGN));
        let content = &memory[ALIGN..3 * ALIGN];
        let other = PreparedHeader { is_reusable: false, ..prepared };
        assert_ne!(prepared.content_digest(content), other.content_digest(content));
    }
}
