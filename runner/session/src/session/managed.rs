//! Processes that continue from call to call ([`crate::processes`]): beginning, reading, writing and
//! ending them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wasibox_protocol::{
    Answer, MAX_READ, ProcessKill, ProcessOutput, ProcessRead, ProcessReport, ProcessRequest,
    ProcessStart, ProcessWrite, READ_OUTPUT, RequestFault, checked_wait,
};

use super::{Cancel, Error, Session};
use crate::processes::{ManagedProcess, ProcessFollower};
/// The interval at which a wait looks at ports and at its cancellation.
const LOOK: Duration = Duration::from_millis(40);
/// After a look, the wait for the next one takes at least so many times as long.
const IDLE_TIMES: u32 = 9;
/// The time that a process has to end after SIGTERM, by default.
const END: Duration = Duration::from_secs(5);
/// The time that a process has to end after SIGKILL.
const KILL_END: Duration = Duration::from_secs(5);
/// The numbers of signals.
const TERM: u8 = 15;
const KILL: u8 = 9;
/// The memory of a compiled pattern.
const PATTERN: usize = 1 << 20;

impl Session {
    /// Begins a process that continues from call to call, with its output kept for
    /// [`Session::read_process`].
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{ProcessRead, ProcessStart};
    ///
    /// let script = Some("python3 -m http.server 8000".into());
    /// let server = session.start_process(&ProcessStart { script, ..ProcessStart::default() })?;
    /// let read = ProcessRead {
    ///     process: server.process,
    ///     port: Some(8000),
    ///     wait: Some(10.0),
    ///     ..ProcessRead::default()
    /// };
    /// assert!(session.read_process(&read, None)?.found);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Session::spawn`].
    pub fn start_process(&self, start: &ProcessStart) -> Result<ProcessReport, Error> {
        let exec = start.to_exec()?;
        let command = start.shown_command();
        let table = &self.0.processes;
        let cpu = table.cpu.clone();
        let process = if start.terminal {
            let begun =
                self.spawn_terminal(exec, start.size.map(Into::into).unwrap_or_default())?;
            table.add(|number| ManagedProcess::on_terminal(number, command, begun, cpu))?
        } else {
            let begun = self.spawn(exec)?;
            table.add(|number| ManagedProcess::on_pipes(number, command, begun, cpu))?
        };
        Ok(process.report())
    }

    /// Returns output of a process, after a wait for what the request names. `cancel` ends the wait.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{ProcessRead, ProcessStart};
    ///
    /// let script = Some("sleep 1; echo ready; sleep 60".into());
    /// let process = session.start_process(&ProcessStart { script, ..ProcessStart::default() })?.process;
    /// let (until, wait) = (Some("ready".into()), Some(10.0));
    /// let read = ProcessRead { process, until, wait, ..ProcessRead::default() };
    /// assert_eq!(session.read_process(&read, None)?.output, "ready\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoProcess`]; [`Error::Request`] for a malformed pattern or time; [`Error::Cancelled`].
    pub fn read_process(
        &self,
        read: &ProcessRead,
        cancel: Option<&Cancel>,
    ) -> Result<ProcessOutput, Error> {
        let process = self.0.processes.find(read.process)?;
        let until = Instant::now() + checked_wait(read.wait)?;
        let pattern = read.until.as_deref().map(compile_pattern).transpose()?;
        let after = read.after.unwrap_or_else(|| process.cursor());
        let found = loop {
            let begun = Instant::now();
            let is_last = !process.is_running() || begun >= until;
            let found = match (&pattern, read.port) {
                (Some(pattern), _) => process.is_match(after, pattern),
                (None, Some(port)) => self.ports()?.iter().any(|open| open.port == port),
                (None, None) => process.written() > after,
            };
            if found || is_last {
                break found;
            }
            if cancel.is_some_and(Cancel::is_cancelled) {
                return Err(Error::Cancelled);
            }
            let looked = begun.elapsed();
            let left = until.saturating_duration_since(Instant::now());
            // Any output ends this wait; ports and cancellations are looked at.
            process.wait_change(left.min(LOOK));
            // A process that writes without end must not keep a processor of the host busy with
            // looking.
            std::thread::sleep((looked * IDLE_TIMES).min(LOOK));
        };
        let most = read.max_output.unwrap_or(READ_OUTPUT).min(MAX_READ) as usize;
        let part = process.read(after, most, read.after.is_none());
        Ok(ProcessOutput {
            report: process.report(),
            output: String::from_utf8_lossy(&part.bytes).into_owned(),
            next: part.next,
            dropped: part.dropped,
            found,
        })
    }

