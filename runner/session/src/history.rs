//! A session's past, and its key-values: what its store has of it.

use crate::action::ShellSurroundings;
use crate::kept::{StateLocation, TemporarySession};
use crate::session::{Error, SandboxOrigin, Session};
use crate::workspace::WorkspaceMismatch;
use std::io::Write;
use wasibox_store::Store;
use wasibox_store::snapshot::Commit;

impl Session {
    /// Does something with what the store has of the session, while no call runs.
    fn with_stored<T>(
        &self,
        act: impl FnOnce(&wasibox_store::StoreSession) -> Result<T, wasibox_store::StoreError>,
    ) -> Result<T, Error> {
        match &self.lock_runtime().kept {
            StateLocation::Stored(stored) => Ok(act(&stored.session)?),
            _ => Err(Error::NoHistory),
        }
    }

    /// The session's name in its store.
    ///
    /// # Errors
    /// If it has none; so do all methods here.
    pub fn name(&self) -> Result<String, Error> {
        self.with_stored(|s| Ok(s.name().to_owned()))
    }

    /// The commit that it is at: what the last call has left.
    ///
    /// # Errors
    /// If it has no history.
    pub fn head(&self) -> Result<Commit, Error> {
        self.with_stored(|s| Ok(s.head()))
    }

    /// All its commits, the oldest first, those that were undone too.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn history(&self) -> Result<Vec<Commit>, Error> {
        self.with_stored(|s| s.store().history(s.name()))
    }

    /// The directory in which the next script begins.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn directory(&self) -> Result<Vec<u8>, Error> {
        self.with_stored(|s| {
            let shell = s.load(&s.state().shell, crate::kept::MAX_SHELL)?;
            Ok(ShellSurroundings::from_state(&shell)
                .and_then(|place| place.cwd)
                .unwrap_or_else(|| self.home().into()))
        })
    }

    /// Goes back to the commit before this one, with files, shell and interpreters.
    ///
    /// # Errors
    /// If there is none.
    pub fn undo(&self) -> Result<Commit, Error> {
        self.0.turn_to(wasibox_store::StoreSession::undo)
    }

    /// Goes forward again after undo, if nothing was done since.
    ///
    /// # Errors
    /// If nothing was undone.
    pub fn redo(&self) -> Result<Commit, Error> {
        self.0.turn_to(wasibox_store::StoreSession::redo)
    }

    /// Makes everything as it was at a commit, by a new one, which can be undone.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn restore(&self, number: u64) -> Result<Commit, Error> {
        self.0.turn_to(|s| s.restore(number))
    }

    /// Gives up what was done after a commit, without a way back to it.
    ///
    /// # Errors
    /// If there is no such commit before this one.
    pub fn roll_back(&self, number: u64) -> Result<Commit, Error> {
        self.0.turn_to(|s| s.roll_back(number))
    }

    /// Does several calls that count together: if `act` fails, the session is as if none had been made.
    /// Files of host mounts are as the calls have left them.
    ///
    /// # Errors
    /// What `act` says; if the session cannot be put back.
    pub fn transaction<T, E: From<Error>>(
        &self,
        act: impl FnOnce(&Session) -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = self.head()?.number;
        let done = act(self);
        if done.is_err() {
            self.roll_back(begun)?;
        }
        done
    }

    /// A second session that is what this one is and shares with it what neither changes. In its store its
    /// name is `name`.
    ///
    /// # Errors
    /// If there is one of that name.
    pub fn fork(&self, name: &str) -> Result<Session, Error> {
        if self.has_workspace() {
            return Err(WorkspaceMismatch::Fork.into());
        }
        let forked = self.with_stored(|s| s.store().fork(s.name(), None, name))?;
        let SandboxOrigin::Engine(engine) = self.0.origin() else { return Err(Error::NoHistory) };
        let begun = forked.store().session_info(name)?.image;
        let temporary = match &self.lock_runtime().kept {
            StateLocation::Stored(stored) => stored
                .is_temporary()
                .then(|| TemporarySession { store: forked.store().clone(), name: name.to_owned() }),
            _ => None,
        };
        let policy = self.policy().clone();
        let forked =
            crate::Engine::from_inner(engine).session_over(forked, begun, policy, temporary, None);
        forked.0.tools.replace_tools(self.tools());
        Ok(forked)
    }

    /// Names a commit; the name leads elsewhere then, if it was there.
    ///
    /// # Errors
    /// If there is no such commit, or the name cannot be one.
    pub fn tag(&self, tag: &str, number: u64) -> Result<(), Error> {
        self.with_stored(|s| s.tag(tag, number))
    }

    /// Forgets the name of a commit.
    ///
    /// # Errors
    /// If there is none.
    pub fn untag(&self, tag: &str) -> Result<(), Error> {
        self.with_stored(|s| s.untag(tag))
    }

    /// The names of commits, and their numbers.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Error> {
        self.with_stored(|s| s.store().tags(s.name()))
    }

    /// Keeps the last `keep` commits, those that have names and what other sessions need. Gives how many are gone.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn compact(&self, keep: usize) -> Result<usize, Error> {
        self.with_stored(|s| s.compact(keep))
    }

    /// A value of the session's table.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.with_stored(|s| s.value(key))
    }

    /// Sets a value: 4 KiB of key, 64 MiB of value at most.
    ///
    /// # Errors
    /// If one is longer, or the store cannot be written.
    pub fn set_value(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.with_stored(|s| s.set_value(key, value))
    }

    /// Takes a value out; says whether it was there.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remove_value(&self, key: &[u8]) -> Result<bool, Error> {
        self.with_stored(|s| s.remove_value(key))
    }

    /// The keys of the session's table, in their order.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>, Error> {
        self.with_stored(|s| s.store().keys(s.name()))
    }

    /// Tells `emit` of the session's log, the oldest entry first: nanoseconds since the epoch, and an
    /// object of JSON.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn audit(&self, emit: &mut dyn FnMut(u64, &str)) -> Result<(), Error> {
        self.with_stored(|s| {
            s.store().audit(s.name(), &mut |time, entry| {
                emit(time, entry);
                Ok(())
            })
        })
    }

    /// Writes the session as one file ([`.wbs`](wasibox_store::snapshot::wbs)): what it is now, or all its
    /// history.
    ///
    /// # Errors
    /// If the store is damaged, or `to` cannot be written.
    pub fn snapshot(&self, all: bool, to: impl Write) -> Result<(), Error> {
        self.with_stored(|s| s.store().export(s.name(), all, to))
    }

    /// The store that has it.
    ///
    /// # Errors
    /// If it has none.
    pub fn store(&self) -> Result<Store, Error> {
        self.with_stored(|s| Ok(s.store().clone()))
    }
}
