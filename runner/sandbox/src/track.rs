//! Finds the parts of a linear memory that a guest has written to since the last call.
//!
//! # Ways, best first
//! 1. *Written*: the range is registered with `userfaultfd(2)` in its asynchronous write-protect
//!    mode, in which the host's kernel records writes without any message; `PAGEMAP_SCAN` lists the
//!    pages and protects them again (Linux 6.7). Measured for 160 MiB: a scan 0.1 ms, the first
//!    write to a page afterwards 1 us.
//! 2. *Copied*: `/proc/self/pagemap` lists the pages that are no longer the template's file. These
//!    are all pages that were ever written to, so a hash of each finds those that differ from the
//!    last call. A scan of 160 MiB takes 0.5 ms, and hashing 2.5 us for each such part.
//! 3. *All*: every part is hashed, where neither of the others is available.
//!
//! Rejected: soft-dirty bits, because they are cleared for the whole process at once, including its
//! other sandboxes; and a handler of write faults, because the host's kernel writes into guest
//! memory, too, and would then fail with EFAULT.
//!
//! A jailed process can open neither file, so [`open_tracking`] is called before a jail closes.

use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use wasibox_vfs::lock_mutex;

/// The size of a part. Hosts with larger pages report all parts of a page.
pub use wasibox_kernel::layer::PART;

/// The descriptors of the first two ways, as far as they are available.
#[derive(Debug)]
struct PageWatch {
    uffd: Option<OwnedFd>,
    pagemap: Option<OwnedFd>,
}

/// The watch, and the ID of the process that opened it, because a copy of the process must open its
/// own.
static WATCH: Mutex<Option<(u32, Arc<PageWatch>)>> = Mutex::new(None);

/// Opens the page watch that later cells need, unless this process has done so.
pub fn open_tracking() {
    page_watch();
}

fn page_watch() -> Arc<PageWatch> {
    let me = std::process::id();
    let mut kept = lock_mutex(&WATCH);
    if let Some((pid, watch)) = &*kept
        && *pid == me
    {
        return watch.clone();
    }
    let pagemap = std::fs::File::open("/proc/self/pagemap").ok().map(OwnedFd::from);
    let uffd = pagemap.as_ref().and_then(|_| open_uffd());
    let watch = Arc::new(PageWatch { uffd, pagemap });
    *kept = Some((me, watch.clone()));
    watch
}

const UFFD_USER_MODE_ONLY: libc::c_int = 1;
const UFFD_API: u64 = 0xaa;
/// Write protection without messages, including untouched pages (Linux 6.7).
const UFFD_FEATURES: u64 = 1 << 15 | 1 << 13;
const REGISTER_MODE_WP: u64 = 2;
const UFFDIO_API: libc::c_ulong = 0xc018_aa3f;
/// A request that a jail must let through.
pub const UFFDIO_REGISTER: libc::c_ulong = 0xc020_aa00;
/// Another request that a jail must let through.
pub const PAGEMAP_SCAN: libc::c_ulong = 0xc060_6610;

const SCAN_WP_MATCHING: u64 = 1;
const SCAN_CHECK_WPASYNC: u64 = 2;
const PAGE_IS_WRITTEN: u64 = 1 << 1;
const PAGE_IS_FILE: u64 = 1 << 2;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;

/// The maximum number of regions that one scan reports.
const REGIONS: usize = 512;

