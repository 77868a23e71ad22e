//! This process and its children: arguments, environment, clocks, pipes, waiting.

use super::{TextArgument, files, throw_io_error};
use box_sys::events;
use box_sys::net::{self, Wait};
use box_sys::{NewGroup, Os, Processes, SpawnSpec, WaitStatus, meta, path};
use box_text::time::zone::Zone;
use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, Object, Result};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns the system. The value has no state on the guest.
fn os() -> Os {
    Os::with_applets(|_| false)
}

fn args() -> Vec<String> {
    std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect()
}

/// Returns the names and values of variables alternately, without the two variables by which a
/// process passes descriptors and its program to its child.
fn environ() -> Vec<String> {
    js_engine::environment::environment_variables()
        .into_iter()
        .filter(|(name, _)| name != box_sys::INHERITED_FDS && name != box_sys::PROGRAM_VARIABLE)
        .flat_map(|(name, value)| [name, value])
        .collect()
}

fn initial_cwd() -> String {
    box_sys::initial_cwd().to_string_lossy().into_owned()
}

thread_local! {
    static ORIGIN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Returns the nanoseconds since [`begin_clock`], by a clock that never goes back.
fn hrtime() -> f64 {
    ORIGIN.get().map_or(0.0, |o| o.elapsed().as_nanos() as f64)
}

/// Starts the clock of [`hrtime`]. Each process starts its own, because the preparation ran in
/// another process.
fn begin_clock() {
    ORIGIN.set(Some(Instant::now()));
}

/// Returns the milliseconds since the epoch.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_nanos() as f64 / 1e6)
}

/// Returns user and system CPU time, in microseconds.
fn cpu() -> Vec<f64> {
    let times = events::cpu_times();
    [times.user, times.system].map(|t| t.as_micros() as f64).into()
}

/// Returns three numbers of bytes: the memory of the process, the engine's heap, and the part of
/// the heap that is in use.
fn memory(ctx: Ctx<'_>) -> Vec<f64> {
    let (heap, used) = js_engine::heap_usage(&ctx);
    vec![resident() as f64, heap as f64, used as f64]
}

/// Returns the size of linear memory in bytes.
#[cfg(target_arch = "wasm32")]
fn resident() -> usize {
    std::arch::wasm32::memory_size::<0>() << 16
}

/// Returns the resident memory of the process in bytes.
#[cfg(not(target_arch = "wasm32"))]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<usize>().ok());
    kib.map_or(0, |kib| kib << 10)
}

fn random<'js>(ctx: Ctx<'js>, length: usize) -> Result<ArrayBuffer<'js>> {
    const MOST: usize = 1 << 26;
    let mut bytes = vec![0; length.min(MOST)];
    getrandom::fill(&mut bytes).map_err(|_| super::throw_text(&ctx, "EIO"))?;
    ArrayBuffer::new(ctx, bytes)
}

/// Ends the cell, or the process if there is no cell.
fn exit(ctx: Ctx<'_>, status: i32) -> Result<()> {
    match crate::cells::end_cell(&ctx, status) {
        Some(error) => Err(error),
        None => {
            super::terminal::restore_mode();
            std::process::exit(status & 255)
        }
    }
}

fn pids() -> Vec<u32> {
    vec![os().pid(), os().parent_pid()]
}

fn ids() -> Vec<u32> {
    let (uid, gid) = meta::ids();
    vec![uid, gid]
}

/// Starts a program, and returns its process id. `env` has names and values alternately; `fds` has
/// descriptors of the child and of this process alternately.
fn spawn(
    ctx: Ctx<'_>,
    program: TextArgument,
    argv: Vec<TextArgument>,
    env: Vec<TextArgument>,
    cwd: TextArgument,
    fds: Vec<i32>,
    detached: bool,
) -> Result<u32> {
    let argv: Vec<Vec<u8>> = argv.into_iter().map(|a| a.0.into_bytes()).collect();
    let mut pairs = Vec::new();
    let mut env = env.into_iter();
    while let (Some(name), Some(value)) = (env.next(), env.next()) {
        pairs.push((name.0.into_bytes(), value.0.into_bytes()));
    }
    let mut given: Vec<(u32, Rc<File>)> = Vec::new();
    for pair in fds.chunks_exact(2) {
        given.push((pair[0].cast_unsigned(), files::file(&ctx, pair[1])?));
    }
    let spec = SpawnSpec {
        program: Path::new(&program.0),
        argv: &argv,
        env: &pairs,
        cwd: path::from_bytes(cwd.0.as_bytes()),
        fds: &given,
        group: if detached { NewGroup::New } else { NewGroup::Inherit },
    };
    os().spawn(&spec).map_err(|e| throw_io_error(&ctx, &e))
}

