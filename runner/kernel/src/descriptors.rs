//! Open file descriptions (POSIX 3.258) and a process's numbers for them.

use super::border::Fd;
use super::process::Charge;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use wasibox_vfs::ops::DirEntry;
use wasibox_vfs::{Budget, Errno, Loc, Reservation, Vfs, VfsFile};

/// Number of the preopened root directory.
pub const ROOT_FD: Fd = Fd(3);

/// Bytes that an open file description takes of the memory limit: the memory of this process and of
/// the host's kernel for it.
const OPEN_COST: u64 = 512;
/// Bytes that a directory's entry takes beyond its name.
const ENTRY_COST: u64 = 64;
/// The number of slots by which the charge for a table grows at a time.
const SLOTS: usize = 64;

/// A directory's entries, charged while they are held.
#[derive(Debug)]
pub struct DirListing {
    pub entries: Vec<DirEntry>,
    _held: Reservation,
}

impl DirListing {
    /// Charges `entries`; ENOMEM if the memory limit is reached.
    pub fn new(entries: Vec<DirEntry>, budget: &Arc<Budget>) -> Result<Arc<DirListing>, Errno> {
        let bytes = entries.iter().map(|e| e.name.len() as u64 + ENTRY_COST).sum();
        let held = budget.reserve_bytes(bytes).ok_or(Errno::NOMEM)?;
        Ok(Arc::new(DirListing { entries, _held: held }))
    }
}

/// The object that descriptors point to; duplicates share it and its offset.
#[derive(Debug)]
pub struct OpenDescription {
    pub file: VfsFile,
    pub read: bool,
    pub write: bool,
    pub append: AtomicBool,
    pub nonblock: AtomicBool,
    pub offset: AtomicU64,
    /// A directory's listing, as of the first read.
    pub listing: Mutex<Option<Arc<DirListing>>>,
    /// The path, if a process that stays between cells has opened it.
    name: OnceLock<(Vec<u8>, Reservation)>,
    _held: Option<Reservation>,
}

impl OpenDescription {
    /// Creates a description that the host gives to a process, without a charge.
    pub fn new(file: VfsFile, read: bool, write: bool) -> Arc<OpenDescription> {
        OpenDescription::with_reservation(file, read, write, None)
    }

    /// Creates a description for a guest; ENOMEM if the memory limit is reached.
    pub fn new_charged(
        file: VfsFile,
        read: bool,
        write: bool,
        budget: &Arc<Budget>,
    ) -> Result<Arc<OpenDescription>, Errno> {
        let held = budget.reserve_bytes(OPEN_COST).ok_or(Errno::NOMEM)?;
        Ok(OpenDescription::with_reservation(file, read, write, Some(held)))
    }

    fn with_reservation(
        file: VfsFile,
        read: bool,
        write: bool,
        held: Option<Reservation>,
    ) -> Arc<OpenDescription> {
        Arc::new(OpenDescription {
            file,
            read,
            write,
            append: AtomicBool::new(false),
            nonblock: AtomicBool::new(false),
            offset: AtomicU64::new(0),
            listing: Mutex::default(),
            name: OnceLock::new(),
            _held: held,
        })
    }

    /// Records the absolute path of the file; ENOMEM if the memory limit is reached.
    pub fn set_name(&self, path: Vec<u8>, budget: &Arc<Budget>) -> Result<(), Errno> {
        let held = budget.reserve_bytes(path.len() as u64).ok_or(Errno::NOMEM)?;
        let _ = self.name.set((path, held));
        Ok(())
    }

    /// Returns the path, if it was recorded.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.get().map(|(path, _)| path.as_slice())
    }

    /// Opens the root directory, as it is preopened for every process.
    pub fn root(vfs: &Vfs) -> Result<Arc<OpenDescription>, Errno> {
        let how = wasibox_vfs::OpenFlags { read: true, directory: true, ..Default::default() };
        match vfs.open(&Loc::Tree(wasibox_vfs::tree::ROOT), b"/", how, 0)? {
            wasibox_vfs::OpenResult::File(f) => Ok(OpenDescription::new(f, true, false)),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Returns the offset of the next read or write, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset.load(Ordering::Relaxed)
    }

    /// Sets the offset of the next read or write, in bytes.
    pub fn set_offset(&self, to: u64) {
        self.offset.store(to, Ordering::Relaxed);
    }

    /// Returns whether reads and writes that would wait fail with EAGAIN.
    pub fn is_nonblocking(&self) -> bool {
        self.nonblock.load(Ordering::Relaxed)
    }
}

/// An entry of a process's table.
#[derive(Clone, Debug)]
pub struct Descriptor {
    pub open: Arc<OpenDescription>,
    pub cloexec: bool,
}

