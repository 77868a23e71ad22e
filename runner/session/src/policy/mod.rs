//! Policies in the form in which people write them: presets, and TOML files.
//!
//! A [`PolicyFile`] describes grants in text ([`file`]); [`PolicyFile::policy`] converts it to a
//! [`Policy`](crate::Policy). A door, such as the command line, applies its own [`LimitChanges`] on
//! top. Sizes and times are written as in [`values`] everywhere. `docs/policy.md` describes the
//! format.
//!
//! # Deliberately absent
//! Policies in stores and snapshots, so that data from elsewhere cannot grant rights.

mod commits;
mod file;
mod host_tools;
mod preset;
mod tools;
pub mod values;

pub use file::{MAX_FILE, Mistake, PolicyError, PolicyFile};
pub use preset::Preset;
pub use tools::{CalculateSettings, CodeSettings, ToolSettings};

use std::time::Duration;
use wasibox_sandbox::{GrowthLimits, Limits};

/// Changes to the limits of a preset. In `Option<Option<_>>`, `Some(None)` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitChanges {
    pub timeout: Option<Option<Duration>>,
    pub cpu: Option<Option<Duration>>,
    pub memory: Option<u64>,
    pub disk: Option<u64>,
    /// Maximum number of directory entries of the session's own files.
    pub inodes: Option<u64>,
    /// Maximum size of one file in bytes.
    pub file_size: Option<Option<u64>>,
    pub pipes: Option<usize>,
    pub output: Option<Option<u64>>,
    pub processes: Option<usize>,
    pub spawns: Option<u64>,
    pub descriptors: Option<usize>,
    pub host_descriptors: Option<usize>,
    /// Maximum bytes of a session's history, and of its log.
    pub history: Option<u64>,
    pub audit: Option<u64>,
    /// The number of newest commits of the history that stay when there are more than `most_commits`,
    /// where `Some(None)` is no limit.
    pub kept_commits: Option<usize>,
    pub most_commits: Option<Option<usize>>,
}

impl LimitChanges {
    /// Returns the limits with these changes.
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

    /// Returns the limits of history and log with these changes.
    pub fn apply_to_growth(&self, growth: GrowthLimits) -> GrowthLimits {
        let most_commits = match (self.most_commits, self.kept_commits) {
            (Some(most), _) => most.unwrap_or(usize::MAX),
            // There is room for commits between two compactions.
            (None, Some(kept)) => growth.most_commits.max(kept.saturating_mul(2)),
            (None, None) => growth.most_commits,
        };
        GrowthLimits {
            history: self.history.unwrap_or(growth.history),
            audit: self.audit.unwrap_or(growth.audit),
            kept_commits: self.kept_commits.unwrap_or(growth.kept_commits),
            most_commits,
        }
    }

    /// Returns these changes, completed by those of `before`.
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
            history: self.history.or(before.history),
            audit: self.audit.or(before.audit),
            kept_commits: self.kept_commits.or(before.kept_commits),
            most_commits: self.most_commits.or(before.most_commits),
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
