//! Runs an applet: builds the values that the contract promises, calls the applet, and turns its
//! end into a status.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_applet::version::version_text;
use box_applet::{Applet, AppletRun, Ctx, Env, InputSource, OutStream, OutputSink, StdInput};
use box_sys::{INHERITED_FDS, Processes, enter_cwd, initial_cwd, path, take_inherited};

use crate::table::TABLE;

/// Runs an applet as this process's program.
pub fn main(applet: &Applet, argv: Vec<OsString>, procs: &dyn Processes) -> u8 {
    match applet.run {
        AppletRun::Globals(run) => {
            // Only these applets need the process's directory, because they ask libc for it.
            let _ = enter_cwd(&initial_cwd());
            if argv.get(1).is_some_and(|word| word == "--version") {
                let done = std::io::stdout().write_all(version_text(applet.name).as_bytes());
                return u8::from(done.is_err());
            }
            exit_status(run(argv))
        }
        AppletRun::Ctx(_) => {
            let fds = take_inherited();
            let mut env: Env = std::env::vars_os()
                .map(|(k, v)| (path::os_into_bytes(k), path::os_into_bytes(v)))
                .collect();
            env.unset(INHERITED_FDS.as_bytes());
            env.unset(box_sys::PROGRAM_VARIABLE.as_bytes());
            // The mask is kept by `box_sys::meta::umask`, and spawning passes it on to children.
            env.unset(box_sys::UMASK_VARIABLE.as_bytes());
            let argv = argv.into_iter().map(path::os_into_bytes).collect();
            let start = AppletStart {
                argv,
                env,
                cwd: initial_cwd(),
                stdio: fds.stdio,
                extra_fds: fds.extra,
            };
            in_ctx(applet, start, procs)
        }
    }
}

/// The values that an [`AppletRun::Ctx`] applet starts with.
pub struct AppletStart {
    pub argv: Vec<Vec<u8>>,
    pub env: Env,
    pub cwd: PathBuf,
    pub stdio: [Option<Rc<File>>; 3],
    pub extra_fds: Vec<(u32, Rc<File>)>,
}

/// Runs an [`AppletRun::Ctx`] applet with the given values; returns status 126 for any other
/// applet.
pub fn in_ctx(applet: &Applet, start: AppletStart, procs: &dyn Processes) -> u8 {
    let AppletRun::Ctx(run) = applet.run else { return 126 };
    let [stdin, stdout, stderr] = start.stdio;
    let sink = |f: Option<Rc<File>>| f.map_or(OutputSink::Closed, OutputSink::File);
    let mut argv = start.argv.into_iter();
    let arg0 = argv.next().unwrap_or_default();
    let args: Vec<Vec<u8>> = argv.collect();
    let mut ctx = Ctx {
        name: String::from_utf8_lossy(crate::base_name(&arg0)).into_owned(),
        applet: applet.name,
        arg0,
        env: start.env,
        cwd: start.cwd,
        stdin: StdInput::new(stdin.map_or(InputSource::Closed, InputSource::File)),
        stdout: OutStream::buffered(sink(stdout)),
        stderr: OutStream::unbuffered(sink(stderr)),
        extra_fds: start.extra_fds,
        procs,
        table: &TABLE,
    };
    let exit = run(&mut ctx, &args);
    ctx.finish(exit).0
}

/// Runs an [`AppletRun::Globals`] applet inside this process, after moving its standard descriptors
/// into place.
pub fn globals_in_process(
    run: fn(Vec<OsString>) -> i32,
    argv: &[Vec<u8>],
    cwd: &Path,
    stdio: [Option<Rc<File>>; 3],
) -> std::io::Result<u8> {
    let argv = argv.iter().map(|a| path::os_string(a.clone())).collect();
    let _ = enter_cwd(cwd);
    box_sys::preview1::with_stdio(stdio, || {
        let code = run(argv);
        let _ = std::io::Write::flush(&mut std::io::stdout());
        exit_status(code)
    })
}

fn exit_status(code: i32) -> u8 {
    (code & 0xff) as u8
}
