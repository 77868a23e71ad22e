//! A session's history and key-values, as its store has them.

use crate::error::Error;
use crate::error::WorkspaceMismatch;
use crate::kept::{StateLocation, TemporarySession};
use crate::session::{SandboxOrigin, Session};
use std::io::Write;
use wasibox_store::Store;
use wasibox_store::snapshot::Commit;
use wasibox_vfs::around::ShellSurroundings;

impl Session {
    /// Runs `act` on the stored session while no call runs.
    fn with_stored<T>(
        &self,
        act: impl FnOnce(&wasibox_store::StoreSession) -> Result<T, wasibox_store::StoreError>,
    ) -> Result<T, Error> {
        match &self.lock_runtime().kept {
            StateLocation::Stored(stored) => Ok(act(&stored.session)?),
            _ => Err(Error::NoHistory),
        }
    }

    /// Returns the session's name in its store.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// let session = sessions.create("a", wasibox::Policy::default())?;
    /// assert_eq!(session.name()?, "a");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session is in no store. All methods of this module have this error.
    pub fn name(&self) -> Result<String, Error> {
        self.with_stored(|s| Ok(s.name().to_owned()))
    }

    /// Returns the current commit, made by the last call.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let before = session.head()?.number;
    /// session.exec("touch a")?;
    /// assert!(session.head()?.number > before);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session has no history.
    pub fn head(&self) -> Result<Commit, Error> {
        self.with_stored(|s| Ok(s.head()))
    }

