//! The state that all clients share, and the part of it that each of them may see.

use crate::calculate::Calculators;
use crate::code::modules::ModuleLists;
use crate::refusal::{Refusal, RefusalKind};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wasibox::diff::ImageFiles;
use wasibox::policy::ToolSettings;
use wasibox::store::{SnapshotLimits, Store};
use wasibox::{Engine, Error, MountSpec, Policy, Session, Sessions};

/// The settings of a new [`Machine`].
pub struct MachineOptions<'a> {
    /// The grants of every session.
    pub policy: Policy,
    /// The file that keeps sessions; without one they are gone with the machine.
    pub store: Option<&'a Path>,
    /// A call's limit of time, where it names none; the policy's is never passed.
    pub timeout: Duration,
    /// Which tools there are, and how they are set.
    pub tools: ToolSettings,
}

/// An engine, the grants of its sessions, and the store that keeps them. Clones are the same
/// machine.
#[derive(Clone)]
pub struct Machine(Arc<MachineInner>);

struct MachineInner {
    sessions: Sessions,
    policy: Policy,
    timeout: Duration,
    tools: ToolSettings,
    modules: ModuleLists,
    is_durable: bool,
    open: Mutex<HashMap<String, OpenSession>>,
    calculators: Calculators,
}

struct OpenSession {
    session: Arc<Session>,
    used: Instant,
}

/// A session as a list has it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct SessionInfo {
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created: u64,
    /// The number of the commit that it is at.
    pub commit: u64,
    /// It is held by this server now.
    pub open: bool,
}

impl Machine {
    /// A machine of an engine.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn new(engine: &Engine, options: MachineOptions<'_>) -> Result<Machine, Error> {
        let store = match options.store {
            Some(path) => Store::open(path)?,
            None => Store::in_memory()?,
        };
        Ok(Machine(Arc::new(MachineInner {
            sessions: engine.sessions(store),
            policy: options.policy,
            timeout: options.timeout,
            tools: options.tools,
            modules: ModuleLists::default(),
            is_durable: options.store.is_some(),
            open: Mutex::default(),
            calculators: Calculators::default(),
        })))
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.0.sessions.engine()
    }

    /// Returns the grants of every session.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Which tools there are, and how they are set.
    pub fn tools(&self) -> &ToolSettings {
        &self.0.tools
    }

    /// Returns the modules that programs of `execute_code` may import.
    pub(crate) fn modules(&self) -> &ModuleLists {
        &self.0.modules
    }

    /// Whether sessions outlive the machine.
    pub fn is_durable(&self) -> bool {
        self.0.is_durable
    }

    /// All sessions of the machine.
    pub fn space(&self) -> SessionSpace {
        SessionSpace {
            machine: self.clone(),
            prefix: String::new(),
            most: usize::MAX,
            mounts: Arc::default(),
        }
    }

    /// The sessions of one owner, `most` of them at most: a name of lower-case letters, digits and
    /// `-`.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn space_of(&self, owner: &str, most: usize) -> Result<SessionSpace, Refusal> {
        let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !(1..=32).contains(&owner.len()) || !owner.bytes().all(fine) {
            return Err(Refusal::invalid_request(
                "an owner has 1 to 32 lower-case letters, digits and '-'",
            ));
        }
        // Because owners have no dot, no owner's prefix begins another owner's prefix.
        let prefix = format!("{owner}.");
        Ok(SessionSpace { machine: self.clone(), prefix, most, mounts: Arc::default() })
    }

    /// Releases sessions that were not used for so long, so that other processes can have them.
    pub fn release_idle(&self, idle: Duration) {
        self.lock_open()
            .retain(|_, o| Arc::strong_count(&o.session) > 1 || o.used.elapsed() < idle);
    }

    /// Sessions that this machine holds.
    pub fn held_sessions(&self) -> usize {
        self.lock_open().len()
    }

    /// A call's limit of time.
    pub(crate) fn call_timeout(&self, asked: Option<f64>) -> Result<Duration, Refusal> {
        let asked = match asked {
            None => self.0.timeout,
            Some(s) => Duration::try_from_secs_f64(s)
                .ok()
                .filter(|t| !t.is_zero())
                .ok_or_else(|| Refusal::invalid_request("timeout is no time in seconds"))?,
        };
        Ok(self.0.policy.limits.timeout.map_or(asked, |most| most.min(asked)))
    }

    /// Its calculators.
    pub(crate) fn calculators(&self) -> &Calculators {
        &self.0.calculators
    }

    /// The image's files, to compare commits.
    pub(crate) fn image_files(&self) -> Result<ImageFiles, Error> {
        ImageFiles::new(self.engine().image().clone())
    }

    fn lock_open(&self) -> MutexGuard<'_, HashMap<String, OpenSession>> {
        self.0.open.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The sessions that a client may use: all of a machine's, or those of one owner. Names here are as
/// the client knows them.
#[derive(Clone)]
pub struct SessionSpace {
    machine: Machine,
    prefix: String,
    most: usize,
    /// The mounts of its sessions in addition to the machine's.
    mounts: Arc<Mutex<Vec<MountSpec>>>,
}

impl SessionSpace {
    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn store(&self) -> &Store {
        self.machine.0.sessions.store()
    }

