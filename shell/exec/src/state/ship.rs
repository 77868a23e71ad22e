//! The state as bytes, for a shell that is spawned to run code beside this one. There is no
//! fork, so what a forked child would simply have is written down here: variables with
//! attributes, functions as source text, options, traps, positional parameters and so on.
//! Descriptors travel as descriptors.
//!
//! Private between two shells of one build; no compatibility is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use box_sys::path;
use sh_expand::Str;
use sh_syntax::ast::{Command, List};
use sh_syntax::error::SyntaxError;
use sh_syntax::parse::{ParseOptions, parse_all};

use super::definition::only_function;
use super::here::{ExitTrap, Here};
use super::traps::Traps;
use super::{Frame, FunctionDef, GetOpts, PipeStatus, State};
use super::{lines, ship_vars};
use crate::Shell;

const MAGIC: u64 = 0x3231_7870_6f62_6873;

#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn num(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }
    pub(super) fn int(&mut self, n: i64) {
        self.num(n as u64);
    }
    pub(super) fn bytes(&mut self, b: &[u8]) {
        self.num(b.len() as u64);
        self.0.extend_from_slice(b);
    }
    fn lines(&mut self, lines: &[u32]) {
        self.num(lines.len() as u64);
        lines.iter().for_each(|l| self.0.extend_from_slice(&l.to_le_bytes()));
    }
}

pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(super) fn num(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_first_chunk::<8>()?;
        self.0 = tail;
        Some(u64::from_le_bytes(*head))
    }
    pub(super) fn int(&mut self) -> Option<i64> {
        self.num().map(|n| n as i64)
    }
    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let n = usize::try_from(self.num()?).ok()?;
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }
    pub(super) fn text(&mut self) -> Option<Str> {
        self.bytes().map(|b| Rc::new(b.to_vec()))
    }
    fn texts(&mut self) -> Option<Rc<Vec<Str>>> {
        let texts = (0..self.count()?).map(|_| self.text());
        texts.collect::<Option<_>>().map(Rc::new)
    }
    fn actions(&mut self) -> Option<BTreeMap<u8, Str>> {
        (0..self.count()?).map(|_| Some((self.num()? as u8, self.text()?))).collect()
    }
    fn lines(&mut self) -> Option<Vec<u32>> {
        let n = usize::try_from(self.num()?).ok()?.checked_mul(4)?;
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        let (words, _) = head.as_chunks::<4>();
        Some(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
    }
    /// A count of items that each take at least one word.
    pub(super) fn count(&mut self) -> Option<usize> {
        let n = usize::try_from(self.num()?).ok()?;
        (n <= self.0.len() / 8 + 1).then_some(n)
    }
}

/// Code as it travels.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub text: Vec<u8>,
    /// The lines of its commands.
    pub lines: Vec<u32>,
}

impl Code {
    pub fn of_command(c: &Command) -> Code {
        let mut lines = Vec::new();
        lines::of_command(c, &mut lines);
        Code { text: sh_syntax::print::command(c), lines }
    }

    pub fn of_list(l: &List) -> Code {
        let mut lines = Vec::new();
        lines::of_list(l, &mut lines);
        Code { text: sh_syntax::print::list(l), lines }
    }

    /// The tree again, with its lines.
    pub(crate) fn parse(&self) -> Result<List, SyntaxError> {
        let options = ParseOptions { extglob: true, printed: true, ..ParseOptions::default() };
        let mut list = parse_all(&self.text, &options)?;
        lines::restore(&mut list, &self.lines);
        Ok(list)
    }
}

