//! Runs other commands, for the tools that need it (`xargs`, `find -exec`, `env`, `timeout`, awk's
//! `system`): PATH search, `#!` scripts, redirected streams, conventional statuses.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::rc::Rc;

use box_sys::{NewGroup, Pid, SpawnSpec, WaitStatus, error_text, path};

use crate::program::{self, ProgramForm};
use crate::{Ctx, Env, InputSource, OutputSink};

/// The file of a child's standard descriptor.
#[derive(Clone, Debug, Default)]
pub enum ChildStream {
    /// The stream of the applet itself.
    #[default]
    Inherit,
    Null,
    File(Rc<File>),
}

/// A command to run.
#[derive(Clone, Debug, Default)]
pub struct ChildCommand {
    /// The name and the arguments; not empty.
    pub argv: Vec<Vec<u8>>,
    /// The file to run if it is not the one that the name resolves to.
    pub program: Option<PathBuf>,
    /// The environment; `None` stands for the applet's.
    pub env: Option<Env>,
    /// The working directory; `None` stands for the applet's.
    pub cwd: Option<PathBuf>,
    pub stdin: ChildStream,
    pub stdout: ChildStream,
    pub stderr: ChildStream,
}

/// The reason why a command could not be started, with the exit status of shells for it.
#[derive(Debug)]
pub struct StartError {
    /// The exit status: 127 if the program was not found, otherwise 126.
    pub status: u8,
    /// GNU's text, e.g. `No such file or directory`.
    pub message: String,
    kind: io::ErrorKind,
}

impl StartError {
    fn new(e: &io::Error) -> StartError {
        let status = if e.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        StartError { status, message: error_text(e), kind: e.kind() }
    }

    /// Returns the text of the error that `execve(2)` gives: EACCES for a directory, not EISDIR.
    pub fn exec_message(&self) -> &str {
        match self.kind {
            io::ErrorKind::IsADirectory => "Permission denied",
            _ => &self.message,
        }
    }
}

/// A started command.
#[derive(Debug)]
pub struct Child {
    pub pid: Pid,
    /// Output to copy into memory streams after the child's end.
    pumps: Vec<(File, OutputSink)>,
}

impl ChildCommand {
    /// Returns a command made of a name and arguments.
    pub fn new(argv: Vec<Vec<u8>>) -> ChildCommand {
        ChildCommand { argv, ..ChildCommand::default() }
    }

    /// Returns a command that the shell runs: the system's shell, whatever PATH contains
    /// (system(3)).
    pub fn shell(text: &[u8]) -> ChildCommand {
        ChildCommand {
            program: Some(PathBuf::from("/bin/sh")),
            ..ChildCommand::new(vec![b"sh".to_vec(), b"-c".to_vec(), text.to_vec()])
        }
    }

    /// Starts the command. Flushes the applet's buffered output first, to keep the order of output.
    pub fn start(&self, ctx: &mut Ctx<'_>) -> Result<Child, StartError> {
        let (pid, pumps) = self.prepared(ctx, |ctx, spec| ctx.procs.spawn(spec))?;
        Ok(Child { pid, pumps })
    }

    /// Replaces this process with the command, or runs the command as a child where that is
    /// impossible. Returns the status to end with.
    pub fn replace(&self, ctx: &mut Ctx<'_>) -> Result<u8, StartError> {
        // Captured output needs a reader in this process.
        let captured = [ctx.stdout.sink(), ctx.stderr.sink()]
            .iter()
            .any(|s| matches!(s, OutputSink::Buffer(_)));
        let replaced = if captured {
            io::ErrorKind::Unsupported.into()
        } else {
            self.prepared(ctx, |ctx, spec| Ok(ctx.procs.exec(spec)))?.0
        };
        match replaced {
            e if e.kind() == io::ErrorKind::Unsupported => {
                let child = self.start(ctx)?;
                Ok(child.wait(ctx).map_or(126, WaitStatus::shell_status))
            }
            e => Err(StartError::new(&e)),
        }
    }

