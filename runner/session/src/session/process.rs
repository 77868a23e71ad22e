//! The session's process: its walls, its state, and the operations of other threads on it.

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use wasibox_protocol::PortSummary;
use wasibox_sandbox::expose::OpenPort;
use wasibox_vfs::lock_mutex;
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::{Jail, Walls};

use super::{Error, RunningSandbox, Session};
use crate::control::Interrupt;

impl Session {
    /// Returns a handle that ends the running call from another thread.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let interrupt = session.interrupter();
    /// std::thread::spawn(move || interrupt.interrupt());
    /// session.exec("sleep 60")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn interrupter(&self) -> Interrupt {
        self.0.interrupt.clone()
    }

    /// Lists the ports at which programs of the session listen for connections, 256 at most. This
    /// also works from another thread while a call runs. A session that sleeps has none.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// let _server = session.spawn(Exec::new(["python3", "-m", "http.server", "8000"]))?;
    /// while !session.ports()?.iter().any(|open| open.port == 8000) {
    ///     std::thread::sleep(std::time::Duration::from_millis(20));
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session's process does not answer.
    pub fn ports(&self) -> Result<Vec<PortSummary>, Error> {
        let all = self.0.interrupt.open_ports()?;
        let summary = |open: OpenPort| PortSummary {
            port: open.address.port(),
            address: open.address.ip().to_string(),
            pid: open.pid,
            command: open.command.map(|c| String::from_utf8_lossy(&c).into_owned()),
        };
        Ok(all.into_iter().map(summary).collect())
    }

    /// Connects to a port on the session's own loopback, where a guest's server listens. This also
    /// works from another thread while a call runs. Dropping the stream closes the connection.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use std::io::{Read, Write};
    /// use wasibox::Exec;
    ///
    /// let mut serve = Exec::script("python3 -m http.server 8000 &");
    /// serve.keep_background = true;
    /// session.exec(serve)?;
    /// let mut stream = session.connect(8000).expect("a server listens");
    /// write!(stream, "GET / HTTP/1.0\r\n\r\n").expect("a request");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`std::io::ErrorKind::ConnectionRefused`] if no server listens there, or the session is
    /// asleep.
    pub fn connect(&self, port: u16) -> std::io::Result<UnixStream> {
        self.0.interrupt.connect(port)
    }

    /// Returns the walls around the session's process, or `None` if it runs in this one. For a
    /// session that sleeps, returns those around its last process.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// if let Some(walls) = session.walls() {
    ///     println!("system calls are limited: {}", walls.system_calls);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn walls(&self) -> Option<Walls> {
        lock_mutex(&self.0.inner).walls
    }

    /// Returns the process ID of the session's worker, or `None` if it has no process of its own.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("true")?;
    /// println!("the worker is process {:?}", session.worker());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn worker(&self) -> Option<u32> {
        Some(self.0.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// Releases the process, its threads and its mappings until the next call; waits for a running
    /// call. Has no effect on a session of [`Session::with`], because its state exists nowhere
    /// else.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("x=1")?;
    /// session.park();
    /// assert_eq!(session.exec("echo $x")?.stdout, b"1\n"); // It wakes up.
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn park(&self) {
        self.0.put_to_sleep(&mut lock_mutex(&self.0.inner));
    }

    /// Returns whether the session has a process or threads now.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("true")?;
    /// assert!(session.is_awake());
    /// session.park();
    /// assert!(!session.is_awake());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn is_awake(&self) -> bool {
        lock_mutex(&self.0.inner).live.is_some()
    }

    /// Closes a jail around this whole process, which must have one thread. It is meant for
    /// programs that serve a single session, for example `runner exec`. The session's mounts,
    /// machine code and image remain reachable. A session with a process of its own does not need
    /// it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use std::sync::Arc;
    /// use wasibox::{Policy, Session};
    ///
    /// let image = engine.image().clone();
    /// let session = Session::with(image, Policy::default(), None, Arc::new(|_: &str| {}))?;
    /// let walls = session.close_jail()?;
    /// assert!(walls.no_new_privs);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a wall that the host supports cannot be set up.
    pub fn close_jail(&self) -> Result<Walls, Error> {
        let inner = lock_mutex(&self.0.inner);
        let Some(RunningSandbox::Threads(here)) = &inner.live else { return Ok(Walls::default()) };
        let paths = |writable| {
            let some = self.0.policy.mounts.iter().filter(move |m| m.writable == writable);
            some.map(|m| m.host.clone())
        };
        let own = here.sandbox.own_files().into_iter().filter(|path| path.exists());
        let jail = Jail {
            read: paths(false).chain(own).collect(),
            write: paths(true).collect(),
            code: NewCode::Mapped,
        };
        let walls = jail.close().map_err(|e| Error::Refused(e.to_string()))?;
        crate::walls::note_missing_walls(&walls, false);
        Ok(walls)
    }

    /// Returns the names of the image's programs whose machine code or prepared memory is not kept
    /// yet, or `None` if nothing can be kept. For a session with a process of its own the list is
    /// empty, because the process that needs a program waits for those that compile it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// if let Some(names) = session.unready_programs() {
    ///     println!("to be compiled at first use: {names:?}");
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn unready_programs(&self) -> Option<Vec<String>> {
        match &lock_mutex(&self.0.inner).live {
            Some(RunningSandbox::Threads(here)) => here.sandbox.unready_programs(),
            _ => Some(Vec::new()),
        }
    }
}
