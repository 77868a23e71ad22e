//! The shell alone, with the host's own programs as commands: for comparing it with a real bash.

use std::ffi::OsString;
use std::process::ExitCode;
use std::rc::Rc;

use box_applet::{Ctx, Env, Input, Output, Run, Sink, Source, Table};
use box_sys::{INHERITED_FDS, Os, inherited, initial_cwd, path};

static TABLE: Table = Table::new(sh_cli::APPLETS, &[]);

fn main() -> ExitCode {
    // Debug builds have large frames; the limit on nesting assumes a large stack.
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    ExitCode::from(run.ok().and_then(|t| t.join().ok()).unwrap_or(134))
}

fn run() -> u8 {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let mut argv = argv.into_iter().map(path::os_into_bytes);
    let arg0 = argv.next().unwrap_or_default();
    let name = arg0.rsplit(|c| *c == b'/').next().unwrap_or_default().to_vec();
    let applet = TABLE.find(&name).or_else(|| TABLE.find(b"bash"));
    let Some(Run::Ctx(run)) = applet.map(|a| a.run) else { return 127 };
    let fds = inherited();
    let mut env: Env = std::env::vars_os()
        .map(|(k, v)| (path::os_into_bytes(k), path::os_into_bytes(v)))
        .collect();
    env.unset(INHERITED_FDS.as_bytes());
    let os = Os::with_applets(|name| TABLE.find(name).is_some());
    let sink = |f: Option<Rc<std::fs::File>>| f.map_or(Sink::Closed, Sink::File);
    let [stdin, stdout, stderr] = fds.stdio;
    let mut ctx = Ctx {
        name: String::from_utf8_lossy(&name).into_owned(),
        env,
        cwd: initial_cwd(),
        stdin: Input::new(stdin.map_or(Source::Closed, Source::File)),
        stdout: Output::buffered(sink(stdout)),
        stderr: Output::unbuffered(sink(stderr)),
        extra_fds: fds.extra,
        procs: &os,
        table: &TABLE,
    };
    let args: Vec<Vec<u8>> = argv.collect();
    let exit = run(&mut ctx, &args);
    ctx.finish(exit).0
}
