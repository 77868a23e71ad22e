//! Process substitution: a command that runs beside the shell, and the path of its input or output.
//!
//! The path is `/dev/fd/N` of a pipe, N from 63 down (bash manual 3.5.6). Where processes do not
//! run concurrently or there is no `/dev/fd`, a temporary file takes the pipe's place: `<(cmd)`
//! runs to its end before the command that reads, `>(cmd)` after the command that writes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use box_sys::Pid;
use sh_expand::{ExpandCause, ExpandError};
use sh_syntax::ast::{
    Command, CommandKind, CommandWord, ProcessSub, SimpleCommand, Word, WordPart,
};

use crate::Shell;
use crate::command::Pumps;
use crate::io::{Buffer, DescriptorTarget, OpenFile};
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;
use crate::walk::DetachedCode;

/// The time for which the shell waits for `>(cmd)` at the end of a command. bash does not wait, but
/// users expect this output before that of the next command.
const PATIENCE: Duration = Duration::from_millis(200);

/// The directory in which a process finds its descriptors by number.
const DEV_FD: &str = "/dev/fd";

/// A substitution of the running command.
pub struct RunningProcessSub {
    pid: Option<Pid>,
    /// The descriptor of the script that keeps the shell's end open.
    fd: Option<u32>,
    /// A file that takes the place of a pipe, with the command to run on it afterwards.
    file: Option<(PathBuf, Option<Rc<ProcessSub>>)>,
    read: bool,
    captured: Vec<CapturedFile>,
}

/// A file with output of a substitution that is part of the result of a surrounding `$( )`. The
/// output does not go to a pipe, because the pipe would have no reader while the shell itself
/// writes to `>(cmd)`.
struct CapturedFile {
    from: File,
    into: Buffer,
}

/// Builds the command `eval TEXT`.
fn eval_command(text: &[u8]) -> Command {
    let word = |text: &[u8]| {
        let quoted = box_text::escape::single_quote(text);
        let parts = vec![WordPart::Quoted(Rc::new(text.to_vec()))];
        CommandWord::Word(Word { parts, raw: quoted.into() })
    };
    let words = vec![word(b"eval"), word(text)];
    let simple = SimpleCommand { words, assignments: Vec::new() };
    Command { kind: CommandKind::Simple(simple), redirects: Vec::new(), line: 0 }
}

