//! A client and its current session.

use crate::machine::SessionSpace;
use crate::ports::PortDoor;
use std::sync::{Arc, Mutex, MutexGuard};
use wasibox::{MountSpec, Refusal, RefusalKind, Session};

/// A client of a server, with a session of its own that is created on first use. Dropping the
/// client removes the session if it has no changes, or if it is not stored anywhere.
pub struct Client {
    space: SessionSpace,
    /// Whether it may create sessions.
    can_make: bool,
    /// Its way to ports of its sessions, if the server has one.
    ports: Option<Arc<dyn PortDoor>>,
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
        Client { space, can_make: true, ports: None, current }
    }

    /// Returns the client without the right to create sessions: it uses those that exist, and has
    /// none of its own.
    #[must_use]
    pub fn without_making(mut self) -> Client {
        self.can_make = false;
        self
    }

    /// Returns the client with a way to ports of its sessions.
    #[must_use]
    pub fn with_port_door(mut self, door: Arc<dyn PortDoor>) -> Client {
        self.ports = Some(door);
        self
    }

    /// Returns its way to ports of its sessions.
    pub(crate) fn port_door(&self) -> Option<&dyn PortDoor> {
        self.ports.as_deref()
    }

    /// Returns the sessions that the client may use.
    pub fn space(&self) -> &SessionSpace {
        &self.space
    }

    /// Returns the name of the current session.
    pub fn name(&self) -> String {
        self.lock_current().name.clone()
    }

    /// Returns the name of the current session with its owner's prefix, which no other session of the
    /// machine has.
    pub fn full_name(&self) -> String {
        self.space.full_name(&self.lock_current().name)
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