/// A process's descriptors.
#[derive(Clone, Debug)]
pub struct Descriptors {
    slots: Vec<Option<Descriptor>>,
    limit: usize,
    /// The numbers above the low ones that the program was given at its start and still has.
    given: Vec<Fd>,
    held: Charge,
    /// The number of slots that the charge covers.
    paid: usize,
}

impl Descriptors {
    /// Creates an empty table for at most `limit` descriptors.
    pub fn new(limit: usize) -> Descriptors {
        Descriptors {
            slots: Vec::new(),
            limit: limit.max(8),
            given: Vec::new(),
            held: Charge::default(),
            paid: 0,
        }
    }

    /// Computes the bytes that the table takes of the memory limit.
    pub fn memory_cost(&self) -> u64 {
        (self.slots.len().next_multiple_of(SLOTS) * size_of::<Option<Descriptor>>()) as u64
    }

    /// Holds the reservation that was made for the table: [`Descriptors::memory_cost`].
    pub fn hold_reservation(&mut self, held: Reservation) {
        self.paid = self.slots.len().next_multiple_of(SLOTS);
        self.held = held.into();
    }

    /// Charges the slots up to number `at`, unless they are charged already.
    fn pay_for(&mut self, at: usize) -> Result<(), Errno> {
        if at >= self.paid {
            let paid = (at + 1).next_multiple_of(SLOTS);
            let more = (paid - self.paid) * size_of::<Option<Descriptor>>();
            self.held.grow_by(more as u64)?;
            self.paid = paid;
        }
        Ok(())
    }

    /// Returns the highest number plus one that exact placement may use: as in Linux, numbers up to
    /// the limit, but always enough for a shell's high numbers.
    fn number_ceiling(&self) -> usize {
        self.limit.max(8192)
    }

    fn used_count(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Returns the descriptor of a number.
    ///
    /// # Errors
    /// EBADF.
    pub fn get(&self, fd: Fd) -> Result<&Descriptor, Errno> {
        self.slots.get(fd.0 as usize).and_then(|s| s.as_ref()).ok_or(Errno::BADF)
    }

    /// Returns the same as [`Descriptors::get`], but mutable.
    ///
    /// # Errors
    /// EBADF.
    pub fn get_mut(&mut self, fd: Fd) -> Result<&mut Descriptor, Errno> {
        self.slots.get_mut(fd.0 as usize).and_then(|s| s.as_mut()).ok_or(Errno::BADF)
    }

    /// Returns EMFILE if there is no room for another descriptor.
    pub fn check_room(&self) -> Result<(), Errno> {
        if self.used_count() >= self.limit { Err(Errno::MFILE) } else { Ok(()) }
    }

    /// Adds a descriptor at the lowest free number from `min` up.
    pub fn add_descriptor(&mut self, d: Descriptor, min: Fd) -> Result<Fd, Errno> {
        let min = min.0 as usize;
        if min >= self.number_ceiling() {
            return Err(Errno::INVAL);
        }
        let free = (min..self.slots.len()).find(|i| self.slots[*i].is_none());
        let at = free.unwrap_or(self.slots.len().max(min));
        if at >= self.number_ceiling() {
            return Err(Errno::MFILE);
        }
        self.check_room()?;
        self.pay_for(at)?;
        self.put_descriptor(at, d);
        Ok(Fd(at as u32))
    }

    fn put_descriptor(&mut self, at: usize, d: Descriptor) -> Option<Descriptor> {
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        self.slots[at].replace(d)
    }

    /// Puts `d` at exactly `fd`; returns the previous descriptor, which the caller must drop
    /// outside the lock.
    pub fn set(&mut self, fd: Fd, d: Descriptor) -> Result<Option<Descriptor>, Errno> {
        let at = fd.0 as usize;
        if at >= self.number_ceiling() {
            return Err(Errno::BADF);
        }
        if self.get(fd).is_err() && self.used_count() >= self.limit {
            return Err(Errno::MFILE);
        }
        self.pay_for(at)?;
        Ok(self.put_descriptor(at, d))
    }

    /// Removes `fd` from the table.
    pub fn remove(&mut self, fd: Fd) -> Result<Descriptor, Errno> {
        let d = self.slots.get_mut(fd.0 as usize).and_then(Option::take).ok_or(Errno::BADF)?;
        self.given.retain(|n| *n != fd);
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
        }
        Ok(d)
    }

