//! A file's bytes: a base that is shared with the image, and chunks written over it.
//!
//! A chunk is copied when it is first written; a hole costs nothing. Cloning a [`FileContent`]
//! shares every chunk, so that versions of the tree are cheap.
//!
//! Two accounts are kept. The disk quota counts the visible bytes of the file. The memory budget
//! counts the memory of a chunk, with its spare capacity, for as long as the file or any version of
//! the tree has it; a truncated chunk gives its memory back.

use crate::budget::{Budget, Reservation};
use crate::errno::Errno;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Immutable bytes owned elsewhere, such as a slice of the mapped image.
pub type Blob = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Immutable bytes that are fetched on demand: those of a file in an archive, or in a folder of the
/// host. The tree is not locked while they are read, except for the part of a chunk that a write
/// does not replace.
pub trait LazyBytes: Any + Send + Sync {
    /// Returns the number of bytes, as a directory lists it.
    fn len(&self) -> u64;
    /// Returns whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Prepares reading when the file is opened; with `whole` the file will be written to. Memory
    /// for the bytes is reserved from the budget.
    ///
    /// # Errors
    /// EIO for damaged bytes, ESTALE for changed ones, ENOMEM if the budget has no room.
    fn make_ready(&self, budget: &Arc<Budget>, whole: bool) -> Result<(), Errno>;
    /// Reads at an offset, at least one byte before the end.
    ///
    /// # Errors
    /// The same as [`LazyBytes::make_ready`].
    fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno>;
}

/// The bytes beneath the chunks.
#[derive(Clone)]
enum ContentBase {
    Blob(Blob),
    Lazy(Arc<dyn LazyBytes>),
}

impl ContentBase {
    fn len(&self) -> u64 {
        match self {
            ContentBase::Blob(b) => (**b).as_ref().len() as u64,
            ContentBase::Lazy(l) => l.len(),
        }
    }

