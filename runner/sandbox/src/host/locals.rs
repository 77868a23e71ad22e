//! A guest's variables that each of its threads has for itself.

use super::guest::CallMemoryView;

/// Where they lie on the host: address and length.
pub struct HostLocals(Vec<(usize, usize)>);

impl HostLocals {
    /// Those at these places, all of which lie in the memory.
    pub fn new(mem: &CallMemoryView<'_>, places: &[(u32, usize)]) -> HostLocals {
        HostLocals(places.iter().map(|(at, len)| (mem.host_address(*at), *len)).collect())
    }

    /// Copies their bytes.
    pub fn save_bytes(&self, to: &mut Vec<u8>) {
        to.clear();
        for (at, len) in &self.0 {
            // JUSTIFICATION: this happens at every change of threads, also where no call's memory is at hand.
            // SAFETY: the kernel checked that the bytes lie in the process's memory (`Host::find_locals`), which neither
            // moves nor shrinks while its threads are there. Nobody else touches them: the caller has the baton.
            to.extend_from_slice(unsafe { std::slice::from_raw_parts(*at as *const u8, *len) });
        }
    }

    /// Puts them back; zeros where `from` has no more.
    pub fn restore_bytes(&self, from: &[u8]) {
        let mut rest = from;
        for (at, len) in &self.0 {
            // JUSTIFICATION and SAFETY: as for `save`; between two holders nobody runs.
            let to = unsafe { std::slice::from_raw_parts_mut(*at as *mut u8, *len) };
            match rest.split_at_checked(*len) {
                Some((part, after)) => {
                    to.copy_from_slice(part);
                    rest = after;
                }
                None => to.fill(0),
            }
        }
    }
}
