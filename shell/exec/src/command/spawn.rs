//! Descriptors, pumps and waiting around a child.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use box_sys::{NewGroup, Pid, SpawnSpec, WaitStatus};

use crate::Shell;
use crate::io::{Buffer, DescriptorTarget};
use crate::state::jobs::JobPump;

/// Pipes that carry output of children into capture buffers. All children of one pipeline
/// that write to the same buffer share one pipe, so that reading it to its end suffices.
#[derive(Default)]
pub struct Pumps {
    list: Vec<(Buffer, Rc<File>, Option<Rc<File>>)>,
}

impl Pumps {
    fn pump_writer(&mut self, buffer: &Buffer, shell: &Shell<'_>) -> io::Result<Rc<File>> {
        if let Some((_, _, Some(w))) = self.list.iter().find(|(b, _, _)| Rc::ptr_eq(b, buffer)) {
            return Ok(w.clone());
        }
        let (r, w) = shell.sys.pipe()?;
        let w = Rc::new(w);
        self.list.push((buffer.clone(), Rc::new(r), Some(w.clone())));
        Ok(w)
    }

    /// Returns whether there are no pipes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Closes this shell's writing ends; those that remain open belong to the children.
    pub fn close_writers(&mut self) {
        for (_, _, w) in &mut self.list {
            *w = None;
        }
    }

    /// Transfers the pumps to a job.
    pub fn into_job(mut self) -> Vec<JobPump> {
        self.close_writers();
        self.list.into_iter().map(|(into, read, _)| JobPump { read, into }).collect()
    }

    /// Reads all that the children write, until they close the pipes.
    pub fn drain_all(mut self, shell: &mut Shell<'_>) {
        self.close_writers();
        for (buffer, r, _) in self.list {
            shell.drain_pump(&r, &buffer);
        }
    }
}

/// The attributes of the next child, in addition to descriptors and environment.
#[derive(Debug, Default)]
pub(crate) struct Children {
    /// The process group that the child is put into.
    pub group: NewGroup,
    /// The number of subshells and jobs so far that had no process of their own.
    pseudo: u32,
}

impl Children {
    /// Returns the group of the child that is started now; later children are in the shell's group
    /// again.
    pub fn take_group(&mut self) -> NewGroup {
        std::mem::take(&mut self.group)
    }

    /// Counts a subshell or job that has no process.
    pub fn next_pseudo(&mut self) -> u32 {
        self.pseudo += 1;
        self.pseudo
    }
}

/// The maximum length in bytes of a process's task description.
const MAX_TASK: usize = 256;

