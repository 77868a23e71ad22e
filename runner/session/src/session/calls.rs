//! Calls of a session: commands, cells and requests about files.

use wasibox_files as files;
use wasibox_protocol::{Exec, Outcome, Request};
use wasibox_vfs::lock_mutex;

use super::{Error, Session, Streams};
use crate::run::InheritedStreams;

impl Session {
    /// Runs a command. A string is taken as a script for the session's shell.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// assert_eq!(session.exec("seq 3 | paste -sd+ | bc")?.stdout, b"6\n");
    /// assert_eq!(session.exec(Exec::new(["printf", "%s", "$HOME"]))?.stdout, b"$HOME");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::apply`].
    pub fn exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        self.call(exec, Streams::default())
    }

    /// Runs a cell in the session's Python interpreter, which stays alive for the next cells.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.python("import statistics as s; data = [1, 2, 4]")?;
    /// assert_eq!(session.python("s.median(data)")?.value.as_deref(), Some("2"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::apply`]; [`Error::Cell`] if the interpreter cannot be restored.
    pub fn python(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::python(code))
    }

    /// Runs a cell in the session's JavaScript interpreter, which stays alive for the next cells.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.javascript("const data = [1, 2, 4]")?;
    /// assert_eq!(session.javascript("data.length")?.value.as_deref(), Some("3"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::python`].
    pub fn javascript(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::javascript(code))
    }

    /// Ends the interpreters; the next cell starts a new one. With a history this is a commit.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.python("x = 1")?;
    /// session.reset()?;
    /// assert_ne!(session.python("x")?.exit_code, 0);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the change cannot be kept.
    pub fn reset(&self) -> Result<(), Error> {
        self.apply(Request::Reset, Streams::default()).map(drop)
    }

    /// Reads or changes the session's files without running a guest, with a guest's rights.
    /// Relative paths start at the shell's current directory. A request that changes files is a
    /// commit.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::files::Request;
    ///
    /// session.files(&Request::MakeDir { path: "/tmp/new".into() })?;
    /// assert_eq!(session.exec("ls /tmp")?.stdout, b"new\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Files`] with the mistake and a way to proceed; otherwise as [`Session::apply`].
    pub fn files(&self, request: &files::Request) -> Result<files::Answer, Error> {
        self.0.run_files(&mut lock_mutex(&self.0.inner), request)
    }

    /// Runs a command if no other call is running.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// match session.try_exec("date") {
    ///     Ok(outcome) => println!("{}", String::from_utf8_lossy(&outcome.stdout)),
    ///     Err(e) => println!("not now: {e}"),
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Busy`] if another call is running; otherwise as [`Session::apply`].
    pub fn try_exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        self.call(exec, Streams { no_wait: true, ..Streams::default() })
    }

    /// Runs a command whose [`Input::Inherit`](crate::Input::Inherit) and
    /// [`Output::Inherit`](crate::Output::Inherit) refer to these descriptors instead of this
    /// process's streams: pipes, for example, that other threads feed and read while it runs.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Exec, InheritedStreams, Output};
    ///
    /// let (reader, writer) = std::io::pipe().expect("a pipe");
    /// let mut exec = Exec::script("seq 1000000");
    /// exec.output = Output::Inherit;
    /// std::thread::spawn(move || std::io::copy(&mut { reader }, &mut std::io::stderr()));
    /// let (stdin, stderr) = (std::io::stdin(), std::io::stderr());
    /// let streams = InheritedStreams { stdin: &stdin, stdout: &writer, stderr: &stderr };
    /// session.exec_on(exec, &streams)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::apply`].
    pub fn exec_on(&self, exec: Exec, streams: &InheritedStreams<'_>) -> Result<Outcome, Error> {
        self.call(exec, Streams { inherited: Some(streams), ..Streams::default() })
    }
}