/// Returns the exit status and the signal of a child, one of which is 0. Returns nothing if the
/// child still runs and `wait` is false.
fn reap(ctx: Ctx<'_>, pid: u32, wait: bool) -> Result<Option<Vec<u8>>> {
    let status = if wait { os().wait(pid).map(Some) } else { os().try_wait(pid) };
    Ok(status.map_err(|e| throw_io_error(&ctx, &e))?.map(|status| match status {
        WaitStatus::Exited(code) => vec![code, 0],
        WaitStatus::Signaled(signal) => vec![0, signal],
    }))
}

/// Sends a signal to a process. A negative `pid` means a process group; 0 means our own group.
fn kill(ctx: Ctx<'_>, pid: i32, signal: u8) -> Result<()> {
    let done = match pid {
        0 => os().kill_group(0, signal),
        1.. => os().kill(pid.cast_unsigned(), signal),
        _ => os().kill_group(pid.unsigned_abs(), signal),
    };
    done.map_err(|e| throw_io_error(&ctx, &e))
}

/// Creates a pipe. Returns the descriptors of its reading and its writing end.
fn pipe(ctx: Ctx<'_>) -> Result<Vec<i32>> {
    let (reader, writer) = os().pipe().map_err(|e| throw_io_error(&ctx, &e))?;
    Ok(vec![files::keep(reader), files::keep(writer)])
}

/// Waits for the first of these events, and returns the descriptors that are ready:
///
/// - one of `readers` has input, or is at its end
/// - one of `writers` accepts a few bytes; the result has it as `-1 - fd`
/// - a caught signal arrives, also that of a child's end
/// - `time` milliseconds have passed; a negative `time` means no limit
fn poll(ctx: Ctx<'_>, readers: Vec<i32>, writers: Vec<i32>, time: f64) -> Result<Vec<i32>> {
    let mut open = Vec::new();
    for (fds, wait) in [(&readers, Wait::Read), (&writers, Wait::Write)] {
        for fd in fds {
            open.push((files::file(&ctx, *fd)?, *fd, wait));
        }
    }
    let borrowed: Vec<(&File, Wait)> = open.iter().map(|(f, _, wait)| (&**f, *wait)).collect();
    let time = (time >= 0.0).then(|| Duration::from_secs_f64(time / 1e3));
    let ready = match net::wait(&borrowed, time) {
        Ok(ready) => ready,
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Vec::new(),
        Err(e) => return Err(throw_io_error(&ctx, &e)),
    };
    let ready_event = |((_, fd, wait), ready): (&(_, i32, Wait), bool)| match wait {
        _ if !ready => None,
        Wait::Read => Some(*fd),
        Wait::Write => Some(-1 - *fd),
    };
    Ok(open.iter().zip(ready).filter_map(ready_event).collect())
}

/// Catches these signals and no others.
fn catch_signals(numbers: Vec<u8>) {
    let (_, ignored) = events::signal_dispositions();
    let caught = numbers.into_iter().fold(0, |set, n| set | events::signal_bit(n));
    events::catch_signals(caught, ignored & !caught);
}

/// Returns the caught signals that have arrived since the last call.
fn signals() -> Vec<u8> {
    let set = events::take_pending();
    (1..64).filter(|n| set & events::signal_bit(*n) != 0).collect()
}

thread_local! {
    static ZONE: RefCell<Zone> = RefCell::new(Zone::utc());
}

/// Sets local time to that of a value of `TZ`, as POSIX (XBD 8.3) and the time zone database define
/// it. Without a value, local time is UTC.
fn set_zone(tz: Opt<Option<String>>) {
    let zone = Zone::from_env(tz.0.flatten().as_deref().map(str::as_bytes), |file| {
        std::fs::read(file).ok()
    });
    ZONE.with_borrow_mut(|z| *z = zone);
    js_engine::zone::set_offset(|time| ZONE.with_borrow(|zone| zone.offset_at(time).0));
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("args", Func::from(args))?;
    native.set("environ", Func::from(environ))?;
    native.set("setZone", Func::from(set_zone))?;
    native.set("initialCwd", Func::from(initial_cwd))?;
    native.set("hrtime", Func::from(hrtime))?;
    native.set("beginClock", Func::from(begin_clock))?;
    native.set("now", Func::from(now))?;
    native.set("cpu", Func::from(cpu))?;
    native.set("memory", Func::from(memory))?;
    native.set("resident", Func::from(resident))?;
    native.set("random", Func::from(random))?;
    native.set("exit", Func::from(exit))?;
    native.set("pids", Func::from(pids))?;
    native.set("ids", Func::from(ids))?;
    native.set("spawn", Func::from(spawn))?;
    native.set("reap", Func::from(reap))?;
    native.set("kill", Func::from(kill))?;
    native.set("pipe", Func::from(pipe))?;
    native.set("poll", Func::from(poll))?;
    native.set("catchSignals", Func::from(catch_signals))?;
    native.set("signals", Func::from(signals))
}
