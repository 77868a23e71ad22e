//! The open redirections: files, pipes, coprocesses; and `close`, `fflush`, `system`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::rc::Rc;

use box_applet::Env;
use box_applet::command::{Child, ChildCommand, ChildStream};
use box_sys::{WaitStatus, error_text};

use super::reader::RecordReader;
use super::{AwkMachine, GlobalCell, Result};
use crate::array::ElementSlot;
use crate::ast::OutputRedirect;
use crate::error::AwkRunError;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::AwkValue;

/// An open output.
pub(super) enum OpenOutput {
    Stdout,
    Stderr,
    File(BufWriter<File>),
    /// A command's standard input.
    Pipe(BufWriter<File>, Child),
    /// The whole input of a command, kept until `close`, where commands cannot run concurrently.
    Spool(BufWriter<File>, Vec<u8>),
}

/// An open input.
pub(super) struct OpenInput {
    pub reader: RecordReader,
    pub child: Option<Child>,
}

/// A command whose input and output are both open.
pub(super) struct Coprocess {
    pub out: Option<BufWriter<File>>,
    pub reader: Option<RecordReader>,
    child: Child,
}

/// The kind of redirection under which a name is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectionKind {
    FileOut,
    PipeOut,
    FileIn,
    PipeIn,
    Coprocess,
}

/// All open redirections, by name.
#[derive(Default)]
pub(super) struct AwkStreams {
    /// The redirections in order of opening, because `close` ends the last one of a name.
    pub order: Vec<(RedirectionKind, Vec<u8>)>,
    pub files_out: HashMap<Vec<u8>, OpenOutput>,
    pub pipes_out: HashMap<Vec<u8>, OpenOutput>,
    pub files_in: HashMap<Vec<u8>, OpenInput>,
    pub pipes_in: HashMap<Vec<u8>, OpenInput>,
    pub coprocesses: HashMap<Vec<u8>, Coprocess>,
}

/// Returns a wait status as gawk reports it: the exit code, or 256 plus the signal.
fn status_number(status: WaitStatus) -> f64 {
    match status {
        WaitStatus::Exited(c) => f64::from(c),
        WaitStatus::Signaled(s) => 256.0 + f64::from(s),
    }
}

/// Refuses a redirection to or from nothing.
pub(super) fn check_redirection_name(sign: &str, name: &[u8]) -> Result<()> {
    if name.is_empty() {
        return Err(AwkRunError::fatal(format!(
            "expression for `{sign}' redirection has null string value"
        )));
    }
    Ok(())
}

impl AwkMachine<'_, '_> {
    /// Returns the environment of commands, which is the current content of ENVIRON.
    fn command_env(&self) -> Env {
        match &self.globals[Special::Environ as usize] {
            GlobalCell::Array(a) => {
                let a = a.borrow();
                let pairs = a.iter().filter_map(|(k, slot)| match slot {
                    ElementSlot::Value(v) => {
                        Some((k.text().to_vec(), v.text(&self.convfmt).to_vec()))
                    }
                    ElementSlot::Array(_) => None,
                });
                pairs.collect()
            }
            GlobalCell::Value(_) => self.ctx.env.clone(),
        }
    }

    fn shell_command(&self, command: &[u8]) -> ChildCommand {
        let mut c = ChildCommand::shell(command);
        c.env = Some(self.command_env());
        c
    }

    /// Flushes all open outputs, because a command is about to run.
    pub(super) fn flush_all(&mut self) -> Result<()> {
        self.flush_stdout()?;
        let outs = self.streams.files_out.values_mut().chain(self.streams.pipes_out.values_mut());
        for out in outs {
            if let OpenOutput::File(w) | OpenOutput::Pipe(w, _) | OpenOutput::Spool(w, _) = out {
                let _ = w.flush();
            }
        }
        for c in self.streams.coprocesses.values_mut() {
            if let Some(w) = &mut c.out {
                let _ = w.flush();
            }
        }
        Ok(())
    }

