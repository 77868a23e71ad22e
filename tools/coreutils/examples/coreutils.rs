//! A multicall program with only the tools of this crate: `coreutils NAME args`, or by `argv[0]`.
//! It is for measurements and comparisons; the product's program is `tools/box`.
#![forbid(unsafe_code)]

use std::path::Path;

use box_applet::{
    AppletRun, AppletTable, Ctx, Env, Exit, InputSource, OutStream, OutputSink, StdInput,
};
use box_sys::path::{os_bytes, os_into_bytes};

static TABLE: AppletTable = AppletTable::new(box_coreutils::APPLETS, &[]);

fn main() {
    let mut argv: Vec<_> = std::env::args_os().collect();
    let base = |a: &std::ffi::OsString| {
        Path::new(a).file_name().map(|n| os_bytes(n).to_vec()).unwrap_or_default()
    };
    let mut name = argv.first().map(base).unwrap_or_default();
    if TABLE.find(&name).is_none() && argv.len() > 1 {
        argv.remove(0);
        name = base(&argv[0]);
    }
    let Some(applet) = TABLE.find(&name) else {
        for a in TABLE.applets() {
            println!("{}", a.name);
        }
        std::process::exit(127);
    };
    let run = match applet.run {
        AppletRun::Globals(f) => std::process::exit(f(argv)),
        AppletRun::Ctx(run) => run,
    };
    let cwd = box_sys::initial_cwd();
    let fds = box_sys::take_inherited();
    let [i, o, e] = fds.stdio;
    let os = box_sys::Os::with_applets(|n| TABLE.find(n).is_some());
    let sink = |f: Option<_>| f.map_or(OutputSink::Closed, OutputSink::File);
    let mut ctx = Ctx {
        name: String::from_utf8_lossy(&name).into_owned(),
        applet: applet.name,
        arg0: name.to_vec(),
        env: std::env::vars_os()
            .map(|(k, v)| (os_into_bytes(k), os_into_bytes(v)))
            .collect::<Env>(),
        cwd,
        stdin: StdInput::new(i.map_or(InputSource::Closed, InputSource::File)),
        stdout: OutStream::buffered(sink(o)),
        stderr: OutStream::unbuffered(sink(e)),
        extra_fds: fds.extra,
        procs: &os,
        table: &TABLE,
    };
    let args: Vec<Vec<u8>> = argv.into_iter().skip(1).map(os_into_bytes).collect();
    let exit = run(&mut ctx, &args);
    let Exit(code) = ctx.finish(exit);
    std::process::exit(i32::from(code));
}
