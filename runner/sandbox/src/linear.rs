//! A linear memory over an address range of its own.
//!
//! The whole range that compiled code can address (4 GiB and the guard after it) is reserved
//! without access; the part that the guest owns is made accessible. The program's
//! [`MemoryTemplate`] lies in it as a private mapping of its file: a page is copied when it is
//! first written to. The engine's own memories ask for huge pages everywhere and copy all data at
//! each start; the figures are in `host/instance.rs`.
//!
//! # Invariants
//! - Between `base + size` and the end of the reservation nothing is accessible: compiled code does
//!   not check bounds, the host's page protection does.
//! - [`AddressRange::renew`] removes everything that the guest wrote: the host's kernel drops
//!   private pages, so that the next touch finds the template or zeros.

use crate::template::MemoryTemplate;
use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

/// The size in bytes from which memory is requested in huge pages. Small processes would pay for
/// zeroing two megabytes although they touch only some kilobytes.
const HUGE_FROM: usize = 32 << 20;

/// The address range.
#[derive(Debug)]
pub struct AddressRange {
    base: NonNull<u8>,
    reserved: usize,
    /// Accessible bytes.
    size: usize,
    /// Accessible bytes at the start.
    initial: usize,
    huge: bool,
    template: Option<Arc<MemoryTemplate>>,
}

// JUSTIFICATION: the range is plain memory behind a pointer.
// SAFETY: it is owned by this value alone; every change goes through `&mut self`.
unsafe impl Send for AddressRange {}
// SAFETY: as above; `&self` gives addresses and sizes only.
unsafe impl Sync for AddressRange {}

