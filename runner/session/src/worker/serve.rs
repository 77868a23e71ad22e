//! The worker's end.

use super::asks::HostAsks;
use super::check;
use super::message::{
    ControlMessage, ErrorMessage, ImageCode, MissingCode, PART, WorkerHello, WorkerReply,
    WorkerRequest,
};
use crate::error::Error;
use crate::local::{CellUpdate, LocalSandbox, interpreter_of};
use crate::run::{self, InheritedStreams};
use crate::spawned::{self, SpawnEnds};
use crate::workspace::{OpenWorkspace, WorkspaceSource};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_bytes::ByteBuf;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use wasibox_image::Image;
use wasibox_protocol::Outcome;
use wasibox_sandbox::fork::{self, ForkSide};
use wasibox_sandbox::{Limits, PlacedExec, Policy, PreparedImage, SandboxError, SessionSandbox};
use wasibox_vfs::{Errno, Vfs, lock_mutex};
use wasibox_worker::channel::{Channel, ChannelError, ChannelSender};
use wasibox_worker::descriptors::PromisedDescriptors;
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::{Jail, JailError, Wall, Walls};
use wasibox_workspace::Overlay;

/// The reason why a worker ends early.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error("standard streams: {0}")]
    Streams(#[from] std::io::Error),
    #[error("standard streams: {0}")]
    Host(#[from] rustix::io::Errno),
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error("a request out of order")]
    Order,
}

/// Runs a worker as [`main`] does, and runs `hole` on a thread of the jailed process. Tests of the
/// jail simulate with it that a guest exploits a fault of the kernel or the engine.
#[doc(hidden)]
pub fn main_with_hole(hole: fn(&Vfs)) -> ExitCode {
    main_with(Some(hole))
}

/// Runs a worker, which serves the parent on standard input and output until the parent is gone.
/// Must be called before the process does anything else.
pub fn main() -> ExitCode {
    main_with(None)
}