impl Shell<'_> {
    pub(crate) fn start_process_sub(
        &mut self,
        sub: &Rc<ProcessSub>,
    ) -> Result<Vec<u8>, ExpandError> {
        self.sync_output();
        let named = self.sys.concurrent() && box_sys::meta::stat(Path::new(DEV_FD), true).is_ok();
        let r = if named { self.pipe_process_sub(sub) } else { self.file_process_sub(sub) };
        r.map_err(|e| ExpandCause::ProcessSubstitution(box_sys::error_text(&e)).into())
    }

    fn launch_process_sub(
        &mut self,
        sub: &Rc<ProcessSub>,
        theirs: File,
    ) -> std::io::Result<(Option<Pid>, Vec<CapturedFile>)> {
        let theirs = DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(theirs), true)));
        let mut pumps = Pumps::default();
        let fd = u32::from(sub.read);
        let mut captured: Vec<CapturedFile> = Vec::new();
        let mut stand_ins = vec![(fd, theirs)];
        for n in (1..3).filter(|n| *n != fd) {
            let Some(DescriptorTarget::Capture(into)) = self.state.fds.get(n).cloned() else {
                continue;
            };
            if let Some((_, same)) =
                captured.iter().zip(1..).find(|(c, _)| Rc::ptr_eq(&c.into, &into))
            {
                let desc: DescriptorTarget = stand_ins[same].1.clone();
                stand_ins.push((n, desc));
                continue;
            }
            let (path, write) = self.stand_in()?;
            let from = self.sys.open(&path, File::options().read(true));
            self.sys.remove(&path)?;
            captured.push(CapturedFile { from: from?, into });
            stand_ins
                .push((n, DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(write), true)))));
        }
        // Where aliases could change the meaning, the text is parsed while it runs.
        let evaluated = self.text_with_aliases(&sub.body).map(|text| eval_command(&text));
        let code = match &evaluated {
            Some(command) => DetachedCode::Command(command),
            None => DetachedCode::List(&sub.body),
        };
        let action = self.state.here.action;
        let started = self.start_detached(
            |s| {
                s.enter_context(CommandContext::Substitution { action });
                s.state.traps.enter_process_sub();
                s.state.options.switch_set(SetOpt::Verbose, false);
                for (n, desc) in stand_ins {
                    s.state.fds.set(n, Some(desc));
                }
            },
            code,
            &mut pumps,
        );
        let pid = match started {
            crate::walk::StartResult::Pid(pid) => {
                self.state.ids.last_background = Some(pid);
                Some(pid)
            }
            // A substitution without commands has no process in bash either.
            crate::walk::StartResult::Done(_) if sub.body.items.is_empty() => None,
            crate::walk::StartResult::Done(status) => {
                let pid = self.state.ids.pseudo_pid(self.children.next_pseudo());
                self.state.ids.last_background = Some(pid);
                self.state.jobs.remember_status(pid, status);
                None
            }
        };
        Ok((pid, captured))
    }

    /// Creates a temporary file, open for appending.
    fn stand_in(&mut self) -> std::io::Result<(PathBuf, File)> {
        let number = self.children.next_pseudo();
        let path = PathBuf::from(format!("/tmp/.box-sub-{}-{number}", self.sys.pid()));
        let file = self.sys.open(&path, File::options().append(true).create_new(true))?;
        Ok((path, file))
    }

    /// Waits for a substitution and takes its output.
    fn take_captured(&mut self, pid: Option<Pid>, captured: Vec<CapturedFile>) {
        if captured.is_empty() {
            return;
        }
        if let Some(pid) = pid {
            let status = self.wait_for(pid);
            self.state.jobs.remember_status(pid, status);
        }
        for c in captured {
            self.drain_pump(&c.from, &c.into);
        }
    }

    fn pipe_process_sub(&mut self, sub: &Rc<ProcessSub>) -> std::io::Result<Vec<u8>> {
        let (read, write) = self.sys.pipe()?;
        let (ours, theirs) = if sub.read { (read, write) } else { (write, read) };
        // A process that opens a pipe with `<>` is also a writer of it, so it never sees the end
        // (`read -t 1 <> <(:)`).
        let other_end =
            if self.state.here.both_ways && sub.read { Some(self.sys.dup(&theirs)?) } else { None };
        let (pid, captured) = self.launch_process_sub(sub, theirs)?;
        let n = (20..64).rev().find(|n| self.state.fds.get(*n).is_none());
        let n = n.ok_or_else(|| std::io::Error::other("Too many open files"))?;
        let mut file = OpenFile::new(Rc::new(ours), true);
        file.other_end = other_end;
        self.state.fds.set(n, Some(DescriptorTarget::File(Rc::new(file))));
        self.process_subs.push(RunningProcessSub {
            pid,
            fd: Some(n),
            file: None,
            read: sub.read,
            captured,
        });
        Ok(format!("/dev/fd/{n}").into_bytes())
    }

    fn file_process_sub(&mut self, sub: &Rc<ProcessSub>) -> std::io::Result<Vec<u8>> {
        let (path, file) = self.stand_in()?;
        let mut later = None;
        if sub.read {
            let (pid, captured) = self.launch_process_sub(sub, file)?;
            if let Some(pid) = pid {
                self.wait_for(pid);
            }
            self.take_captured(None, captured);
        } else {
            later = Some(sub.clone());
        }
        let text = box_sys::path::to_bytes(&path).to_vec();
        self.process_subs.push(RunningProcessSub {
            pid: None,
            fd: None,
            file: Some((path, later)),
            read: sub.read,
            captured: Vec::new(),
        });
        Ok(text)
    }

    /// Runs a command and ends the substitutions that were started for it.
    #[inline]
    pub(crate) fn ending_process_subs<T>(&mut self, command: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.process_subs.len();
        let r = command(self);
        self.end_process_subs(before);
        r
    }

    /// Ends all substitutions except the first `keep`.
    pub(crate) fn end_process_subs(&mut self, keep: usize) {
        while self.process_subs.len() > keep {
            let Some(sub) = self.process_subs.pop() else { return };
            self.sync_output();
            let held = match sub.fd.map(|n| self.state.fds.set(n, None)) {
                // The pipe is still open in another place (`exec > >(cmd)`), so its reader
                // continues.
                Some(Some(DescriptorTarget::File(f))) => Rc::strong_count(&f) > 1,
                _ => false,
            };
            if let Some((path, later)) = sub.file {
                if let Some(later) = later
                    && let Ok(f) = self.sys.open(&path, File::options().read(true))
                    && let Ok((pid, captured)) = self.launch_process_sub(&later, f)
                {
                    if let Some(pid) = pid {
                        self.wait_for(pid);
                    }
                    self.take_captured(None, captured);
                }
                let _ = self.sys.remove(&path);
                continue;
            }
            if !sub.captured.is_empty() && !held {
                self.take_captured(sub.pid, sub.captured);
            } else if let (Some(pid), false, false) = (sub.pid, sub.read, held) {
                self.wait_a_moment(pid);
            }
        }
    }

    /// Leaves the substitutions of a command that still runs beside the shell. Only temporary files
    /// are removed, because their users have already finished. Returns the substitutions to wait
    /// for: those that write into the result of a `$( )` and, for a `stage`, those that read the
    /// stage's output.
    pub(crate) fn leave_process_subs(&mut self, stage: bool) -> Vec<RunningProcessSub> {
        let all = std::mem::take(&mut self.process_subs);
        let (files, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|s| s.file.is_some());
        self.process_subs = files;
        self.end_process_subs(0);
        // The descriptors belong to the copy of the state, which closes them.
        let awaited = others.into_iter().filter(|s| !s.captured.is_empty() || stage && !s.read);
        awaited.map(|s| RunningProcessSub { fd: None, ..s }).collect()
    }

    fn wait_a_moment(&mut self, pid: Pid) {
        let mut waited = Duration::ZERO;
        let mut step = Duration::from_micros(200);
        while waited < PATIENCE {
            match self.sys.try_wait(pid) {
                Ok(Some(s)) => {
                    let status = i32::from(s.shell_status());
                    self.state.jobs.remember_status(pid, status);
                    return;
                }
                Err(_) => return,
                Ok(None) => {}
            }
            std::thread::sleep(step);
            waited += step;
            step = (step * 2).min(Duration::from_millis(10));
        }
    }
}
