//! Closes a process's jail.
//!
//! The order matters: steps that may still fail come first, and the filter of system calls comes
//! last, because it does not allow the calls of the earlier steps.

use crate::filter::{self, FilterError, NewCode};
use crate::privileges::{drop_privileges, separate_namespaces};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The files that remain accessible in the jail.
#[derive(Clone, Debug)]
pub struct Jail {
    /// Files and directories that may be read.
    pub read: Vec<PathBuf>,
    /// Files and directories that may be read and changed.
    pub write: Vec<PathBuf>,
    pub code: NewCode,
}

/// The walls that are active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// The process can gain no privileges (prctl(2), `PR_SET_NO_NEW_PRIVS`), and has none of root's
    /// but those that concern the files of its mounts ([`crate::privileges`]).
    pub no_new_privs: bool,
    /// Other processes of the user cannot inspect it, and it leaves no core file.
    pub not_dumpable: bool,
    /// Files other than the given ones cannot be opened.
    pub files: Wall,
    /// TCP sockets cannot be bound or connected; signals and abstract sockets reach no process
    /// outside.
    pub network: Wall,
    /// System calls that are not on the list end the process (seccomp(2)).
    pub system_calls: bool,
    /// The host's kernel limits the process's memory (cgroups(7)).
    pub memory: bool,
    /// The process does not see the host's name, queues and control groups (namespaces(7)).
    pub namespaces: bool,
}

/// The extent to which Landlock could be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wall {
    #[default]
    Missing,
    /// The host's kernel has an older version that leaves something open.
    Partial,
    Full,
}

impl Walls {
    /// Returns the names of the inactive walls. The memory wall is not among them, because without
    /// it the parent watches the worker's memory; nor are namespaces, because they hide only names.
    pub fn missing_walls(&self) -> Vec<&'static str> {
        let all = [
            (self.no_new_privs, "no_new_privs"),
            (self.not_dumpable, "dumpable"),
            (self.files == Wall::Full, "landlock (files)"),
            (self.network == Wall::Full, "landlock (network, signals)"),
            (self.system_calls, "seccomp"),
        ];
        all.into_iter().filter(|(stands, _)| !stands).map(|(_, name)| name).collect()
    }
}

/// The reason why a jail could not be closed.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    #[error("the process has {0} threads; the jail must close while it has one")]
    Threads(usize),
    #[error("cannot give up privileges: {0}")]
    Process(#[from] rustix::io::Errno),
    #[error("landlock: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("landlock: {0}")]
    Path(#[from] landlock::PathFdError),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// The newest version of Landlock whose rules are used here.
const LANDLOCK: ABI = ABI::V6;

impl Jail {
    /// Closes the jail around the calling process. Returns the active walls; those that the host's
    /// kernel does not support are missing.
    ///
    /// # Errors
    /// Returns an error if the process has more than one thread, or if a supported wall fails.
    pub fn close(&self) -> Result<Walls, JailError> {
        if let Some(threads) = remaining_threads(thread_count).filter(|n| *n > 1) {
            return Err(JailError::Threads(threads));
        }
        let mut walls = Walls::default();
        rustix::thread::set_no_new_privs(true)?;
        walls.no_new_privs = true;
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        let nothing = Rlimit { current: Some(0), maximum: Some(0) };
        setrlimit(Resource::Core, nothing)?;
        walls.not_dumpable = true;
        walls.namespaces = separate_namespaces();
        (walls.files, walls.network) = self.close_landlock()?;
        drop_privileges(!self.read.is_empty() || !self.write.is_empty())?;
        match filter::close_filter(&self.code) {
            Ok(()) => walls.system_calls = true,
            Err(FilterError::Arch) => {}
            // A kernel without filters returns EINVAL or ENOSYS.
            Err(FilterError::Set(
                seccompiler::Error::Prctl(e) | seccompiler::Error::Seccomp(e),
            )) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(walls)
    }

    /// Installs one ruleset for everything. A second ruleset would refuse every move between
    /// directories, because each ruleset denies such moves except where one of its rules allows
    /// them (Landlock's manual, `LANDLOCK_ACCESS_FS_REFER`).
    fn close_landlock(&self) -> Result<(Wall, Wall), JailError> {
        let all = AccessFs::from_all(LANDLOCK);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?;
        // Execution is forbidden everywhere, and devices cannot be created.
        let changes = all & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock);
        let reads = AccessFs::ReadFile | AccessFs::ReadDir;
        for (paths, access) in [(&self.read, reads), (&self.write, changes)] {
            for path in paths {
                let of_files = AccessFs::from_file(LANDLOCK);
                let access = if path.is_dir() { access } else { access & of_files };
                rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, access))?;
            }
        }
        Ok(landlock_walls(&rules.restrict_self()?))
    }
}