/// Makes a write beyond the limit of file sizes (RLIMIT_FSIZE) an error instead of the end of the
/// process, because a guest's write through a mount is the guest's own failure. Workers call this
/// by themselves.
pub fn ignore_file_size_signal() {
    // Without a handler, such a write ends the process as before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

fn main_with(hole: Option<fn(&Vfs)>) -> ExitCode {
    ignore_file_size_signal();
    wasibox_sandbox::watchdog::close_inherited(3);
    match serve_parent(hole) {
        Ok(()) | Err(WorkerError::Channel(ChannelError::Closed)) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(125),
    }
}

fn serve_parent(hole: Option<fn(&Vfs)>) -> Result<(), WorkerError> {
    separate_session()?;
    let (mut channel, control) = take_sockets()?;
    let Some((hello, _)) = channel.receive::<WorkerHello>(None)? else {
        return Err(WorkerError::Order);
    };
    if let Err(e) = hello.check_version() {
        channel.send(&WorkerReply::Failed(e.into()), &[])?;
        return Ok(());
    }
    let prepared = match channel.receive(None)? {
        Some((WorkerRequest::Probe, _)) => {
            let walls = probe_jail();
            send_answer(&channel, walls, |walls| WorkerReply::Ready(*walls))?;
            return Ok(());
        }
        Some((WorkerRequest::Check(kind, memory), fds)) => {
            let file = fds.into_iter().next().map(File::from).ok_or(WorkerError::Order)?;
            let read = check::read_in_jail(file, kind, memory);
            send_answer(&channel, read, |why| WorkerReply::Checked(why.clone()))?;
            return Ok(());
        }
        Some((WorkerRequest::Warm(code, stack), _)) => {
            let made = warm_image(&channel, code, stack);
            let reply = |made: &Result<PreparedImage, MissingCode>| match made {
                Ok(_) => WorkerReply::Warm,
                Err(missing) => WorkerReply::NotKept(missing.clone()),
            };
            match send_answer(&channel, made, reply)? {
                Some(Ok(prepared)) => prepared,
                _ => return Ok(()),
            }
        }
        Some((WorkerRequest::Keep(code, outlives_parent), _)) => {
            if outlives_parent {
                set_parent_process_death_signal(None)?;
            }
            let kept = keep_code(&channel, code);
            send_answer(&channel, kept, |()| WorkerReply::Warm)?;
            return Ok(());
        }
        _ => return Err(WorkerError::Order),
    };
    let (mut channel, control, policy, given) = make_copies(channel, control)?;
    let made = begin_sandbox(prepared, policy, given, &[channel.as_fd(), control.as_fd()]);
    let Some((sandbox, overlay, _)) =
        send_answer(&channel, made, |(_, _, walls)| WorkerReply::Ready(*walls))?
    else {
        return Ok(());
    };
    // Threads may start from here on, because they inherit the jail.
    let interrupt = sandbox.interrupt_handle();
    let asks = HostAsks::new(channel.sender()?);
    let asked = asks.clone();
    let (doors, signals) = (sandbox.doors(), sandbox.process_signals());
    std::thread::spawn(move || {
        let mut control = control;
        while let Ok(Some((message, fds))) = control.receive(None) {
            match message {
                ControlMessage::Interrupt => interrupt.interrupt(),
                ControlMessage::Connect(port) => {
                    if let Some(stream) = fds.into_iter().next() {
                        doors.connect(port, stream.into());
                    }
                }
                ControlMessage::Ports => {
                    if let Some(stream) = fds.into_iter().next() {
                        crate::control::send_ports(&doors, stream.into());
                    }
                }
                ControlMessage::Signal { pid, signal } => {
                    signals.send_signal(pid, signal);
                }
                ControlMessage::Answer(number, answer) => {
                    asked.take_answer(number, answer.map(ByteBuf::into_vec).map_err(Errno));
                }
            }
        }
        // The parent is gone, and the running call could take long.
        std::process::exit(0);
    });
    if let Some(hole) = hole {
        let vfs = sandbox.vfs().clone();
        std::thread::spawn(move || hole(&vfs));
    }
    serve_calls(&mut channel, &mut LocalSandbox::with_overlay(sandbox, overlay), &asks)
}

/// Puts the process into a session (setsid(2)) of its own that ends with the parent.
fn separate_session() -> Result<(), WorkerError> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::process::setsid()?;
    Ok(())
}

/// Makes copies of this worker as long as they are requested. Returns in the process that has a
/// session to begin, with its sockets.
fn make_copies(
    mut channel: Channel,
    mut control: Channel,
) -> Result<(Channel, Channel, Policy, WorkspaceSource), WorkerError> {
    loop {
        match channel.receive(None)? {
            Some((WorkerRequest::Begin(policy, is_original), fds)) => {
                let given =
                    WorkspaceSource { zip: fds.into_iter().next().map(File::from), is_original };
                return Ok((channel, control, *policy, given));
            }
            Some((WorkerRequest::Copy, fds)) => {
                let [first, second] =
                    <[OwnedFd; 2]>::try_from(fds).map_err(|_| WorkerError::Order)?;
                match fork::fork_sibling() {
                    Ok(ForkSide::Original(pid)) => channel.send(&WorkerReply::Copied(pid), &[])?,
                    Ok(ForkSide::Copy) => {
                        separate_session()?;
                        (channel, control) = (Channel::new(first), Channel::new(second));
                    }
                    Err(e) => channel
                        .send(&WorkerReply::Failed(ErrorMessage::Other(e.to_string())), &[])?,
                }
            }
            _ => return Err(WorkerError::Order),
        }
    }
}

/// Takes the sockets to the parent from standard input and output, which are replaced by
/// `/dev/null`.
fn take_sockets() -> Result<(Channel, Channel), WorkerError> {
    let channel = std::io::stdin().as_fd().try_clone_to_owned()?;
    let control = std::io::stdout().as_fd().try_clone_to_owned()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok((Channel::new(channel), Channel::new(control)))
}

