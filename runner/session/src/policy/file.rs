//! Reads policy files (`docs/policy.md`).

use super::commits::HistoryCommits;
use super::host_tools::WrittenHostTools;
use super::{LimitChanges, Preset, ToolSettings, values};
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::io::Read;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wasibox_sandbox::{
    HostToolPolicy, Limits, MountSpec, NetworkLimits, NetworkPolicy, Policy, Workspace,
    WorkspaceKind,
};

/// Maximum size in bytes of a policy file.
pub const MAX_FILE: u64 = 1 << 20;

/// The contents of a policy file. [`PolicyFile::default`] is an empty file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyFile {
    /// The preset to which the changes in `limits` apply.
    pub preset: Option<Preset>,
    pub limits: LimitChanges,
    pub mounts: Vec<MountSpec>,
    pub workspace: Option<Workspace>,
    pub network: NetworkPolicy,
    /// The host tools that may be called, and their limits.
    pub host_tools: HostToolPolicy,
    /// Servers of the Model Context Protocol whose tools become host tools ([`HostToolPolicy`]),
    /// each written as for `--tools-from`.
    pub tools_from: Vec<String>,
    /// See [`Policy::fresh_programs`].
    pub fresh_programs: bool,
    /// Whether JavaScript is kept from running code from strings: `eval`, `Function`, `vm`, modules
    /// from `data:` URLs.
    pub no_javascript_eval: bool,
    /// The preset of the shell's budget, if it is not that of `preset`.
    pub shell_budget: Option<Preset>,
    /// Whether sessions are refused on a host that lacks a wall
    /// ([`PoolOptions::require_walls`](crate::PoolOptions::require_walls)).
    pub require_walls: bool,
    /// The longest time for making an image's programs ready
    /// ([`PoolOptions::prepare_timeout`](crate::PoolOptions::prepare_timeout)); `Some(None)` means
    /// no limit.
    pub prepare_timeout: Option<Option<Duration>>,
    /// The settings of the tools that doors offer; a command that is not a door ignores them.
    pub tools: ToolSettings,
}

/// A mistake in a policy file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct Mistake {
    /// The line, counted from 1. The column is counted from 1 too, in characters.
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// The reason why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{0}: more than {MAX_FILE} bytes")]
    TooLong(PathBuf),
    #[error("{path}:{mistake}")]
    Wrong { path: PathBuf, mistake: Mistake },
}

