//! The sandboxes that this server knows, and the thread that ends them when their time is over.

use crate::fault::{Fault, run_blocking};
use crate::record::{OnTimeout, RecordKind, SandboxRecord, is_id, random_text};
use crate::sandbox::{KnownBox, RunningBox, UsageSample};
use crate::time::now_ms;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use wasibox::{Limits, lock_mutex};
use wasibox_actions::Machine;

use crate::app::KeyHolder;

/// The interval at which sandboxes are checked.
const LOOK: Duration = Duration::from_millis(200);
/// The number of checks between two samples of usage.
const SAMPLE: u64 = 25;

/// The sandboxes of all owners, by their ids.
pub struct Registry {
    machine: Machine,
    known: Mutex<HashMap<String, Arc<KnownBox>>>,
    /// The owners whose stored sandboxes are known.
    listed: Mutex<HashSet<String>>,
}

impl Registry {
    /// Makes a registry, and starts the thread that watches its sandboxes.
    pub fn new(machine: Machine) -> Arc<Registry> {
        let (known, listed) = Default::default();
        let registry = Arc::new(Registry { machine, known, listed });
        let weak = Arc::downgrade(&registry);
        let thread = std::thread::Builder::new().name("wasibox-e2b".into());
        if thread.spawn(move || watch_boxes(&weak)).is_err() {
            tracing::error!("no thread watches the sandboxes' times");
        }
        registry
    }

    fn lock_known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<KnownBox>>> {
        lock_mutex(&self.known)
    }

    /// Returns a sandbox that runs. One that sleeps and may wake up by itself is woken up.
    ///
    /// # Errors
    /// If it does not run.
    pub async fn find_running(&self, id: &str) -> Result<Arc<RunningBox>, Fault> {
        let known = self.lock_known().get(id).cloned().ok_or_else(|| Fault::no_sandbox(id))?;
        if let Some(running) = known.running() {
            return Ok(running);
        }
        let record = known.record();
        if record.kind != RecordKind::Sandbox || !record.auto_resume {
            return Err(Fault::no_sandbox(id));
        }
        run_blocking(move || {
            known.change_record(|record| record.end = now_ms() + crate::record::TIMEOUT * 1000)?;
            known.start()
        })
        .await
    }

    /// Returns the record of a sandbox.
    pub fn record_of(&self, id: &str) -> Option<SandboxRecord> {
        self.lock_known().get(id).map(|known| known.record())
    }

    /// Returns the entry of a sandbox.
    pub fn known(&self, id: &str) -> Option<Arc<KnownBox>> {
        self.lock_known().get(id).cloned()
    }

    /// Returns the latest sample of a sandbox's usage, and its limits.
    pub fn latest_sample(&self, id: &str) -> Option<(UsageSample, Limits)> {
        let known = self.known(id)?;
        known.samples().pop().map(|sample| (sample, self.machine.policy().limits))
    }

    /// Returns all sandboxes that run.
    pub fn all_running(&self) -> Vec<Arc<RunningBox>> {
        self.lock_known().values().filter_map(|known| known.running()).collect()
    }

    /// Adds a sandbox.
    pub fn add(&self, known: KnownBox) -> Arc<KnownBox> {
        let known = Arc::new(known);
        self.lock_known().insert(known.id.clone(), known.clone());
        known
    }

    /// Returns a sandbox or a snapshot of an owner.
    ///
    /// # Errors
    /// If the owner has none of this id.
    pub fn find(&self, holder: &KeyHolder, id: &str) -> Result<Arc<KnownBox>, Fault> {
        let missing = || Fault::missing(format!("the sandbox {id} does not exist, or was killed"));
        self.list_stored(holder)?;
        let known = self.lock_known().get(id).cloned().ok_or_else(missing)?;
        if known.owner.name == holder.owner.name { Ok(known) } else { Err(missing()) }
    }