    fn is_same(&self, other: &ContentBase) -> bool {
        match (self, other) {
            (ContentBase::Blob(a), ContentBase::Blob(b)) => Arc::ptr_eq(a, b),
            (ContentBase::Lazy(a), ContentBase::Lazy(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Bytes of one chunk. A chunk is the unit of copying: 64 KiB costs about 5 us.
pub const CHUNK: u64 = 64 * 1024;

/// Bytes that are copied over others at a time.
const PIECE: usize = 2048;

/// Bytes that a written chunk is charged beyond its content, so that a file of scattered single
/// bytes cannot hold much more host memory than its quota.
const CHUNK_OVERHEAD: u64 = 96;

/// Largest offset of a file, as in Linux's `loff_t`.
const MAX_LEN: u64 = i64::MAX as u64;

/// The bytes of a regular file.
#[derive(Clone, Default)]
pub struct FileContent {
    len: u64,
    base: Option<ContentBase>,
    /// The visible length of `base`: truncation hides its tail for good.
    base_len: u64,
    chunks: BTreeMap<u64, Arc<Chunk>>,
    charged: u64,
}

/// Written bytes, and their share of the memory budget.
struct Chunk {
    bytes: Vec<u8>,
    held: Reservation,
}

impl Clone for Chunk {
    fn clone(&self) -> Chunk {
        Chunk { bytes: self.bytes.clone(), held: self.held.reserve_again() }
    }
}

impl Chunk {
    /// Computes the new capacity for `need` bytes of a chunk with capacity `now`. It leaves room,
    /// so that a file that grows in small steps is not copied each time; a chunk that is more than
    /// half full gets its full size.
    fn room(now: usize, need: usize) -> usize {
        match need {
            _ if need <= now => now,
            _ if need > CHUNK as usize / 2 => CHUNK as usize,
            _ => need.max(2 * now).max(16),
        }
    }

    /// Computes the bytes that a new chunk for `need` bytes takes.
    fn cost(need: u64) -> u64 {
        Chunk::room(0, need as usize) as u64 + CHUNK_OVERHEAD
    }

    /// Computes the additional bytes for `need` bytes in this chunk.
    fn growth_cost(&self, need: u64) -> u64 {
        (Chunk::room(self.bytes.capacity(), need as usize) - self.bytes.capacity()) as u64
    }

    /// Creates a chunk that begins with `bytes` and has room for `need`.
    fn new(bytes: &[u8], need: u64, held: Reservation) -> Chunk {
        let mut own = Vec::with_capacity(Chunk::room(0, need as usize));
        own.extend_from_slice(bytes);
        Chunk { bytes: own, held }
    }
}

impl std::fmt::Debug for FileContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes, {} own chunks)", self.len, self.chunks.len())
    }
}

impl FileContent {
    /// Creates a file with the bytes of `blob`.
    pub fn from_blob(blob: Blob) -> FileContent {
        let len = (*blob).as_ref().len() as u64;
        FileContent {
            len,
            base: Some(ContentBase::Blob(blob)),
            base_len: len,
            ..FileContent::default()
        }
    }

    /// Creates a file whose bytes are fetched on demand.
    pub fn from_lazy(lazy: Arc<dyn LazyBytes>) -> FileContent {
        let len = lazy.len().min(MAX_LEN);
        FileContent {
            len,
            base: Some(ContentBase::Lazy(lazy)),
            base_len: len,
            ..FileContent::default()
        }
    }

    /// Returns the bytes that are fetched on demand, if any of them are visible.
    pub(crate) fn lazy_bytes(&self) -> Option<&Arc<dyn LazyBytes>> {
        match &self.base {
            Some(ContentBase::Lazy(l)) if self.base_len > 0 => Some(l),
            _ => None,
        }
    }

    /// Returns the bytes that are fetched on demand, if the file was never changed.
    pub(crate) fn untouched_bytes(&self) -> Option<&Arc<dyn LazyBytes>> {
        let whole = self.chunks.is_empty() && self.len == self.base_len;
        match &self.base {
            Some(ContentBase::Lazy(l)) if whole && l.len() == self.len => Some(l),
            _ => None,
        }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes charged to the quota.
    pub fn charged_bytes(&self) -> u64 {
        self.charged
    }

    /// Returns whether both are known to hold the same bytes: the same chunks over the same base.
    /// Equal bytes that were written twice may differ.
    pub fn is_same(&self, other: &FileContent) -> bool {
        let base = match (&self.base, &other.base) {
            (Some(a), Some(b)) => a.is_same(b),
            (None, None) => true,
            _ => false,
        };
        base && (self.len, self.base_len) == (other.len, other.base_len)
            && self.chunks.len() == other.chunks.len()
            && self
                .chunks
                .iter()
                .zip(&other.chunks)
                .all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(a.1, b.1))
    }

    /// Returns the number of the base's bytes that are visible from `from` to before `to`.
    fn base_between(&self, from: u64, to: u64) -> u64 {
        let most = self.base.as_ref().map_or(0, ContentBase::len);
        self.base_len.min(most).min(to).saturating_sub(from)
    }

    /// Fills `out` with the base's bytes from `from` on, which must be visible.
    fn base_read(&self, from: u64, out: &mut [u8]) -> Result<(), Errno> {
        match &self.base {
            _ if out.is_empty() => {}
            Some(ContentBase::Blob(b)) => {
                let from = from as usize;
                out.copy_from_slice(&(**b).as_ref()[from..from + out.len()]);
            }
            Some(ContentBase::Lazy(l)) => {
                let mut done = 0;
                while done < out.len() {
                    match l.read(from + done as u64, &mut out[done..])? {
                        0 => return Err(Errno::IO),
                        n => done += n,
                    }
                }
            }
            None => out.fill(0),
        }
        Ok(())
    }

    /// Reads at `off`; returns the number of bytes.
    ///
    /// # Errors
    /// Those of the source of the bytes.
    pub fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        let want = (buf.len() as u64).min(self.len.saturating_sub(off));
        let mut done = 0u64;
        while done < want {
            let pos = off + done;
            let index = pos / CHUNK;
            let end = ((index + 1) * CHUNK).min(off + want);
            let out = &mut buf[done as usize..(end - off) as usize];
            let n = match self.chunks.get(&index) {
                Some(c) => {
                    let src = c.bytes.get((pos - index * CHUNK) as usize..).unwrap_or(&[]);
                    let n = src.len().min(out.len());
                    out[..n].copy_from_slice(&src[..n]);
                    n
                }
                None => {
                    let n = self.base_between(pos, end) as usize;
                    self.base_read(pos, &mut out[..n])?;
                    n
                }
            };
            out[n..].fill(0);
            done = end - off;
        }
        Ok(want as usize)
    }

    /// Reads every byte up to `limit`, for callers that need them in one piece (digests, exec
    /// headers).
    ///
    /// # Errors
    /// The same as [`FileContent::read`].
    pub fn read_all(&self, limit: u64) -> Result<Vec<u8>, Errno> {
        let mut out = vec![0; self.len.min(limit) as usize];
        let n = self.read(0, &mut out)?;
        out.truncate(n);
        Ok(out)
    }

    /// Writes at `off`. `charge` is called with the growth before anything changes.
    ///
    /// # Errors
    /// The errors of `charge`, ENOSPC if the budget has no room, and the errors of the source of
    /// the kept bytes. After an error nothing has changed.
    pub fn write(
        &mut self,
        off: u64,
        data: &[u8],
        budget: &Arc<Budget>,
        charge: impl FnOnce(u64) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if data.is_empty() {
            return Ok(());
        }
        let end =
            off.checked_add(data.len() as u64).filter(|e| *e <= MAX_LEN).ok_or(Errno::FBIG)?;
        let (mut growth, mut memory) = (0, 0);
        let mut kept = BTreeMap::new();
        for index in off / CHUNK..=(end - 1) / CHUNK {
            let upto = (end - index * CHUNK).min(CHUNK);
            let base = self.base_in_chunk(index);
            match self.chunks.get_mut(&index) {
                Some(c) => {
                    growth += upto.saturating_sub(c.bytes.len() as u64);
                    memory += match Arc::get_mut(c) {
                        Some(own) => own.growth_cost(upto),
                        None => Chunk::cost(upto.max(c.bytes.len() as u64)),
                    };
                }
                None => {
                    growth += base.max(upto) + CHUNK_OVERHEAD;
                    memory += Chunk::cost(base.max(upto));
                    // Fetching may fail, so it comes before any change. Only the first and the last
                    // chunk can be overwritten in part.
                    let from = off.saturating_sub(index * CHUNK);
                    if self.lazy_bytes().is_some() && base > 0 && (from > 0 || upto < base) {
                        let mut bytes = vec![0; base as usize];
                        self.base_read(index * CHUNK, &mut bytes)?;
                        kept.insert(index, bytes);
                    }
                }
            }
        }
        let mut held = match memory {
            0 => None,
            n => Some(budget.reserve_bytes(n).ok_or(Errno::NOSPC)?),
        };
        charge(growth)?;
        self.charged += growth;
        // The reservation is enough: no version of the tree is kept meanwhile, so no more chunks
        // are shared now than above.
        let mut part = |n| {
            held.as_mut().and_then(|h| h.split_off(n)).unwrap_or_else(|| budget.reserve_anyway(n))
        };
        let mut pos = off;
        while pos < end {
            let index = pos / CHUNK;
            let chunk_end = ((index + 1) * CHUNK).min(end);
            let start = (pos - index * CHUNK) as usize;
            let src = &data[(pos - off) as usize..(chunk_end - off) as usize];
            let room = chunk_end - index * CHUNK;
            let bytes = &mut self.own_chunk(index, room, kept.remove(&index), &mut part).bytes;
            let stop = start + src.len();
            if bytes.len() < stop {
                bytes.resize(start, 0);
                bytes.extend_from_slice(src);
            } else {
                // The pieces are below the size from which the C library copies with a string
                // instruction, which takes forty times as long if source and destination have
                // similar offsets in their pages.
                for (to, from) in bytes[start..stop].chunks_mut(PIECE).zip(src.chunks(PIECE)) {
                    to.copy_from_slice(from);
                }
            }
            pos = chunk_end;
        }
        self.len = self.len.max(end);
        Ok(())
    }

    fn base_in_chunk(&self, index: u64) -> u64 {
        self.base_between(index * CHUNK, (index + 1) * CHUNK)
    }

    /// Returns the chunk, owned by this file alone, with room for `upto` bytes.
    fn own_chunk(
        &mut self,
        index: u64,
        upto: u64,
        fetched: Option<Vec<u8>>,
        part: &mut impl FnMut(u64) -> Reservation,
    ) -> &mut Chunk {
        if !self.chunks.contains_key(&index) {
            let base = match (&self.base, &fetched) {
                (_, Some(bytes)) => bytes.as_slice(),
                (Some(ContentBase::Blob(b)), None) => {
                    let n = self.base_in_chunk(index) as usize;
                    let from = (index * CHUNK) as usize;
                    if n > 0 { &(**b).as_ref()[from..from + n] } else { &[] }
                }
                // All of it is overwritten.
                _ => &[],
            };
            let need = upto.max(base.len() as u64);
            let own = Chunk::new(base, need, part(Chunk::cost(need)));
            self.chunks.insert(index, Arc::new(own));
        }
        let chunk = self
            .chunks
            .entry(index)
            .or_insert_with(|| Arc::new(Chunk::new(&[], upto, part(Chunk::cost(upto)))));
        if Arc::get_mut(chunk).is_none() {
            let need = upto.max(chunk.bytes.len() as u64);
            *chunk = Arc::new(Chunk::new(&chunk.bytes, need, part(Chunk::cost(need))));
        }
        // By now the chunk belongs to this file alone.
        let own = Arc::make_mut(chunk);
        let more = own.growth_cost(upto);
        if more > 0 {
            own.held.absorb_other(part(more));
            let room = Chunk::room(own.bytes.capacity(), upto as usize);
            own.bytes.reserve_exact(room - own.bytes.len());
        }
        own
    }

    /// Sets the length; a longer file gets a hole. Returns the bytes to give back to the quota.
    pub fn set_len(&mut self, len: u64, budget: &Arc<Budget>) -> Result<u64, Errno> {
        if len > MAX_LEN {
            return Err(Errno::FBIG);
        }
        let mut freed = 0;
        if len < self.len {
            self.base_len = self.base_len.min(len);
            for (_, c) in self.chunks.split_off(&len.div_ceil(CHUNK)) {
                freed += c.bytes.len() as u64 + CHUNK_OVERHEAD;
            }
            let last = len / CHUNK;
            if let Some(c) = self.chunks.get_mut(&last) {
                let keep = (len - last * CHUNK) as usize;
                if c.bytes.len() > keep {
                    freed += (c.bytes.len() - keep) as u64;
                    cut_chunk(c, keep, budget);
                }
            }
        }
        freed = freed.min(self.charged);
        self.charged -= freed;
        self.len = len;
        Ok(freed)
    }
}

/// The parts of a content, for serialization ([`crate::delta`]).
impl FileContent {
    /// Returns the numbers of the chunks that differ from `old`'s, and of those that only `old`
    /// has.
    pub(crate) fn chunks_since(&self, old: &FileContent) -> (Vec<u64>, Vec<u64>) {
        let new = self.chunks.iter().filter(|(index, chunk)| {
            old.chunks.get(*index).is_none_or(|known| !Arc::ptr_eq(known, chunk))
        });
        let gone = old.chunks.keys().filter(|index| !self.chunks.contains_key(*index));
        (new.map(|(index, _)| *index).collect(), gone.copied().collect())
    }