    /// Follows the output of a process as it comes, from a position on; without one, from the last
    /// 256 KiB on. The process waits for its followers, so that none misses anything, but no longer
    /// than ten seconds for one that gets nothing.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{FollowedOutput, ProcessStart};
    ///
    /// let argv = Some(vec!["bash".into()]);
    /// let start = ProcessStart { argv, terminal: true, ..ProcessStart::default() };
    /// let number = session.start_process(&start)?.process;
    /// let follower = session.follow_process(number, None)?;
    /// let mut position = follower.from();
    /// while let FollowedOutput::Bytes { bytes, dropped } = follower.next_output(4096) {
    ///     position += dropped + bytes.len() as u64;
    ///     print!("{}", String::from_utf8_lossy(&bytes));
    ///     follower.confirm(position);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoProcess`].
    pub fn follow_process(
        &self,
        number: u64,
        after: Option<u64>,
    ) -> Result<ProcessFollower, Error> {
        Ok(ProcessFollower::new(self.0.processes.find(number)?, after))
    }

    /// Returns how long nobody has followed a process that runs; nothing if it is followed now.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// assert_eq!(session.unfollowed_time(1).ok(), None);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoProcess`] also if it has ended.
    pub fn unfollowed_time(&self, number: u64) -> Result<Option<Duration>, Error> {
        let process = self.0.processes.find(number)?;
        if process.is_running() { Ok(process.lonely_time()) } else { Err(Error::NoProcess(number)) }
    }

    /// Writes to a process's standard input, or types at its terminal. Does not wait until the process
    /// reads.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{ProcessStart, ProcessWrite};
    ///
    /// let argv = Some(vec!["sort".into()]);
    /// let process = session.start_process(&ProcessStart { argv, ..ProcessStart::default() })?.process;
    /// let text = "b\na\n".into();
    /// session.write_process(&ProcessWrite { process, text, end: true, size: None })?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoProcess`]; [`Error::Process`] if it has ended, its input has ended, or too much waits
    /// to be read.
    pub fn write_process(&self, write: &ProcessWrite) -> Result<ProcessReport, Error> {
        let process = self.0.processes.find(write.process)?;
        process.write(write)?;
        Ok(process.report())
    }

    /// Sends a signal to a process and those that it has begun, and waits for its end.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{ProcessKill, ProcessStart, ProcessStatus};
    ///
    /// let argv = Some(vec!["sleep".into(), "60".into()]);
    /// let process = session.start_process(&ProcessStart { argv, ..ProcessStart::default() })?.process;
    /// let killed = session.kill_process(&ProcessKill { process, ..ProcessKill::default() })?;
    /// assert_eq!(killed.status, ProcessStatus::Signaled);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoProcess`], and [`Error::Request`] for a malformed time.
    pub fn kill_process(&self, kill: &ProcessKill) -> Result<ProcessReport, Error> {
        let process = self.0.processes.find(kill.process)?;
        let wait = if kill.wait.is_some() { checked_wait(kill.wait)? } else { END };
        if process.is_running() {
            self.signal(process.pid, kill.signal.unwrap_or(TERM));
            if !process.wait_end(wait) && kill.signal.is_none() {
                self.signal(process.pid, KILL);
                process.wait_end(KILL_END);
            }
        }
        Ok(process.report())
    }

    /// Lists the processes that [`Session::start_process`] has begun: those that run, and those that
    /// ended last.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// for process in session.processes() {
    ///     println!("{} {:?} {}", process.process, process.status, process.command);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn processes(&self) -> Vec<ProcessReport> {
        self.0.processes.all().iter().map(|process| process.report()).collect()
    }

    /// Returns whether processes of [`Session::start_process`] run.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// assert!(!session.has_processes());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn has_processes(&self) -> bool {
        !self.0.processes.running().is_empty()
    }

    /// Returns the CPU time of the processes of [`Session::start_process`] that have ended since this
    /// was last called.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// assert!(session.take_process_cpu().is_zero());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn take_process_cpu(&self) -> Duration {
        Duration::from_micros(self.0.processes.cpu.swap(0, Ordering::AcqRel))
    }

    pub(crate) fn apply_process(
        &self,
        request: &ProcessRequest,
        cancel: Option<&Cancel>,
    ) -> Result<Answer, Error> {
        Ok(match request {
            ProcessRequest::Start(start) => Answer::Process(self.start_process(start)?),
            ProcessRequest::Read(read) => {
                Answer::ProcessOutput(Box::new(self.read_process(read, cancel)?))
            }
            ProcessRequest::Write(write) => Answer::Process(self.write_process(write)?),
            ProcessRequest::Kill(kill) => Answer::Process(self.kill_process(kill)?),
            ProcessRequest::List => Answer::Processes(self.processes()),
        })
    }
}

fn compile_pattern(pattern: &str) -> Result<regex::bytes::Regex, RequestFault> {
    regex::bytes::RegexBuilder::new(pattern)
        .size_limit(PATTERN)
        .multi_line(true)
        .build()
        .map_err(|e| RequestFault::Pattern(e.to_string()))
}