    /// Returns the sandboxes or snapshots of an owner.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self, holder: &KeyHolder, kind: RecordKind) -> Result<Vec<Arc<KnownBox>>, Fault> {
        self.list_stored(holder)?;
        let all: Vec<Arc<KnownBox>> = self.lock_known().values().cloned().collect();
        let is_theirs = |known: &Arc<KnownBox>| {
            known.owner.name == holder.owner.name && known.record().kind == kind
        };
        Ok(all.into_iter().filter(is_theirs).collect())
    }

    /// Reads the sandboxes that an earlier run of the server has left, which sleep.
    fn list_stored(&self, holder: &KeyHolder) -> Result<(), Fault> {
        if !lock_mutex(&self.listed).insert(holder.owner.name.clone()) {
            return Ok(());
        }
        for info in holder.space.list_sessions()? {
            if !is_id(&info.name) || self.lock_known().contains_key(&info.name) {
                continue;
            }
            // A session that another process holds is none of this server's.
            let Ok(session) = holder.space.open(&info.name) else { continue };
            if let Some(record) = SandboxRecord::load(&session)? {
                let (owner, space) = (holder.owner.clone(), holder.space.clone());
                self.add(KnownBox::new(info.name, owner, space, record));
            }
        }
        Ok(())
    }

    /// Creates a sandbox with a session of its own, and starts it.
    ///
    /// # Errors
    /// If there are too many sessions.
    pub fn create(
        &self,
        holder: &KeyHolder,
        record: SandboxRecord,
    ) -> Result<Arc<KnownBox>, Fault> {
        let id = format!("i{}", random_text(20)?);
        let session = holder.space.make(&id)?;
        record.save(&session)?;
        self.start_new(holder, id, record)
    }

    /// Creates sandboxes, or one snapshot, with the present state of a sandbox.
    ///
    /// # Errors
    /// If there are too many sessions.
    pub fn fork(
        &self,
        holder: &KeyHolder,
        from: &str,
        records: Vec<SandboxRecord>,
    ) -> Result<Vec<Arc<KnownBox>>, Fault> {
        let prefix =
            |record: &SandboxRecord| if record.kind == RecordKind::Snapshot { 's' } else { 'i' };
        let ids =
            records.iter().map(|record| Ok(format!("{}{}", prefix(record), random_text(20)?)));
        let ids = ids.collect::<Result<Vec<String>, Fault>>()?;
        holder.space.fork(from, None, &ids)?;
        let mut made = Vec::new();
        for (id, record) in ids.into_iter().zip(records) {
            record.save(&*holder.space.open(&id)?)?;
            made.push(self.start_new(holder, id, record)?);
        }
        Ok(made)
    }

    fn start_new(
        &self,
        holder: &KeyHolder,
        id: String,
        record: SandboxRecord,
    ) -> Result<Arc<KnownBox>, Fault> {
        let kind = record.kind;
        let known = self.add(KnownBox::new(id, holder.owner.clone(), holder.space.clone(), record));
        if kind == RecordKind::Sandbox {
            known.start()?;
            known.take_sample();
        }
        Ok(known)
    }

    /// Kills a sandbox, or removes a snapshot.
    ///
    /// # Errors
    /// If its session cannot be removed.
    pub fn remove(&self, known: &KnownBox) -> Result<(), Fault> {
        self.lock_known().remove(&known.id);
        known.remove()
    }

    fn check_boxes(&self, is_sampled: bool) {
        let all: Vec<Arc<KnownBox>> = self.lock_known().values().cloned().collect();
        let now = now_ms();
        for known in all {
            if known.running().is_none() {
                continue;
            }
            if is_sampled {
                known.take_sample();
            }
            let record = known.record();
            if record.end > now {
                continue;
            }
            let done = match record.on_timeout {
                OnTimeout::Kill => self.remove(&known),
                OnTimeout::Pause => {
                    known.stop();
                    Ok(())
                }
            };
            if let Err(fault) = done {
                tracing::error!(
                    sandbox = known.id,
                    error = fault.message,
                    "a sandbox cannot be ended"
                );
            }
        }
    }
}

fn watch_boxes(registry: &Weak<Registry>) {
    for round in 0_u64.. {
        std::thread::sleep(LOOK);
        let Some(registry) = registry.upgrade() else { return };
        registry.check_boxes(round % SAMPLE == 0);
    }
}