/// Sends an answer made from a result, or its error.
fn send_answer<T>(
    channel: &Channel,
    result: Result<T, Error>,
    reply: impl FnOnce(&T) -> WorkerReply,
) -> Result<Option<T>, WorkerError> {
    match result {
        Ok(value) => {
            channel.send(&reply(&value), &[])?;
            Ok(Some(value))
        }
        Err(e) => {
            channel.send(&WorkerReply::Failed(ErrorMessage::from(e)), &[])?;
            Ok(None)
        }
    }
}

/// Sends lines of progress to the parent until it is closed.
#[derive(Clone)]
struct ProgressLines(Arc<Mutex<Option<ChannelSender>>>);

impl ProgressLines {
    fn new(channel: &Channel) -> Result<ProgressLines, Error> {
        Ok(ProgressLines(Arc::new(Mutex::new(Some(channel.sender()?)))))
    }

    fn send_line(&self, line: &str) {
        if let Some(sender) = &*lock_mutex(&self.0) {
            // A failure is ignored, because the loss of the parent is noticed elsewhere.
            let _ = sender.send(&WorkerReply::Progress(line.to_owned()));
        }
    }

    /// Closes the sender's descriptor of the socket, which copies of this process would inherit.
    /// With that descriptor a copy could answer for the original, and be given other sessions.
    fn close(&self) {
        *lock_mutex(&self.0) = None;
    }
}

fn prepare_image(
    progress: &ProgressLines,
    code: &ImageCode,
    stack: usize,
) -> Result<PreparedImage, Error> {
    wasibox_sandbox::key::use_dir(code.key.clone());
    let progress = progress.clone();
    let report = move |line: &str| progress.send_line(line);
    let image = Arc::new(Image::open(&code.image)?);
    Ok(PreparedImage::new(image, Some(code.artifacts.clone()), Arc::new(report), stack))
}

/// Opens the image and maps the machine code of the requested programs. The inner error names the
/// code that is not kept yet.
fn warm_image(
    channel: &Channel,
    code: ImageCode,
    stack: usize,
) -> Result<Result<PreparedImage, MissingCode>, Error> {
    let progress = ProgressLines::new(channel)?;
    let prepared = prepare_image(&progress, &code, stack)?;
    if !prepared.load_kept(code.program.as_deref())? {
        return Ok(Err(MissingCode {
            programs: prepared.unready_programs().unwrap_or_default(),
            shell: prepared.shell_program().map(str::to_owned),
        }));
    }
    progress.close();
    Ok(Ok(prepared))
}

/// Makes and keeps missing machine code. Programs run while they are prepared, so this closes a
/// jail as well, which leaves the folder for machine code accessible.
fn keep_code(channel: &Channel, code: ImageCode) -> Result<(), Error> {
    std::fs::create_dir_all(&code.artifacts)?;
    let progress = ProgressLines::new(channel)?;
    let prepared = prepare_image(&progress, &code, Limits::default().stack)?;
    // This makes the key, if there is none, before the jail prevents it.
    let _ = prepared.is_compiled();
    let read = prepared.own_files().into_iter().filter(|path| path.exists()).collect();
    let jail = Jail { read, write: vec![code.artifacts], code: NewCode::Mapped };
    jail.close().map_err(|e: JailError| Error::Refused(e.to_string()))?;
    match &code.program {
        Some(name) => prepared.load_program(name)?,
        None => prepared.load_all()?,
    }
    Ok(())
}

/// Closes a jail that leaves nothing accessible, and tries one access that it must prevent.
fn probe_jail() -> Result<Walls, Error> {
    let jail = Jail { read: Vec::new(), write: Vec::new(), code: NewCode::Known(Vec::new()) };
    let mut walls = jail.close().map_err(|e| Error::Refused(e.to_string()))?;
    if File::open("/").is_ok() {
        walls.files = Wall::Missing;
    }
    Ok(walls)
}