    pub(super) fn flush_stdout(&mut self) -> Result<()> {
        let flushed = self.ctx.stdout.flush();
        self.check_stdout(flushed)
    }

    /// Ends the run if standard output is a closed pipe; reports any other error.
    pub(super) fn check_stdout(&mut self, r: io::Result<()>) -> Result<()> {
        match r {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(AwkRunError::BrokenPipe),
            Err(e) => {
                let text = error_text(&e);
                self.ctx.stdout.take_error();
                Err(AwkRunError::fatal(format!("print to \"standard output\" failed: {text}")))
            }
        }
    }

    /// `system(command)`.
    pub(super) fn call_system(&mut self, command: &[u8]) -> Result<f64> {
        self.flush_all()?;
        let started = self.shell_command(command).start(self.ctx);
        Ok(match started {
            Ok(child) => child.wait(self.ctx).map_or(-1.0, status_number),
            Err(e) => {
                self.ctx.error(format_args!("sh: {}", e.message));
                f64::from(e.status)
            }
        })
    }

    fn cannot_start(&self, command: &[u8], message: &str) -> AwkRunError {
        let shown = String::from_utf8_lossy(command);
        AwkRunError::fatal(format!("cannot open pipe `{shown}': {message}"))
    }

    /// Opens `command | getline`.
    pub(super) fn open_command(&mut self, command: &[u8]) -> Result<()> {
        check_redirection_name("|", command)?;
        self.flush_all()?;
        let piped =
            self.ctx.procs.pipe().map_err(|e| self.cannot_start(command, &error_text(&e)))?;
        let (r, w) = piped;
        let mut c = self.shell_command(command);
        c.stdout = ChildStream::File(Rc::new(w));
        let child = c.start(self.ctx).map_err(|e| self.cannot_start(command, &e.message))?;
        drop(c);
        let input = OpenInput { reader: RecordReader::new(Some(r)), child: Some(child) };
        self.streams.order.push((RedirectionKind::PipeIn, command.to_vec()));
        self.streams.pipes_in.insert(command.to_vec(), input);
        Ok(())
    }

    /// Opens an output by name.
    pub(super) fn open_output(&mut self, kind: OutputRedirect, name: &[u8]) -> Result<()> {
        let sign = match kind {
            OutputRedirect::Append => ">>",
            OutputRedirect::Pipe => "|",
            _ => ">",
        };
        check_redirection_name(sign, name)?;
        if kind == OutputRedirect::Pipe {
            let out = self.open_pipe(name)?;
            self.streams.order.push((RedirectionKind::PipeOut, name.to_vec()));
            self.streams.pipes_out.insert(name.to_vec(), out);
            return Ok(());
        }
        let out = match name {
            b"/dev/stdout" | b"/dev/fd/1" | b"-" => OpenOutput::Stdout,
            b"/dev/stderr" | b"/dev/fd/2" => OpenOutput::Stderr,
            _ => {
                let path = self.ctx.path(name);
                let mut options = File::options();
                options.create(true);
                if kind == OutputRedirect::Append {
                    options.append(true);
                } else {
                    options.write(true).truncate(true);
                }
                let file = options.open(path).map_err(|e| {
                    let shown = String::from_utf8_lossy(name);
                    let text = error_text(&e);
                    AwkRunError::fatal(format!("cannot redirect to `{shown}': {text}"))
                })?;
                OpenOutput::File(BufWriter::with_capacity(32 * 1024, file))
            }
        };
        self.streams.order.push((RedirectionKind::FileOut, name.to_vec()));
        self.streams.files_out.insert(name.to_vec(), out);
        Ok(())
    }

