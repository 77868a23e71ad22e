//! The state that all clients share, and the part of it that each of them may see.

use crate::calculate::Calculators;
use crate::code::modules::ModuleLists;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasibox::diff::ImageFiles;
use wasibox::policy::ToolSettings;
use wasibox::store::{OwnerGrowth, SnapshotLimits, Store, check_name};
use wasibox::{Engine, Error, MountSpec, Policy, Session, Sessions, Tenant, TenantLimits};
use wasibox::{Refusal, RefusalKind};
use wasibox_providers::WebTools;
use wasibox_providers::settings::SettingsStore;

/// The settings of a new [`Machine`].
pub struct MachineOptions<'a> {
    /// The grants of every session.
    pub policy: Policy,
    /// The file that keeps sessions; without one they end with the machine.
    pub store: Option<&'a Path>,
    /// The time limit of a call that names none; it never exceeds the policy's.
    pub timeout: Duration,
    /// The selection and the settings of the offered tools.
    pub tools: ToolSettings,
    /// The settings that users change: tools that are on or off, providers and keys.
    pub settings: Arc<SettingsStore>,
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
    open: Mutex<HashMap<String, Arc<SessionSlot>>>,
    /// By owner, locked while its sessions are counted and made, so that there are never too many.
    making: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    tenants: Mutex<HashMap<String, Arc<Tenant>>>,
    calculators: Calculators,
    web: WebTools,
}

/// The place of a session that is open, or is being opened or removed. It is locked meanwhile, so
/// that a slow store delays the clients of this session only.
type SessionSlot = Mutex<Option<OpenSession>>;

struct OpenSession {
    session: Arc<Session>,
    used: Instant,
}

impl OpenSession {
    fn new(session: Session, tenant: Option<&Arc<Tenant>>) -> OpenSession {
        if let Some(tenant) = tenant {
            session.set_tenant(tenant);
        }
        OpenSession { session: Arc::new(session), used: Instant::now() }
    }

