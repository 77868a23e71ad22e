//! The rights of a guest, and the settings of its calls.

use crate::{CliFailure, values};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser, ValueParser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wasibox::policy::{LimitChanges, PolicyFile, Preset, ToolSettings};
use wasibox::{MountSpec, NetworkLimits, Policy, PoolOptions, Workspace};

/// The error that a value does not fit the option; [`super::wrong`] reports it.
#[derive(Debug)]
struct BadValue;

impl std::fmt::Display for BadValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not that")
    }
}

impl std::error::Error for BadValue {}

/// Returns a parser of values by the function `parse`.
fn value<T: Clone + Send + Sync + 'static>(parse: fn(&OsString) -> Option<T>) -> ValueParser {
    OsStringValueParser::new().try_map(move |v| parse(&v).ok_or(BadValue)).into()
}

/// Returns a parser of text by the function `parse`.
pub fn text<T: Clone + Send + Sync + 'static>(parse: fn(&str) -> Option<T>) -> ValueParser {
    OsStringValueParser::new()
        .try_map(move |v: OsString| v.to_str().and_then(parse).ok_or(BadValue))
        .into()
}

// The rights of a guest. A store or snapshot never grants any of them. (Not a doc comment, because
// clap would take it as that of the commands with these options; the same holds for `CallArgs` and
// `stored`.)
#[derive(Args)]
pub struct GrantArgs {
    /// Let the guest see a host directory or file; read-only unless rw; SIZE limits the bytes that it may add
    #[arg(long, value_name = "HOST:GUEST[:ro|rw[,quota=SIZE]]", value_parser = OsStringValueParser::new().try_map(|v| values::mount(&v)))]
    pub mount: Vec<MountSpec>,
    /// Show the guest a host file or folder, read-only, as /mnt/input/NAME
    #[arg(long, value_name = "PATH")]
    pub input: Vec<PathBuf>,
    #[command(flatten)]
    pub workspace: WorkspaceArg,
    /// Limits for a purpose: strict, normal (the default) or permissive; see docs/policy.md
    #[arg(long, value_name = "strict|normal|permissive", value_parser = text(Preset::from_name))]
    pub limits: Option<Preset>,
    /// Take limits and mounts from a file; the command line takes precedence
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// End the command after this time, status 124 (default 3600, 0 for never)
    #[arg(long, value_name = "SECONDS", value_parser = text(values::parse_seconds))]
    pub timeout: Option<Time>,
    /// End the command after this CPU time of all processes, status 152 (default none)
    #[arg(long, value_name = "SECONDS", value_parser = text(values::parse_seconds))]
    pub cpu: Option<Time>,
    /// Allow requests, as in 'GET,POST https://*.example.com/api/', or git, as in 'git-push
    /// https://git.example.com/r.git refs/heads/agent/*'; see docs/network.md
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Deny requests that --allow allows
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Add a header that guests do not see: HOST: NAME=VALUE, with ${env:KEY} and ${file:PATH}
    #[arg(long, value_name = "HEADER")]
    pub secret: Vec<String>,
    /// Send requests through this proxy, http://HOST:PORT, or through those that HTTPS_PROXY,
    /// HTTP_PROXY and NO_PROXY name, with the word environment
    #[arg(long, value_name = "PROXY")]
    pub proxy: Option<String>,
    /// Let guests call the tools of an MCP server (stdio:COMMAND or an http(s) address), as
    /// NAME.TOOL if NAME is given
    #[arg(long, value_name = "[NAME=]SOURCE")]
    pub tools_from: Vec<String>,
    /// Memory of all processes together (default 2G)
    #[arg(long, value_name = "SIZE", value_parser = text(values::parse_size))]
    pub memory: Option<u64>,
    /// Total size of the guest's own files (default 512M)
    #[arg(long, value_name = "SIZE", value_parser = text(values::parse_size))]
    pub disk: Option<u64>,
    /// Maximum number of files and folders that the guest makes (default 200000)
    #[arg(long, value_name = "N", value_parser = text(|v| v.parse::<u64>().ok()))]
    pub inodes: Option<u64>,
    /// Maximum size of a file (default none)
    #[arg(long, value_name = "SIZE", value_parser = text(values::parse_size))]
    pub file_size: Option<u64>,
    /// End the command when it has written more (default none, 16M with --json)
    #[arg(long, value_name = "SIZE", value_parser = text(values::parse_size))]
    pub output_limit: Option<u64>,
    /// Maximum number of processes at once (default 128)
    #[arg(long, value_name = "N", value_parser = text(|v| v.parse::<u64>().ok().filter(|n| *n > 0)))]
    pub processes: Option<u64>,
    /// Start Python without the prepared memory that processes share, which is slower
    #[arg(long)]
    pub fresh_python: bool,
    /// Forbid JavaScript to run code from strings: eval, Function, vm, data: URLs
    #[arg(long)]
    pub no_javascript_eval: bool,
    /// Refuse to run on a host that lacks a wall (see runner doctor)
    #[arg(long)]
    pub require_walls: bool,
    /// Fail if compiling and preparing the image's programs, which is done once, takes longer
    /// (default 1800, 0 for no limit)
    #[arg(long, value_name = "SECONDS", value_parser = text(values::parse_seconds))]
    pub prepare_timeout: Option<Time>,
}