    fn open_pipe(&mut self, command: &[u8]) -> Result<OpenOutput> {
        self.flush_all()?;
        let (r, w) =
            self.ctx.procs.pipe().map_err(|e| self.cannot_start(command, &error_text(&e)))?;
        let w = BufWriter::with_capacity(32 * 1024, w);
        if !self.ctx.procs.concurrent() {
            drop(r);
            return Ok(OpenOutput::Spool(w, command.to_vec()));
        }
        let mut c = self.shell_command(command);
        c.stdin = ChildStream::File(Rc::new(r));
        let child = c.start(self.ctx).map_err(|e| self.cannot_start(command, &e.message))?;
        Ok(OpenOutput::Pipe(w, child))
    }

    pub(super) fn open_coprocess(&mut self, command: &[u8]) -> Result<()> {
        check_redirection_name("|&", command)?;
        let shown = String::from_utf8_lossy(command).into_owned();
        if command.starts_with(b"/inet") {
            return Err(AwkRunError::fatal(format!("`{shown}': no network in this system")));
        }
        if !self.ctx.procs.concurrent() {
            let message = format!(
                "cannot open two way pipe `{shown}': processes do not run concurrently here"
            );
            return Err(AwkRunError::fatal(message));
        }
        self.flush_all()?;
        let fail = |e: io::Error| {
            AwkRunError::fatal(format!("cannot open two way pipe `{shown}': {}", error_text(&e)))
        };
        let (child_in, to_child) = self.ctx.procs.pipe().map_err(fail)?;
        let (from_child, child_out) = self.ctx.procs.pipe().map_err(fail)?;
        let mut c = self.shell_command(command);
        c.stdin = ChildStream::File(Rc::new(child_in));
        c.stdout = ChildStream::File(Rc::new(child_out));
        let child = c.start(self.ctx).map_err(|e| {
            AwkRunError::fatal(format!("cannot open two way pipe `{shown}': {}", e.message))
        })?;
        let coprocess = Coprocess {
            out: Some(BufWriter::new(to_child)),
            reader: Some(RecordReader::new(Some(from_child))),
            child,
        };
        self.streams.order.push((RedirectionKind::Coprocess, command.to_vec()));
        self.streams.coprocesses.insert(command.to_vec(), coprocess);
        Ok(())
    }

    /// Closes an output and returns its status.
    fn end_output(&mut self, out: OpenOutput) -> f64 {
        match out {
            OpenOutput::Stdout | OpenOutput::Stderr => 0.0,
            OpenOutput::File(mut w) => {
                if w.flush().is_ok() {
                    0.0
                } else {
                    -1.0
                }
            }
            OpenOutput::Pipe(mut w, child) => {
                let _ = w.flush();
                drop(w);
                child.wait(self.ctx).map_or(-1.0, status_number)
            }
            OpenOutput::Spool(w, command) => {
                let Ok(mut file) = w.into_inner() else { return -1.0 };
                if file.seek(SeekFrom::Start(0)).is_err() {
                    return -1.0;
                }
                let _ = self.ctx.stdout.flush();
                let mut c = self.shell_command(&command);
                c.stdin = ChildStream::File(Rc::new(file));
                match c.start(self.ctx) {
                    Ok(child) => child.wait(self.ctx).map_or(-1.0, status_number),
                    Err(e) => f64::from(e.status),
                }
            }
        }
    }

    fn end_input(&mut self, input: OpenInput) -> f64 {
        let OpenInput { reader, child } = input;
        drop(reader);
        match child {
            Some(child) => child.wait(self.ctx).map_or(-1.0, status_number),
            None => 0.0,
        }
    }

