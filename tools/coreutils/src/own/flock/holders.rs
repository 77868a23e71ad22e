//! The holders of a lock: one file for each locked file, with lines `x PID` (exclusive) or `s PID`
//! (shared). A process that changes it holds a guard during the change: a file that only one
//! process can create.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use box_sys::meta::Stat;

/// The age at which a guard counts as left behind by a killed process.
const STALE: Duration = Duration::from_secs(2);

/// The list of one file's holders.
pub(super) struct Holders {
    list: PathBuf,
    guard: PathBuf,
}

/// Holds the guard until it is dropped.
struct HoldersGuard<'a>(&'a Path);

impl Drop for HoldersGuard<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

impl Holders {
    /// Opens the holders of a file, which is known by its device and inode.
    pub fn for_file(dir: &Path, stat: &Stat) -> io::Result<Holders> {
        if stat.ino == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        fs::create_dir_all(dir)?;
        let name = format!("{:x}-{:x}", stat.dev, stat.ino);
        Ok(Holders { list: dir.join(&name), guard: dir.join(name + ".guard") })
    }

    /// Acquires the lock, unless another living process holds it. A second call changes the kind of
    /// the lock.
    pub fn add_holder(
        &self,
        pid: u32,
        shared: bool,
        alive: &dyn Fn(u32) -> bool,
    ) -> io::Result<bool> {
        let _guard = self.lock_list()?;
        let mut holders = self.read();
        holders.retain(|(_, p)| *p != pid && alive(*p));
        if holders.iter().any(|(other, _)| !(shared && *other)) {
            return Ok(false);
        }
        holders.push((shared, pid));
        self.write(&holders)?;
        Ok(true)
    }

    /// Removes the lock of a process.
    pub fn remove_holder(&self, pid: u32) -> io::Result<()> {
        let _guard = self.lock_list()?;
        let mut holders = self.read();
        holders.retain(|(_, p)| *p != pid);
        self.write(&holders)
    }

    fn lock_list(&self) -> io::Result<HoldersGuard<'_>> {
        loop {
            match File::options().write(true).create_new(true).open(&self.guard) {
                Ok(_) => return Ok(HoldersGuard(&self.guard)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
            let made = fs::metadata(&self.guard).and_then(|m| m.modified());
            let age = made.ok().and_then(|t| SystemTime::now().duration_since(t).ok());
            if age.is_some_and(|a| a > STALE) {
                let _ = fs::remove_file(&self.guard);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the holders: whether the lock is shared, and the process id.
    fn read(&self) -> Vec<(bool, u32)> {
        let text = fs::read_to_string(&self.list).unwrap_or_default();
        let line = |l: &str| {
            let (kind, pid) = l.split_once(' ')?;
            Some((kind == "s", pid.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    }

    fn write(&self, holders: &[(bool, u32)]) -> io::Result<()> {
        if holders.is_empty() {
            return match fs::remove_file(&self.list) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        let mut file = File::create(&self.list)?;
        for (shared, pid) in holders {
            writeln!(file, "{} {pid}", if *shared { 's' } else { 'x' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By flock(2), many processes may share a lock, only one may hold it exclusively, and a dead
    /// process holds none.
    #[test]
    fn who_may_enter() {
        let dir = std::env::temp_dir().join(format!("box-flock-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a folder");
        let stat = box_sys::meta::stat(&dir, true).expect("stat");
        let holders = Holders::for_file(&dir, &stat).expect("a list");
        let living = |_: u32| true;
        let enter = |pid, shared| holders.add_holder(pid, shared, &living).expect("readable");
        assert!(enter(1, true) && enter(2, true));
        assert!(!enter(3, false));
        holders.remove_holder(2).expect("known");
        // The last process that shares the lock may hold it exclusively.
        assert!(enter(1, false));
        assert!(!enter(2, true));
        assert!(holders.add_holder(2, false, &|pid| pid != 1).expect("readable"), "1 has ended");
        holders.remove_holder(2).expect("known");
        assert_eq!(fs::read_dir(&dir).expect("a folder").count(), 0);
        fs::remove_dir_all(&dir).expect("removable");
    }
}