impl PolicyFile {
    /// Reads a file. Relative host paths in it start at the file's folder.
    ///
    /// # Errors
    /// If the file cannot be read or has a mistake.
    pub fn read(path: &Path) -> Result<PolicyFile, PolicyError> {
        let failed = |source| PolicyError::Read { path: path.into(), source };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(PolicyError::TooLong(path.into()));
        }
        let dir = path.parent().unwrap_or(Path::new(""));
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text),
            Err(e) => Err(mistake_at(&bytes[..e.valid_up_to()], "not UTF-8".into())),
        };
        text.and_then(|text| PolicyFile::parse(text, dir))
            .map_err(|mistake| PolicyError::Wrong { path: path.into(), mistake })
    }

    /// Parses the text of a policy file. Relative host paths in it start at `dir`.
    ///
    /// # Errors
    /// If the text has a mistake.
    pub fn parse(text: &str, dir: &Path) -> Result<PolicyFile, Mistake> {
        let wrong = |e: toml::de::Error| {
            let at = e.span().map_or(0, |span| span.start.min(text.len()));
            mistake_at(&text.as_bytes()[..at], e.message().replace('\n', ", "))
        };
        let written: WrittenPolicy = toml::from_str(text).map_err(wrong)?;
        let limits = written.limits;
        let mount = |m: WrittenMount| MountSpec {
            host: dir.join(m.host),
            guest: m.guest.0,
            writable: m.writable,
            quota: m.quota.map(|q| q.0),
        };
        Ok(PolicyFile {
            preset: written.preset.map(|p| p.0),
            limits: LimitChanges {
                timeout: limits.timeout.map(|t| t.0),
                cpu: limits.cpu.map(|t| t.0),
                memory: limits.memory.map(|n| n.0),
                disk: limits.disk.map(|n| n.0),
                inodes: limits.inodes,
                file_size: limits.file_size.map(|n| n.0),
                pipes: limits.pipes.map(|n| n.0),
                output: limits.output.map(|n| n.0),
                processes: limits.processes.map(|n| n.0),
                spawns: limits.spawns,
                descriptors: limits.descriptors.map(|n| n.0),
                host_descriptors: limits.host_descriptors.map(|n| n.0),
                history: limits.history.map(|n| n.0),
                audit: limits.audit.map(|n| n.0),
                kept_commits: written.history.kept,
                most_commits: written.history.most,
            },
            mounts: written.mount.into_iter().map(mount).collect(),
            workspace: written.workspace.map(|w| Workspace { path: dir.join(&w.0.path), ..w.0 }),
            network: written.network.0,
            tools_from: written.host_tools.from.clone(),
            host_tools: written.host_tools.policy(),
            fresh_programs: written.fresh_python,
            no_javascript_eval: written.no_javascript_eval,
            shell_budget: written.shell_budget.map(|p| p.0),
            require_walls: written.require_walls,
            prepare_timeout: written.prepare_timeout.map(|t| t.0),
            tools: written.tools,
        })
    }

    /// Returns the limits: those of the preset with the file's changes.
    pub fn limits(&self) -> Limits {
        self.limits.apply_to(self.preset.unwrap_or_default().limits())
    }

    /// Returns the policy that the file describes.
    pub fn policy(&self) -> Policy {
        Policy {
            mounts: self.mounts.clone(),
            workspace: self.workspace.clone(),
            network: NetworkPolicy {
                limits: self
                    .network
                    .limits
                    .merge_over(&self.preset.unwrap_or_default().network_limits()),
                ..self.network.clone()
            },
            host_tools: self.host_tools.clone(),
            limits: self.limits(),
            fresh_programs: self.fresh_programs,
            no_javascript_eval: self.no_javascript_eval,
            shell_budget: self.shell_budget.or(self.preset).unwrap_or_default().shell_budget(),
            hidden: Vec::new(),
            growth: self.limits.apply_to_growth(self.preset.unwrap_or_default().growth()),
        }
    }
}

/// Returns a [`Mistake`] at the position after `before`.
fn mistake_at(before: &[u8], message: String) -> Mistake {
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let begun = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[begun..]).chars().count() + 1;
    Mistake { line, column, message }
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenPolicy {
    preset: Option<PresetName>,
    #[serde(default)]
    limits: WrittenLimits,
    #[serde(default)]
    history: HistoryCommits,
    #[serde(default)]
    mount: Vec<WrittenMount>,
    workspace: Option<WrittenWorkspaceText>,
    #[serde(default)]
    network: WrittenNetwork,
    #[serde(default)]
    fresh_python: bool,
    #[serde(default)]
    no_javascript_eval: bool,
    shell_budget: Option<PresetName>,
    #[serde(default)]
    require_walls: bool,
    prepare_timeout: Option<WrittenTime>,
    #[serde(default)]
    tools: ToolSettings,
    #[serde(default)]
    host_tools: WrittenHostTools,
}

/// Network rules as written; deserializing fails if one of them cannot be parsed.
#[derive(Default, Deserialize)]
#[serde(try_from = "NetworkTexts")]
struct WrittenNetwork(NetworkPolicy);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct NetworkTexts {
    allow: Vec<String>,
    deny: Vec<String>,
    secrets: Vec<String>,
    proxy: Option<String>,
    limits: WrittenNetworkLimits,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct WrittenNetworkLimits {
    requests: Option<u64>,
    requests_per_call: Option<u64>,
    concurrent: Option<NonZeroU32>,
    upload: Option<WrittenSize>,
    download: Option<WrittenSize>,
    session_upload: Option<WrittenSize>,
    session_download: Option<WrittenSize>,
    timeout: Option<WrittenTime>,
}

impl TryFrom<NetworkTexts> for WrittenNetwork {
    type Error = String;