#[repr(C)]
struct UffdApi {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct UffdRegister {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

#[repr(C)]
struct PagemapScan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// Opens a descriptor for write protection; `None` if the host has no asynchronous one.
fn open_uffd() -> Option<OwnedFd> {
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | UFFD_USER_MODE_ONLY;
    // JUSTIFICATION: rustix's call lacks the flag without which only root may make the call.
    // SAFETY: the call takes a number; no other owner has the descriptor that it returns.
    let fd = unsafe {
        let fd = libc::syscall(libc::SYS_userfaultfd, flags);
        if fd < 0 {
            return None;
        }
        OwnedFd::from_raw_fd(fd as libc::c_int)
    };
    let mut api = UffdApi { api: UFFD_API, features: UFFD_FEATURES, ioctls: 0 };
    // JUSTIFICATION: no crate wraps this request.
    // SAFETY: the request reads and writes one such value, which lives for the call.
    let made = unsafe { libc::ioctl(fd.as_raw_fd(), UFFDIO_API, &raw mut api) };
    (made == 0).then_some(fd)
}

/// The way in which pages are found.
#[derive(Debug)]
enum TrackingWay {
    Written(Arc<PageWatch>),
    Copied(Arc<PageWatch>),
    All,
}

/// A finder of the parts of one memory that were written to.
#[derive(Debug)]
pub struct Tracker {
    way: TrackingWay,
    /// The hash of each part at the last look, for the other ways.
    seen: HashMap<u32, u64>,
    hasher: RandomState,
}

impl Tracker {
    /// Creates a tracker for the memory of which `reserved` bytes at `base` are reserved.
    pub fn new(base: usize, reserved: usize) -> Tracker {
        Tracker::with_watch(page_watch(), base, reserved)
    }

    fn with_watch(watch: Arc<PageWatch>, base: usize, reserved: usize) -> Tracker {
        let way = match &*watch {
            PageWatch { uffd: Some(uffd), pagemap: Some(_) }
                if register_uffd(uffd, base, reserved) =>
            {
                TrackingWay::Written(watch)
            }
            PageWatch { pagemap: Some(_), .. } => TrackingWay::Copied(watch),
            _ => TrackingWay::All,
        };
        Tracker { way, seen: HashMap::new(), hasher: RandomState::new() }
    }

    /// Returns the numbers of parts, ascending, including all that were written to since the last
    /// call or, in the first call, since the memory was made. `size` bytes are accessible at
    /// `base`; `part` returns one part. The memory must not be written to meanwhile.
    pub fn changed_parts<'a>(
        &mut self,
        base: usize,
        size: usize,
        part: impl Fn(u32) -> Option<&'a [u8]>,
    ) -> Vec<u32> {
        let parts = match &self.way {
            TrackingWay::Written(watch) => match written_parts(watch, base, size) {
                Some(parts) => return parts,
                // All parts are reported from now on, because the record of writes is lost.
                None => {
                    self.way = TrackingWay::All;
                    None
                }
            },
            TrackingWay::Copied(watch) => copied_parts(watch, base, size),
            TrackingWay::All => None,
        };
        let parts = parts.unwrap_or_else(|| (0..part_number(size)).collect());
        let (seen, hasher) = (&mut self.seen, &self.hasher);
        parts
            .into_iter()
            .filter(|n| {
                let hash = part(*n).map_or(0, |bytes| hasher.hash_one(bytes));
                seen.insert(*n, hash) != Some(hash)
            })
            .collect()
    }
}

/// Returns the number of parts of a given number of bytes. A memory has 4 GiB at most.
fn part_number(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PART)).unwrap_or(u32::MAX)
}

fn register_uffd(uffd: &OwnedFd, base: usize, reserved: usize) -> bool {
    let (start, len) = (base as u64, reserved as u64);
    let mut r = UffdRegister { start, len, mode: REGISTER_MODE_WP, ioctls: 0 };
    // JUSTIFICATION: no crate wraps this request. SAFETY: the request reads and writes one such
    // value, which lives for the call. It changes neither the content of the range nor the access
    // rights to it.
    unsafe { libc::ioctl(uffd.as_raw_fd(), UFFDIO_REGISTER, &raw mut r) == 0 }
}

