//! The privileges that a jailed process gives up: capabilities (capabilities(7)), and root.

use rustix::io::Errno;
use rustix::process::{
    Gid, Uid, geteuid, parent_process_death_signal, set_parent_process_death_signal,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

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