/// The state and the code to run on it.
pub fn encode(shell: &mut Shell<'_>, code: &Code) -> Vec<u8> {
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
    let Here {
        condition,
        loops,
        depth,
        exit_depth,
        action,
        exit_trap,
        alone,
        hidden_subshells,
        hidden_here,
        // The traps that run stay here.
        running: _,
        // Of the command under way.
        trap_status: _,
        evaluator: _,
        command_builtin: _,
        both_ways: _,
        own_scope: _,
        is_all_of_process: _,
    } = *here;
    let mut w = Writer::default();
    w.num(MAGIC);
    w.bytes(&code.text);
    w.lines(&code.lines);
    ship_vars::write(&mut w, vars);
    w.num(functions.len() as u64);
    for (name, f) in functions.iter() {
        w.bytes(name);
        w.bytes(&f.source);
        w.num(u64::from(f.line));
        w.num(u64::from(f.export) | u64::from(f.readonly) << 1 | u64::from(f.trace) << 2);
        let code = f.function.code(f.line);
        w.bytes(&code.text);
        w.lines(&code.lines);
    }
    w.num(aliases.len() as u64);
    for (name, text) in aliases.iter() {
        w.bytes(name);
        w.bytes(text);
    }
    let (set, shopt) = options.to_bits();
    w.num(u64::from(set));
    w.num(shopt);
    w.num(u64::from(options.command_string));
    for actions in [traps.active().collect::<Vec<_>>(), traps.listed().collect()] {
        w.num(actions.len() as u64);
        for (condition, action) in actions {
            w.num(u64::from(condition));
            w.bytes(action);
        }
    }
    w.num(u64::from(traps.is_background()));
    w.num(*fixed_signals);
    w.bytes(path::to_bytes(cwd));
    w.num(dirs.len() as u64);
    dirs.iter().for_each(|d| w.bytes(d));
    w.bytes(arg0);
    w.num(positional.len() as u64);
    positional.iter().for_each(|p| w.bytes(p));
    w.num(u64::from(outer_positional.is_some()));
    if let Some(outer) = outer_positional {
        w.num(outer.len() as u64);
        outer.iter().for_each(|p| w.bytes(p));
    }
    w.num(frames.len() as u64);
    for f in frames.iter() {
        w.bytes(&f.name);
        w.bytes(&f.source);
        w.num(u64::from(f.call_line));
        w.num(u64::from(f.is_function));
    }
    w.num(hashed.len() as u64);
    for (name, (file, hits)) in hashed.iter() {
        w.bytes(name);
        w.bytes(path::to_bytes(file));
        w.num(u64::from(*hits));
    }
    w.num(disabled_builtins.len() as u64);
    disabled_builtins.iter().for_each(|b| w.bytes(b.as_bytes()));
    w.int(i64::from(*status));
    let pipe = match pipe_status {
        PipeStatus::One(n) => vec![*n],
        PipeStatus::Many(all) => all.to_vec(),
    };
    w.num(pipe.len() as u64);
    pipe.iter().for_each(|n| w.int(i64::from(*n)));
    w.int(last_background.map_or(-1, i64::from));
    w.bytes(last_arg);
    for n in [
        u64::from(*line),
        u64::from(*shell_pid),
        u64::from(*subshell),
        u64::from(hidden_subshells),
        u64::from(hidden_here),
        u64::from(*funcname_shown),
        u64::from(alone),
        u64::from(*track_commands),
        u64::from(*umask),
        u64::from(condition),
        u64::from(loops),
        u64::from(depth),
        u64::from(exit_depth),
        u64::from(exit_trap == ExitTrap::Never),
        u64::from(action),
        getopts.index as u64,
        getopts.offset as u64,
    ] {
        w.num(n);
    }
    w.int(started.elapsed().as_secs() as i64 + *seconds_offset);
    w.bytes(command_text);
    for command in [outer_command, outermost_command] {
        w.num(u64::from(command.is_some()));
        w.bytes(command.as_ref().map_or(&b""[..], |command| command));
    }
    w.num(ulimits.len() as u64);
    for (letter, (soft, hard)) in ulimits.iter() {
        [u64::from(*letter), *soft, *hard].iter().for_each(|n| w.num(*n));
    }
    budget.used().iter().for_each(|n| w.num(*n));
    w.0
}