    /// Returns all commits, the oldest first, including those that were undone.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// for commit in session.history()? {
    ///     println!("{}", commit.number);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn history(&self) -> Result<Vec<Commit>, Error> {
        self.with_stored(|s| s.store().history(s.name()))
    }

    /// Returns the directory in which the next script starts.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("cd /tmp")?;
    /// assert_eq!(session.directory()?, b"/tmp");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
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

    /// Returns to the commit before the current one, with files, shell and interpreters.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("rm -rf /etc")?;
    /// session.undo()?;
    /// assert_eq!(session.exec("ls -d /etc")?.stdout, b"/etc\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no earlier commit.
    pub fn undo(&self) -> Result<Commit, Error> {
        self.0.turn_to(wasibox_store::StoreSession::undo)
    }

    /// Reverts an undo, if no call was made since.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("x=1")?;
    /// session.undo()?;
    /// session.redo()?;
    /// assert_eq!(session.exec("echo $x")?.stdout, b"1\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If nothing was undone.
    pub fn redo(&self) -> Result<Commit, Error> {
        self.0.turn_to(wasibox_store::StoreSession::redo)
    }

    /// Restores the state of a commit by making a new commit, which can be undone.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let good = session.head()?.number;
    /// session.exec("echo broken > config")?;
    /// session.exec("./run || true")?;
    /// session.restore(good)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn restore(&self, number: u64) -> Result<Commit, Error> {
        self.0.turn_to(|s| s.restore(number))
    }

    /// Discards everything after a commit for good.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let start = session.head()?.number;
    /// session.exec("echo secret > key")?;
    /// session.roll_back(start)?; // No commit has the file any more.
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such commit before the current one.
    pub fn roll_back(&self, number: u64) -> Result<Commit, Error> {
        self.0.turn_to(|s| s.roll_back(number))
    }

    /// Runs several calls as a unit: if `act` fails, the session is as if none of them had been
    /// made. Files of host mounts are not reset.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let result = session.transaction(|s| {
    ///     s.exec("mv a b")?;
    ///     match s.exec("./check b")?.exit_code {
    ///         0 => Ok(()),
    ///         _ => Err(wasibox::Error::from(std::io::Error::other("the check failed"))),
    ///     }
    /// });
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `act`; or if the session cannot be reset.
    pub fn transaction<T, E: From<Error>>(
        &self,
        act: impl FnOnce(&Session) -> Result<T, E>,
    ) -> Result<T, E> {
        // The commit to return to must not be merged with later ones meanwhile.
        self.keep_commits()?;
        let done = self.head().and_then(|begun| {
            let done = act(self);
            if done.is_err() {
                self.roll_back(begun.number)?;
            }
            Ok(done)
        });
        self.release_commits()?;
        done?
    }

    /// Suspends the policy's limit of commits ([`GrowthLimits::most_commits`](wasibox_sandbox::GrowthLimits))
    /// until [`Session::release_commits`] was called as often as this, so that every commit from now on
    /// can be returned to. [`Session::transaction`] does this by itself.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.keep_commits()?;
    /// let begun = session.head()?.number;
    /// for n in 0..1000 {
    ///     session.exec(format!("./step {n}"))?;
    /// }
    /// session.roll_back(begun)?;
    /// session.release_commits()?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session has no history.
    pub fn keep_commits(&self) -> Result<(), Error> {
        self.with_stored(|s| {
            s.keep_commits();
            Ok(())
        })
    }

    /// Reverts one call of [`Session::keep_commits`].
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.keep_commits()?;
    /// session.release_commits()?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::keep_commits`].
    pub fn release_commits(&self) -> Result<(), Error> {
        self.with_stored(|s| {
            s.release_commits();
            Ok(())
        })
    }

    /// Makes a second session named `name` with the state of this one. The two share everything
    /// that neither of them changes.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("x=1")?;
    /// let fork = session.fork("what if")?;
    /// fork.exec("x=2")?;
    /// assert_eq!(session.exec("echo $x")?.stdout, b"1\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is a session of that name.
    pub fn fork(&self, name: &str) -> Result<Session, Error> {
        self.begin_fork(&[name])?;
        self.open_fork(name)
    }

    /// Makes a session with the state of this one for each of the names: all of them, or none.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let forks = session.fork_many(&["a", "b", "c"])?;
    /// for (n, fork) in forks.iter().enumerate() {
    ///     fork.exec(format!("n={n}"))?;
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::fork`].
    pub fn fork_many(&self, names: &[impl AsRef<str>]) -> Result<Vec<Session>, Error> {
        self.begin_fork(names)?;
        names.iter().map(|name| self.open_fork(name.as_ref())).collect()
    }

    /// Adds forks to the store.
    fn begin_fork(&self, names: &[impl AsRef<str>]) -> Result<(), Error> {
        if self.has_workspace() {
            return Err(WorkspaceMismatch::Fork.into());
        }
        self.with_stored(|s| s.store().fork_many(s.name(), None, names))
    }

    /// Opens a fork that is in the store.
    fn open_fork(&self, name: &str) -> Result<Session, Error> {
        let forked = self.with_stored(|s| s.store().session(name))?;
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

    /// Tags a commit; an existing tag of that name is moved.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.tag("prepared", session.head()?.number)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such commit, or the name is invalid.
    pub fn tag(&self, tag: &str, number: u64) -> Result<(), Error> {
        self.with_stored(|s| s.tag(tag, number))
    }

    /// Removes the tag of a commit.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.tag("prepared", session.head()?.number)?;
    /// session.untag("prepared")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such tag.
    pub fn untag(&self, tag: &str) -> Result<(), Error> {
        self.with_stored(|s| s.untag(tag))
    }

    /// Returns the tags and the numbers of their commits.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.tag("prepared", session.head()?.number)?;
    /// assert_eq!(session.tags()?[0].0, "prepared");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Error> {
        self.with_stored(|s| s.store().tags(s.name()))
    }

    /// Removes old commits except the last `keep`, tagged ones and those that other sessions need.
    /// Returns the number of removed commits.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let removed = session.compact(10)?;
    /// println!("{removed} commits removed");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn compact(&self, keep: usize) -> Result<usize, Error> {
        self.with_stored(|s| s.compact(keep))
    }

    /// Returns a value of the session's key-value table.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("kv set color green")?;
    /// assert_eq!(session.value(b"color")?.as_deref(), Some(&b"green"[..]));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is damaged.
    pub fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.with_stored(|s| s.value(key))
    }

    /// Sets a value. The key has at most 4 KiB, the value at most 64 MiB.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.set_value(b"color", b"green")?;
    /// assert_eq!(session.exec("kv get color")?.stdout, b"green\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If either is longer, or the store cannot be written.
    pub fn set_value(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.with_stored(|s| s.set_value(key, value))
    }

    /// Removes a value, and returns whether it existed.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.set_value(b"color", b"green")?;
    /// assert!(session.remove_value(b"color")?);
    /// assert!(!session.remove_value(b"color")?);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remove_value(&self, key: &[u8]) -> Result<bool, Error> {
        self.with_stored(|s| s.remove_value(key))
    }

    /// Returns the keys of the session's table, in order.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.set_value(b"color", b"green")?;
    /// assert_eq!(session.keys()?, [b"color"]);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>, Error> {
        self.with_stored(|s| s.store().keys(s.name()))
    }

    /// Passes each entry of the session's log to `emit`, the oldest first: the time in nanoseconds
    /// since the epoch, and a JSON object.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.audit(&mut |time, entry| println!("{time} {entry}"))?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
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

    /// Writes the session as one file ([`.wbs`](wasibox_store::snapshot::wbs)): its current state,
    /// or its whole history if `all` is set.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let file = std::fs::File::create("a.wbs").expect("a new file");
    /// session.snapshot(false, file)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store is damaged, or `to` cannot be written.
    pub fn snapshot(&self, all: bool, to: impl Write) -> Result<(), Error> {
        // Calls of the session continue while the snapshot is written.
        let (store, name) = self.with_stored(|s| Ok((s.store().clone(), s.name().to_owned())))?;
        Ok(store.export(&name, all, to)?)
    }

    /// Returns the store that has the session.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let info = session.store()?.sessions()?;
    /// assert_eq!(info.len(), 1);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is in no store.
    pub fn store(&self) -> Result<Store, Error> {
        self.with_stored(|s| Ok(s.store().clone()))
    }
}
