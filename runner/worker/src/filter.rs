//! The system calls that a jailed process may make (seccomp(2)).
//!
//! The list contains the calls of the engine, the sandbox's kernel and the file system, found by
//! tracing them and reading their sources. Any other call ends the process, because there is no
//! legitimate reason for one, and an error could be mistaken for an answer.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// The machine code that the process may still map or make executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewCode {
    /// All machine code is mapped. Its protection may be switched between executable and not
    /// executable, but never to writable, in place. Each range has its first address and the
    /// address after its end.
    Known(Vec<(usize, usize)>),
    /// Machine code of programs that were not needed yet will be mapped from their files.
    Mapped,
}

/// The reason why a filter could not be made or installed.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    #[error("this processor's system calls are not known")]
    Arch,
    #[error("the filter of system calls: {0}")]
    Backend(#[from] seccompiler::BackendError),
    #[error("the filter of system calls: {0}")]
    Set(#[from] seccompiler::Error),
}

/// `fchmodat2` has the same number on all processors, but libc has no name for it on aarch64.
const FCHMODAT2: libc::c_long = 452;

/// Calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = &[
    // Memory. Executable mappings are restricted in `filter`.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_membarrier,
    // Threads. `clone` is restricted in `filter`, `clone3` returns ENOSYS.
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_set_robust_list,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rseq,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_tid_address,
    libc::SYS_restart_syscall,
    // Signals within the process.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    // Time.
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_getrusage,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_settime,
    libc::SYS_times,
    // The process's own identity and place; nothing about others.
    libc::SYS_getcwd,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getuid,
    libc::SYS_getrandom,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    // Open descriptors.
    libc::SYS_close,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_fchmod,
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_sync_file_range,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    // The socket to the parent, which is connected already; `socket` and `connect` are missing.
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_shutdown,
    // Files by name, restricted by Landlock.
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_readlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_symlinkat,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

/// Older forms of the same calls, which only this processor has.
#[cfg(target_arch = "x86_64")]
const OLD: &[libc::c_long] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_chmod,
    libc::SYS_dup2,
    libc::SYS_epoll_wait,
    libc::SYS_getdents,
    libc::SYS_link,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_open,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_stat,
    libc::SYS_symlink,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[libc::c_long] = &[];

/// These return ENOSYS instead of ending the process, because the C library then uses `clone`,
/// whose flags a filter can check.
const MISSING: &[libc::c_long] = &[libc::SYS_clone3];

/// The requests of `ioctl` for streams and terminals, and two that find the pages that an
/// interpreter has written to (`wasibox_sandbox::track`). The latter need descriptors that were
/// opened before: `userfaultfd` itself is not allowed, and an open one receives no faults of the
/// host's kernel.
const IOCTLS: &[u64] =
    &[libc::FIONREAD, libc::FIONBIO, libc::TCGETS, libc::TIOCGWINSZ, UFFDIO_REGISTER, PAGEMAP_SCAN];
const UFFDIO_REGISTER: u64 = 0xc020_aa00;
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// The options that `prctl` may set: names of threads and of mappings.
const PRCTLS: &[u64] = &[libc::PR_SET_NAME as u64, PR_SET_VMA];
const PR_SET_VMA: u64 = 0x5356_4d41;

/// Restricts all threads of the process, irrevocably.
///
/// # Errors
/// Returns an error if the host's kernel has no filters or this processor is not supported.
pub fn close_filter(code: &NewCode) -> Result<(), FilterError> {
    let missing = filter_program(
        MISSING.iter().map(|call| (*call, Vec::new())).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
    )?;
    let allowed =
        filter_program(filter_rules(code)?, SeccompAction::KillProcess, SeccompAction::Allow)?;
    // If several filters apply, the strictest action is taken.
    seccompiler::apply_filter_all_threads(&missing)?;
    seccompiler::apply_filter_all_threads(&allowed)?;
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn filter_program(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, FilterError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Arch)?;
    Ok(SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()?)
}

fn filter_rules(code: &NewCode) -> Result<Rules, FilterError> {
    let mut rules: Rules = ALLOWED.iter().chain(OLD).map(|call| (*call, Vec::new())).collect();
    let mut when = |call: libc::c_long, conditions: Vec<Vec<SeccompCondition>>| {
        let any = conditions.into_iter().map(SeccompRule::new).collect::<Result<Vec<_>, _>>()?;
        rules.insert(call, any);
        Ok::<(), FilterError>(())
    };
    when(libc::SYS_clone, vec![vec![arg_has(0, libc::CLONE_THREAD as u64)?]])?;
    // Signals: only to threads of this process.
    let own = u64::from(std::process::id());
    when(libc::SYS_tgkill, vec![vec![arg_is(0, own)?]])?;
    when(
        libc::SYS_ioctl,
        IOCTLS.iter().map(|r| Ok(vec![arg_is(1, *r)?])).collect::<Result<_, FilterError>>()?,
    )?;
    when(
        libc::SYS_prctl,
        PRCTLS.iter().map(|o| Ok(vec![arg_is(0, *o)?])).collect::<Result<_, FilterError>>()?,
    )?;
    // Limits may be read, but not set.
    when(libc::SYS_prlimit64, vec![vec![arg_is(2, 0)?]])?;
    match code {
        NewCode::Mapped => {
            when(libc::SYS_mmap, Vec::new())?;
            when(libc::SYS_mprotect, Vec::new())?;
            // Machine code that was checked is kept in a file without a name. While such a file is
            // not mapped, it does not count as any process's memory. So a worker that has all its
            // code already may not create one.
            when(libc::SYS_memfd_create, Vec::new())?;
        }
        NewCode::Known(ranges) => {
            let plain = || Ok::<_, FilterError>(vec![arg_lacks(2, libc::PROT_EXEC as u64)?]);
            when(libc::SYS_mmap, vec![plain()?])?;
            let mut any = vec![plain()?];
            for (from, to) in ranges {
                any.push(vec![
                    arg_compare(0, SeccompCmpOp::Ge, *from as u64)?,
                    arg_compare(0, SeccompCmpOp::Lt, *to as u64)?,
                    arg_compare(1, SeccompCmpOp::Le, to.saturating_sub(*from) as u64)?,
                    arg_is(2, (libc::PROT_READ | libc::PROT_EXEC) as u64)?,
                ]);
            }
            when(libc::SYS_mprotect, any)?;
        }
    }
    Ok(rules)
}

/// Matches if argument number `n` is `value`.
fn arg_is(n: u8, value: u64) -> Result<SeccompCondition, FilterError> {
    arg_compare(n, SeccompCmpOp::Eq, value)
}

fn arg_compare(n: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, FilterError> {
    Ok(SeccompCondition::new(n, SeccompCmpArgLen::Qword, how, value)?)
}

/// Matches if argument number `n` has this bit.
fn arg_has(n: u8, bit: u64) -> Result<SeccompCondition, FilterError> {
    Ok(SeccompCondition::new(n, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit)?)
}

/// Matches if argument number `n` lacks this bit.
fn arg_lacks(n: u8, bit: u64) -> Result<SeccompCondition, FilterError> {
    Ok(SeccompCondition::new(n, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_have_no_doubles_and_no_way_out() {
        let mut all: Vec<i64> = ALLOWED.iter().chain(OLD).copied().collect();
        let many = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), many);
        for call in [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_kill,
            libc::SYS_ptrace,
            libc::SYS_process_vm_writev,
            libc::SYS_io_uring_setup,
            libc::SYS_bpf,
            libc::SYS_mount,
            libc::SYS_unshare,
            libc::SYS_open_by_handle_at,
            libc::SYS_userfaultfd,
            libc::SYS_memfd_create,
            libc::SYS_pidfd_open,
            libc::SYS_keyctl,
        ] {
            assert!(!all.contains(&call), "{call}");
        }
    }

    #[test]
    fn filters_can_be_made() {
        for code in [NewCode::Known(vec![(4096, 8192)]), NewCode::Mapped] {
            let made = filter_rules(&code)
                .and_then(|r| filter_program(r, SeccompAction::KillProcess, SeccompAction::Allow));
            assert!(made.is_ok_and(|program| program.len() > 100));
        }
    }
}
