//! The privileges that a jailed process gives up: capabilities (capabilities(7)), root, and the view
//! of what is the host's and no file.

use rustix::io::Errno;
use rustix::process::{
    Gid, Uid, geteuid, parent_process_death_signal, set_parent_process_death_signal,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use std::fs;

/// The host's name in the process's own namespace.
const HOST_NAME: &[u8] = b"sandbox";

/// The user and the group that own nothing ("nobody").
const NOBODY: u32 = 65534;

/// Gives up all capabilities, and root's user id, for a process with one thread.
///
/// A process that has files of the host (`has_files`) keeps the capabilities that concern files and
/// its user, because a mount may belong to another user. Landlock restricts both to the mounts.
///
/// # Errors
/// Returns an error if the host's kernel refuses.
pub fn drop_privileges(has_files: bool) -> Result<(), Errno> {
    if !has_files && geteuid().is_root() {
        become_nobody()?;
    }
    let kept = if has_files {
        CapabilitySet::CHOWN
            | CapabilitySet::DAC_OVERRIDE
            | CapabilitySet::DAC_READ_SEARCH
            | CapabilitySet::FOWNER
            | CapabilitySet::FSETID
    } else {
        CapabilitySet::empty()
    };
    let permitted = rustix::thread::capabilities(None)?.permitted & kept;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable })
}

/// Gives the process namespaces of its own for the host's name, for queues and for the paths of
/// control groups (namespaces(7)), which system calls show that no file stands for. Returns whether
/// that was allowed; only root may do it.
///
/// It takes 0.1 ms. Others were measured and left out: a network namespace takes 0.5 ms, and the
/// process has no call that makes a socket; a mount namespace hides what Landlock refuses anyway; a
/// process namespace concerns children, of which there are none; a user namespace would turn the
/// owners of the mounts' files into nobody.
pub fn separate_namespaces() -> bool {
    let own = UnshareFlags::NEWUTS | UnshareFlags::NEWIPC | UnshareFlags::NEWCGROUP;
    #[expect(deprecated, reason = "only the flag for descriptors, which is not used, is unsafe")]
    let made = rustix::thread::unshare(own);
    made.is_ok() && fs::write("/proc/sys/kernel/hostname", HOST_NAME).is_ok()
}

/// Changes root to [`NOBODY`], unless this process's user namespace has no such user.
fn become_nobody() -> Result<(), Errno> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    let end = parent_process_death_signal()?;
    let changed = set_thread_groups(&[])
        .and_then(|()| set_thread_res_gid(group, group, group))
        .and_then(|()| set_thread_res_uid(user, user, user));
    match changed {
        Ok(()) => {}
        // EINVAL: the number is not mapped. EPERM: root of the namespace may not change groups.
        Err(Errno::INVAL | Errno::PERM) => return Ok(()),
        Err(e) => return Err(e),
    }
    // The kernel clears the parent-death signal when the user changes (prctl(2), PR_SET_PDEATHSIG).
    set_parent_process_death_signal(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_host_is_hidden() {
        let name = || fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
        let before = name();
        // The namespaces are those of the calling thread.
        let inside = std::thread::spawn(move || separate_namespaces().then(name)).join();
        match inside.ok().flatten() {
            Some(inside) => assert_eq!(inside.trim_ascii_end(), HOST_NAME),
            None => eprintln!("skipped: the host allows no namespaces"),
        }
        assert_eq!(name(), before);
    }
}