// The folder that a session works in.
#[derive(Args)]
pub struct WorkspaceArg {
    /// Work in a zip, which is saved after each change, or over a host folder, which is not
    /// changed; GUEST is /work by default
    #[arg(long, value_name = "PATH[:GUEST]", value_parser = value(|v| values::workspace(v)))]
    pub workspace: Option<Workspace>,
}

impl WorkspaceArg {
    /// Returns a policy that grants this workspace alone.
    pub fn policy(&self) -> Policy {
        Policy { workspace: self.workspace.clone(), ..Policy::default() }
    }
}

/// A time limit, or none. The alias makes clap's derive treat it as a single value.
pub type Time = Option<Duration>;

/// The settings of options and a policy file.
pub struct GrantSettings {
    pub policy: Policy,
    pub pool: PoolSettings,
    pub tools: ToolSettings,
    /// Servers whose tools guests may call.
    pub tools_from: Vec<String>,
}

/// The guest's folder for the files of `--input`.
const INPUT: &str = "/mnt/input";

/// The settings that concern all sessions of a process.
#[derive(Clone, Copy, Default)]
pub struct PoolSettings {
    /// Whether sessions are refused on a host that lacks a wall.
    pub require_walls: bool,
    /// The limit of preparing, if it is not the default.
    pub prepare_timeout: Option<Time>,
}

impl PoolSettings {
    /// Sets these options of a pool.
    pub fn apply_to(self, pool: &mut PoolOptions) {
        pool.require_walls = self.require_walls;
        pool.prepare_timeout = self.prepare_timeout.unwrap_or(pool.prepare_timeout);
    }
}

impl GrantArgs {
    /// Returns the policy of these options and of the file that they name, and the settings of the
    /// pool.
    ///
    /// # Errors
    /// If a policy file is invalid, or two inputs have the same name.
    pub fn policy(&self) -> Result<(Policy, PoolSettings), CliFailure> {
        let GrantSettings { policy, pool, .. } = self.grant_settings()?;
        Ok((policy, pool))
    }

    /// Returns all settings of these options and of the file that they name.
    ///
    /// # Errors
    /// The same as [`GrantArgs::policy`].
    pub fn grant_settings(&self) -> Result<GrantSettings, CliFailure> {
        let mut file = match &self.policy {
            Some(path) => PolicyFile::read(path).map_err(|e| CliFailure::new(2, e))?,
            None => PolicyFile::default(),
        };
        if self.limits.is_some() {
            // A preset on the command line replaces all limits of the file, so that strict limits
            // really are strict.
            (file.preset, file.limits) = (self.limits, LimitChanges::default());
            (file.shell_budget, file.network.limits) = (None, NetworkLimits::default());
        }
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let own = LimitChanges {
            timeout: self.timeout,
            cpu: self.cpu,
            memory: self.memory,
            disk: self.disk,
            inodes: self.inodes,
            file_size: self.file_size.map(Some),
            output: self.output_limit.map(Some),
            processes: self.processes.map(count),
            ..LimitChanges::default()
        };
        file.limits = own.merge_over(&file.limits);
        file.fresh_programs |= self.fresh_python;
        file.no_javascript_eval |= self.no_javascript_eval;
        let mut policy = file.policy();
        policy.network.allow.extend(self.allow.iter().cloned());
        policy.network.deny.extend(self.deny.iter().cloned());
        policy.network.secrets.extend(self.secret.iter().cloned());
        policy.network.proxy = self.proxy.clone().or(policy.network.proxy);
        policy.workspace = self.workspace.workspace.clone().or(policy.workspace);
        for mount in self.mount.iter().cloned().chain(self.input_mounts()?) {
            // If both mount something at the same path of the guest, the command line takes
            // precedence.
            policy.mounts.retain(|m| m.guest != mount.guest);
            policy.mounts.push(mount);
        }
        let pool = PoolSettings {
            require_walls: file.require_walls || self.require_walls,
            prepare_timeout: self.prepare_timeout.or(file.prepare_timeout),
        };
        let tools_from = [file.tools_from, self.tools_from.clone()].concat();
        Ok(GrantSettings { policy, pool, tools: file.tools, tools_from })
    }