/// Takes over a state; the code to run, or `None` if the bytes are no state.
pub fn decode(shell: &mut Shell<'_>, data: &[u8]) -> Option<Code> {
    let mut r = Reader(data);
    if r.num()? != MAGIC {
        return None;
    }
    let code = Code { text: r.bytes()?.to_vec(), lines: r.lines()? };
    let fresh = std::mem::take(&mut shell.state.vars);
    shell.state.vars = ship_vars::read(&mut r, &fresh)?;
    for _ in 0..r.count()? {
        let name = r.bytes()?;
        let source = r.text()?;
        let line = r.num()? as u32;
        let flags = r.num()?;
        let body = Code { text: r.bytes()?.to_vec(), lines: r.lines()? };
        let def = FunctionDef {
            function: body.into(),
            source,
            line,
            export: flags & 1 != 0,
            readonly: flags & 2 != 0,
            trace: flags & 4 != 0,
        };
        Rc::make_mut(&mut shell.state.functions).insert(Rc::from(name), def);
    }
    let mut aliases: BTreeMap<Vec<u8>, Rc<[u8]>> = BTreeMap::new();
    for _ in 0..r.count()? {
        let name = r.bytes()?.to_vec();
        aliases.insert(name, Rc::from(r.bytes()?));
    }
    let s = &mut shell.state;
    s.aliases = Rc::new(aliases);
    let set = r.num()? as u32;
    let shopt = r.num()?;
    s.options.set_bits(set, shopt);
    s.options.command_string = r.num()? != 0;
    let (active, listed) = (r.actions()?, r.actions()?);
    s.traps = Traps::restore(active, listed, r.num()? != 0);
    shell.fixed_signals = r.num()?;
    s.cwd = Rc::new(PathBuf::from(path::from_bytes(r.bytes()?)));
    let mut dirs = Vec::new();
    for _ in 0..r.count()? {
        dirs.push(r.bytes()?.to_vec());
    }
    s.dirs = Rc::new(dirs);
    s.arg0 = r.text()?;
    s.positional = r.texts()?;
    s.outer_positional = if r.num()? != 0 { Some(r.texts()?) } else { None };
    let mut frames = Vec::new();
    for _ in 0..r.count()? {
        frames.push(Frame {
            name: r.text()?,
            source: r.text()?,
            call_line: r.num()? as u32,
            is_function: r.num()? != 0,
        });
    }
    s.frames = Rc::new(frames);
    let mut hashed = BTreeMap::new();
    for _ in 0..r.count()? {
        let name = r.bytes()?.to_vec();
        let file = PathBuf::from(path::from_bytes(r.bytes()?));
        hashed.insert(name, (file, r.num()? as u32));
    }
    s.hashed = Rc::new(hashed);
    let mut disabled = Vec::new();
    for _ in 0..r.count()? {
        disabled.extend(crate::builtin::find(r.bytes()?).map(|b| b.name));
    }
    s.disabled_builtins = Rc::new(disabled);
    s.status = r.int()? as i32;
    let mut pipe = Vec::new();
    for _ in 0..r.count()? {
        pipe.push(r.int()? as i32);
    }
    s.pipe_status = PipeStatus::Many(Rc::new(pipe));
    s.last_background = u32::try_from(r.int()?).ok();
    s.last_arg = r.text()?;
    s.line = r.num()? as u32;
    s.shell_pid = r.num()? as u32;
    s.subshell = r.num()? as u32;
    let hidden_subshells = r.num()? as u32;
    let hidden_here = r.num()? != 0;
    s.funcname_shown = r.num()? != 0;
    let alone = r.num()? != 0;
    let track_commands = r.num()? != 0;
    s.umask = r.num()? as u16;
    s.here = Here {
        condition: r.num()? != 0,
        loops: r.num()? as u32,
        depth: r.num()? as u32,
        exit_depth: r.num()? as u32,
        exit_trap: if r.num()? != 0 { ExitTrap::Never } else { ExitTrap::Here },
        action: r.num()? != 0,
        alone,
        hidden_subshells,
        hidden_here,
        ..Here::default()
    };
    let index = r.num()? as usize;
    s.getopts = GetOpts { index, offset: r.num()? as usize };
    s.seconds_offset = r.int()?;
    s.command_text = r.text()?;
    for command in [&mut s.outer_command, &mut s.outermost_command] {
        let within = r.num()? != 0;
        *command = Some(r.text()?).filter(|_| within);
    }
    let mut ulimits = BTreeMap::new();
    for _ in 0..r.count()? {
        ulimits.insert(r.num()? as u8, (r.num()?, r.num()?));
    }
    s.ulimits = Rc::new(ulimits);
    shell.budget.go_on_from([r.num()?, r.num()?, r.num()?, r.num()?, r.num()?]);
    shell.track_commands |= track_commands;
    shell.sync_locale();
    Some(code)
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