    /// Returns whether a call, or another part of this program, uses the session.
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.session) > 1
    }

    /// Returns whether the session was not used for `idle`, and can be given up.
    fn is_idle(&self, idle: Duration) -> bool {
        !self.is_used() && !self.session.has_processes() && self.used.elapsed() >= idle
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry in the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct SessionInfo {
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created: u64,
    /// The number of the session's current commit.
    pub commit: u64,
    /// Whether this server holds the session now.
    pub open: bool,
}

impl Machine {
    /// Creates a machine over an engine.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn new(engine: &Engine, options: MachineOptions<'_>) -> Result<Machine, Error> {
        let store = match options.store {
            Some(path) => Store::open(path)?,
            None => Store::in_memory()?,
        };
        let proxy = options.policy.network.proxy.clone();
        Ok(Machine(Arc::new(MachineInner {
            sessions: engine.sessions(store),
            policy: options.policy,
            timeout: options.timeout,
            tools: options.tools,
            modules: ModuleLists::default(),
            is_durable: options.store.is_some(),
            open: Mutex::default(),
            making: Mutex::default(),
            tenants: Mutex::default(),
            calculators: Calculators::default(),
            web: WebTools::new(options.settings, proxy),
        })))
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        self.0.sessions.engine()
    }

    /// Returns the grants of every session.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Returns the selection and the settings of the offered tools.
    pub fn tools(&self) -> &ToolSettings {
        &self.0.tools
    }

    /// Returns the tools that use servers of others, with the settings of all tools.
    pub fn web_tools(&self) -> &WebTools {
        &self.0.web
    }

    /// Returns a number that the user's settings have for a tool; `None` if it is not set.
    pub(crate) fn set_count(&self, tool: &str, name: &str) -> Option<u64> {
        let values = self.web_tools().settings().values(tool).ok()?;
        values.own(name)?.parse().ok()
    }

    /// Returns the modules that programs of `execute_code` may import.
    pub(crate) fn modules(&self) -> &ModuleLists {
        &self.0.modules
    }

    /// Returns whether sessions outlive the machine.
    pub fn is_durable(&self) -> bool {
        self.0.is_durable
    }

    /// Returns the space of all sessions of the machine.
    pub fn space(&self) -> SessionSpace {
        SessionSpace {
            machine: self.clone(),
            prefix: String::new(),
            most: usize::MAX,
            tenant: None,
            mounts: Arc::default(),
        }
    }

    /// Returns the space of one owner's sessions, at most `most`, which together have these limits
    /// (those of the first call with this owner). An owner's name consists of lower-case letters,
    /// digits and `-`.
    ///
    /// # Errors
    /// If the name is invalid.
    pub fn space_of(
        &self,
        owner: &str,
        most: usize,
        limits: TenantLimits,
    ) -> Result<SessionSpace, Refusal> {
        let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !(1..=32).contains(&owner.len()) || !owner.bytes().all(fine) {
            return Err(Refusal::invalid_request(
                "an owner's name has 1 to 32 characters: lower-case letters, digits and '-'",
            ));
        }
        // Owners have no dot, so no owner's prefix is the beginning of another's.
        let prefix = format!("{owner}.");
        let mut tenants = self.0.tenants.lock().unwrap_or_else(|e| e.into_inner());
        let tenant = tenants.entry(owner.to_owned()).or_insert_with(|| Tenant::new(limits));
        let tenant = Some(tenant.clone());
        Ok(SessionSpace { machine: self.clone(), prefix, most, tenant, mounts: Arc::default() })
    }

    /// Releases sessions that were not used for at least `idle`, so that other processes can open
    /// them.
    pub fn release_idle(&self, idle: Duration) {
        let slots: Vec<Arc<SessionSlot>> = self.lock_open().values().cloned().collect();
        for slot in slots {
            // One that is locked is in use.
            if let Ok(mut open) = slot.try_lock()
                && open.as_ref().is_some_and(|open| open.is_idle(idle))
            {
                open.take();
            }
        }
        self.lock_open().retain(|_, slot| {
            Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|open| open.is_some())
        });
    }

    /// Returns the CPU time of processes that continue from call to call and have ended since this
    /// was last called, by owner.
    pub fn take_process_cpu(&self) -> Vec<(String, Duration)> {
        let slots: Vec<(String, Arc<SessionSlot>)> =
            self.lock_open().iter().map(|(name, slot)| (name.clone(), slot.clone())).collect();
        let mut taken = Vec::new();
        for (name, slot) in slots {
            let Some((owner, _)) = name.split_once('.') else { continue };
            // That of a session that is being opened is taken the next time.
            let Ok(open) = slot.try_lock() else { continue };
            let cpu = open.as_ref().map(|open| open.session.take_process_cpu());
            taken.extend(cpu.filter(|cpu| !cpu.is_zero()).map(|cpu| (owner.to_owned(), cpu)));
        }
        taken
    }

    /// Returns the bytes that the sessions of each owner take in the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn growth(&self) -> Result<Vec<OwnerGrowth>, Error> {
        Ok(self.0.sessions.store().growth_by_owner()?)
    }

    /// Returns the number of sessions that this machine holds.
    pub fn held_sessions(&self) -> usize {
        let is_held =
            |slot: &&Arc<SessionSlot>| slot.try_lock().map_or(true, |open| open.is_some());
        self.lock_open().values().filter(is_held).count()
    }

    /// Returns the time limit of a call that asks for none.
    pub(crate) fn default_timeout(&self) -> Duration {
        let limit = self.0.policy.limits.timeout;
        limit.map_or(self.0.timeout, |limit| limit.min(self.0.timeout))
    }

    /// Returns the time limit of a call that asks for `asked` seconds.
    pub(crate) fn call_timeout(&self, asked: Option<f64>) -> Result<Duration, Refusal> {
        let asked = match asked {
            None => self.0.timeout,
            Some(seconds) => wasibox::checked_seconds(seconds)?,
        };
        Ok(self.0.policy.limits.timeout.map_or(asked, |most| most.min(asked)))
    }

    /// Returns the machine's calculators.
    pub(crate) fn calculators(&self) -> &Calculators {
        &self.0.calculators
    }

    /// Returns the image's files, which comparisons of commits need.
    pub(crate) fn image_files(&self) -> Result<ImageFiles, Error> {
        ImageFiles::new(self.engine().image().clone())
    }

    fn lock_open(&self) -> MutexGuard<'_, HashMap<String, Arc<SessionSlot>>> {
        lock(&self.0.open)
    }

    /// Returns the place of a session.
    fn slot(&self, full: &str) -> Arc<SessionSlot> {
        self.lock_open().entry(full.to_owned()).or_default().clone()
    }

    /// Returns whether this machine holds a session.
    fn has_open(&self, full: &str) -> bool {
        let slot = self.lock_open().get(full).cloned();
        slot.is_some_and(|slot| slot.try_lock().map_or(true, |open| open.is_some()))
    }
}

/// The sessions that a client may use: all of a machine's, or those of one owner. The names in its
/// methods are those that the client uses, without the owner's prefix.
#[derive(Clone)]
pub struct SessionSpace {
    machine: Machine,
    prefix: String,
    most: usize,
    /// The budget of its sessions together.
    tenant: Option<Arc<Tenant>>,
    /// The mounts of its sessions in addition to the machine's mounts.
    mounts: Arc<Mutex<Vec<MountSpec>>>,
}