/// Returns the extent to which Landlock closes files and the network. A wall is full if the
/// kernel's Landlock version has the newest right that the wall needs.
fn landlock_walls(status: &RestrictionStatus) -> (Wall, Wall) {
    let LandlockStatus::Available { effective_abi: abi, .. } = status.landlock else {
        return Default::default();
    };
    let wall = |some: ABI, whole: ABI| match abi {
        abi if abi < some || status.ruleset == RulesetStatus::NotEnforced => Wall::Missing,
        abi if abi < whole => Wall::Partial,
        _ => Wall::Full,
    };
    // Files: control of devices is the newest right. Network: TCP came first, then signals and
    // abstract sockets.
    (wall(ABI::V1, ABI::V5), wall(ABI::V4, ABI::V6))
}

/// The time to wait for threads that have ended.
const ENDED: Duration = Duration::from_millis(500);

/// Returns the number of the process's threads that do not end soon, by what `count` returns;
/// `None` if that does. A thread is still in the list of /proc for some time after its join has
/// returned.
fn remaining_threads(mut count: impl FnMut() -> Option<usize>) -> Option<usize> {
    let begun = Instant::now();
    loop {
        match count()? {
            many if many > 1 && begun.elapsed() < ENDED => {
                std::thread::sleep(Duration::from_micros(200));
            }
            count => return Some(count),
        }
    }
}

/// Returns the number of the process's threads; `None` if /proc cannot be read.
fn thread_count() -> Option<usize> {
    Some(Path::new("/proc/self/task").read_dir().ok()?.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_end_are_waited_for() {
        let mut counts = [3, 3, 2, 1].into_iter();
        assert_eq!(remaining_threads(|| counts.next()), Some(1));
        assert_eq!(counts.next(), None, "each count was looked at");
    }

    #[test]
    fn threads_that_stay_are_waited_for_no_longer_than_the_bound() {
        let (begun, mut looks) = (Instant::now(), 0);
        let stays = remaining_threads(|| {
            looks += 1;
            Some(2)
        });
        assert_eq!(stays, Some(2));
        assert!(begun.elapsed() >= ENDED && looks > 1, "{looks} looks");
    }

    #[test]
    fn without_proc_nothing_is_waited_for() {
        assert_eq!(remaining_threads(|| None), None);
    }

    /// The counts of the kernel: a thread that is parked stays, and one that was joined goes.
    #[test]
    fn a_joined_thread_leaves_the_list() {
        // Other tests' threads come and go, so this one looks at its own thread's entry.
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            sender.send(rustix::thread::gettid()).unwrap();
            std::thread::park();
        });
        let task = receiver.recv().unwrap();
        let path = PathBuf::from(format!("/proc/self/task/{}", task.as_raw_nonzero()));
        let count = || Some(1 + usize::from(path.exists()));
        assert_eq!(remaining_threads(count), Some(2));
        thread.thread().unpark();
        thread.join().unwrap();
        assert_eq!(remaining_threads(count), Some(1));
    }
}