    fn input_mounts(&self) -> Result<Vec<MountSpec>, CliFailure> {
        let mut out: Vec<MountSpec> = Vec::new();
        for host in &self.input {
            let wrong = |why| CliFailure::usage(format!("--input: '{}' {why}", host.display()));
            let whole = host.canonicalize().map_err(|e| {
                CliFailure::new(
                    125,
                    format!("cannot mount {}: {}", host.display(), plain_error(&e)),
                )
            })?;
            let name = host.file_name().or(whole.file_name());
            let name = name.and_then(|n| n.to_str()).ok_or_else(|| wrong("has no name"))?;
            let guest = format!("{INPUT}/{name}");
            if out.iter().any(|m| m.guest == guest) {
                return Err(wrong("has the name of another input"));
            }
            out.push(MountSpec { host: whole, guest, writable: false, quota: None });
        }
        Ok(out)
    }
}

/// Returns the message of an error, without the error number that Rust appends.
fn plain_error(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

// The settings of a call.
#[derive(Args)]
pub struct CallArgs {
    /// Set an environment variable
    #[arg(long, value_name = "NAME=VALUE", value_parser = value(|v| values::variable(v)))]
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Start in this directory of the guest (default /home/user; in a session, its current directory)
    #[arg(long, value_name = "DIR", value_parser = text(|d| d.starts_with('/').then(|| d.to_owned())))]
    pub cwd: Option<String>,
    /// Give the command an empty standard input
    #[arg(long)]
    pub no_stdin: bool,
    /// Pass all bytes to a terminal, not only text and colours
    #[arg(long)]
    pub raw: bool,
    /// Print a JSON outcome: exit_code, stdout, stderr, times, limits, changed files
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        grants: GrantArgs,
    }

    fn grants(args: &[&str]) -> GrantArgs {
        Only::try_parse_from([&["x"][..], args].concat()).ok().unwrap().grants
    }

    #[test]
    fn the_command_line_comes_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p.toml");
        let text = "preset = 'strict'\n[limits]\nmemory = '1G'\nprocesses = 9\n\
            [[mount]]\nhost = 'd'\nguest = '/d'\n[[mount]]\nhost = 'e'\nguest = '/e'\n";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let g = grants(&["--policy", file, "--memory", "2M", "--mount", "/x:/d:rw"]);
        let (policy, _) = g.policy().ok().unwrap();
        let strict = Preset::Strict.limits();
        assert_eq!((policy.limits.memory, policy.limits.processes), (2 << 20, 9));
        assert_eq!(policy.limits.timeout, strict.timeout);
        let mounts: Vec<_> = policy.mounts.iter().map(|m| (&*m.guest, m.writable)).collect();
        assert_eq!(mounts, [("/e", false), ("/d", true)]);
        let g = grants(&["--policy", file, "--limits", "strict"]);
        assert_eq!(g.policy().ok().unwrap().0.limits, strict);
        assert_eq!(g.policy().ok().unwrap().0.mounts.len(), 2);
    }

    #[test]
    fn inputs_lie_below_one_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a/data.csv", "b/data.csv"] {
            let path = dir.path().join(name);
            std::fs::create_dir(path.parent().unwrap()).unwrap();
            std::fs::write(path, "1").unwrap();
        }
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let (a, b, f) = (at("a"), at("b/data.csv"), at("a/data.csv"));
        let g = grants(&["--input", &a, "--input", &b]).policy().ok().unwrap().0;
        let guests: Vec<_> = g.mounts.iter().map(|m| (&*m.guest, m.writable)).collect();
        assert_eq!(guests, [("/mnt/input/a", false), ("/mnt/input/data.csv", false)]);
        let two = grants(&["--input", &f, "--input", &b]).policy();
        assert!(two.is_err_and(|f| f.status == 2));
        assert!(grants(&["--input", "/no/such"]).policy().is_err_and(|f| f.status == 125));
    }
}
