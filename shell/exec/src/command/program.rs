//! Running programs: a child process, or a call within the process for small applets of the image.

use std::path::Path;
use std::rc::Rc;

use box_applet::{Applet, AppletRun, Ctx, Env, InputSource, OutStream, OutputSink, StdInput};
use box_sys::{NewGroup, WaitStatus, path};
use box_text::escape;
use sh_expand::Str;
use sh_syntax::ast::Command;

use super::lookup::{MissingCommand, ProgramFile};
use super::spawn::Pumps;
use crate::Shell;
use crate::io::DescriptorTarget;
use crate::shell::Flow;

impl Shell<'_> {
    /// Runs a program in the foreground. Messages show the text of `c`, or the words if there is
    /// none.
    pub(crate) fn run_program(
        &mut self,
        p: &ProgramFile,
        argv: &[Str],
        c: Option<&Command>,
    ) -> Flow {
        if let Some(applet) = self.quick_applet(p, argv) {
            return self.run_applet(applet, argv);
        }
        let mut pumps = Pumps::default();
        let text = || match c {
            Some(c) => sh_syntax::print::command_line(c),
            None => argv.iter().map(|word| word.as_slice()).collect::<Vec<_>>().join(&b' '),
        };
        if self.controls_jobs() {
            self.begin_foreground_job();
            return match self.start_program(p, argv, &mut pumps) {
                Ok(pid) => {
                    pumps.drain_all(self);
                    let end = self.wait_foreground(vec![pid], || text().into());
                    let status = end.statuses.last().copied().unwrap_or(127);
                    self.finish_foreground(&end, status)
                }
                Err(m) => {
                    self.children.group = NewGroup::Inherit;
                    self.command_missing(&m, argv)
                }
            };
        }
        let begun = self.begin_foreground();
        match self.start_program(p, argv, &mut pumps) {
            Ok(pid) => {
                pumps.drain_all(self);
                let ended = self.wait_for_status(pid);
                let has_exited = matches!(ended, Ok(WaitStatus::Exited(_)));
                self.end_foreground(begun, has_exited);
                let status = self.report_in_foreground(pid, ended, text);
                if self.is_about_to_end() {
                    // The EXIT trap sees the status of the command before.
                    self.run_pending_traps()?;
                }
                Ok(status)
            }
            Err(m) => {
                self.end_foreground(begun, false);
                self.command_missing(&m, argv)
            }
        }
    }

    /// Starts a program; the error has the status and the text of a shell's message.
    pub(crate) fn start_program(
        &mut self,
        p: &ProgramFile,
        argv: &[Str],
        pumps: &mut Pumps,
    ) -> Result<box_sys::Pid, MissingCommand> {
        let full = full_argv(p, argv);
        let spawned = self.spawn_program(&p.program, &full, &[], None, pumps);
        spawned.map_err(|e| MissingCommand::from_error(&e).found_at(&argv[0], &p.file))
    }

    /// Replaces this process by a program. Returns the reason if that failed, `None` if this shell
    /// must spawn the program.
    pub(crate) fn exec_program(&mut self, p: &ProgramFile, argv: &[Str]) -> Option<MissingCommand> {
        let full = full_argv(p, argv);
        match self.exec_in_place(&p.program, &full) {
            Err(e) if e.kind() != std::io::ErrorKind::Unsupported => {
                Some(MissingCommand::from_error(&e))
            }
            _ => None,
        }
    }

    /// Returns the applet that a program file is, if it may run inside the shell.
    fn quick_applet(&self, p: &ProgramFile, argv: &[Str]) -> Option<&'static Applet> {
        if p.leading.is_some() || argv.iter().any(|a| names_descriptor(a)) {
            return None;
        }
        // A program that may be stopped needs a process.
        if self.controls_jobs() {
            return None;
        }
        // A CHLD trap must run for this command, so it needs a child.
        if self.state.traps.get(box_sys::signal::CHLD).is_some() {
            return None;
        }
        // The system has only one creation mask for the whole process.
        box_sys::meta::set_umask(self.state.umask);
        if self.state.umask != box_sys::meta::umask_in_force() {
            return None;
        }
        let dir = p.program.parent().map(path::to_bytes).unwrap_or_default();
        if !matches!(dir, b"/bin" | b"/usr/bin") {
            return None;
        }
        let applet = self.table.find(path::os_bytes(p.program.file_name()?))?;
        (applet.quick && matches!(applet.run, AppletRun::Ctx(_))).then_some(applet)
    }

    fn run_applet(&mut self, applet: &'static Applet, argv: &[Str]) -> Flow {
        let AppletRun::Ctx(run) = applet.run else { return Ok(126) };
        self.sync_output();
        let sink = |d: Option<&DescriptorTarget>| match d {
            Some(DescriptorTarget::File(f)) => {
                let _ = f.settle_position();
                OutputSink::File(f.file().clone())
            }
            Some(DescriptorTarget::Capture(b)) => OutputSink::Buffer(b.clone()),
            _ => OutputSink::Closed,
        };
        let source = match self.state.fds.get(0) {
            Some(DescriptorTarget::File(f)) => {
                let _ = f.settle_position();
                InputSource::File(f.file().clone())
            }
            Some(DescriptorTarget::Memory(m)) => match m.real_file() {
                Some(f) => InputSource::File(f.file().clone()),
                None => InputSource::Bytes(Rc::new(m.rest_bytes().to_vec())),
            },
            _ => InputSource::Closed,
        };
        let env: Env = self.child_env().iter().cloned().collect();
        let name = argv[0].rsplit(|c| *c == b'/').next().unwrap_or_default();
        let mut ctx = Ctx {
            name: String::from_utf8_lossy(name).into_owned(),
            applet: applet.name,
            arg0: argv[0].to_vec(),
            env,
            cwd: self.cwd().to_path_buf(),
            stdin: StdInput::new(source),
            stdout: OutStream::buffered(sink(self.state.fds.get(1))),
            stderr: OutStream::unbuffered(sink(self.state.fds.get(2))),
            extra_fds: Vec::new(),
            procs: self.sys,
            table: self.table,
        };
        let args: Vec<Vec<u8>> = argv[1..].iter().map(|a| a.to_vec()).collect();
        let exit = run(&mut ctx, &args);
        Ok(i32::from(ctx.finish(exit).0))
    }

    /// Handles a command that cannot be run: prints the message, or calls the user's
    /// `command_not_found_handle`.
    pub(crate) fn command_missing(&mut self, m: &MissingCommand, argv: &[Str]) -> Flow {
        let handler = b"command_not_found_handle".as_slice();
        if m.is_not_found()
            && let Some(f) = self.state.functions.get(handler).cloned()
        {
            let mut call = vec![Rc::new(handler.to_vec())];
            call.extend_from_slice(argv);
            return Ok(self.in_subshell(|s| s.call_function(&f, &call, false)));
        }
        let name = match &m.file {
            Some(file) => path::to_bytes(file).to_vec(),
            None if escape::needs_ansi_c(&argv[0]) && !argv[0].contains(&b'/') => {
                escape::ansi_c_quote(&argv[0])
            }
            None => argv[0].to_vec(),
        };
        self.print_error(&[&name, b": ", m.why.to_string().as_bytes()]);
        if m.is_not_found() {
            self.print_advice(&name, &argv[0]);
        }
        Ok(m.exit_status())
    }

    /// Prints the replacement for a command that does not exist, or which commands have a similar
    /// name, if any.
    fn print_advice(&mut self, shown: &[u8], name: &[u8]) {
        if let Some(text) = box_applet::instead::find_instead(name, self.table) {
            return self.print_error(&[shown, b": ", text.as_bytes()]);
        }
        let search = self.variable_text(b"PATH").map_or(Vec::new(), |p| p.to_vec());
        let builtins: Vec<&str> = crate::builtin::TABLE.iter().map(|b| b.name).collect();
        let found = box_applet::similar::find_similar(name, &search, self.table, &builtins);
        if !found.is_empty() {
            self.print_error(&[shown, b": similar: ", found.join(", ").as_bytes()]);
        }
    }

    /// Returns the program file that runs code of this shell in a process of its own.
    pub(crate) fn own_program(&self) -> &'static Path {
        Path::new("/bin/bash")
    }
}

/// Returns the words that a program is started with, without NUL bytes, which no system accepts.
fn full_argv(p: &ProgramFile, argv: &[Str]) -> Vec<Vec<u8>> {
    let mut full: Vec<Vec<u8>> = match &p.leading {
        None => argv.iter().map(|a| a.to_vec()).collect(),
        Some(leading) => {
            leading.iter().cloned().chain(argv.iter().skip(1).map(|a| a.to_vec())).collect()
        }
    };
    full.iter_mut().filter(|a| a.contains(&0)).for_each(|a| a.retain(|c| *c != 0));
    full
}

/// Returns whether an argument may name descriptors (`/dev/fd/63`, `--file=/dev/stdin`), which a
/// separate process has, but not an applet inside the shell.
fn names_descriptor(arg: &[u8]) -> bool {
    [b"/dev/fd".as_slice(), b"/dev/std", b"/proc/self"]
        .iter()
        .any(|name| arg.windows(name.len()).any(|w| w == *name))
}