fn begin_sandbox(
    prepared: PreparedImage,
    policy: Policy,
    given: WorkspaceSource,
    sockets: &[BorrowedFd<'_>],
) -> Result<(SessionSandbox, Option<Overlay>, Walls), Error> {
    let spec = policy.workspace.as_ref();
    let opened = spec
        .map(|spec| OpenWorkspace::new(spec, given, &prepared.protected_paths()))
        .transpose()?;
    let (base, overlay) = opened.map_or((None, None), |o| (Some(o.base), o.overlay));
    let folder = spec.filter(|_| overlay.is_some()).map(|spec| spec.path.clone());
    let paths = |writable| {
        let some = policy.mounts.iter().filter(move |m| m.writable == writable);
        some.map(|m| m.host.clone())
    };
    // A program that another process is still compiling is mapped when it is ready.
    let (code, own) = if prepared.is_loaded() {
        (NewCode::Known(prepared.code()), Vec::new())
    } else {
        (NewCode::Mapped, prepared.own_files())
    };
    let mut jail =
        Jail { read: paths(false).chain(folder).collect(), write: paths(true).collect(), code };
    let sandbox = prepared.open_over(policy, base)?;
    let paths: Vec<PathBuf> = jail.read.iter().chain(&jail.write).cloned().collect();
    jail.read.extend(own.into_iter().filter(|path| path.exists()));
    PromisedDescriptors { sockets, paths: &paths }
        .check()
        .map_err(|e| Error::Refused(e.to_string()))?;
    let walls = jail.close().map_err(|e: JailError| Error::Refused(e.to_string()))?;
    Ok((sandbox, overlay, walls))
}

fn serve_calls(
    channel: &mut Channel,
    here: &mut LocalSandbox,
    asks: &HostAsks,
) -> Result<(), WorkerError> {
    let mut layers: Vec<Vec<u8>> = Vec::new();
    let mut asked: Vec<u8> = Vec::new();
    loop {
        match channel.receive(None)? {
            Some((WorkerRequest::Restore(delta, is_elsewhere), _)) => {
                if let Err(e) = here.restore_delta(delta, is_elsewhere) {
                    channel.send(&WorkerReply::Failed(e.into()), &[])?;
                    return Ok(());
                }
            }
            Some((WorkerRequest::Shell(state), _)) => here.set_shell(state.into_vec().into()),
            Some((WorkerRequest::Layer { begins, bytes }, _)) => match layers.last_mut() {
                Some(layer) if !begins => layer.extend_from_slice(&bytes),
                _ => layers.push(bytes.into_vec()),
            },
            Some((WorkerRequest::RestoreCell(head), _)) => {
                let why = here.restore_cell(&head, &std::mem::take(&mut layers)).err();
                channel.send(&WorkerReply::Restored(why), &[])?;
            }
            Some((WorkerRequest::Files { is_last, bytes }, _)) => {
                asked.extend_from_slice(&bytes);
                if is_last {
                    serve_files(channel, here, &std::mem::take(&mut asked))?;
                }
            }
            Some((WorkerRequest::Serves(names), _)) => {
                asks.set_served(names);
                here.sandbox.vfs().set_service(Some(Arc::new(asks.clone())));
            }
            Some((WorkerRequest::EndBackground, _)) => {
                if here.sandbox.end_background().is_err() {
                    // The parent takes another worker.
                    return Ok(());
                }
            }
            Some((WorkerRequest::ForgetCell(name), _)) => drop(here.sandbox.forget_cell(&name)),
            Some((WorkerRequest::Spawn(exec, size), fds)) => {
                let [stdin, stdout, stderr, report] =
                    <[OwnedFd; 4]>::try_from(fds).map_err(|_| WorkerError::Order)?;
                let ends = SpawnEnds { stdin, stdout, stderr, report };
                let (open, ended) = (asks.clone(), asks.clone());
                open.begin_call();
                let began = spawned::begin_process(&here.sandbox, exec, size, ends, move || {
                    ended.end_call();
                });
                match began {
                    Ok(pid) => channel.send(&WorkerReply::Spawned(pid), &[])?,
                    Err(e) => {
                        asks.end_call();
                        channel.send(&WorkerReply::Failed(e.into()), &[])?;
                    }
                }
            }
            Some((WorkerRequest::Call(exec), fds)) => {
                let cell = interpreter_of(&exec.exec);
                asks.begin_call();
                let result = run_call(&here.sandbox, exec, fds);
                asks.end_call();
                if matches!(result, Err(Error::Sandbox(SandboxError::Stuck(_)))) {
                    // Nothing more can run here; the parent takes another worker.
                    return Ok(());
                }
                let mut send = |part| channel.send(&WorkerReply::Changed(part), &[]);
                let shell = here.emit_changes(&mut send)?;
                send_touched(channel, here)?;
                if let Some(shell) = shell {
                    channel.send(&WorkerReply::Shell(ByteBuf::from(&*shell)), &[])?;
                }
                if let Some(name) = cell {
                    send_cell(channel, here, name)?;
                }
                finish_call(channel, result)?;
            }
            _ => return Err(WorkerError::Order),
        }
    }
}

fn serve_files(
    channel: &Channel,
    here: &mut LocalSandbox,
    asked: &[u8],
) -> Result<(), WorkerError> {
    let asked = postcard::from_bytes(asked).map_err(|_| WorkerError::Order)?;
    let answer = here.run_files(&asked);
    here.emit_files(&mut |part| channel.send(&WorkerReply::Changed(part), &[]))?;
    send_touched(channel, here)?;
    let bytes = postcard::to_stdvec(&answer).map_err(|_| WorkerError::Order)?;
    let mut parts = bytes.chunks(PART).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        channel.send(&WorkerReply::Answer { is_last, bytes: ByteBuf::from(part) }, &[])?;
    }
    Ok(())
}

