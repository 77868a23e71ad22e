//! A sandbox that runs, or that its owner may wake up.

use crate::envd::metadata::FileMetadata;
use crate::envd::processes::ProcessTable;
use crate::envd::watch::WatcherTable;
use crate::fault::Fault;
use crate::interpreter::contexts::ContextTable;
use crate::record::SandboxRecord;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasibox::{Session, lock_mutex};
use wasibox_actions::{RefusalKind, SessionSpace};
use wasibox_http::Owner;

/// The time for which the removal of a sandbox waits for its last requests.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of kept samples of a sandbox's usage.
const SAMPLES: usize = 720;

/// A sandbox that runs: a session that is open, with the state that this server holds of it.
pub struct RunningBox {
    pub id: String,
    /// The token of requests to the sandbox.
    pub token: String,
    pub owner: Arc<Owner>,
    pub session: Arc<Session>,
    /// The token of requests to its ports, if they are not public.
    pub traffic_token: Option<String>,
    /// The variables of all of its processes.
    pub envs: BTreeMap<String, String>,
    pub processes: ProcessTable,
    pub watchers: WatcherTable,
    pub contexts: ContextTable,
    /// Metadata of uploaded files.
    pub file_metadata: FileMetadata,
    /// Cancelled when the sandbox stops running.
    pub gone: CancellationToken,
}

/// A sandbox as this server knows it.
pub struct KnownBox {
    pub id: String,
    pub owner: Arc<Owner>,
    pub space: SessionSpace,
    state: Mutex<BoxState>,
    samples: Mutex<VecDeque<UsageSample>>,
}

struct BoxState {
    record: SandboxRecord,
    running: Option<Arc<RunningBox>>,
}

/// The usage of a sandbox at a time.
#[derive(Clone, Copy, Debug)]
pub struct UsageSample {
    /// Milliseconds since the epoch.
    pub time: u64,
    /// CPU time of the sandbox's process so far, in milliseconds.
    pub cpu_ms: u64,
    /// Memory of the process in bytes.
    pub memory: u64,
}

impl KnownBox {
    /// Makes the entry of a sandbox that does not run.
    pub fn new(
        id: String,
        owner: Arc<Owner>,
        space: SessionSpace,
        record: SandboxRecord,
    ) -> KnownBox {
        let state = Mutex::new(BoxState { record, running: None });
        KnownBox { id, owner, space, state, samples: Mutex::default() }
    }

    /// Returns the record.
    pub fn record(&self) -> SandboxRecord {
        lock_mutex(&self.state).record.clone()
    }

    /// Returns the sandbox if it runs.
    pub fn running(&self) -> Option<Arc<RunningBox>> {
        lock_mutex(&self.state).running.clone()
    }

    /// Changes the record, and writes it if the sandbox runs.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn change_record(
        &self,
        change: impl FnOnce(&mut SandboxRecord),
    ) -> Result<SandboxRecord, Fault> {
        let (record, session) = {
            let mut state = lock_mutex(&self.state);
            change(&mut state.record);
            (state.record.clone(), state.running.as_ref().map(|running| running.session.clone()))
        };
        let session = match session {
            Some(session) => session,
            None => self.space.open(&self.id)?,
        };
        record.save(&session)?;
        Ok(record)
    }

    /// Starts the sandbox, unless it runs.
    ///
    /// # Errors
    /// If its session cannot be opened.
    pub fn start(&self) -> Result<Arc<RunningBox>, Fault> {
        let session = self.space.open(&self.id)?;
        let file_metadata = FileMetadata::load(&session)?;
        let mut state = lock_mutex(&self.state);
        if let Some(running) = &state.running {
            return Ok(running.clone());
        }
        let running = Arc::new(RunningBox {
            id: self.id.clone(),
            token: state.record.token.clone(),
            owner: self.owner.clone(),
            session,
            traffic_token: state.record.traffic_token.clone(),
            envs: state.record.envs.clone(),
            processes: ProcessTable::default(),
            watchers: WatcherTable::default(),
            contexts: ContextTable::default(),
            file_metadata,
            gone: CancellationToken::new(),
        });
        state.running = Some(running.clone());
        Ok(running)
    }

    /// Stops the sandbox: its processes end, and its session sleeps. Returns whether it ran.
    pub fn stop(&self) -> bool {
        let Some(running) = lock_mutex(&self.state).running.take() else { return false };
        running.gone.cancel();
        // A call that runs would keep the session from going to sleep.
        running.contexts.end_all();
        running.session.park();
        true
    }

    /// Stops the sandbox and removes its session.
    ///
    /// # Errors
    /// If the session stays in use, or the store cannot be written.
    pub fn remove(&self) -> Result<(), Fault> {
        self.stop();
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            match self.space.remove(&self.id) {
                Err(e) if e.kind == RefusalKind::Busy && std::time::Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(e) if e.kind == RefusalKind::Missing => return Ok(()),
                done => return Ok(done?),
            }
        }
    }

    /// Takes a sample of the usage.
    pub fn take_sample(&self) {
        let Some(running) = self.running() else { return };
        let (cpu_ms, memory) = running.session.worker().and_then(process_usage).unwrap_or_default();
        let mut samples = lock_mutex(&self.samples);
        if samples.len() >= SAMPLES {
            samples.pop_front();
        }
        samples.push_back(UsageSample { time: crate::time::now_ms(), cpu_ms, memory });
    }

    /// Returns the samples, the oldest first.
    pub fn samples(&self) -> Vec<UsageSample> {
        lock_mutex(&self.samples).iter().copied().collect()
    }
}

/// Returns the CPU time of a process in milliseconds and its memory in bytes (proc(5)).
fn process_usage(pid: u32) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |n: usize| fields.get(n)?.parse::<u64>().ok();
    // Fields 14, 15 and 24 of the manual, in hundredths of a second and in pages.
    Some(((number(11)? + number(12)?) * 10, number(21)? * 4096))
}
