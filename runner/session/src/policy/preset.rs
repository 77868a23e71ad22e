//! Named sets of limits.

use std::time::Duration;
use wasibox_sandbox::{DiskLimits, GrowthLimits, Limits, NetworkLimits};

/// A set of limits for a purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// For a short command of an unknown user.
    Strict,
    /// The limits of [`Limits::default`].
    #[default]
    Normal,
    /// For the user's own large work. The limits that protect the host's memory still apply.
    Permissive,
}

impl Preset {
    /// All presets, the strictest first.
    pub const ALL: [Preset; 3] = [Preset::Strict, Preset::Normal, Preset::Permissive];

    /// Returns the preset's name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Strict => "strict",
            Preset::Normal => "normal",
            Preset::Permissive => "permissive",
        }
    }

    /// Returns the preset with this name.
    pub fn from_name(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Returns the budget with which shells start.
    pub fn shell_budget(self) -> Option<String> {
        (self != Preset::Normal).then(|| self.name().to_owned())
    }

    /// Returns the preset's limits of requests to hosts outside.
    pub fn network_limits(self) -> NetworkLimits {
        match self {
            Preset::Normal => NetworkLimits::default(),
            Preset::Strict => NetworkLimits {
                requests: Some(1000),
                requests_per_call: Some(100),
                concurrent: Some(4),
                upload: Some(8 << 20),
                download: Some(32 << 20),
                session_upload: Some(64 << 20),
                session_download: Some(256 << 20),
                timeout: Some(Duration::from_secs(60)),
            },
            Preset::Permissive => NetworkLimits {
                requests: Some(u64::MAX),
                requests_per_call: Some(u64::MAX),
                concurrent: Some(64),
                upload: Some(4 << 30),
                download: Some(16 << 30),
                session_upload: Some(u64::MAX),
                session_download: Some(u64::MAX),
                timeout: Some(Duration::from_secs(3600)),
            },
        }
    }

    /// Returns the preset's limits of a session's history and log.
    pub fn growth(self) -> GrowthLimits {
        let normal = GrowthLimits::default();
        match self {
            Preset::Normal => normal,
            Preset::Strict => GrowthLimits { history: 256 << 20, audit: 16 << 20, ..normal },
            Preset::Permissive => GrowthLimits {
                history: 16 << 30,
                audit: 256 << 20,
                most_commits: usize::MAX,
                ..normal
            },
        }
    }

    /// Returns the preset's limits.
    pub fn limits(self) -> Limits {
        let normal = Limits::default();
        match self {
            Preset::Normal => normal,
            Preset::Strict => Limits {
                timeout: Some(Duration::from_secs(30)),
                cpu: Some(Duration::from_secs(30)),
                memory: 512 << 20,
                disk: DiskLimits {
                    bytes: 64 << 20,
                    entries: 10_000,
                    host_descriptors: 256,
                    file: 32 << 20,
                    pipes: 64,
                },
                output: Some(1 << 20),
                processes: 16,
                spawns: 10_000,
                descriptors: 256,
                ..normal
            },
            Preset::Permissive => Limits {
                timeout: None,
                cpu: None,
                memory: 16 << 30,
                disk: DiskLimits { bytes: 8 << 30, entries: 2_000_000, pipes: 4096, ..normal.disk },
                output: None,
                processes: 1024,
                spawns: u64::MAX,
                descriptors: 4096,
                ..normal
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_allows_what_the_one_before_does() {
        // No limit counts as more than any limit.
        let time = |t: Option<Duration>| t.unwrap_or(Duration::MAX);
        for pair in Preset::ALL.windows(2) {
            let (a, b) = (pair[0].limits(), pair[1].limits());
            assert!(time(a.timeout) <= time(b.timeout) && time(a.cpu) <= time(b.cpu));
            assert!(a.memory < b.memory && a.disk.bytes < b.disk.bytes);
            assert!(a.disk.file <= b.disk.file && a.disk.pipes < b.disk.pipes);
            assert!(a.disk.entries < b.disk.entries && a.descriptors < b.descriptors);
            assert!(a.output.unwrap_or(u64::MAX) <= b.output.unwrap_or(u64::MAX));
            assert!(a.processes < b.processes && a.spawns < b.spawns);
            let (old, new) = (pair[0].growth(), pair[1].growth());
            assert!(old.history < new.history && old.audit < new.audit);
            assert!(old.kept_commits <= new.kept_commits && old.most_commits <= new.most_commits);
            // All workers have stacks of the same size.
            assert_eq!(a.stack, b.stack);
        }
        assert_eq!(Preset::Normal.limits(), Limits::default());
    }

    #[test]
    fn names_lead_back() {
        assert!(Preset::ALL.iter().all(|p| Preset::from_name(p.name()) == Some(*p)));
        assert_eq!(Preset::from_name("lax"), None);
    }
}