    /// Runs `close(name)` and `close(name, how)`: closes the most recently opened redirection of
    /// that name.
    pub(super) fn call_close(&mut self, name: &[u8], how: Option<&[u8]>) -> Result<f64> {
        let Some(at) = self.streams.order.iter().rposition(|(_, n)| n == name) else {
            self.set_errno("close of redirection that was never opened");
            return Ok(-1.0);
        };
        let kind = self.streams.order[at].0;
        if kind == RedirectionKind::Coprocess && !self.close_side(name, how)? {
            return Ok(0.0);
        }
        self.streams.order.remove(at);
        let status = match kind {
            RedirectionKind::FileOut => {
                self.streams.files_out.remove(name).map(|o| self.end_output(o))
            }
            RedirectionKind::PipeOut => {
                // Earlier output must come before the output of the command.
                self.flush_stdout()?;
                self.streams.pipes_out.remove(name).map(|o| self.end_output(o))
            }
            RedirectionKind::FileIn => {
                self.streams.files_in.remove(name).map(|i| self.end_input(i))
            }
            RedirectionKind::PipeIn => {
                self.streams.pipes_in.remove(name).map(|i| self.end_input(i))
            }
            RedirectionKind::Coprocess => self.streams.coprocesses.remove(name).map(|c| {
                let Coprocess { out, reader, child } = c;
                if let Some(mut w) = out {
                    let _ = w.flush();
                }
                drop(reader);
                child.wait(self.ctx).map_or(-1.0, status_number)
            }),
        };
        Ok(status.unwrap_or(-1.0))
    }

    /// Closes one side of a coprocess, and returns whether the whole coprocess is to be closed.
    fn close_side(&mut self, name: &[u8], how: Option<&[u8]>) -> Result<bool> {
        let (Some(how), Some(c)) = (how, self.streams.coprocesses.get_mut(name)) else {
            return Ok(true);
        };
        if how.eq_ignore_ascii_case(b"to") {
            if let Some(mut w) = c.out.take() {
                let _ = w.flush();
            }
            return Ok(c.reader.is_none());
        }
        if how.eq_ignore_ascii_case(b"from") {
            c.reader = None;
            return Ok(c.out.is_none());
        }
        Err(AwkRunError::fatal("close: second argument must be \"to\" or \"from\""))
    }

    /// Runs `fflush()` and `fflush(name)`.
    pub(super) fn call_fflush(&mut self, name: Option<&[u8]>) -> Result<f64> {
        let Some(name) = name.filter(|n| !n.is_empty()) else {
            self.flush_all()?;
            return Ok(0.0);
        };
        let mut found = false;
        for map in [&mut self.streams.files_out, &mut self.streams.pipes_out] {
            if let Some(out) = map.get_mut(name) {
                found = true;
                if let OpenOutput::File(w) | OpenOutput::Pipe(w, _) | OpenOutput::Spool(w, _) = out
                {
                    let _ = w.flush();
                }
            }
        }
        if let Some(Coprocess { out: Some(w), .. }) = self.streams.coprocesses.get_mut(name) {
            found = true;
            let _ = w.flush();
        }
        if matches!(name, b"/dev/stdout" | b"-") {
            self.flush_stdout()?;
            found = true;
        }
        Ok(if found { 0.0 } else { -1.0 })
    }

    /// Closes all outputs at the end of the run: pipes first, as gawk does, then standard output.
    pub(super) fn close_all(&mut self) -> Result<()> {
        self.end_edit()?;
        let streams = std::mem::take(&mut self.streams);
        let AwkStreams { order: _, files_out, pipes_out, files_in, pipes_in, coprocesses } =
            streams;
        for (_, c) in coprocesses {
            let Coprocess { out, reader, child } = c;
            if let Some(mut w) = out {
                let _ = w.flush();
            }
            drop(reader);
            let _ = child.wait(self.ctx);
        }
        for (_, out) in files_out.into_iter().chain(pipes_out) {
            self.end_output(out);
        }
        for (_, input) in files_in.into_iter().chain(pipes_in) {
            self.end_input(input);
        }
        self.flush_stdout()
    }

    pub(super) fn set_errno(&mut self, text: &str) {
        self.set_global(Special::Errno, AwkValue::Str(AwkText::new(text.as_bytes())));
    }
}