    /// Returns all open descriptors with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Fd, &Descriptor)> {
        (0..).zip(&self.slots).filter_map(|(n, slot)| slot.as_ref().map(|d| (Fd(n), d)))
    }

    /// Prepares the table for a new program: removes and returns everything marked close-on-exec.
    pub fn begin_program(&mut self) -> Vec<Descriptor> {
        let closed = self.slots.iter_mut().filter_map(|s| s.take_if(|d| d.cloexec)).collect();
        let first = ROOT_FD.0 + box_abi::FD_SHIFT;
        self.given = (first..)
            .zip(self.slots.iter().skip(first as usize))
            .filter_map(|(n, slot)| slot.as_ref().map(|_| Fd(n)))
            .collect();
        closed
    }

    /// Finds the descriptor of `/dev/fd/N`: a standard stream, the descriptor that the program was
    /// given under the number N ([`box_abi::FD_SHIFT`]), or the descriptor whose number is N.
    pub fn resolve_name(&self, n: Fd) -> Result<&Descriptor, Errno> {
        let given =
            n.0.checked_add(box_abi::FD_SHIFT)
                .map(Fd)
                .filter(|at| n >= ROOT_FD && self.given.contains(at));
        match given {
            Some(at) => self.get(at),
            None if n == ROOT_FD => Err(Errno::BADF),
            None => self.get(n),
        }
    }

    /// Returns the names in `/dev/fd`.
    pub fn fd_names(&self) -> Vec<Fd> {
        let low = (0..ROOT_FD.0).map(Fd).filter(|n| self.get(*n).is_ok());
        low.chain(self.given.iter().map(|n| Fd(n.0 - box_abi::FD_SHIFT))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d() -> Descriptor {
        let (r, _) = wasibox_vfs::Pipe::pair();
        Descriptor { open: OpenDescription::new(VfsFile::PipeRead(r), true, false), cloexec: false }
    }

    #[test]
    fn the_lowest_free_number_is_taken() {
        let mut t = Descriptors::new(16);
        for n in 0..4 {
            assert_eq!(t.add_descriptor(d(), Fd(0)), Ok(Fd(n)));
        }
        t.remove(Fd(1)).unwrap();
        assert_eq!(t.add_descriptor(d(), Fd(2)), Ok(Fd(4)));
        assert_eq!(t.add_descriptor(d(), Fd(0)), Ok(Fd(1)));
        assert_eq!(t.add_descriptor(d(), Fd(10)), Ok(Fd(10)));
        assert_eq!(t.add_descriptor(d(), Fd(0)), Ok(Fd(5)));
    }

    #[test]
    fn the_limit_counts_descriptors_not_numbers() {
        let mut t = Descriptors::new(8);
        t.set(Fd(4000), d()).unwrap();
        for _ in 1..8 {
            t.add_descriptor(d(), Fd(0)).unwrap();
        }
        assert_eq!(t.add_descriptor(d(), Fd(0)), Err(Errno::MFILE));
        assert_eq!(t.set(Fd(9), d()).err(), Some(Errno::MFILE));
        assert!(t.set(Fd(4000), d()).unwrap().is_some());
        assert_eq!(t.set(Fd(u32::MAX), d()).err(), Some(Errno::BADF));
        assert_eq!(t.add_descriptor(d(), Fd(u32::MAX)), Err(Errno::INVAL));
    }

    #[test]
    fn close_on_exec_is_honoured() {
        let mut t = Descriptors::new(8);
        t.add_descriptor(d(), Fd(0)).unwrap();
        t.add_descriptor(Descriptor { cloexec: true, ..d() }, Fd(0)).unwrap();
        assert_eq!(t.begin_program().len(), 1);
        assert!(t.get(Fd(0)).is_ok() && t.get(Fd(1)).is_err());
    }

    #[test]
    fn names_are_those_the_program_was_given() {
        let mut t = Descriptors::new(16);
        for n in [0, 2, 3, 32, 92] {
            t.set(Fd(n), d()).unwrap();
        }
        assert!(t.resolve_name(Fd(63)).is_err());
        t.begin_program();
        assert_eq!(t.fd_names(), [0, 2, 3, 63].map(Fd));
        assert!(
            t.resolve_name(Fd(1)).is_err()
                && t.resolve_name(Fd(63)).is_ok()
                && t.resolve_name(Fd(3)).is_ok()
        );
        t.set(Fd(4), d()).unwrap();
        assert!(t.resolve_name(Fd(4)).is_ok());
        for n in [32, 92] {
            t.remove(Fd(n)).unwrap();
        }
        assert!(t.resolve_name(Fd(3)).is_err() && t.resolve_name(Fd(63)).is_err());
        t.set(Fd(92), d()).unwrap();
        assert!(t.resolve_name(Fd(63)).is_err() && t.resolve_name(Fd(u32::MAX)).is_err());
    }
}
