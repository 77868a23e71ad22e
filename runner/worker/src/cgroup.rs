//! Limits on a worker's memory and processes by the host's kernel: control groups, cgroups(7).
//!
//! Both forms are supported, the unified hierarchy (version 2) and the controllers of version 1.
//! Where neither is writable, as for most unprivileged users, there is no group, and the memory is
//! limited only by the parent, which watches it.
//!
//! The crate `cgroups-rs` supports both forms, but depends on a client of the message bus and fifty
//! more crates, whereas only five files are needed here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// The folder in which the host's kernel shows its groups.
const ROOT: &str = "/sys/fs/cgroup";
/// The prefix of the names of groups; the numbers of the creating process and of the group follow.
const PREFIX: &str = "wasibox-";
/// The maximum number of threads and processes of a worker, in which a guest's processes are
/// threads.
const PIDS: u32 = 4096;

/// A group for one process, which is removed when the handle is dropped.
#[derive(Debug)]
pub struct CgroupHandle {
    version: CgroupVersion,
    /// The group's folder. In version 1, this is the folder of the controller for memory, and
    /// `pids` is the folder of the other controller.
    memory: PathBuf,
    pids: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

impl CgroupHandle {
    /// Creates a group below this process's own and moves the process `pid` to it. Returns `None`
    /// if this process lacks the permission.
    pub fn for_process(pid: u32) -> Option<CgroupHandle> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep_groups(Path::new(ROOT), Path::new("/proc/self/cgroup")));
        CgroupHandle::make_below(Path::new(ROOT), Path::new("/proc/self/cgroup"), pid)
    }

    fn make_below(root: &Path, own: &Path, pid: u32) -> Option<CgroupHandle> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{n}", std::process::id());
        let group = match own_folders(root, own)? {
            (CgroupVersion::Two, folder, _) => CgroupHandle::make_unified(&folder.join(&name)),
            (CgroupVersion::One, memory, pids) => {
                CgroupHandle::with_controllers(memory.join(&name), pids.map(|p| p.join(&name)))
            }
        }?;
        group.join_process(pid).ok()?;
        Some(group)
    }

    fn make_unified(path: &Path) -> Option<CgroupHandle> {
        fs::create_dir(path).ok()?;
        let group =
            CgroupHandle { version: CgroupVersion::Two, memory: path.to_owned(), pids: None };
        // Without the controller the folder exists, but this file does not.
        path.join("memory.max").exists().then_some(group)
    }

    fn with_controllers(memory: PathBuf, pids: Option<PathBuf>) -> Option<CgroupHandle> {
        fs::create_dir(&memory).ok()?;
        let pids = pids.filter(|p| fs::create_dir(p).is_ok());
        Some(CgroupHandle { version: CgroupVersion::One, memory, pids })
    }

    fn join_process(&self, pid: u32) -> io::Result<()> {
        let pids = match self.version {
            CgroupVersion::One => self.pids.as_ref(),
            CgroupVersion::Two => Some(&self.memory),
        };
        if let Some(pids) = pids {
            // The controller may be missing, but only memory is essential.
            let _ = fs::write(pids.join("pids.max"), PIDS.to_string());
        }
        for folder in std::iter::once(&self.memory).chain(&self.pids) {
            fs::write(folder.join("cgroup.procs"), pid.to_string())?;
        }
        Ok(())
    }

    /// Limits the memory, in bytes; swap does not extend it.
    ///
    /// # Errors
    /// Returns an error if the host's kernel refuses, for example because more is in use.
    pub fn limit_memory(&self, bytes: u64) -> io::Result<()> {
        let (limit, swap) = match self.version {
            CgroupVersion::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
            CgroupVersion::Two => ("memory.max", "memory.swap.max"),
        };
        fs::write(self.memory.join(limit), bytes.to_string())?;
        let bytes = if self.version == CgroupVersion::One { bytes } else { 0 };
        // A kernel without swap accounting lacks the file.
        let _ = fs::write(self.memory.join(swap), bytes.to_string());
        Ok(())
    }

    /// Returns whether the host's kernel has killed the process because of its memory.
    pub fn ran_out(&self) -> bool {
        let name = match self.version {
            CgroupVersion::One => "memory.oom_control",
            CgroupVersion::Two => "memory.events",
        };
        let text = fs::read_to_string(self.memory.join(name)).unwrap_or_default();
        let count = text.lines().find_map(|l| l.strip_prefix("oom_kill "));
        count.and_then(|n| n.trim().parse::<u64>().ok()).is_some_and(|n| n > 0)
    }
}