impl AddressRange {
    /// Reserves `reserved` bytes, of which `initial` are accessible and begin with the content of
    /// `template`.
    pub fn new(
        reserved: usize,
        initial: usize,
        template: Option<Arc<MemoryTemplate>>,
    ) -> io::Result<AddressRange> {
        let template = template.filter(|t| t.len > 0);
        let fits = template.as_ref().is_none_or(|t| t.start + t.len <= initial);
        if initial > reserved || !fits {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // JUSTIFICATION: only the system provides address space. SAFETY: no address is asked for,
        // so no existing mapping is touched.
        let at = unsafe {
            mm::mmap_anonymous(
                std::ptr::null_mut(),
                reserved,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let base = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // From here on, dropping the value unmaps the range.
        let mut linear = AddressRange { base, reserved, size: 0, initial, huge: false, template };
        linear.open_to(initial)?;
        linear.map_template()?;
        Ok(linear)
    }

    /// Returns its address in this process.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the bytes of address space that it has, and can grow to.
    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Returns the bytes that the guest may use.
    pub fn size(&self) -> usize {
        self.size
    }

    fn at(&self, offset: usize) -> *mut c_void {
        debug_assert!(offset <= self.reserved);
        self.base.as_ptr().wrapping_add(offset).cast()
    }

    /// Makes the range accessible up to `size`.
    pub fn open_to(&mut self, size: usize) -> io::Result<()> {
        if size > self.reserved {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if size <= self.size {
            return Ok(());
        }
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // JUSTIFICATION: only the system changes the protection of pages. SAFETY: the range lies
        // within our own reservation (checked above).
        unsafe { mm::mprotect(self.at(self.size), size - self.size, access)? };
        self.size = size;
        if !self.huge && size > HUGE_FROM {
            self.huge = true;
            // SAFETY: within our reservation; advice changes no content. A refusal costs speed
            // only.
            let _ = unsafe {
                mm::madvise(self.at(HUGE_FROM), self.reserved - HUGE_FROM, Advice::LinuxHugepage)
            };
        }
        Ok(())
    }

    fn map_template(&self) -> io::Result<()> {
        let Some(t) = &self.template else { return Ok(()) };
        // JUSTIFICATION: only the system provides copy-on-write pages. SAFETY: `new` checked that
        // the range lies within the accessible part of our own reservation, to which no references
        // exist yet. The file is replaced by rename only, never written in place or shortened, so
        // that its pages do not change.
        unsafe {
            mm::mmap(
                self.at(t.start),
                t.len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
                &t.file,
                t.offset(),
            )?
        };
        Ok(())
    }

    /// Resets the memory to its initial content.
    ///
    /// # Safety
    /// No guest code may run on it, and no references into it may exist.
    pub unsafe fn renew(&mut self) -> io::Result<()> {
        // JUSTIFICATION: only the system can drop private pages.
        // SAFETY: the range is our own, and the caller promises that nothing accesses it. For
        // private mappings the next access sees zeros or the file's content again (madvise(2)).
        unsafe { mm::madvise(self.base.as_ptr().cast(), self.size, Advice::LinuxDontNeed)? };
        if self.size > self.initial {
            // SAFETY: the range lies within our reservation, above the part that remains
            // accessible.
            unsafe {
                mm::mprotect(
                    self.at(self.initial),
                    self.size - self.initial,
                    MprotectFlags::empty(),
                )?;
            }
            self.size = self.initial;
        }
        Ok(())
    }
}

impl Drop for AddressRange {
    fn drop(&mut self) {
        // SAFETY: the range is ours, and nothing refers to it after its owner's end.
        let _ = unsafe { mm::munmap(self.base.as_ptr().cast(), self.reserved) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{ALIGN, MemoryTemplate, split_module};

    /// Returns a module with a memory of two pages and `text` at 70,000.
    fn module(text: &[u8]) -> Vec<u8> {
        let mut wasm = b"\0asm\x01\0\0\0\x05\x03\x01\0\x02\x0b".to_vec();
        wasm.push(text.len() as u8 + 8);
        wasm.extend_from_slice(b"\x01\0\x41\xf0\xa2\x04\x0b");
        wasm.push(text.len() as u8);
        wasm.extend_from_slice(text);
        wasm
    }

    fn bytes(l: &AddressRange, at: usize, n: usize) -> Vec<u8> {
        assert!(at + n <= l.size());
        // SAFETY: within the accessible part, which has no writer meanwhile.
        unsafe { std::slice::from_raw_parts(l.base().as_ptr().add(at), n).to_vec() }
    }

    fn write(l: &mut AddressRange, at: usize, with: &[u8]) {
        assert!(at + with.len() <= l.size());
        // SAFETY: within the accessible part of a memory that is ours alone.
        unsafe { std::slice::from_raw_parts_mut(l.base().as_ptr().add(at), with.len()) }
            .copy_from_slice(with);
    }

    #[test]
    fn begins_as_the_template_and_renews() {
        let parts = split_module(module(b"constants"));
        assert_eq!(parts.wasm.len(), 8 + 5 + 2 + 6);
        let template = Arc::new(MemoryTemplate::in_memory(&parts.template).unwrap());
        assert_eq!((template.start, template.len), (ALIGN, ALIGN));
        let mut a = AddressRange::new(8 * ALIGN, 2 * ALIGN, Some(template.clone())).unwrap();
        let mut b = AddressRange::new(8 * ALIGN, 2 * ALIGN, Some(template)).unwrap();
        assert_eq!(bytes(&a, 70_000, 9), b"constants");
        a.open_to(4 * ALIGN).unwrap();
        for at in [0, 70_000, 131_000, 200_000] {
            write(&mut a, at, b"secret");
            assert_eq!(bytes(&a, at, 6), b"secret");
        }
        assert_eq!(bytes(&b, 70_000, 9), b"constants");
        write(&mut b, 70_003, b"XX");
        // SAFETY: no other references to it exist.
        unsafe { a.renew().unwrap() };
        assert_eq!(a.size(), 2 * ALIGN);
        a.open_to(4 * ALIGN).unwrap();
        let all = bytes(&a, 0, 4 * ALIGN);
        let mut expected = vec![0; 4 * ALIGN];
        expected[70_000..70_009].copy_from_slice(b"constants");
        assert!(all == expected);
        assert_eq!(bytes(&b, 70_000, 9), b"conXXants");
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let parts = split_module(module(b"x"));
        let template = Arc::new(MemoryTemplate::in_memory(&parts.template).unwrap());
        assert!(AddressRange::new(8 * ALIGN, ALIGN, Some(template)).is_err());
        assert!(AddressRange::new(ALIGN, 2 * ALIGN, None).is_err());
        let mut l = AddressRange::new(2 * ALIGN, 0, None).unwrap();
        assert!(l.open_to(3 * ALIGN).is_err());
        assert_eq!(l.size(), 0);
    }
}