impl SessionSpace {
    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(crate) fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the whole name of a session that is to be made. The client's part is checked by itself,
    /// because behind an owner's prefix every text that a name may contain would be a name.
    fn new_name(&self, name: &str) -> Result<String, Refusal> {
        check_name(name)?;
        Ok(self.full_name(name))
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
    /// machine's mounts.
    pub fn grant_mounts(&self, mounts: Vec<MountSpec>) {
        *self.mounts.lock().unwrap_or_else(|e| e.into_inner()) = mounts;
    }

    /// Releases a session. It can be opened again once no call uses it any more.
    pub(crate) fn release(&self, name: &str) {
        let slot = self.machine.lock_open().remove(&self.full_name(name));
        if let Some(slot) = slot {
            lock(&slot).take();
        }
    }

    /// Opens an existing session.
    ///
    /// # Errors
    /// If no session has this name, or another process holds it.
    pub fn open(&self, name: &str) -> Result<Arc<Session>, Refusal> {
        self.open_with(name, |full, policy| self.machine.0.sessions.session(full, policy))
            .map_err(|e| self.name_refusal(name, e))
    }

    /// Creates a session.
    ///
    /// # Errors
    /// If the name is taken or invalid, or there are too many sessions.
    pub fn make(&self, name: &str) -> Result<Arc<Session>, Refusal> {
        let making = self.making();
        let _making = lock(&making);
        self.check_room(1)?;
        let full = self.new_name(name)?;
        let slot = self.machine.slot(&full);
        let mut open = lock(&slot);
        let made = self.machine.0.sessions.create(&full, self.policy());
        let made = made.map_err(|e| self.name_refusal(name, e.into()))?;
        Ok(open.insert(OpenSession::new(made, self.tenant.as_ref())).session.clone())
    }

    /// Opens a session, or creates it if it does not exist.
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
        let slot = self.machine.slot(&full);
        let mut place = lock(&slot);
        if let Some(found) = &mut *place
            && !found.session.is_lost()
        {
            found.used = Instant::now();
            return Ok(found.session.clone());
        }
        // One that was lost is given up before it is opened again.
        place.take();
        let opened = OpenSession::new(open(&full, self.policy())?, self.tenant.as_ref());
        Ok(place.insert(opened).session.clone())
    }

    /// Lists the sessions, sorted by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, Refusal> {
        let all = self.store().sessions()?;
        let mine = all.into_iter().filter_map(|info| {
            let name = info.name.strip_prefix(&self.prefix)?.to_owned();
            let is_open = self.machine.has_open(&info.name);
            Some(SessionInfo { name, created: info.created, commit: info.head, open: is_open })
        });
        Ok(mine.collect())
    }

    /// Deletes a session that is not in use.
    ///
    /// # Errors
    /// If no session has this name, or it is in use.
    pub fn remove(&self, name: &str) -> Result<(), Refusal> {
        let full = self.full_name(name);
        let slot = self.machine.slot(&full);
        let mut open = lock(&slot);
        if open.as_ref().is_some_and(OpenSession::is_used) {
            return Err(Refusal::new(RefusalKind::Busy, format!("session '{name}' is in use")));
        }
        open.take();
        self.store().remove(&full).map_err(|e| self.name_refusal(name, e.into()))
    }

    /// Makes sessions with the current state of a session, or with its state at a commit: all of
    /// them, or none.
    ///
    /// # Errors
    /// If there is no such session or commit, a new name is taken, or there would be too many
    /// sessions.
    pub fn fork(&self, name: &str, at: Option<u64>, new: &[String]) -> Result<(), Refusal> {
        let making = self.making();
        let _making = lock(&making);
        self.check_room(new.len())?;
        let full = new.iter().map(|new| self.new_name(new)).collect::<Result<Vec<_>, _>>()?;
        let forked = self.store().fork_many(&self.full_name(name), at, &full);
        forked.map_err(|e| {
            let refusal = Refusal::from(e);
            new.iter().fold(refusal, |refusal, new| self.name_refusal(new, refusal))
        })
    }

    /// Creates a session from a snapshot.
    ///
    /// # Errors
    /// If the bytes are not a snapshot, or the name is taken.
    pub fn import(&self, name: &str, from: impl Read) -> Result<(), Refusal> {
        self.check_room(1)?;
        let full = self.new_name(name)?;
        let limits = SnapshotLimits {
            bytes: self.machine.0.policy.limits.disk.bytes,
            // The snapshot is a client's, so the limit is lower than for an embedder's own.
            manifest: 32 << 20,
            ..SnapshotLimits::default()
        };
        let check = |file: &File| self.machine.engine().check_snapshot(file, &limits);
        let taken = self.store().import_checked(&full, from, &limits, check);
        taken.map_err(|e: Error| self.name_refusal(name, e.into()))
    }

    /// Returns the lock of those that make sessions in this space.
    fn making(&self) -> Arc<Mutex<()>> {
        lock(&self.machine.0.making).entry(self.prefix.clone()).or_default().clone()
    }

    /// Checks that there may be `more` sessions.
    fn check_room(&self, more: usize) -> Result<(), Refusal> {
        if self.most == usize::MAX {
            return Ok(());
        }
        let count = self.store().count_sessions(&self.prefix)?;
        if count.saturating_add(more) <= self.most {
            Ok(())
        } else if more > 1 {
            let text = format!("there may be {} sessions, and there are {count}", self.most);
            Err(Refusal::new(RefusalKind::Limit, text))
        } else {
            let text = format!("there are {} sessions already; remove one", self.most);
            Err(Refusal::new(RefusalKind::Limit, text))
        }
    }

    /// Returns an error in which the session has the name that the client uses.
    fn name_refusal(&self, name: &str, refusal: Refusal) -> Refusal {
        let full = self.full_name(name);
        Refusal { text: refusal.text.replace(&full, name), ..refusal }
    }
}