    /// Calls `act` with everything that the new program gets; returns the result of `act`, and the
    /// pipes to read from.
    fn prepared<T>(
        &self,
        ctx: &mut Ctx<'_>,
        act: impl FnOnce(&Ctx<'_>, &SpawnSpec<'_>) -> io::Result<T>,
    ) -> Result<(T, Vec<(File, OutputSink)>), StartError> {
        let fail = |e: io::Error| StartError::new(&e);
        let _ = ctx.stdout.flush();
        let env = self.env.as_ref().unwrap_or(&ctx.env);
        let cwd = self.cwd.as_ref().unwrap_or(&ctx.cwd);
        let (file, argv) = match &self.program {
            Some(file) => (file.clone(), self.argv.clone()),
            None => locate_program(&self.argv, env, cwd, ctx).map_err(fail)?,
        };
        let mut pumps = Vec::new();
        if matches!(self.stdin, ChildStream::Inherit) {
            ctx.stdin.give_back();
        }
        let stdin = match &self.stdin {
            ChildStream::Inherit => match ctx.stdin.source() {
                InputSource::File(f) => Some(f.clone()),
                InputSource::Bytes(b) => Some(Rc::new(feed_bytes(ctx, b).map_err(fail)?)),
                InputSource::Closed => None,
            },
            ChildStream::Null => Some(Rc::new(File::open("/dev/null").map_err(fail)?)),
            ChildStream::File(f) => Some(f.clone()),
        };
        let mut out = |stream: &ChildStream, sink: &OutputSink| -> io::Result<Option<Rc<File>>> {
            Ok(match (stream, sink) {
                (ChildStream::File(f), _) | (ChildStream::Inherit, OutputSink::File(f)) => {
                    Some(f.clone())
                }
                (ChildStream::Null, _) => {
                    Some(Rc::new(File::options().write(true).open("/dev/null")?))
                }
                (ChildStream::Inherit, OutputSink::Closed) => None,
                (ChildStream::Inherit, OutputSink::Buffer(_)) => {
                    let (r, w) = ctx.procs.pipe()?;
                    pumps.push((r, sink.clone()));
                    Some(Rc::new(w))
                }
            })
        };
        let stdout = out(&self.stdout, ctx.stdout.sink()).map_err(fail)?;
        let stderr = out(&self.stderr, ctx.stderr.sink()).map_err(fail)?;
        let fds: Vec<_> = [(0, &stdin), (1, &stdout), (2, &stderr)]
            .into_iter()
            .filter_map(|(n, f)| f.clone().map(|f| (n, f)))
            // The descriptors that this tool inherited are passed on, because an argument may be
            // `/dev/fd/63`.
            .chain(ctx.extra_fds.iter().cloned())
            .collect();
        let env = env.to_vec();
        let group = NewGroup::Inherit;
        let spec = SpawnSpec { program: &file, argv: &argv, env: &env, cwd, fds: &fds, group };
        let done = act(ctx, &spec).map_err(fail)?;
        Ok((done, pumps))
    }

    /// Runs the command to its end; returns the status that a shell would report. A command that
    /// cannot be started is reported as `NAME: COMMAND: reason`.
    pub fn run(&self, ctx: &mut Ctx<'_>) -> u8 {
        match self.start(ctx) {
            Ok(child) => child.wait(ctx).map_or(126, WaitStatus::shell_status),
            Err(e) => {
                let name = self.argv.first().cloned().unwrap_or_default();
                ctx.error_bytes(&[&name, b": ", e.message.as_bytes()]);
                e.status
            }
        }
    }
}

impl Child {
    /// Waits for the child's end.
    pub fn wait(self, ctx: &Ctx<'_>) -> io::Result<WaitStatus> {
        for (mut r, sink) in self.pumps {
            let mut data = Vec::new();
            r.read_to_end(&mut data)?;
            if let OutputSink::Buffer(b) = sink {
                b.borrow_mut().extend_from_slice(&data);
            }
        }
        ctx.procs.wait(self.pid)
    }
}

/// Returns the program file and the full argv for a command. For a script these are its
/// interpreter's.
fn locate_program(
    argv: &[Vec<u8>],
    env: &Env,
    cwd: &std::path::Path,
    ctx: &Ctx<'_>,
) -> io::Result<(PathBuf, Vec<Vec<u8>>)> {
    let not_found = || io::Error::from_raw_os_error(box_sys::errno::code::ENOENT);
    let name = argv.first().ok_or_else(not_found)?;
    let search = env.get(b"PATH").unwrap_or(program::DEFAULT_PATH);
    let mut file = program::find_program(name, search, cwd, ctx.table).ok_or_else(not_found)?;
    let mut argv = argv.to_vec();
    // Linux allows an interpreter to be a script itself, a few levels deep.
    for _ in 0..4 {
        match program::inspect_program(&file, ctx.table)? {
            ProgramForm::Direct => return Ok((file, argv)),
            ProgramForm::Binary => {
                return Err(io::Error::from_raw_os_error(box_sys::errno::code::ENOEXEC));
            }
            ProgramForm::ShellText => {
                argv[0] = path::to_bytes(&file).to_vec();
                argv.insert(0, b"sh".to_vec());
                file = PathBuf::from("/bin/sh");
            }
            ProgramForm::Script { interpreter, argument } => {
                argv[0] = path::to_bytes(&file).to_vec();
                argument.into_iter().for_each(|a| argv.insert(0, a));
                file = path::resolve_path(cwd, &interpreter);
                argv.insert(0, interpreter);
            }
        }
    }
    Err(io::Error::from_raw_os_error(box_sys::errno::code::ELOOP))
}

/// Returns a descriptor from which a child can read the bytes.
fn feed_bytes(ctx: &Ctx<'_>, bytes: &[u8]) -> io::Result<File> {
    if bytes.len() <= box_sys::PIPE_CAPACITY {
        let (r, mut w) = ctx.procs.pipe()?;
        w.write_all(bytes)?;
        return Ok(r);
    }
    let (r, mut w) = box_sys::preview1::spool()?;
    w.write_all(bytes)?;
    Ok(r)
}