impl Shell<'_> {
    /// Reads a pump to its end, or to the limit for captured data.
    pub(crate) fn drain_pump(&mut self, read: &File, into: &Buffer) {
        let mut chunk = [0u8; 8192];
        let mut read = read;
        loop {
            match read.read(&mut chunk) {
                Ok(0) => return,
                Ok(n) => {
                    let mut into = into.borrow_mut();
                    into.extend_from_slice(&chunk[..n]);
                    if into.len() as u64 > self.budget.limits.expansion_bytes {
                        self.budget.note_hit("captured output too large");
                        return;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Returns the descriptors of the table as real files for a child.
    pub(crate) fn child_fds(&mut self, pumps: &mut Pumps) -> io::Result<Vec<(u32, Rc<File>)>> {
        self.sync_output();
        let table = self.state.fds.clone();
        let mut out = Vec::new();
        for (n, desc) in table.iter() {
            let file = match desc {
                DescriptorTarget::File(f) => {
                    // Errors were already reported to the writer, or cannot be reported any more.
                    let _ = f.settle_position();
                    f.file().clone()
                }
                DescriptorTarget::Memory(m) => {
                    let f = m.make_real(self.sys)?;
                    let _ = f.settle_position();
                    f.file().clone()
                }
                DescriptorTarget::Capture(b) => pumps.pump_writer(b, self)?,
            };
            out.push((n, file));
        }
        Ok(out)
    }

    /// Starts a program with the current descriptors, environment and directory. The host shows
    /// `task`.
    pub(crate) fn spawn_program(
        &mut self,
        program: &Path,
        argv: &[Vec<u8>],
        extra: &[(u32, Rc<File>)],
        task: Option<&[u8]>,
        pumps: &mut Pumps,
    ) -> io::Result<Pid> {
        self.budget.processes += 1;
        let mut env = self.child_env();
        if self.state.last_arg.as_slice() != b"" || !argv.is_empty() {
            // `_` shows a child the path that it was started by.
            let path = box_sys::path::to_bytes(program).to_vec();
            Rc::make_mut(&mut env).push((b"_".to_vec(), path));
        }
        if let Some(task) = task {
            let task = task.iter().copied().take_while(|b| *b != 0).take(MAX_TASK).collect();
            Rc::make_mut(&mut env).push((box_sys::TASK_VARIABLE.into(), task));
        }
        let group = self.children.take_group();
        let mut fds = self.child_fds(pumps)?;
        fds.extend_from_slice(extra);
        let cwd = self.state.dirs.shared_cwd();
        box_sys::meta::set_umask(self.state.umask);
        self.with_ignored_signals(|s| {
            s.sys.spawn(&SpawnSpec { program, argv, env: &env, cwd: &cwd, fds: &fds, group })
        })
    }

    /// Replaces this process by another program. Returns only after a failure, with `Unsupported`
    /// if the program must be spawned.
    pub(crate) fn exec_in_place(&mut self, program: &Path, argv: &[Vec<u8>]) -> io::Result<()> {
        let mut pumps = Pumps::default();
        let fds = self.child_fds(&mut pumps)?;
        if !pumps.is_empty() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.sync_output();
        let mut env = self.child_env();
        Rc::make_mut(&mut env).push((b"_".to_vec(), box_sys::path::to_bytes(program).to_vec()));
        let cwd = self.state.dirs.shared_cwd();
        box_sys::meta::set_umask(self.state.umask);
        let group = NewGroup::Inherit;
        let spec = SpawnSpec { program, argv, env: &env, cwd: &cwd, fds: &fds, group };
        Err(self.sys.exec(&spec))
    }

    /// Waits for a child.
    pub(crate) fn wait_for(&mut self, pid: Pid) -> i32 {
        shell_status(&self.wait_for_status(pid))
    }

    /// Waits for the child of a foreground command, and prints a message if a signal ended it.
    /// `command` is the command's text.
    pub(crate) fn wait_in_foreground(
        &mut self,
        pid: Pid,
        command: impl FnOnce() -> Vec<u8>,
    ) -> i32 {
        let ended = self.wait_for_status(pid);
        self.report_in_foreground(pid, ended, command)
    }

    /// Waits for a child and returns how it ended.
    pub(crate) fn wait_for_status(&mut self, pid: Pid) -> io::Result<WaitStatus> {
        let ended = self.sys.wait(pid)?;
        self.child_ended();
        Ok(ended)
    }

    /// Prints a message if a signal ended the child of a foreground command, and returns the
    /// status.
    pub(crate) fn report_in_foreground(
        &mut self,
        pid: Pid,
        ended: io::Result<WaitStatus>,
        command: impl FnOnce() -> Vec<u8>,
    ) -> i32 {
        if let Ok(WaitStatus::Signaled(signal)) = ended
            && !self.is_about_to_end()
        {
            self.report_signal(pid, signal, command);
        }
        shell_status(&ended)
    }

    /// Prints bash's message about a child that a signal ended. It is only the signal's description
    /// for SIGTERM and for a signal with a trap. There is none for SIGINT and SIGPIPE, or within a
    /// command substitution.
    fn report_signal(&mut self, pid: Pid, signal: u8, command: impl FnOnce() -> Vec<u8>) {
        use box_sys::signal::{INT, PIPE, TERM, describe};
        /// The width of the longest description.
        const WIDTH: usize = 24;
        if [INT, PIPE].contains(&signal) || self.state.here.captured {
            return;
        }
        let text = describe(signal);
        let is_trapped = self.state.traps.get(signal).is_some_and(|action| !action.is_empty());
        if signal == TERM || is_trapped {
            self.write_err(format!("{text}\n").as_bytes());
            return;
        }
        let start = format!("{pid:>5} {text:<WIDTH$}");
        self.print_error(&[start.as_bytes(), &command()]);
    }
}

/// Returns the status that a shell shows for a child; 127 if it could not be waited for.
fn shell_status(ended: &io::Result<WaitStatus>) -> i32 {
    ended.as_ref().map_or(127, |status| i32::from(status.shell_status()))
}
