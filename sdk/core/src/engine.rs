//! Makes engines and opens sessions, both from options in JSON.

use crate::policy::policy_from;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasibox::Refusal;
use wasibox::store::Store;
use wasibox::{Engine, EngineOptions, Isolation, Session};

/// The options of an engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SdkEngineOptions {
    image: PathBuf,
    /// The program that serves as a worker.
    #[serde(default)]
    program: Option<PathBuf>,
    /// The folder of cached machine code.
    #[serde(default)]
    artifacts: Option<PathBuf>,
    #[serde(default)]
    isolation: Option<IsolationWord>,
    #[serde(default)]
    warm: Option<usize>,
    #[serde(default)]
    awake: Option<usize>,
    /// The time without a call after which a session goes to sleep, in seconds; 0 means never.
    #[serde(default)]
    idle: Option<f64>,
    #[serde(default)]
    require_walls: bool,
    /// The time limit of preparing the image's programs, in seconds; 0 means none.
    #[serde(default)]
    prepare_timeout: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IsolationWord {
    Process,
    Threads,
}

/// Creates an engine from options in JSON. `progress` receives a line for each slow step, on
/// another thread.
///
/// # Errors
/// Returns an error for invalid options, a missing or damaged image, or if there is no program for
/// workers.
pub fn engine_from_options(
    options: &str,
    progress: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Engine, Refusal> {
    let said: SdkEngineOptions = serde_json::from_str(options)?;
    let mut options = EngineOptions::new(said.image);
    if let Some(words) = said.isolation {
        options.isolation = match words {
            IsolationWord::Process => Isolation::Process,
            IsolationWord::Threads => Isolation::Threads,
        };
    }
    options.pool.program = said.program.or(options.pool.program);
    options.pool.artifacts = said.artifacts.or(options.pool.artifacts);
    options.pool.warm = said.warm.unwrap_or(options.pool.warm);
    options.pool.require_walls = said.require_walls;
    options.pool.progress = Arc::new(progress);
    options.awake = said.awake.unwrap_or(options.awake);
    if let Some(seconds) = said.idle {
        options.idle = seconds_or_none("idle", seconds)?;
    }
    if let Some(seconds) = said.prepare_timeout {
        options.pool.prepare_timeout = seconds_or_none("prepare_timeout", seconds)?;
    }
    Ok(Engine::new(options)?)
}

/// Converts an option in seconds to a duration; 0 becomes `None`.
fn seconds_or_none(name: &str, seconds: f64) -> Result<Option<Duration>, Refusal> {
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|_| Refusal::invalid_request(format!("{name} must be a number of seconds")))?;
    Ok((!time.is_zero()).then_some(time))
}

/// Which session may be opened: an existing one, a new one, or either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenMode {
    /// The existing session of that name or, if there is none, a new one.
    #[default]
    Any,
    /// A new session.
    Create,
    /// An existing session.
    Open,
}

/// The options of a session.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Opener {
    /// The store's file. Without one, the session is kept in memory.
    store: Option<PathBuf>,
    name: Option<String>,
    open: OpenMode,
    /// A policy file.
    policy_file: Option<PathBuf>,
    /// A policy in the terms of a policy file.
    policy: Value,
}

impl Opener {
    /// Parses options from JSON.
    ///
    /// # Errors
    /// Returns an error if they are invalid.
    pub fn parse(text: &str) -> Result<Opener, Refusal> {
        Ok(serde_json::from_str(text)?)
    }

    fn granted_policy(&self) -> Result<wasibox::Policy, Refusal> {
        let empty = Value::Object(serde_json::Map::new());
        let said = if self.policy.is_null() { &empty } else { &self.policy };
        let (granted, walls) =
            policy_from(self.policy_file.as_deref(), said, &std::env::current_dir()?)?;
        if walls {
            Err(Refusal::invalid_request(
                "policy: require-walls is an option of the engine here (require_walls)",
            ))
        } else {
            Ok(granted)
        }
    }

    /// Opens or creates the session.
    ///
    /// # Errors
    /// Returns an error for an invalid policy, an unusable store, or a session that does not exist
    /// or is in use.
    pub fn open(&self, engine: &Engine) -> Result<Session, Refusal> {
        let policy = self.granted_policy()?;
        let (store, name) = match (&self.store, &self.name) {
            (None, None) => return Ok(engine.session(policy)?),
            (None, Some(name)) => {
                let sessions = engine.sessions(Store::in_memory()?);
                return Ok(sessions.create(name, policy)?);
            }
            (Some(store), name) => (store, name.as_deref().unwrap_or("default")),
        };
        let sessions = engine.store(store)?;
        Ok(match self.open {
            OpenMode::Create => sessions.create(name, policy)?,
            OpenMode::Open => sessions.session(name, policy)?,
            OpenMode::Any => match sessions.session(name, policy.clone()) {
                Err(wasibox::Error::Store(wasibox::store::StoreError::NoSession(_))) => {
                    sessions.create(name, policy)?
                }
                found => found?,
            },
        })
    }

    /// Creates a session from a snapshot (`.wbs`).
    ///
    /// # Errors
    /// Returns an error if it is not a snapshot, and the errors of [`Opener::open`].
    pub fn load_snapshot(
        &self,
        engine: &Engine,
        from: impl std::io::Read,
    ) -> Result<Session, Refusal> {
        let policy = self.granted_policy()?;
        let store = match &self.store {
            Some(path) => engine.store(path)?,
            None => engine.sessions(Store::in_memory()?),
        };
        Ok(store.import(self.name.as_deref().unwrap_or("default"), from, policy)?)
    }
}

/// The number of the next fork without a name.
static FORKS: AtomicU64 = AtomicU64::new(1);

/// Maximum number of copies at once.
const MAX_FORKS: u32 = 10_000;

/// Creates a copy of a session. Without a name, the copy gets an unused one.
///
/// # Errors
/// Returns an error if the name is taken, or the session works in a workspace.
pub fn fork_session(session: &Session, name: Option<&str>) -> Result<Session, Refusal> {
    match name {
        Some(name) => Ok(session.fork(name)?),
        None => Ok(fork_unnamed(session, 1)?.remove(0)),
    }
}

/// Creates `count` copies of a session with unused names.
///
/// # Errors
/// Returns an error if `count` is too large, or the session works in a workspace.
pub fn fork_sessions(session: &Session, count: u32) -> Result<Vec<Session>, Refusal> {
    if count > MAX_FORKS {
        return Err(Refusal::invalid_request(format!("at most {MAX_FORKS} forks at once")));
    }
    fork_unnamed(session, u64::from(count))
}

fn fork_unnamed(session: &Session, count: u64) -> Result<Vec<Session>, Refusal> {
    let base = session.name()?;
    // Without this, the names of forks of forks would grow.
    let base = base.rsplit_once("-fork").map_or(base.as_str(), |(base, _)| base).to_owned();
    loop {
        let from = FORKS.fetch_add(count, Ordering::Relaxed);
        let names: Vec<_> = (from..from + count).map(|n| format!("{base}-fork{n}")).collect();
        match session.fork_many(&names) {
            Err(wasibox::Error::Store(wasibox::store::StoreError::Exists(_))) => {}
            forked => return Ok(forked?),
        }
    }
}
