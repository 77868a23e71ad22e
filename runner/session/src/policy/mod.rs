//! Policies as people write them: presets, and files in TOML.
//!
//! A [`PolicyFile`] says what is granted in words ([`file`]); [`PolicyFile::policy`] makes a
//! [`Policy`] of it. A command line or another entrance lays its own [`LimitChanges`] over that. The
//! words of sizes and times are those of [`values`], everywhere. `docs/policy.md` has the format.
//!
//! # Deliberately absent
//! Policies in stores and snapshots: what comes from elsewhere grants nothing.

mod file;
mod host_tools;
mod preset;
mod tools;
pub mod values;

pub use file::{MAX_FILE, Mistake, PolicyError, PolicyFile};
pub use preset::Preset;
pub use tools::{CalculateSettings, CodeSettings, ToolSettings};

use std::time::Duration;
use wasibox_sandbox::Limits;

/// Limits that are to be others than those of a preset. In `Option<Option<_>>`, `Some(None)` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitChanges {
    pub timeout: Option<Option<Duration>>,
    pub cpu: Option<Option<Duration>>,
    pub memory: Option<u64>,
    pub disk: Option<u64>,
    /// Directory entries of the session's own files.
    pub inodes: Option<u64>,
    /// Bytes of one file.
    pub file_size: Option<Option<u64>>,
    pub pipes: Option<usize>,
    pub output: Option<Option<u64>>,
    pub processes: Option<usize>,
    pub spawns: Option<u64>,
    pub descriptors: Option<usize>,
    pub host_descriptors: Option<usize>,
}

impl LimitChanges {
    /// The limits with these changes.
    pub fn apply_to(&self, mut limits: Limits) -> Limits {
        fn set<T: Copy>(place: &mut T, value: Option<T>) {
            *place = value.unwrap_or(*place);
        }
        set(&mut limits.timeout, self.timeout);
        set(&mut limits.cpu, self.cpu);
        set(&mut limits.memory, self.memory);
        set(&mut limits.disk.bytes, self.disk);
        set(&mut limits.disk.entries, self.inodes);
        set(&mut limits.disk.file, self.file_size.map(|n| n.unwrap_or(u64::MAX)));
        set(&mut limits.disk.pipes, self.pipes);
        set(&mut limits.disk.host_descriptors, self.host_descriptors);
        set(&mut limits.output, self.output);
        set(&mut limits.processes, self.processes);
        set(&mut limits.spawns, self.spawns);
        set(&mut limits.descriptors, self.descriptors);
        limits
    }

    /// These changes, and where they say nothing, `before`.
    pub fn merge_over(&self, before: &LimitChanges) -> LimitChanges {
        LimitChanges {
            timeout: self.timeout.or(before.timeout),
            cpu: self.cpu.or(before.cpu),
            memory: self.memory.or(before.memory),
            disk: self.disk.or(before.disk),
            inodes: self.inodes.or(before.inodes),
            file_size: self.file_size.or(before.file_size),
            pipes: self.pipes.or(before.pipes),
            output: self.output.or(before.output),
            processes: self.processes.or(before.processes),
            spawns: self.spawns.or(before.spawns),
            descriptors: self.descriptors.or(before.descriptors),
            host_descriptors: self.host_descriptors.or(before.host_descriptors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_laid_over_each_other() {
        let file = LimitChanges { memory: Some(1), cpu: Some(None), ..LimitChanges::default() };
        let line = LimitChanges { memory: Some(2), disk: Some(3), ..LimitChanges::default() };
        let limits = line.merge_over(&file).apply_to(Preset::Strict.limits());
        assert_eq!((limits.memory, limits.disk.bytes, limits.cpu), (2, 3, None));
        assert_eq!(limits.processes, Preset::Strict.limits().processes);
        assert_eq!(LimitChanges::default().apply_to(limits), limits);
    }
}
