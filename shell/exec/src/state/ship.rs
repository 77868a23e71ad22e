//! The state as bytes, for a shell that is spawned to run code beside this one. There is no fork, so what a forked child
//! would simply have is written down here: variables with attributes, functions, options, traps, positional parameters
//! and so on, and the tree of the code to run. Descriptors travel as descriptors.
//!
//! Private between two shells of one build; no compatibility is kept.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use sh_expand::Str;
use sh_syntax::ast::List;
use sh_syntax::parse::{ParseOptions, parse_all};

use super::calls::Calls;
use super::command_text::CommandText;
use super::commands::Commands;
use super::definition::only_function;
use super::dirs::Dirs;
use super::hash::FastMap;
use super::here::Here;
use super::ids::Ids;
use super::params::Params;
use super::traps::Traps;
use super::vars::{Name, Vars};
use super::{FunctionDef, GetOpts, PipeStatus, State};
use crate::Shell;

/// What travels. Tables are the sender's own, behind `Rc`, so that making this copies none of them.
#[derive(Serialize, Deserialize)]
struct Shipped {
    code: List,
    vars: Vars,
    functions: Rc<FastMap<Name, FunctionDef>>,
    aliases: Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    options: (u32, u64, bool),
    traps: Traps,
    fixed_signals: u64,
    dirs: Dirs,
    params: Params,
    calls: Calls,
    commands: Commands,
    status: i32,
    pipe_status: PipeStatus,
    ulimits: Rc<BTreeMap<u8, (u64, u64)>>,
    last_arg: Str,
    line: u32,
    ids: Ids,
    seconds: i64,
    getopts: GetOpts,
    umask: u16,
    here: Here,
    command: CommandText,
    mentions_commands: bool,
    budget: [u64; 5],
}

/// The state and the code to run on it.
///
/// # Errors
/// If memory is short.
pub fn encode(shell: &Shell<'_>, code: List) -> postcard::Result<Vec<u8>> {
    // Taken apart without `..`, so that whoever adds a field decides here whether it travels.
    let Shell {
        state,
        budget,
        signals,
        mentions,
        // The new process has these from its own start.
        sys: _,
        table: _,
        child_env: _,
        session: _,
        history: _,
        // Of this process: what it caches, what it is yet to write or to wait for.
        output: _,
        children: _,
        process_subs: _,
        regex: _,
        zone: _,
        // Of the command under way, which is not the one over there.
        leaving: _,
        last_subst: _,
        line_before: _,
    } = shell;
    postcard::to_stdvec(&shipped(
        state,
        code,
        Around {
            fixed_signals: signals.fixed(),
            mentions_commands: mentions.commands,
            budget: budget.used(),
        },
    ))
}

/// What travels besides code and state.
struct Around {
    fixed_signals: u64,
    mentions_commands: bool,
    budget: [u64; 5],
}

fn shipped(state: &State, code: List, around: Around) -> Shipped {
    let State {
        vars,
        functions,
        aliases,
        options,
        traps,
        dirs,
        params,
        calls,
        commands,
        status,
        pipe_status,
        ulimits,
        last_arg,
        line,
        ids,
        seconds,
        getopts,
        umask,
        here,
        command,
        // Descriptors travel as descriptors, those around the command not at all.
        fds: _,
        // Children and random numbers are each process's own.
        jobs: _,
        random: _,
        // Nobody asks for them there.
        completions: _,
    } = state;
    Shipped {
        code,
        vars: vars.clone(),
        functions: functions.clone(),
        aliases: aliases.clone(),
        options: options.shipped(),
        traps: traps.clone(),
        fixed_signals: around.fixed_signals,
        dirs: dirs.clone(),
        params: params.clone(),
        calls: calls.clone(),
        commands: commands.clone(),
        status: *status,
        pipe_status: pipe_status.clone(),
        ulimits: ulimits.clone(),
        last_arg: last_arg.clone(),
        line: *line,
        ids: *ids,
        seconds: seconds.value(),
        getopts: *getopts,
        umask: *umask,
        here: here.shipped(),
        command: command.clone(),
        mentions_commands: around.mentions_commands,
        budget: around.budget,
    }
}

/// Takes over a state; the code to run.
///
/// # Errors
/// If the bytes are no state.
pub fn decode(shell: &mut Shell<'_>, data: &[u8]) -> postcard::Result<List> {
    let Shipped {
        code,
        vars,
        functions,
        aliases,
        options,
        traps,
        fixed_signals,
        dirs,
        params,
        calls,
        commands,
        status,
        pipe_status,
        ulimits,
        last_arg,
        line,
        ids,
        seconds,
        getopts,
        umask,
        here,
        command,
        mentions_commands,
        budget,
    } = postcard::from_bytes(data)?;
    let s = &mut *shell.state;
    s.options.take_shipped(options);
    s.seconds.set_offset(seconds);
    s.ids = ids.in_process(s.ids.own());
    (s.vars, s.functions, s.aliases) = (vars, functions, aliases);
    (s.traps, s.commands, s.ulimits) = (traps, commands, ulimits);
    (s.dirs, s.params, s.calls) = (dirs, params, calls);
    (s.status, s.pipe_status, s.last_arg) = (status, pipe_status, last_arg);
    (s.line, s.command, s.here) = (line, command, here);
    (s.getopts, s.umask) = (getopts, umask);
    shell.signals.fix(fixed_signals);
    shell.mentions.commands |= mentions_commands;
    shell.budget.go_on_from(budget);
    shell.sync_locale();
    Ok(code)
}

impl Shell<'_> {
    /// Takes a function from the environment (`BASH_FUNC_name%%`).
    pub(crate) fn import_function(&mut self, name: &[u8], text: &[u8]) {
        if !text.starts_with(b"() {") {
            return;
        }
        let source = [name, b" ", text].concat();
        let Ok(list) =
            parse_all(&source, &ParseOptions { extglob: true, ..ParseOptions::default() })
        else {
            return;
        };
        let Some(function) = only_function(&list) else { return };
        let def = FunctionDef {
            function: function.into(),
            source: Rc::new(b"environment".to_vec()),
            line: 0,
            export: true,
            readonly: false,
            trace: false,
        };
        Rc::make_mut(&mut self.state.functions).insert(Rc::from(name), def);
    }
}
