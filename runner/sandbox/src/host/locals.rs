//! A guest's variables of which each of its threads has its own copy.

use super::guest::CallMemoryView;

/// The places of these variables on the host: address and length.
pub struct HostLocals(Vec<(usize, usize)>);

impl HostLocals {
    /// Returns the variables at these places, all of which lie in the memory.
    pub fn new(mem: &CallMemoryView<'_>, places: &[(u32, usize)]) -> HostLocals {
        HostLocals(places.iter().map(|(at, len)| (mem.host_address(*at), *len)).collect())
    }

    /// Copies the bytes of all variables.
    pub fn save_bytes(&self, to: &mut Vec<u8>) {
        to.clear();
        for (at, len) in &self.0 {
            // JUSTIFICATION: this happens at every change of threads, even if no call's memory is
            // at hand. SAFETY: the kernel checked that the bytes lie in the process's memory
            // (`Host::find_locals`), which neither moves nor shrinks while its threads exist. No
            // other thread touches them: the caller has the baton.
            to.extend_from_slice(unsafe { std::slice::from_raw_parts(*at as *const u8, *len) });
        }
    }

    /// Restores the bytes of all variables from `from`; bytes beyond its end become zero.
    pub fn restore_bytes(&self, from: &[u8]) {
        let mut rest = from;
        for (at, len) in &self.0 {
            // JUSTIFICATION and SAFETY: as for `save_bytes`; between two holders no thread runs.
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
