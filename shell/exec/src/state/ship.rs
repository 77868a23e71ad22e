//! The state as bytes, for a shell that is spawned to run code beside this one. There is no fork, so what a forked child
//! would simply have is written down here: variables with attributes, functions, options, traps, positional parameters
//! and so on, and the tree of the code to run. Descriptors travel as descriptors.
//!
//! Private between two shells of one build; no compatibility is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use box_sys::path;
use serde::{Deserialize, Serialize};
use sh_expand::Str;
use sh_syntax::ast::List;
use sh_syntax::parse::{ParseOptions, parse_all};

use super::definition::only_function;
use super::hash::FastMap;
use super::here::Here;
use super::traps::Traps;
use super::vars::{Name, Vars};
use super::{Frame, FunctionDef, GetOpts, PipeStatus, State};
use crate::Shell;

/// What travels. Tables are the sender's own, behind `Rc`, so that making this copies none of them.
#[derive(Serialize, Deserialize)]
struct Shipped {
    code: List,
    vars: Vars,
    functions: Rc<FastMap<Name, FunctionDef>>,
    aliases: Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    options: (u32, u64),
    command_string: bool,
    traps: BTreeMap<u8, Str>,
    listed_traps: BTreeMap<u8, Str>,
    background: bool,
    fixed_signals: u64,
    /// A path's bytes, as those of `hashed`.
    cwd: Vec<u8>,
    dirs: Rc<Vec<Vec<u8>>>,
    arg0: Str,
    positional: Rc<Vec<Str>>,
    outer_positional: Option<Rc<Vec<Str>>>,
    frames: Rc<Vec<Frame>>,
    funcname_shown: bool,
    hashed: Vec<(Vec<u8>, Vec<u8>, u32)>,
    disabled_builtins: Vec<String>,
    status: i32,
    pipe_status: PipeStatus,
    ulimits: Rc<BTreeMap<u8, (u64, u64)>>,
    last_background: Option<u32>,
    last_arg: Str,
    line: u32,
    shell_pid: u32,
    subshell: u32,
    seconds: i64,
    getopts: GetOpts,
    umask: u16,
    here: Here,
    command_text: Str,
    outer_command: Option<Str>,
    outermost_command: Option<Str>,
    track_commands: bool,
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
        fixed_signals,
        track_commands,
        // The new process has these from its own start.
        sys: _,
        table: _,
        odd_env: _,
        session: _,
        mentions_aliases: _,
        history: _,
        // Of this process: what it caches, what it is yet to write or to wait for.
        dirty: _,
        dirty_since: _,
        env_cache: _,
        regex_cache: _,
        zone: _,
        process_subs: _,
        job_group: _,
        next_pseudo_pid: _,
        pending_signals: _,
        outer_signals: _,
        ended_children: _,
        // Of the command under way, which is not the one over there.
        broken_pipe: _,
        limit_hit: _,
        output_error: _,
        last_subst: _,
        killed_by: _,
        syntax_failed: _,
        interrupted: _,
        keep_redirects: _,
        bad_syntax_exit: _,
        left_text: _,
        line_before: _,
    } = shell;
    let State {
        vars,
        functions,
        aliases,
        options,
        traps,
        cwd,
        dirs,
        arg0,
        positional,
        outer_positional,
        frames,
        funcname_shown,
        hashed,
        disabled_builtins,
        status,
        pipe_status,
        ulimits,
        last_background,
        last_arg,
        line,
        shell_pid,
        subshell,
        started,
        seconds_offset,
        getopts,
        umask,
        here,
        command_text,
        outer_command,
        outermost_command,
        // Descriptors travel as descriptors, those around the command not at all.
        fds: _,
        outer_fds: _,
        // Children and numbers are each process's own.
        jobs: _,
        own_pid: _,
        random: _,
        random_set: _,
        // What the EXIT trap ended with stays here.
        trap_exit: _,
        // Of calls and texts under way here.
        call_args: _,
        positional_set: _,
        text_begun: _,
        // Nobody asks for them there.
        completions: _,
    } = &**state;
    let actions = |of: &mut dyn Iterator<Item = (u8, &Str)>| {
        of.map(|(condition, action)| (condition, action.clone())).collect()
    };
    let locations = hashed.iter();
    let locations =
        locations.map(|(name, (file, hits))| (name.clone(), path::to_bytes(file).to_vec(), *hits));
    postcard::to_stdvec(&Shipped {
        code,
        vars: vars.clone(),
        functions: functions.clone(),
        aliases: aliases.clone(),
        options: options.to_bits(),
        command_string: options.command_string,
        traps: actions(&mut traps.active()),
        listed_traps: actions(&mut traps.listed()),
        background: traps.is_background(),
        fixed_signals: *fixed_signals,
        cwd: path::to_bytes(cwd).to_vec(),
        dirs: dirs.clone(),
        arg0: arg0.clone(),
        positional: positional.clone(),
        outer_positional: outer_positional.clone(),
        frames: frames.clone(),
        funcname_shown: *funcname_shown,
        hashed: locations.collect(),
        disabled_builtins: disabled_builtins.iter().map(|name| (*name).to_owned()).collect(),
        status: *status,
        pipe_status: pipe_status.clone(),
        ulimits: ulimits.clone(),
        last_background: *last_background,
        last_arg: last_arg.clone(),
        line: *line,
        shell_pid: *shell_pid,
        subshell: *subshell,
        seconds: started.elapsed().as_secs() as i64 + *seconds_offset,
        getopts: *getopts,
        umask: *umask,
        here: here.shipped(),
        command_text: command_text.clone(),
        outer_command: outer_command.clone(),
        outermost_command: outermost_command.clone(),
        track_commands: *track_commands,
        budget: budget.used(),
    })
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
        options: (set, shopt),
        command_string,
        traps,
        listed_traps,
        background,
        fixed_signals,
        cwd,
        dirs,
        arg0,
        positional,
        outer_positional,
        frames,
        funcname_shown,
        hashed,
        disabled_builtins,
        status,
        pipe_status,
        ulimits,
        last_background,
        last_arg,
        line,
        shell_pid,
        subshell,
        seconds,
        getopts,
        umask,
        here,
        command_text,
        outer_command,
        outermost_command,
        track_commands,
        budget,
    } = postcard::from_bytes(data)?;
    let s = &mut shell.state;
    s.vars = vars;
    s.functions = functions;
    s.aliases = aliases;
    s.options.set_bits(set, shopt);
    s.options.command_string = command_string;
    s.traps = Traps::restore(traps, listed_traps, background);
    s.cwd = Rc::new(PathBuf::from(path::from_bytes(&cwd)));
    s.dirs = dirs;
    s.arg0 = arg0;
    s.positional = positional;
    s.outer_positional = outer_positional;
    s.frames = frames;
    s.funcname_shown = funcname_shown;
    let hashed = hashed.into_iter();
    let hashed = hashed.map(|(name, file, n)| (name, (PathBuf::from(path::from_bytes(&file)), n)));
    s.hashed = Rc::new(hashed.collect());
    let disabled = disabled_builtins.iter();
    let disabled = disabled.filter_map(|name| crate::builtin::find(name.as_bytes()));
    s.disabled_builtins = Rc::new(disabled.map(|b| b.name).collect());
    s.status = status;
    s.pipe_status = pipe_status;
    s.ulimits = ulimits;
    s.last_background = last_background;
    s.last_arg = last_arg;
    s.line = line;
    s.shell_pid = shell_pid;
    s.subshell = subshell;
    s.seconds_offset = seconds;
    s.getopts = getopts;
    s.umask = umask;
    s.here = here;
    s.command_text = command_text;
    s.outer_command = outer_command;
    s.outermost_command = outermost_command;
    shell.fixed_signals = fixed_signals;
    shell.track_commands |= track_commands;
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