    fn try_from(texts: NetworkTexts) -> Result<WrittenNetwork, String> {
        let NetworkTexts { allow, deny, secrets, proxy, limits } = texts;
        let limits = NetworkLimits {
            requests: limits.requests,
            requests_per_call: limits.requests_per_call,
            concurrent: limits.concurrent.map(NonZeroU32::get),
            upload: limits.upload.map(|n| n.0),
            download: limits.download.map(|n| n.0),
            session_upload: limits.session_upload.map(|n| n.0),
            session_download: limits.session_download.map(|n| n.0),
            timeout: limits.timeout.map(|t| t.0.unwrap_or(Duration::MAX)),
        };
        let policy = NetworkPolicy { allow, deny, secrets, proxy, limits };
        crate::requests::parse_policy(&policy).map_err(|e| e.to_string())?;
        Ok(WrittenNetwork(policy))
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenLimits {
    timeout: Option<WrittenTime>,
    cpu: Option<WrittenTime>,
    memory: Option<WrittenSize>,
    disk: Option<WrittenSize>,
    inodes: Option<u64>,
    file_size: Option<MaybeSize>,
    pipes: Option<WrittenCount>,
    output: Option<MaybeSize>,
    processes: Option<WrittenCount>,
    spawns: Option<u64>,
    descriptors: Option<WrittenCount>,
    host_descriptors: Option<WrittenCount>,
    history: Option<WrittenSize>,
    audit: Option<WrittenSize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenMount {
    host: PathBuf,
    guest: GuestPath,
    #[serde(default)]
    writable: bool,
    quota: Option<WrittenSize>,
}

/// A workspace as written: a zip, or a folder of the host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWorkspace {
    zip: Option<PathBuf>,
    overlay: Option<PathBuf>,
    guest: Option<GuestPath>,
}

/// A workspace that is either a zip or a folder; anything else is a mistake.
#[derive(Deserialize)]
#[serde(try_from = "WrittenWorkspace")]
struct WrittenWorkspaceText(Workspace);

impl TryFrom<WrittenWorkspace> for WrittenWorkspaceText {
    type Error = &'static str;

    fn try_from(w: WrittenWorkspace) -> Result<WrittenWorkspaceText, &'static str> {
        let (kind, path) = match (w.zip, w.overlay) {
            (Some(path), None) => (WorkspaceKind::Zip, path),
            (None, Some(path)) => (WorkspaceKind::Overlay, path),
            _ => return Err("a workspace is either a `zip` or an `overlay`"),
        };
        let guest = w.guest.map_or_else(|| Workspace::GUEST.into(), |g| g.0);
        Ok(WrittenWorkspaceText(Workspace { kind, path, guest }))
    }
}

struct PresetName(Preset);
pub(super) struct WrittenTime(pub Option<Duration>);
pub(super) struct WrittenSize(pub u64);
struct MaybeSize(Option<u64>);
pub(super) struct WrittenCount(pub usize);
struct GuestPath(String);

impl<'de> Deserialize<'de> for PresetName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let wrong = || D::Error::custom(format!("`{name}` is not strict, normal or permissive"));
        Preset::from_name(&name).map(PresetName).ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for GuestPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let path = String::deserialize(from)?;
        if path.starts_with('/') {
            Ok(GuestPath(path))
        } else {
            Err(D::Error::custom(format!("`{path}` is not an absolute path")))
        }
    }
}

