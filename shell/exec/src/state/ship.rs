//! The state as bytes, for a shell that is spawned to run code beside this one. Because there is no
//! fork, this file serializes all that a forked child would inherit: variables with attributes,
//! functions, options, traps, positional parameters and so on, and the tree of the code to run.
//! Descriptors are passed as descriptors.
//!
//! The format is private to two shells of one build; no compatibility is kept.

use std::rc::Rc;

use sh_expand::Attributes;
use sh_syntax::ast::CommandList;
use sh_syntax::parse::{ParseOptions, parse_all};

use super::definition::only_function;
use super::{FunctionDef, ShellState};
use crate::Shell;

/// The transferred data: the code, the state, the signals that cannot be trapped, whether
/// `BASH_COMMAND` is needed, and the used part of the budget. `S` is the state, or a reference to
/// one.
type Shipped<S> = (CommandList, S, u64, bool, [u64; 5]);

/// Encodes the state and the code to run on it.
///
/// # Errors
/// Fails if memory is short.
pub fn encode_state(shell: &Shell<'_>, code: CommandList) -> postcard::Result<Vec<u8>> {
    // The pattern has no `..`, so that a new field does not compile until this code handles it.
    let Shell {
        state,
        budget,
        signals,
        mentions,
        // The new process has its own.
        sys: _,
        table: _,
        child_env: _,
        session: _,
        history: _,
        editor: _,
        // Only the shell itself lends its terminal to jobs.
        terminal: _,
        leave_warned: _,
        // State of this process only: its caches, pending output and pending children.
        output: _,
        children: _,
        process_subs: _,
        regex: _,
        zone: _,
        // State of the current command, which is not the one in the new process.
        leaving: _,
        last_subst: _,
    } = shell;
    let mut state = state.clone();
    state.here = state.here.shipped();
    let shipped: Shipped<&ShellState> =
        (code, &state, signals.fixed_signals(), mentions.commands, budget.used_counts());
    postcard::to_stdvec(&shipped)
}

/// Loads a state and returns the code to run.
///
/// # Errors
/// Fails if the bytes are not a state.
pub fn decode_state(shell: &mut Shell<'_>, data: &[u8]) -> postcard::Result<CommandList> {
    let (code, state, fixed_signals, mentions_commands, budget): Shipped<Box<ShellState>> =
        postcard::from_bytes(data)?;
    let own = std::mem::replace(&mut shell.state, state);
    let s = &mut *shell.state;
    // The pattern has no `..`, so that a new field does not compile until this code handles it.
    let ShellState {
        // Descriptors are passed as descriptors; each process has its own children and random
        // numbers.
        fds,
        jobs,
        random,
        ids,
        // The spawned shell never uses completions.
        completions: _,
        // These came with the state.
        vars: _,
        functions: _,
        aliases: _,
        options: _,
        traps: _,
        dirs: _,
        params: _,
        calls: _,
        commands: _,
        status: _,
        pipe_status: _,
        last_arg: _,
        line: _,
        seconds: _,
        getopts: _,
        umask: _,
        here: _,
        command: _,
        ulimits: _,
    } = *own;
    s.ids = s.ids.in_process(ids.own_pid());
    (s.fds, s.jobs, s.random) = (fds, jobs, random);
    shell.signals.fix_ignored(fixed_signals);
    shell.mentions.commands |= mentions_commands;
    shell.budget.restore_counts(budget);
    shell.sync_locale();
    Ok(code)
}

impl Shell<'_> {
    /// Defines a function from the environment (`BASH_FUNC_name%%`).
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
            attrs: Attributes::EXPORT,
        };
        Rc::make_mut(&mut self.state.functions).insert(Rc::from(name), def);
    }
}
