//! The program of a context that a client has created: an interpreter of Python that reads
//! executions on standard input, beside the session's calls.

use super::output::{OutputPart, OutputSplitter};
use crate::fault::Fault;
use crate::sandbox::RunningBox;
use serde_json::Value;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use wasibox::{Exec, Input, Session, SpawnedProcess, lock_mutex};

/// The numbers of signals: an interrupt (SIGINT), and the end (SIGKILL).
const INTERRUPT: u8 = 2;
const KILL: u8 = 9;
/// The bytes of one read.
const PIECE: usize = 64 << 10;

/// A receiver of an execution's standard error.
pub type ErrorReceiver = Box<dyn Fn(&[u8]) + Send>;

/// An interpreter beside the session's calls.
pub struct ChildContext {
    session: Arc<Session>,
    pid: AtomicU32,
    pipes: Mutex<Option<ChildPipes>>,
    errors: Arc<Mutex<Option<ErrorReceiver>>>,
}

struct ChildPipes {
    stdin: PipeWriter,
    stdout: PipeReader,
}

impl ChildContext {
    /// Starts an interpreter in a directory.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn begin(running: &RunningBox, cwd: &str) -> Result<ChildContext, Fault> {
        let child = ChildContext {
            session: running.session.clone(),
            pid: AtomicU32::new(0),
            pipes: Mutex::default(),
            errors: Arc::default(),
        };
        *lock_mutex(&child.pipes) = Some(child.start(running, cwd)?);
        Ok(child)
    }

    /// Ends the interpreter, and starts another one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn restart(&self, running: &RunningBox, cwd: &str) -> Result<(), Fault> {
        self.end();
        let mut pipes = lock_mutex(&self.pipes);
        *pipes = Some(self.start(running, cwd)?);
        Ok(())
    }

    fn start(&self, running: &RunningBox, cwd: &str) -> Result<ChildPipes, Fault> {
        let mut exec = Exec::new(["python3", "-c", &super::driver_module("serve()")]);
        exec.cwd = Some(cwd.to_owned());
        exec.input = Input::Inherit;
        let envs = running.envs.iter().map(|(name, value)| (name.clone(), value.clone()));
        exec.env = envs.map(|(name, value)| (name.into(), value.into())).collect();
        let spawned = running.session.spawn(exec).map_err(|e| match e {
            wasibox::Error::Sandbox(e) => Fault::invalid(e.to_string()),
            e => e.into(),
        })?;
        let SpawnedProcess { pid, stdin, stdout, mut stderr, end: _ } = spawned;
        let stdin = stdin.ok_or_else(Fault::internal)?;
        let errors = self.errors.clone();
        let read = move || {
            let mut buffer = vec![0; PIECE];
            while let Ok(n @ 1..) = stderr.read(&mut buffer) {
                if let Some(receive) = &*lock_mutex(&errors) {
                    receive(&buffer[..n]);
                }
            }
        };
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(read)
            .map_err(|_| Fault::internal())?;
        self.pid.store(pid, Ordering::Relaxed);
        Ok(ChildPipes { stdin, stdout })
    }

    /// Runs an execution to its end. Its output goes to `pass`, and to `errors` meanwhile.
    ///
    /// # Errors
    /// If the interpreter has ended.
    pub fn run(
        &self,
        request: &Value,
        mark: &str,
        errors: ErrorReceiver,
        pass: &mut dyn FnMut(OutputPart),
    ) -> Result<(), Fault> {
        *lock_mutex(&self.errors) = Some(errors);
        let done = self.run_to_end(request, mark, pass);
        *lock_mutex(&self.errors) = None;
        done
    }

    fn run_to_end(
        &self,
        request: &Value,
        mark: &str,
        pass: &mut dyn FnMut(OutputPart),
    ) -> Result<(), Fault> {
        let gone = || Fault::missing("the context has ended; restart it, or create another one");
        let mut pipes = lock_mutex(&self.pipes);
        let ChildPipes { stdin, stdout } = pipes.as_mut().ok_or_else(gone)?;
        let mut line = request.to_string().into_bytes();
        line.push(b'\n');
        stdin.write_all(&line).map_err(|_| gone())?;
        let (mut splitter, mut buffer) = (OutputSplitter::new(mark), vec![0; PIECE]);
        loop {
            let n = match stdout.read(&mut buffer) {
                Ok(n @ 1..) => n,
                _ => {
                    *pipes = None;
                    return Err(gone());
                }
            };
            for part in splitter.take(&buffer[..n]) {
                let is_end =
                    matches!(&part, OutputPart::Report(r) if r["type"] == "end_of_execution");
                if is_end {
                    return Ok(());
                }
                pass(part);
            }
        }
    }

    /// Interrupts the execution.
    pub fn interrupt(&self) {
        self.session.signal(self.pid.load(Ordering::Relaxed), INTERRUPT);
    }

    /// Ends the interpreter.
    pub fn end(&self) {
        self.session.signal(self.pid.load(Ordering::Relaxed), KILL);
    }
}
