//! A session.

use crate::action::{Action, Exec, Input, Output};
use crate::files;
use crate::outcome::Outcome;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasibox_image::{Image, ImageError};
use wasibox_sandbox::streams::{BytesInput, Capture, HostStream, Meter};
use wasibox_sandbox::{Interrupt, LimitHit, Policy, RunSpec, Sandbox, SandboxError};

/// Why an action could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("standard streams: {0}")]
    Streams(#[from] std::io::Error),
}

impl From<ImageError> for Error {
    fn from(e: ImageError) -> Error {
        Error::Sandbox(e.into())
    }
}

/// An image, a policy, and the files that commands leave for the next ones.
pub struct Session {
    sandbox: Sandbox,
    output_limit: Option<u64>,
}

impl Session {
    /// Opens a session on the image at `path`. Machine code is kept in
    /// [`crate::default_artifact_dir`]; progress goes nowhere.
    ///
    /// # Errors
    /// A missing or damaged image, a mount that cannot be made.
    pub fn open(path: &Path, policy: Policy) -> Result<Session, Error> {
        let dir = crate::default_artifact_dir();
        Session::with(Arc::new(Image::open(path)?), policy, dir, Arc::new(|_| {}))
    }

    /// Opens a session, saying where machine code is kept (`None`: nowhere) and who is
    /// told when a program must be compiled first, one line at a time.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn with(
        image: Arc<Image>,
        policy: Policy,
        artifacts: Option<PathBuf>,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Session, Error> {
        let output_limit = policy.limits.output;
        let sandbox = Sandbox::new(image, policy, artifacts, progress)?;
        Ok(Session { sandbox, output_limit })
    }

    /// A handle that ends what runs, from another thread.
    pub fn interrupter(&self) -> Interrupt {
        self.sandbox.interrupter()
    }

    /// Does what is asked, and waits for it.
    ///
    /// # Errors
    /// If it could not be begun. A command that fails is an outcome, not an error.
    pub fn apply(&self, action: Action) -> Result<Outcome, Error> {
        match action {
            Action::Exec(exec) => self.exec(exec),
        }
    }

    fn exec(&self, exec: Exec) -> Result<Outcome, Error> {
        let env = exec.environment();
        let stdin: Arc<dyn wasibox_sandbox::Stream> = match exec.input {
            Input::Bytes(b) => BytesInput::new(b),
            Input::Inherit => HostStream::input(std::io::stdin())?,
        };
        let limit = match exec.output {
            Output::Capture { limit } => Some(self.output_limit.map_or(limit, |l| l.min(limit))),
            Output::Inherit => self.output_limit,
        };
        let meter = Meter::new(limit);
        let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
        let mut spec = RunSpec {
            argv: exec.argv,
            env,
            cwd: exec.cwd,
            stdin,
            stdout: out.clone(),
            stderr: err.clone(),
            meter: meter.clone(),
            timeout: exec.timeout,
        };
        if exec.output == Output::Inherit {
            spec.stdout = HostStream::output(std::io::stdout(), meter.clone())?;
            spec.stderr = HostStream::output(std::io::stderr(), meter.clone())?;
        }
        let mark = exec.list_files.then(|| self.sandbox.mark());
        let result = self.sandbox.run(spec)?;
        let files = mark.map(|m| files::describe(&self.sandbox, self.sandbox.changes(&m)));
        let exit_code = match (result.limit, result.interrupted) {
            (Some(LimitHit::Timeout), _) => 124,
            // Whatever the first process managed to do before it was killed.
            (Some(LimitHit::Output), _) => 137,
            (_, true) => 130,
            _ => result.status.code(),
        };
        Ok(Outcome {
            exit_code,
            stdout: out.take(),
            stderr: err.take(),
            truncated: meter.over(),
            duration_ms: result.duration.as_secs_f64() * 1000.0,
            cpu_ms: result.cpu.as_secs_f64() * 1000.0,
            peak_memory: result.peak_memory,
            limit_hit: result.limit,
            files: files.unwrap_or_default(),
        })
    }
}