/// Returns the parts written to since the last scan, and protects them again.
fn written_parts(watch: &PageWatch, base: usize, size: usize) -> Option<Vec<u32>> {
    let pagemap = watch.pagemap.as_ref()?;
    let (mut at, end) = (base as u64, (base + size) as u64);
    let mut regions = [Region::default(); REGIONS];
    let mut parts = Vec::new();
    while at < end {
        let mut scan = PagemapScan {
            size: size_of::<PagemapScan>() as u64,
            flags: SCAN_WP_MATCHING | SCAN_CHECK_WPASYNC,
            start: at,
            end,
            walk_end: 0,
            vec: regions.as_mut_ptr() as u64,
            vec_len: REGIONS as u64,
            max_pages: 0,
            // Untouched pages count as written to, and so do pages that were only read.
            category_inverted: PAGE_IS_FILE | PAGE_IS_PFNZERO,
            category_mask: PAGE_IS_WRITTEN | PAGE_IS_FILE | PAGE_IS_PFNZERO,
            category_anyof_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
            return_mask: PAGE_IS_WRITTEN,
        };
        // JUSTIFICATION: no crate wraps this request. SAFETY: the request reads and writes `scan`
        // and writes at most REGIONS regions, both of which live for the call.
        let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN, &raw mut scan) };
        let found = usize::try_from(found).ok().filter(|n| *n <= REGIONS)?;
        for region in &regions[..found] {
            let from = region.start.checked_sub(base as u64)? as usize / PART;
            let to = region.end.min(end).checked_sub(base as u64)? as usize;
            parts.extend(u32::try_from(from).ok()?..part_number(to));
        }
        if scan.walk_end <= at {
            return None;
        }
        at = scan.walk_end;
    }
    Some(parts)
}