    /// Returns the bytes of a written chunk.
    pub(crate) fn written_chunk(&self, index: u64) -> Option<&[u8]> {
        self.chunks.get(&index).map(|c| c.bytes.as_slice())
    }

    /// Returns the number of the image's bytes that are visible; `None` if the file is not the
    /// image's.
    pub(crate) fn base_visible(&self) -> Option<u64> {
        self.base.as_ref().map(|_| self.base_len)
    }

    /// Sets the length and the visible part of the image's bytes; `None` if that is not possible.
    pub(crate) fn reshape(&mut self, len: u64, base: Option<u64>) -> Option<()> {
        let most = self.base.as_ref().map(ContentBase::len);
        if len > MAX_LEN || base.is_some_and(|n| most.is_none_or(|most| n > most)) {
            return None;
        }
        self.len = len;
        self.base_len = base.unwrap_or(0);
        if base.is_none() {
            self.base = None;
        }
        Some(())
    }

    /// Removes a chunk.
    pub(crate) fn drop_chunk(&mut self, index: u64) {
        if let Some(c) = self.chunks.remove(&index) {
            self.charged -= c.bytes.len() as u64 + CHUNK_OVERHEAD;
        }
    }

    /// Stores a chunk at its index.
    ///
    /// # Errors
    /// INVAL for a chunk that is too long or lies after the end, NOSPC if the budget has no room.
    pub(crate) fn put_chunk(
        &mut self,
        index: u64,
        bytes: &[u8],
        budget: &Arc<Budget>,
    ) -> Result<(), Errno> {
        let end = index.checked_mul(CHUNK).and_then(|at| at.checked_add(bytes.len() as u64));
        if bytes.len() as u64 > CHUNK || end.is_none_or(|end| end > self.len.max(index * CHUNK)) {
            return Err(Errno::INVAL);
        }
        let need = bytes.len() as u64;
        let held = budget.reserve_bytes(Chunk::cost(need)).ok_or(Errno::NOSPC)?;
        self.drop_chunk(index);
        self.charged += need + CHUNK_OVERHEAD;
        self.chunks.insert(index, Arc::new(Chunk::new(bytes, need, held)));
        Ok(())
    }
}

/// Cuts a chunk to `keep` bytes, and frees the memory after them if it is worth the copy.
fn cut_chunk(chunk: &mut Arc<Chunk>, keep: usize, budget: &Arc<Budget>) {
    match Arc::get_mut(chunk) {
        Some(own) if own.bytes.capacity() <= (2 * keep).max(64) => own.bytes.truncate(keep),
        // The part that is kept is reserved even past the limit, because cutting frees memory.
        _ => {
            let held = budget.reserve_anyway(Chunk::cost(keep as u64));
            *chunk = Arc::new(Chunk::new(&chunk.bytes[..keep], keep as u64, held));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free() -> Arc<Budget> {
        static FREE: std::sync::LazyLock<Arc<Budget>> =
            std::sync::LazyLock::new(|| Budget::new(u64::MAX));
        FREE.clone()
    }

    fn ok(_: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn all(c: &FileContent) -> Vec<u8> {
        c.read_all(u64::MAX).unwrap()
    }

    #[test]
    fn writes_over_a_base_copy_only_the_chunk() {
        let base: Vec<u8> = (0..200_000u32).map(|i| i as u8).collect();
        let mut want = base.clone();
        let mut c = FileContent::from_blob(Arc::new(base));
        let snapshot = c.clone();
        c.write(70_000, b"hello", &free(), ok).unwrap();
        want[70_000..70_005].copy_from_slice(b"hello");
        assert_eq!(all(&c), want);
        assert_ne!(all(&snapshot), want);
        assert_eq!(c.chunks.len(), 1);
        assert_eq!(c.charged_bytes(), CHUNK + CHUNK_OVERHEAD);
    }

    #[test]
    fn truncation_hides_the_base_for_good_and_refunds() {
        let mut c = FileContent::from_blob(Arc::new(vec![7u8; 100]));
        assert_eq!(c.set_len(10, &free()).unwrap(), 0);
        c.set_len(20, &free()).unwrap();
        assert_eq!(all(&c), [vec![7; 10], vec![0; 10]].concat());
        let mut c = FileContent::default();
        c.write(0, &vec![1; 200_000], &free(), ok).unwrap();
        let charged = c.charged_bytes();
        let freed = c.set_len(1, &free()).unwrap();
        assert_eq!(charged - freed, c.charged_bytes());
        assert_eq!(c.charged_bytes(), 1 + CHUNK_OVERHEAD);
        c.set_len(200_000, &free()).unwrap();
        assert_eq!(all(&c)[0..3], [1, 0, 0]);
    }

    #[test]
    fn a_far_write_makes_a_hole_without_memory() {
        let mut c = FileContent::default();
        c.write(1 << 40, b"x", &free(), ok).unwrap();
        assert_eq!(c.len(), (1 << 40) + 1);
        assert!(c.charged_bytes() < 1000);
        let mut b = [9; 4];
        assert_eq!(c.read((1 << 40) - 3, &mut b), Ok(4));
        assert_eq!(b, [0, 0, 0, b'x']);
        assert_eq!(c.write(u64::MAX - 1, b"xy", &free(), ok), Err(Errno::FBIG));
    }

    #[test]
    fn a_refused_charge_changes_nothing() {
        let mut c = FileContent::default();
        c.write(0, b"abc", &free(), ok).unwrap();
        assert_eq!(c.write(3, b"def", &free(), |_| Err(Errno::NOSPC)), Err(Errno::NOSPC));
        assert_eq!(all(&c), b"abc");
    }

    #[test]
    fn scattered_writes_agree_with_a_plain_vector() {
        let mut c = FileContent::from_blob(Arc::new(
            (0..150_000u32).map(|i| (i * 7) as u8).collect::<Vec<_>>(),
        ));
        let mut v = all(&c);
        let mut seed = 12345u64;
        for _ in 0..400 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let off = (seed >> 33) % 300_000;
            let n = (seed >> 20) % 9000;
            if seed.is_multiple_of(11) {
                c.set_len(off, &free()).unwrap();
                v.resize(off as usize, 0);
            } else {
                let data = vec![seed as u8; n as usize];
                c.write(off, &data, &free(), ok).unwrap();
                if !data.is_empty() {
                    v.resize(v.len().max((off + n) as usize), 0);
                    v[off as usize..(off + n) as usize].copy_from_slice(&data);
                }
            }
            assert_eq!(c.len(), v.len() as u64);
        }
        assert!(all(&c) == v);
    }

    #[test]
    fn memory_is_counted_by_capacity_and_given_back() {
        let budget = Budget::new(10 << 20);
        let mut files: Vec<FileContent> = Vec::new();
        for _ in 0..1000 {
            let mut c = FileContent::default();
            c.write(0, &[1; CHUNK as usize], &budget, ok).unwrap();
            c.set_len(1, &budget).unwrap();
            let chunk = &c.chunks[&0];
            assert!(chunk.bytes.capacity() as u64 + CHUNK_OVERHEAD <= chunk.held.bytes());
            files.push(c);
        }
        assert!(budget.used_bytes() <= 1000 * 200, "{}", budget.used_bytes());
        drop(files);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn memory_is_counted_as_long_as_a_snapshot_has_it() {
        let budget = Budget::new(300_000);
        let mut c = FileContent::default();
        c.write(0, &[1; 2 * CHUNK as usize], &budget, ok).unwrap();
        let snapshot = c.clone();
        c.set_len(0, &budget).unwrap();
        c.write(0, &[2; 2 * CHUNK as usize], &budget, ok).unwrap();
        assert!(budget.used_bytes() >= 4 * CHUNK);
        c.set_len(0, &budget).unwrap();
        assert_eq!(c.write(0, &[3; 4 * CHUNK as usize], &budget, ok), Err(Errno::NOSPC));
        drop(snapshot);
        c.write(0, &[3; 4 * CHUNK as usize], &budget, ok).unwrap();
        c.set_len(0, &budget).unwrap();
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn what_is_held_is_what_is_allocated() {
        let budget = Budget::new(u64::MAX);
        let mut c = FileContent::from_blob(Arc::new(vec![7u8; 100_000]));
        let mut seed = 7u64;
        let mut snapshot = None;
        for i in 0..500 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let off = (seed >> 33) % 300_000;
            match seed % 7 {
                0 => drop(c.set_len(off, &budget).unwrap()),
                1 => snapshot = (i % 2 == 0).then(|| c.clone()),
                _ => c.write(off, &vec![1; (seed >> 20) as usize % 9000], &budget, ok).unwrap(),
            }
            for chunk in c.chunks.values().chain(snapshot.iter().flat_map(|s| s.chunks.values())) {
                let cost = chunk.bytes.capacity() as u64 + CHUNK_OVERHEAD;
                assert_eq!(chunk.held.bytes(), cost);
            }
        }
        drop((c, snapshot));
        assert_eq!(budget.used_bytes(), 0);
    }
}