impl<'de> Deserialize<'de> for WrittenCount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match usize::deserialize(from)? {
            0 => Err(D::Error::custom("must be more than 0")),
            n => Ok(WrittenCount(n)),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SecondsVisitor;
        impl Visitor<'_> for SecondsVisitor {
            type Value = WrittenTime;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds, 0 for no limit")
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<WrittenTime, E> {
                self.visit_f64(n as f64)
            }
            fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<WrittenTime, E> {
                let limit = values::limit_of(n);
                limit.map(WrittenTime).ok_or_else(|| E::invalid_value(Unexpected::Float(n), &self))
            }
        }
        from.deserialize_any(SecondsVisitor)
    }
}

/// A visitor for a size: a text with a unit, or a number of bytes.
struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = WrittenSize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"512M\", or a number of bytes")
    }
    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<WrittenSize, E> {
        u64::try_from(n)
            .map(WrittenSize)
            .map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WrittenSize, E> {
        let size = values::parse_size(text);
        size.map(WrittenSize).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for WrittenSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SizeVisitor)
    }
}

impl<'de> Deserialize<'de> for MaybeSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Maybe;
        impl Visitor<'_> for Maybe {
            type Value = MaybeSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"1M\", a number of bytes, or \"none\"")
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<MaybeSize, E> {
                let n = u64::try_from(n);
                n.map(|n| MaybeSize(Some(n))).map_err(|_| E::custom("must not be less than 0"))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MaybeSize, E> {
                match (text, values::parse_size(text)) {
                    ("none", _) => Ok(MaybeSize(None)),
                    (_, Some(size)) => Ok(MaybeSize(Some(size))),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(Maybe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PolicyFile, Mistake> {
        PolicyFile::parse(text, Path::new("/work/policies"))
    }

    #[test]
    fn every_setting_can_be_written() {
        let file = parse(
            "preset = 'strict'\nfresh-python = true\nrequire-walls = true\n\
            no-javascript-eval = true\nshell-budget = 'permissive'\n[limits]\ntimeout = 2.5\ncpu = 0\nmemory = '1G'\ndisk = 4096\ninodes = 7\noutput = 'none'\n\
            processes = 3\nspawns = 4\ndescriptors = 5\nhost-descriptors = 6\n\
            file-size = '1M'\npipes = 8\nhistory = '3G'\naudit = '5M'\n\
            [[mount]]\nhost = 'data'\nguest = '/data'\n\
            [[mount]]\nhost = '/abs'\nguest = '/out'\nwritable = true\nquota = '10M'\n",
        );
        let file = file.unwrap();
        assert!(file.fresh_programs && file.require_walls);
        assert!(file.policy().no_javascript_eval);
        assert_eq!(file.policy().shell_budget.as_deref(), Some("permissive"));
        let l = file.limits();
        assert_eq!((l.timeout, l.cpu), (Some(Duration::from_millis(2500)), None));
        assert_eq!((l.memory, l.disk.bytes, l.disk.entries, l.output), (1 << 30, 4096, 7, None));
        assert_eq!((l.processes, l.spawns, l.descriptors, l.disk.host_descriptors), (3, 4, 5, 6));
        assert_eq!((l.disk.file, l.disk.pipes), (1 << 20, 8));
        let policy = file.policy();
        assert_eq!((policy.growth.history, policy.growth.audit), (3 << 30, 5 << 20));
        assert_eq!(policy.mounts[0].host, Path::new("/work/policies/data"));
        assert_eq!((policy.mounts[0].writable, policy.mounts[0].quota), (false, None));
        assert_eq!(policy.mounts[1].host, Path::new("/abs"));
        assert_eq!((policy.mounts[1].writable, policy.mounts[1].quota), (true, Some(10 << 20)));
    }

    #[test]
    fn commits_of_a_history_are_limited() {
        let of = |text: &str| {
            let growth = parse(text).map(|f| f.policy().growth)?;
            Ok::<_, Mistake>((growth.kept_commits, growth.most_commits))
        };
        assert_eq!(of(""), Ok((50, 200)));
        assert_eq!(of("[history]\nkeep = 10\nmost = 30"), Ok((10, 30)));
        assert_eq!(of("[history]\nkeep = 1000"), Ok((1000, 2000)));
        assert_eq!(of("[history]\nmost = 0"), Ok((50, usize::MAX)));
        assert_eq!(of("preset = 'permissive'").unwrap().1, usize::MAX);
        assert_eq!(of("preset = 'permissive'\n[history]\nmost = 100"), Ok((50, 100)));
        for (text, words) in [
            ("keep = 0", "nonzero"),
            ("keep = 9\nmost = 8", "`most` is less than `keep`"),
            ("steps = 3", "unknown field `steps`"),
        ] {
            let m = of(&format!("[history]\n{text}")).unwrap_err();
            assert!(m.message.contains(words), "{text}: {m}");
        }
    }

    #[test]
    fn limits_of_the_network_are_laid_over_those_of_the_preset() {
        let of = |text: &str| parse(text).map(|f| f.policy().network.limits);
        let strict = of("preset = 'strict'\n[network.limits]\nrequests = 7\ntimeout = 0").unwrap();
        assert_eq!((strict.requests, strict.timeout), (Some(7), Some(Duration::MAX)));
        assert_eq!(strict.download, Preset::Strict.network_limits().download);
        assert_eq!(of("").unwrap(), NetworkLimits::default());
        assert!(of("[network.limits]\nconcurrent = 0").is_err());
    }

    #[test]
    fn the_shells_budget_is_that_of_the_preset() {
        let of = |text: &str| parse(text).map(|f| f.policy().shell_budget).unwrap();
        assert_eq!(of("preset = 'strict'").as_deref(), Some("strict"));
        assert_eq!(of(""), None);
        assert_eq!(of("preset = 'strict'\nshell-budget = 'normal'"), None);
    }

    #[test]
    fn a_workspace_is_either_a_zip_or_an_overlay() {
        let of = |text: &str| parse(text).map(|f| f.policy().workspace.unwrap());
        let zip = of("[workspace]\nzip = 'p.zip'").unwrap();
        assert_eq!((zip.kind, &*zip.guest), (WorkspaceKind::Zip, "/work"));
        assert_eq!(zip.path, Path::new("/work/policies/p.zip"));
        let overlay = of("[workspace]\noverlay = '/srv'\nguest = '/project'").unwrap();
        assert_eq!((overlay.kind, &*overlay.guest), (WorkspaceKind::Overlay, "/project"));
        assert_eq!(overlay.path, Path::new("/srv"));
        for text in
            ["zip = 'a'\noverlay = 'b'", "guest = '/a'", "zip = 'a'\nguest = 'b'", "dir = 'a'"]
        {
            assert!(of(&format!("[workspace]\n{text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn tools_are_set() {
        let file = parse(
            "[tools]\nread-only = true\nonly = ['grep']\noff = ['undo']\n\
            [tools.execute_code]\ntimeout = 7.5\nmemory = '128M'\n\
            modules.python = ['math', 'urllib.parse']\n[tools.calculate]\ntimeout = 2\n",
        );
        let tools = file.unwrap().tools;
        assert!(tools.read_only && tools.only.unwrap() == ["grep"] && tools.off == ["undo"]);
        let code = tools.execute_code;
        assert_eq!(
            (code.timeout, code.memory),
            (Some(Duration::from_millis(7500)), Some(128 << 20))
        );
        assert_eq!(code.modules["python"], ["math", "urllib.parse"]);
        assert!(!code.modules.contains_key("javascript"));
        assert_eq!(tools.calculate.timeout, Some(Duration::from_secs(2)));
        for (text, words) in [
            ("[tools]\nread_only = true", "unknown field `read_only`"),
            ("[tools.execute_code.modules]\nruby = []", "unknown field `ruby`"),
            ("[tools.execute_code]\nmodules.python = ['a b']", "`a b` is no module's name"),
        ] {
            let m = parse(text).unwrap_err();
            assert!(m.message.contains(words), "{text}: {m}");
        }
    }

    #[test]
    fn an_empty_file_is_the_default_policy() {
        assert_eq!(parse("").unwrap().policy(), Policy::default());
        assert_eq!(parse("preset = 'strict'").unwrap().limits(), Preset::Strict.limits());
    }

    #[test]
    fn mistakes_have_a_line_and_a_column() {
        for (text, line, column, words) in [
            ("x = 1", 1, 1, "unknown field `x`"),
            ("preset = 'lax'", 1, 10, "`lax` is not strict, normal or permissive"),
            ("[limits]\nmemroy = 1", 2, 1, "unknown field `memroy`"),
            ("[limits]\nmemory = 'much'", 2, 10, "\"much\", expected a size"),
            ("[limits]\n  timeout = -1", 2, 13, "expected seconds"),
            ("[limits]\nprocesses = 0", 2, 13, "must be more than 0"),
            ("[limits]\nspawns = -4", 2, 10, "-4"),
            ("[[mount]]\nhost = 'a'\nguest = 'b'", 3, 9, "`b` is not an absolute path"),
            ("[[mount]]\nhost = 'a'", 1, 1, "missing field `guest`"),
            ("# grün\nü = 1", 2, 1, ""),
            ("[limits", 1, 8, ""),
        ] {
            let m = parse(text).unwrap_err();
            assert_eq!((m.line, m.column), (line, column), "{text:?}: {m}");
            assert!(m.message.contains(words) && !m.message.contains('\n'), "{text:?}: {m}");
        }
    }

    /// Every text is either a policy, or a mistake whose position lies within the text.
    #[test]
    fn every_text_is_a_policy_or_a_mistake() {
        let whole = "preset='strict'\n[limits]\ntimeout=1e3\nmemory='1G'\n[[mount]]\nhost='d'\nguest='/d'\nquota=1\n";
        let mut texts = Vec::new();
        for at in 0..whole.len() {
            texts.push(whole[..at].to_owned());
            for with in [
                "", "'", "\n", "[", "]", "=", "9", "-", "\u{0}", "ü", "{", "#", "\"", ".", "inf",
                "0x",
            ] {
                texts.push(format!("{}{with}{}", &whole[..at], &whole[at + 1..]));
                texts.push(format!("{}{with}{}", &whole[..at], &whole[at..]));
            }
        }
        let deep = ["a=", &"[".repeat(100_000)].concat();
        texts.extend([deep, "a.".repeat(100_000), "[a.".repeat(10_000), "{a=".repeat(10_000)]);
        let mut good = 0;
        for text in texts {
            match parse(&text) {
                Ok(file) => good += usize::from(file.policy().mounts.len() < 2),
                Err(m) => {
                    assert!(m.line >= 1 && m.column >= 1 && m.line <= text.lines().count() + 1);
                    assert!(!m.message.is_empty(), "{text:?}");
                }
            }
        }
        assert!(good > 0);
    }

    #[test]
    fn files_that_are_too_long_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        std::fs::write(&path, "[[mount]]\nhost = 'd'\nguest = '/d'\n").unwrap();
        assert_eq!(PolicyFile::read(&path).unwrap().mounts[0].host, dir.path().join("d"));
        std::fs::write(&path, vec![b'#'; MAX_FILE as usize + 1]).unwrap();
        assert!(matches!(PolicyFile::read(&path), Err(PolicyError::TooLong(_))));
        std::fs::write(&path, b"a\n  \xff").unwrap();
        let e = PolicyFile::read(&path).unwrap_err();
        assert!(e.to_string().ends_with("p.toml:2:3: not UTF-8"), "{e}");
    }
}