impl Drop for CgroupHandle {
    fn drop(&mut self) {
        for folder in std::iter::once(&self.memory).chain(&self.pids) {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Returns the folders of this process's group, which `own` names: the only one, or those of the
/// controllers for memory and for processes.
fn own_folders(root: &Path, own: &Path) -> Option<(CgroupVersion, PathBuf, Option<PathBuf>)> {
    let own = fs::read_to_string(own).ok()?;
    if root.join("cgroup.controllers").exists() {
        return Some((CgroupVersion::Two, own_folder(root, "", &own)?, None));
    }
    let memory = own_folder(&root.join("memory"), "memory", &own)?;
    Some((CgroupVersion::One, memory, own_folder(&root.join("pids"), "pids", &own)))
}

/// Removes the groups of processes that have ended without removing them: that were killed, or that
/// exited while they had workers. Otherwise they would add up to the kernel's maximum of 65,535
/// groups, after which no worker gets a group.
fn sweep_groups(root: &Path, own: &Path) {
    let Some((_, memory, pids)) = own_folders(root, own) else { return };
    for folder in std::iter::once(memory).chain(pids) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_of_dead_process) {
                // A group with processes in it cannot be removed.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Returns whether a group was made by a process that has ended.
fn is_of_dead_process(name: &str) -> bool {
    let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let pid = maker.and_then(|(pid, _)| pid.parse().ok()).and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Returns the folder of this process's group in the hierarchy at `root`. In a container, that
/// group is the root of the hierarchy, whatever its path is outside.
fn own_folder(root: &Path, controller: &str, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        controllers.split(',').any(|c| c == controller).then_some(path)
    })?;
    let inside = root.join(path.trim_start_matches('/'));
    if inside.is_dir() { Some(inside) } else { root.is_dir().then(|| root.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_in_both_forms() {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path(), "4:memory,cpu:/a/b\n0::/c\n");
        fs::create_dir_all(root.join("a/b")).unwrap();
        assert_eq!(own_folder(root, "memory", own), Some(root.join("a/b")));
        // In a container the own group is the root of the hierarchy.
        assert_eq!(own_folder(root, "", own), Some(root.to_owned()));
        assert_eq!(own_folder(root, "pids", own), None);
    }

    #[test]
    fn a_group_is_made_limited_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path(), dir.path().join("own"));
        fs::write(&own, "2:pids:/\n1:memory:/\n").unwrap();
        for controller in ["memory", "pids"] {
            fs::create_dir(root.join(controller)).unwrap();
        }
        let group = CgroupHandle::make_below(root, &own, 77).unwrap();
        group.limit_memory(1 << 20).unwrap();
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(read(group.memory.join("cgroup.procs")), "77");
        assert_eq!(read(group.memory.join("memory.limit_in_bytes")), "1048576");
        let pids = group.pids.clone().unwrap();
        assert_eq!(read(pids.join("cgroup.procs")), "77");
        assert_eq!(read(pids.join("pids.max")), PIDS.to_string());
        assert!(!group.ran_out());
        fs::write(group.memory.join("memory.oom_control"), "under_oom 0\noom_kill 1\n").unwrap();
        assert!(group.ran_out());
        let memory = group.memory.clone();
        for folder in [&memory, &pids] {
            for file in folder.read_dir().unwrap() {
                fs::remove_file(file.unwrap().path()).unwrap();
            }
        }
        drop(group);
        assert!(!memory.exists() && !pids.exists());
    }

    #[test]
    fn groups_of_dead_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path(), dir.path().join("own"));
        fs::write(&own, "2:pids:/\n1:memory:/\n").unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dead = format!("wasibox-{}-0", child.id());
        let alive = format!("wasibox-{}-0", std::process::id());
        for name in [dead.as_str(), alive.as_str(), "wasibox-x-0", "other"] {
            fs::create_dir_all(root.join("memory").join(name)).unwrap();
            fs::create_dir_all(root.join("pids").join(name)).unwrap();
        }
        sweep_groups(root, &own);
        for controller in ["memory", "pids"] {
            let mut left: Vec<_> = fs::read_dir(root.join(controller))
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            left.sort();
            let mut expected = ["other".to_owned(), alive.clone(), "wasibox-x-0".to_owned()];
            expected.sort();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn without_permission_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        fs::write(&own, "1:memory:/\n").unwrap();
        assert!(CgroupHandle::make_below(dir.path(), &own, 77).is_none());
    }
}
