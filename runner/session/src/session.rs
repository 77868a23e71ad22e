//! A session.

use crate::action::{Action, Exec};
use crate::outcome::Outcome;
use crate::run::{self, Inherited};
use crate::worker::pool::{Pool, PoolOptions};
use crate::worker::remote::{self, Remote};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasibox_image::{Image, ImageError};
use wasibox_sandbox::{Policy, Sandbox, SandboxError};
use wasibox_worker::channel::ChannelError;
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::{Jail, Walls};

/// Why an action could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("standard streams: {0}")]
    Streams(#[from] std::io::Error),
    /// No program that serves as a worker was found, see [`PoolOptions::program`].
    #[error("no program for workers: put `runner` beside this one, or name it in WASIBOX_WORKER")]
    NoWorker,
    /// The process of the session is gone, and with it the call that ran; its state is as
    /// before that call.
    #[error("the process of the session {0}")]
    Worker(String),
    /// What the process of the session could not do.
    #[error("{0}")]
    Refused(String),
    /// Walls are required ([`PoolOptions::require_walls`]) that this host does not have.
    #[error("this host lacks walls that are required: {0}")]
    Walls(String),
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

impl From<ImageError> for Error {
    fn from(e: ImageError) -> Error {
        Error::Sandbox(e.into())
    }
}

/// An image, a policy, and the files that commands leave for the next ones.
pub struct Session(Kind);

enum Kind {
    /// In this process.
    Threads(Box<Sandbox>),
    /// In a process of its own.
    Process(Box<Remote>),
}

/// Ends what a session runs, from another thread.
#[derive(Clone)]
pub struct Interrupt(Target);

#[derive(Clone)]
enum Target {
    Threads(wasibox_sandbox::Interrupt),
    Process(remote::Interrupt),
}

impl Interrupt {
    /// Ends what runs, or what runs next if nothing does.
    pub fn interrupt(&self) {
        match &self.0 {
            Target::Threads(i) => i.interrupt(),
            Target::Process(i) => i.interrupt(),
        }
    }
}

impl Session {
    /// Opens a session on the image at `path`, in a process of its own. Who opens several makes
    /// a [`Pool`] and uses [`Session::on`].
    ///
    /// # Errors
    /// A missing or damaged image, a mount that cannot be made, no worker to be had.
    pub fn open(path: &Path, policy: Policy) -> Result<Session, Error> {
        let options = PoolOptions { warm: 0, ..PoolOptions::new(path) };
        Session::on(&Pool::new(options)?, policy)
    }

    /// Opens a session in a worker of the pool.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn on(pool: &Arc<Pool>, policy: Policy) -> Result<Session, Error> {
        Ok(Session(Kind::Process(Box::new(Remote::open(pool.clone(), policy)?))))
    }

    /// Opens a session in this process, by threads: quicker to begin, and with one wall only.
    /// A fault of the sandbox or of the engine is a fault of this process.
    /// Says where machine code is kept (`None`: nowhere) and who is told when a program must
    /// be compiled first, one line at a time.
    ///
    /// # Errors
    /// A damaged image, a mount that cannot be made.
    pub fn with(
        image: Arc<Image>,
        policy: Policy,
        artifacts: Option<PathBuf>,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Session, Error> {
        let sandbox = Sandbox::new(image, policy, artifacts, progress)?;
        Ok(Session(Kind::Threads(Box::new(sandbox))))
    }

    /// A handle that ends what runs, from another thread.
    pub fn interrupter(&self) -> Interrupt {
        Interrupt(match &self.0 {
            Kind::Threads(sandbox) => Target::Threads(sandbox.interrupter()),
            Kind::Process(remote) => Target::Process(remote.interrupter()),
        })
    }

    /// The walls around the session's process; `None` if it is this one.
    pub fn walls(&self) -> Option<Walls> {
        match &self.0 {
            Kind::Threads(_) => None,
            Kind::Process(remote) => Some(remote.walls()),
        }
    }

    /// The number of the session's process while it has one of its own.
    pub fn worker(&self) -> Option<u32> {
        match &self.0 {
            Kind::Threads(_) => None,
            Kind::Process(remote) => remote.pid(),
        }
    }

    /// Gives the session's process up until the next call, which takes another one. Without
    /// effect on a session by threads.
    pub fn park(&self) {
        if let Kind::Process(remote) = &self.0 {
            remote.park();
        }
    }

    /// Closes a jail around this whole process, which must have one thread: for programs that are one
    /// session's own, as `runner exec` is. The session's mounts, machine code and image remain
    /// reachable. A session with a process of its own needs none.
    ///
    /// # Errors
    /// If a wall fails that the host has.
    pub fn close_jail(&self) -> Result<Walls, Error> {
        let Kind::Threads(sandbox) = &self.0 else { return Ok(Walls::default()) };
        let paths = |writable| {
            let some = sandbox.policy().mounts.iter().filter(move |m| m.writable == writable);
            some.map(|m| m.host.clone())
        };
        let own = sandbox.own_files().into_iter().filter(|path| path.exists());
        let jail = Jail {
            read: paths(false).chain(own).collect(),
            write: paths(true).collect(),
            code: NewCode::Mapped,
        };
        jail.close().map_err(|e| Error::Refused(e.to_string()))
    }

    /// Whether the machine code of all programs is kept already; `None` if none can be kept.
    /// A session with a process of its own begins with all of it.
    pub fn is_compiled(&self) -> Option<bool> {
        match &self.0 {
            Kind::Threads(sandbox) => sandbox.is_compiled(),
            Kind::Process(_) => Some(true),
        }
    }

    /// Does what is asked, and waits for it.
    ///
    /// # Errors
    /// If it could not be begun, or if the session's process died of it. A command that fails is an
    /// outcome, not an error.
    pub fn apply(&self, action: Action) -> Result<Outcome, Error> {
        match action {
            Action::Exec(exec) => self.exec(exec),
        }
    }

    fn exec(&self, exec: Exec) -> Result<Outcome, Error> {
        match &self.0 {
            Kind::Threads(sandbox) => {
                let (stdin, stdout, stderr) =
                    (std::io::stdin(), std::io::stdout(), std::io::stderr());
                let inherited = Inherited { stdin: &stdin, stdout: &stdout, stderr: &stderr };
                run::exec(sandbox, exec, &inherited)
            }
            Kind::Process(remote) => remote.exec(exec),
        }
    }
}
