//! `runner session exec`, `python`, `javascript` and `reset`.

use crate::args::grants::{CallArgs, GrantArgs, GrantSettings, PoolSettings, WorkspaceArg};
use crate::args::session::{CellArgs, SessionExec, SessionNameArgs};
use crate::args::stored::ImageArg;
use crate::{CliFailure, call, message, print_bytes, tools};
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use wasibox::Exec;

/// Maximum bytes of a cell's code.
const MAX_CODE: u64 = 16 << 20;

/// Runs a script or a command, and returns its status.
pub fn exec_script(args: &SessionExec) -> Result<u8, CliFailure> {
    let exec = match &args.script {
        Some(script) => Exec::script(script),
        None => Exec::new(&args.argv),
    };
    run(&args.named, &args.image, &args.grants, &args.call, exec)
}

/// Runs a cell, and returns its status.
pub fn run_cell(args: &CellArgs, make: fn(Vec<u8>) -> Exec) -> Result<u8, CliFailure> {
    let mut code = args.code.as_bytes().to_vec();
    if code == b"-" {
        code.clear();
        std::io::stdin().lock().take(MAX_CODE).read_to_end(&mut code)?;
    }
    run(&args.named, &args.image, &args.grants, &args.call, make(code))
}

fn run(
    named: &SessionNameArgs,
    image: &ImageArg,
    grants: &GrantArgs,
    options: &CallArgs,
    exec: Exec,
) -> Result<u8, CliFailure> {
    let GrantSettings { policy, pool, tools_from, .. } = grants.grant_settings()?;
    let limits = policy.limits;
    let engine = call::open_engine(image, pool)?;
    let _servers = tools::connect_servers(&engine, &tools_from)?;
    let sessions = engine.sessions(named.store.open()?);
    let name = &named.name;
    let begun = sessions.store().session_info(name)?.image;
    let session = sessions.session(name, policy)?;
    call::note_image(name, begun, sessions.engine());
    let exec = call::prepare_exec(exec, options, &limits);
    let running = call::RunningCall::default();
    call::watch_signals(call::take_signals()?, session.interrupter(), running.clone(), || {});
    let outcome = running.run_during(|| session.exec(exec))?;
    call::report_left_out(&session);
    if let Some(value) = outcome.value.as_ref().filter(|_| !options.json) {
        let mut line = format!("{value}\n").into_bytes();
        if std::io::stdout().is_terminal() {
            line = wasibox::terminal::Filter::default().filter_bytes(&line);
        }
        print_bytes(&line)?;
    }
    if outcome.put_back && outcome.limit_hit.is_none() {
        message::say_message(
            "the interpreter has ended; the next cell continues from the state before this one",
        );
    }
    call::print_outcome(&outcome, options.json, &limits)?;
    Ok(outcome.exit_code)
}

/// Ends a session's interpreter.
pub fn reset_interpreter(
    named: &SessionNameArgs,
    image: &ImageArg,
    over: &WorkspaceArg,
) -> Result<u8, CliFailure> {
    let sessions = call::open_engine(image, PoolSettings::default())?.sessions(named.store.open()?);
    sessions.session(&named.name, over.policy())?.reset()?;
    Ok(0)
}