fn send_touched(channel: &Channel, here: &mut LocalSandbox) -> Result<(), WorkerError> {
    // A path has at most 4 KiB, so no message is too long.
    for part in here.take_touched().chunks(128) {
        channel.send(&WorkerReply::Touched(part.to_vec()), &[])?;
    }
    Ok(())
}

fn send_cell(channel: &Channel, here: &LocalSandbox, name: &str) -> Result<(), WorkerError> {
    let Some(CellUpdate { tail, layer }) = here.cell_update(name) else { return Ok(()) };
    for part in layer.chunks(PART) {
        channel.send(&WorkerReply::Layer(ByteBuf::from(part)), &[])?;
    }
    Ok(channel.send(&WorkerReply::Cell(tail), &[])?)
}

fn run_call(
    sandbox: &SessionSandbox,
    exec: PlacedExec,
    fds: Vec<OwnedFd>,
) -> Result<Outcome, Error> {
    match <[OwnedFd; 3]>::try_from(fds) {
        Ok([stdin, stdout, stderr]) => {
            let inherited = InheritedStreams { stdin: &stdin, stdout: &stdout, stderr: &stderr };
            run::exec_command(sandbox, exec, &inherited)
        }
        // All streams are given or captured.
        Err(_) => {
            let null = std::io::stderr();
            run::exec_command(
                sandbox,
                exec,
                &InheritedStreams { stdin: &null, stdout: &null, stderr: &null },
            )
        }
    }
}

fn finish_call(channel: &Channel, result: Result<Outcome, Error>) -> Result<(), WorkerError> {
    let mut outcome = match result {
        Ok(outcome) => outcome,
        Err(e) => return Ok(channel.send(&WorkerReply::Failed(e.into()), &[])?),
    };
    let stdout = std::mem::take(&mut outcome.stdout);
    let stderr = std::mem::take(&mut outcome.stderr);
    for (error, bytes) in [(false, stdout), (true, stderr)] {
        for part in bytes.chunks(PART) {
            channel.send(&WorkerReply::Output { error, bytes: ByteBuf::from(part) }, &[])?;
        }
    }
    Ok(channel.send(&WorkerReply::Done(Box::new(outcome)), &[])?)
}