/// Returns the parts in pages that were touched and are not those of the template's file.
fn copied_parts(watch: &PageWatch, base: usize, size: usize) -> Option<Vec<u32>> {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    /// The number of pages whose entries are read at once; an entry has eight bytes.
    const MANY: usize = 1024;
    let file = watch.pagemap.as_ref()?;
    let page = rustix::param::page_size();
    let mut parts = Vec::new();
    let mut entries = vec![0u8; MANY * 8];
    let mut n = 0;
    while n < size / page {
        let many = (size / page - n).min(MANY);
        let read = entries.get_mut(..many * 8)?;
        let at = ((base / page + n) * 8) as u64;
        if rustix::io::pread(file, &mut *read, at) != Ok(read.len()) {
            return None;
        }
        for (k, e) in read.chunks_exact(8).enumerate() {
            let e = u64::from_le_bytes(e.try_into().unwrap_or_default());
            if e & (PRESENT | SWAPPED) != 0 && e & OF_FILE == 0 {
                parts.extend(part_number((n + k) * page)..part_number((n + k + 1) * page));
            }
        }
        n += many;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::AddressRange;
    use crate::template::{MemoryTemplate, split_module};

    /// The page size of WebAssembly.
    const PAGE: usize = crate::template::ALIGN;

    /// Returns a memory of eight pages, of which the second begins with constants.
    fn memory() -> AddressRange {
        let mut wasm =
            b"\0asm\x01\0\0\0\x05\x03\x01\0\x08\x0b\x0b\x01\0\x41\x80\x80\x04\x0b\x03abc".to_vec();
        wasm[14] = wasm.len() as u8 - 15;
        let template = MemoryTemplate::in_memory(&split_module(wasm).template).unwrap();
        assert_eq!((template.start, template.len), (PAGE, PAGE));
        AddressRange::new(64 * PAGE, 8 * PAGE, Some(Arc::new(template))).unwrap()
    }

    fn write(m: &AddressRange, at: usize, byte: u8) {
        assert!(at < m.size());
        // SAFETY: within the accessible part of a memory that is ours alone.
        unsafe { m.base().as_ptr().add(at).write_volatile(byte) };
    }

    fn read(m: &AddressRange, at: usize) -> u8 {
        assert!(at < m.size());
        // SAFETY: as above.
        unsafe { m.base().as_ptr().add(at).read_volatile() }
    }

    fn changed(t: &mut Tracker, m: &AddressRange) -> Vec<u32> {
        let part = |n: u32| {
            let at = n as usize * PART;
            assert!(at + PART <= m.size());
            // SAFETY: the slice is within the accessible part of a memory that has no writer
            // meanwhile.
            Some(unsafe { std::slice::from_raw_parts(m.base().as_ptr().add(at), PART) })
        };
        t.changed_parts(m.base().as_ptr() as usize, m.size(), part)
    }

    /// Returns the numbers of all parts in the host's page that contains the offset `at`.
    fn parts(at: usize) -> std::ops::Range<u32> {
        let page = rustix::param::page_size().max(PART);
        part_number(at / page * page)..part_number((at / page + 1) * page)
    }

    fn finds_what_is_written(watch: Arc<PageWatch>) {
        let mut m = memory();
        let mut t = Tracker::with_watch(watch, m.base().as_ptr() as usize, 64 * PAGE);
        read(&m, 3 * PAGE);
        assert_eq!(read(&m, PAGE), b'a');
        // Pages that were only read count if the host's kernel cannot distinguish them; the
        // template's file does not count.
        let first = changed(&mut t, &m);
        let expected: &[Vec<u32>] = match t.way {
            TrackingWay::Written(_) => &[vec![]],
            TrackingWay::Copied(_) => &[vec![], parts(3 * PAGE).collect()],
            TrackingWay::All => &[(0..part_number(8 * PAGE)).collect()],
        };
        assert!(expected.contains(&first), "{first:?}");
        write(&m, PAGE + 5000, 1);
        write(&m, 5 * PAGE, 2);
        write(&m, 6 * PAGE - 1, 3);
        // A way may report all parts of a page that was written to, or only those that were.
        let is_exact = |found: &[u32], written: &[usize]| {
            let all: Vec<u32> = written.iter().flat_map(|at| parts(*at)).collect();
            let own = written.iter().map(|at| (at / PART) as u32);
            found.iter().all(|n| all.contains(n)) && own.into_iter().all(|n| found.contains(&n))
        };
        let found = changed(&mut t, &m);
        assert!(is_exact(&found, &[PAGE + 5000, 5 * PAGE, 6 * PAGE - 1]), "{found:?}");
        assert!(found.is_sorted());
        assert_eq!(changed(&mut t, &m), [0u32; 0]);
        write(&m, PAGE + 5000, 4);
        write(&m, 0, 5);
        let found = changed(&mut t, &m);
        assert!(is_exact(&found, &[PAGE + 5000, 0]), "{found:?}");
        m.open_to(40 * PAGE).unwrap();
        write(&m, 39 * PAGE, 6);
        let grown = changed(&mut t, &m);
        assert!(grown.contains(&part_number(39 * PAGE)), "{grown:?}");
        assert!(grown.iter().all(|n| *n >= part_number(8 * PAGE)), "{grown:?}");
        assert_eq!(changed(&mut t, &m), [0u32; 0]);
    }

    #[test]
    fn every_way_finds_what_is_written() {
        let pagemap = || std::fs::File::open("/proc/self/pagemap").ok().map(OwnedFd::from);
        finds_what_is_written(Arc::new(PageWatch { uffd: open_uffd(), pagemap: pagemap() }));
        finds_what_is_written(Arc::new(PageWatch { uffd: None, pagemap: pagemap() }));
        finds_what_is_written(Arc::new(PageWatch { uffd: None, pagemap: None }));
    }

    /// The host's kernel writes into the memory, as reads from files of a mount do.
    #[test]
    fn what_the_host_writes_is_found() {
        let m = memory();
        let mut t = Tracker::new(m.base().as_ptr() as usize, 64 * PAGE);
        changed(&mut t, &m);
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        // SAFETY: within the accessible part of a memory that is ours alone.
        let buf = unsafe { std::slice::from_raw_parts_mut(m.base().as_ptr().add(4 * PAGE), 4) };
        std::os::unix::fs::FileExt::read_exact_at(&file, buf, 0).unwrap();
        let found = changed(&mut t, &m);
        assert!(
            found.contains(&part_number(4 * PAGE))
                && found.iter().all(|n| parts(4 * PAGE).contains(n))
        );
    }
}