    fn policy(&self) -> Policy {
        let mut policy = self.machine.0.policy.clone();
        let mounts = self.mounts.lock().unwrap_or_else(|e| e.into_inner());
        // The machine's own mount at a path takes precedence.
        let is_free = |m: &&MountSpec| policy.mounts.iter().all(|p| p.guest != m.guest);
        let free: Vec<MountSpec> = mounts.iter().filter(is_free).cloned().collect();
        policy.mounts.extend(free);
        policy
    }

    /// Grants these folders of the host to sessions that are opened from now on, in addition to the
    /// machine's.
    pub fn grant_mounts(&self, mounts: Vec<MountSpec>) {
        *self.mounts.lock().unwrap_or_else(|e| e.into_inner()) = mounts;
    }

    /// Releases a session; it is opened again once it is not in use any more.
    pub(crate) fn release(&self, name: &str) {
        self.machine.lock_open().remove(&self.full_name(name));
    }

    /// A session that is there.
    ///
    /// # Errors
    /// If there is none of that name, or another process has it.
    pub fn open(&self, name: &str) -> Result<Arc<Session>, Refusal> {
        self.open_with(name, |full, policy| self.machine.0.sessions.session(full, policy))
            .map_err(|e| self.name_refusal(name, e))
    }

    /// A new session.
    ///
    /// # Errors
    /// If there is one of that name, the name cannot be one, or there are too many.
    pub fn make(&self, name: &str) -> Result<Arc<Session>, Refusal> {
        let mut open = self.machine.lock_open();
        self.check_room()?;
        let full = self.full_name(name);
        let made = self.machine.0.sessions.create(&full, self.policy());
        let session = Arc::new(made.map_err(|e| self.name_refusal(name, e.into()))?);
        open.insert(full, OpenSession { session: session.clone(), used: Instant::now() });
        Ok(session)
    }

    /// A session, made if it is not there.
    ///
    /// # Errors
    /// The same as [`SessionSpace::open`] and [`SessionSpace::make`].
    pub fn open_or_make(&self, name: &str) -> Result<Arc<Session>, Refusal> {
        match self.open(name) {
            Err(e) if e.kind == RefusalKind::Missing => match self.make(name) {
                // Another client has created it meanwhile.
                Err(e) if e.kind == RefusalKind::Conflict => self.open(name),
                made => made,
            },
            found => found,
        }
    }

    fn open_with(
        &self,
        name: &str,
        open: impl FnOnce(&str, Policy) -> Result<Session, Error>,
    ) -> Result<Arc<Session>, Refusal> {
        let full = self.full_name(name);
        let mut all = self.machine.lock_open();
        if let Some(found) = all.get_mut(&full) {
            found.used = Instant::now();
            return Ok(found.session.clone());
        }
        let session = Arc::new(open(&full, self.policy())?);
        all.insert(full, OpenSession { session: session.clone(), used: Instant::now() });
        Ok(session)
    }

    /// The sessions, by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, Refusal> {
        let all = self.store().sessions()?;
        let open = self.machine.lock_open();
        let mine = all.into_iter().filter_map(|info| {
            let name = info.name.strip_prefix(&self.prefix)?.to_owned();
            let is_open = open.contains_key(&info.name);
            Some(SessionInfo { name, created: info.created, commit: info.head, open: is_open })
        });
        Ok(mine.collect())
    }

    /// Forgets a session that is not in use.
    ///
    /// # Errors
    /// If there is none of that name, or it is in use.
    pub fn remove(&self, name: &str) -> Result<(), Refusal> {
        let full = self.full_name(name);
        let mut open = self.machine.lock_open();
        if open.get(&full).is_some_and(|o| Arc::strong_count(&o.session) > 1) {
            return Err(Refusal::new(RefusalKind::Busy, format!("session '{name}' is in use")));
        }
        open.remove(&full);
        self.store().remove(&full).map_err(|e| self.name_refusal(name, e.into()))
    }

    /// Makes a second session with the present state of one, or with its state at a commit.
    ///
    /// # Errors
    /// If there is no such session or commit, or the new name is taken.
    pub fn fork(&self, name: &str, at: Option<u64>, new: &str) -> Result<(), Refusal> {
        let _open = self.machine.lock_open();
        self.check_room()?;
        let forked = self.store().fork(&self.full_name(name), at, &self.full_name(new));
        forked.map(drop).map_err(|e| self.name_refusal(new, e.into()))
    }

    /// Takes a session in from a snapshot.
    ///
    /// # Errors
    /// If it is none, or the name is taken.
    pub fn import(&self, name: &str, from: impl Read) -> Result<(), Refusal> {
        self.check_room()?;
        let limits = SnapshotLimits {
            bytes: self.machine.0.policy.limits.disk.bytes,
            // A client's, so less than one gives itself.
            manifest: 32 << 20,
            ..SnapshotLimits::default()
        };
        let taken = self.store().import(&self.full_name(name), from, &limits);
        taken.map_err(|e| self.name_refusal(name, e.into()))
    }

    fn check_room(&self) -> Result<(), Refusal> {
        if self.most == usize::MAX {
            return Ok(());
        }
        let all = self.store().sessions()?;
        if all.iter().filter(|i| i.name.starts_with(&self.prefix)).count() < self.most {
            Ok(())
        } else {
            let text = format!("there are {} sessions already; remove one", self.most);
            Err(Refusal::new(RefusalKind::Limit, text))
        }
    }

    /// An error in which the session has the name that the client knows.
    fn name_refusal(&self, name: &str, refusal: Refusal) -> Refusal {
        let full = self.full_name(name);
        Refusal { text: refusal.text.replace(&full, name), ..refusal }
    }
}
