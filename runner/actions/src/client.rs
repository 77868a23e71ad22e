//! A client, and one of its calls.

use crate::machine::SessionSpace;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use wasibox::{
    CAPTURE, CallEvent, CallOptions, Cancel, Error, Exec, Interrupt, MountSpec, Outcome, Output,
    Session, Streams,
};
use wasibox::{Refusal, RefusalKind};

/// A client of a server, with a session of its own that is created on first use. Dropping the
/// client removes the session if it has no changes, or if it is not stored anywhere.
pub struct Client {
    space: SessionSpace,
    /// Whether it may create sessions.
    can_make: bool,
    current: Mutex<CurrentSession>,
}

struct CurrentSession {
    name: String,
    session: Option<Arc<Session>>,
    /// Whether the session was created for this client alone.
    is_own: bool,
}

impl Client {
    /// Creates a client with a session of its own.
    ///
    /// # Errors
    /// Returns an error if the system has no random bytes for the session's name.
    pub fn new(space: SessionSpace) -> Result<Client, Refusal> {
        let mut random = [0; 6];
        getrandom::fill(&mut random).map_err(|e| Refusal::new(RefusalKind::Internal, e))?;
        let name = random.iter().map(|b| format!("{b:02x}")).collect::<String>();
        Ok(Client::with_name(space, format!("client-{name}"), true))
    }

    /// Creates a client that starts with the session of that name, which is created if it does not
    /// exist.
    pub fn for_session(space: SessionSpace, name: impl Into<String>) -> Client {
        Client::with_name(space, name.into(), false)
    }

    fn with_name(space: SessionSpace, name: String, is_own: bool) -> Client {
        let current = Mutex::new(CurrentSession { name, session: None, is_own });
        Client { space, can_make: true, current }
    }

    /// Returns the client without the right to create sessions: it uses those that exist, and has
    /// none of its own.
    #[must_use]
    pub fn without_making(mut self) -> Client {
        self.can_make = false;
        self
    }

    /// Returns the sessions that the client may use.
    pub fn space(&self) -> &SessionSpace {
        &self.space
    }

    /// Returns the name of the current session.
    pub fn name(&self) -> String {
        self.lock_current().name.clone()
    }

    /// Returns whether the current session exists: the client has used it, or was given it by name.
    pub fn is_begun(&self) -> bool {
        let current = self.lock_current();
        current.session.is_some() || !current.is_own
    }

    /// Returns the current session.
    ///
    /// # Errors
    /// Returns an error if the session cannot be opened or created.
    pub fn session(&self) -> Result<Arc<Session>, Refusal> {
        let mut current = self.lock_current();
        if let Some(session) = &current.session {
            return Ok(session.clone());
        }
        let session = match (self.can_make, current.is_own) {
            (true, _) => self.space.open_or_make(&current.name)?,
            (false, false) => self.space.open(&current.name)?,
            (false, true) => {
                let text = "a session of its own needs the scope 'manage'; name one that exists";
                return Err(Refusal::new(RefusalKind::Denied, text));
            }
        };
        current.session = Some(session.clone());
        Ok(session)
    }

    /// Mounts these folders of the host in the client's sessions, in addition to the machine's,
    /// from the next call on.
    pub fn grant_mounts(&self, mounts: Vec<MountSpec>) {
        let mut current = self.lock_current();
        self.space.grant_mounts(mounts);
        if current.session.take().is_some() {
            self.space.release(&current.name);
        }
    }

    /// Switches to another session.
    ///
    /// # Errors
    /// Returns an error if there is no session of that name and `make` is false, and the errors of
    /// [`Client::session`].
    pub fn use_session(&self, name: &str, make: bool) -> Result<Arc<Session>, Refusal> {
        let session = if make && self.can_make {
            self.space.open_or_make(name)?
        } else {
            self.space.open(name)?
        };
        let next =
            CurrentSession { name: name.to_owned(), session: Some(session.clone()), is_own: false };
        let before = std::mem::replace(&mut *self.lock_current(), next);
        self.leave_session(before);
        Ok(session)
    }

    fn leave_session(&self, current: CurrentSession) {
        let CurrentSession { name, session, is_own } = current;
        let Some(session) = session.filter(|_| is_own) else { return };
        let is_new = session.head().is_ok_and(|commit| commit.parent.is_none());
        drop(session);
        if is_new || !self.space.machine().is_durable() {
            // The session stays if another client has found it by its name.
            let _ = self.space.remove(&name);
        }
    }

    fn lock_current(&self) -> MutexGuard<'_, CurrentSession> {
        self.current.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let nothing = CurrentSession { name: String::new(), session: None, is_own: false };
        let current = std::mem::replace(&mut *self.lock_current(), nothing);
        self.leave_session(current);
    }
}

/// A handle that ends a call from another thread and reports the CPU time it has used.
#[derive(Default)]
pub struct CallStop {
    cancel: Cancel,
    target: OnceLock<Interrupt>,
    /// CPU time in microseconds.
    cpu: AtomicU64,
}

impl CallStop {
    /// Ends the command that the call runs, and prevents the start of further commands.
    pub fn stop(&self) {
        match self.target.get() {
            Some(target) => self.cancel.cancel(target),
            None => self.cancel.cancel(&Interrupt::default()),
        }
    }

    /// Runs a command until it ends or is stopped. One call uses one session.
    ///
    /// # Errors
    /// The same as [`Session::call`].
    pub fn exec(
        &self,
        session: &Session,
        exec: Exec,
        streams: Streams<'_>,
    ) -> Result<Outcome, Error> {
        let _ = self.target.set(session.interrupter());
        let outcome = session.call(exec, Streams { cancel: Some(&self.cancel), ..streams })?;
        self.cpu.fetch_add((outcome.cpu_ms * 1000.0) as u64, Ordering::Relaxed);
        Ok(outcome)
    }

    /// Returns the CPU time of the commands that the call has run.
    pub fn cpu_time(&self) -> Duration {
        Duration::from_micros(self.cpu.load(Ordering::Relaxed))
    }
}

/// One call of a client.
pub struct ClientCall<'a> {
    pub client: &'a Client,
    pub stop: &'a CallStop,
    /// Receives output as it is written; without a receiver this costs nothing.
    pub emit: Option<&'a (dyn Fn(CallEvent<'_>) + Sync)>,
}

impl ClientCall<'_> {
    /// Returns the client's session.
    pub(crate) fn session(&self) -> Result<Arc<Session>, Refusal> {
        self.client.session()
    }

    /// Returns the command that a client asks for, with a time limit within the machine's.
    ///
    /// # Errors
    /// If the time is invalid, or there is nothing to run.
    pub(crate) fn make_exec(
        &self,
        options: CallOptions,
        stdin: Option<String>,
    ) -> Result<Exec, Refusal> {
        let timeout = self.client.space().machine().call_timeout(options.timeout)?;
        let stdin = stdin.unwrap_or_default().into_bytes();
        let mut exec = options.into_exec(stdin)?;
        exec.timeout = Some(timeout);
        Ok(exec)
    }

    /// Runs a command in a session until it ends or is stopped.
    pub(crate) fn exec(&self, session: &Session, mut exec: Exec) -> Result<Outcome, Refusal> {
        exec.output = Output::Capture { limit: session.policy().limits.output.unwrap_or(CAPTURE) };
        let streams = Streams { emit: self.emit, ..Streams::default() };
        Ok(self.stop.exec(session, exec, streams)?)
    }
}
