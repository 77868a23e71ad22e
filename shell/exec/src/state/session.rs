//! The state from one call of a session to the next ([`box_sys::session`] has the format).
//!
//! The defaults of a fresh shell are not written: the next call takes a variable that no script has
//! changed from its own environment, and a later version of the shell uses its own defaults. The
//! working directory, `PWD`, `OLDPWD`, the mask and `$?` are always written.
//!
//! Loading a state assigns to the tables directly, so that nothing is traced, no trap runs, and no
//! record can make another one fail. A function is stored as text and parsed when it is first
//! called, because most calls need few of the session's functions.
//!
//! Not kept: descriptors, jobs and `$!`, the EXIT trap, `hash`, history, completions, `$0` and
//! `$_`; nor `noexec` and `onecmd`, because with these no later call could do anything.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use box_sys::session::{
    STATE_MAX, SessionFunction, SessionRecord, SessionRecords, SessionValue, SessionWriter,
    StateError,
};
use box_sys::{FileKind, error_text, meta, path};
use sh_expand::Attributes;
use sh_expand::array::{AssocArray, IndexedArray};

use super::assign::is_name;
use super::definition::{DefinitionCode, FunctionDefinition};
use super::hash::FastMap;
use super::options::{SET_OPTIONS, SHOPT_OPTIONS};
use super::options::{SetOpt, ShOpt, set_option, shopt_option};
use super::traps;
use super::vars::{Name, ShellVar, VarSlot, Vars, decimal_digits};
use super::{FunctionDef, GetOpts, PipeStatus};
use crate::Shell;
use crate::builtin::declare::print::attribute_flags;

/// Options that a session does not keep.
const CALL_OPTIONS: [SetOpt; 2] = [SetOpt::NoExec, SetOpt::OneCmd];
const CALL_SHOPTS: [ShOpt; 2] = [ShOpt::LoginShell, ShOpt::RestrictedShell];
/// Variables that are written even if they are unchanged, because the host may begin a call in
/// another directory.
const ALWAYS: [&[u8]; 2] = [b"PWD", b"OLDPWD"];
/// The variable that holds the call's own script.
const OF_CALL: &[u8] = b"BASH_EXECUTION_STRING";
/// The maximum start value of `SECONDS`, limited because the elapsed time is added to it.
const MOST_SECONDS: i64 = 1 << 53;
/// The maximum number of names in one message.
const NAMED: usize = 10;

/// The reason why a session's call cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("not in a session")]
    None,
    #[error("session state: {}", error_text(.0))]
    Read(io::Error),
}

/// The state at the start of a call of a session.
pub struct SessionBaseline {
    /// The tables of a fresh shell.
    vars: Vars,
    functions: Rc<FastMap<Name, FunctionDef>>,
    options: (u32, u64),
    /// The state of the last call.
    before: Vec<u8>,
    /// The functions that were loaded from `before`, with the ranges of their records in it.
    taken: FastMap<Name, (FunctionDefinition, Range<usize>)>,
    /// The start of this shell, in seconds since the epoch.
    began: i64,
}

impl Shell<'_> {
    /// Loads the state that the last call of this session has stored, and returns whether there was
    /// one. A message on standard error names the parts that cannot be loaded.
    ///
    /// # Errors
    /// Fails if the process belongs to no session.
    pub fn begin_session(&mut self) -> Result<bool, SessionError> {
        let before = match self.sys.session_state() {
            Ok(state) => state,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(SessionError::None),
            Err(e) => return Err(SessionError::Read(e)),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut session = SessionBaseline {
            vars: self.state.vars.clone(),
            functions: self.state.functions.clone(),
            options: self.state.options.to_bits(),
            before,
            taken: FastMap::default(),
            began: i64::try_from(now).unwrap_or(i64::MAX),
        };
        let later = !session.before.is_empty();
        if later {
            // Other texts are searched for these names before they run, but the text of functions
            // is in this state.
            let mentions = |name: &[u8]| memchr::memmem::find(&session.before, name).is_some();
            self.mentions.commands |= mentions(b"BASH_COMMAND");
            self.mentions.aliases |= mentions(b"expand_aliases");
            if let Err(e) = self.take_up(&mut session) {
                self.session_error(&[e.to_string().as_bytes(), b": not taken up"]);
            }
        }
        self.session = Some(Box::new(session));
        Ok(later)
    }

    fn session_error(&mut self, parts: &[&[u8]]) {
        let line =
            [self.state.params.arg0(), b": session: ".as_slice(), &parts.concat(), b"\n"].concat();
        self.write_err(&line);
    }

    fn take_up(&mut self, session: &mut SessionBaseline) -> Result<(), StateError> {
        let mut records = SessionRecords::from_state(&session.before)?;
        let mut taking = StateReader {
            lost: LostState::default(),
            options: session.options,
            cwd: None,
            traps: false,
            keeps_params: !self.state.params.list().is_empty(),
            began: session.began,
        };
        let mut at = session.before.len() - records.rest_len();
        while let Some((raw, record)) = records.next_raw() {
            let range = at..at + raw.len();
            at = range.end;
            match record {
                None => taking.lost.add("a part of", b"it"),
                Some(SessionRecord::Function(f)) => {
                    let (name, def) = kept_function(&f);
                    session.taken.insert(name.clone(), (def.function.clone(), range));
                    Rc::make_mut(&mut self.state.functions).insert(name, def);
                }
                Some(record) => self.take_record(record, &mut taking),
            }
        }
        let (set, shopt) = taking.options;
        self.state.options.set_bits(set, shopt);
        self.sync_locale();
        if taking.traps {
            self.sync_signals();
        }
        if let Some(cwd) = taking.cwd {
            self.return_to(cwd);
        }
        if let Some((names, more)) = taking.lost.lost_names() {
            self.session_error(&[b"not taken up: ", &names, more.as_bytes()]);
        }
        Ok(())
    }

    /// Loads one record other than a function.
    fn take_record<'r>(&mut self, record: SessionRecord<'r>, taking: &mut StateReader<'r>) {
        let s = &mut *self.state;
        match record {
            SessionRecord::Function(_) => {}
            SessionRecord::Cwd(path) => taking.cwd = Some(path),
            SessionRecord::Umask(mask) => s.umask = mask,
            SessionRecord::Status { last, stages } => {
                s.status = i32::from(last);
                let stages = stages.iter().map(|s| i32::from(*s)).collect();
                s.pipe_status = PipeStatus::Many(Rc::new(stages));
            }
            SessionRecord::Variable { name, attributes, value } if is_name(name) => {
                let var = kept_variable(attributes, &value, s.vars.get(name));
                s.vars.insert(name, var);
            }
            SessionRecord::Variable { name, .. } => taking.lost.add("variable", name),
            SessionRecord::NoVariable(name) => {
                if s.vars.get(name).is_some() {
                    s.vars.unset_var(name, false);
                }
            }
            SessionRecord::NoFunction(name) => {
                Rc::make_mut(&mut s.functions).remove(name);
            }
            SessionRecord::Alias { name, text } => {
                Rc::make_mut(&mut s.aliases).insert(name.to_vec(), Rc::from(text));
            }
            SessionRecord::Set { .. } | SessionRecord::Shopt { .. } => taking.take_option(&record),
            SessionRecord::Trap { condition, action } => match traps::parse(condition) {
                // A signal that was ignored when this process started stays ignored.
                Some(n) if n != traps::EXIT && self.signals.is_fixed(n) => {}
                Some(n) if n != traps::EXIT => {
                    s.traps.set(n, Some(Rc::new(action.to_vec())));
                    taking.traps = true;
                }
                _ => taking.lost.add("trap", condition),
            },
            SessionRecord::Positional(_) if taking.keeps_params => {}
            SessionRecord::Positional(all) => {
                s.params.replace(all.iter().map(|p| Rc::new(p.to_vec())).collect());
            }
            SessionRecord::Directories(all) => {
                *s.dirs.below_mut() = all.iter().map(|d| d.to_vec()).collect();
            }
            SessionRecord::GetOpts { index, offset } => {
                // Limited, because the shell adds to the numbers. A value beyond the last argument
                // means the end.
                let number = |n: u32| n.min(u32::MAX / 2) as usize;
                s.getopts = GetOpts { index: number(index), offset: number(offset) };
            }
            SessionRecord::SecondsZero(zero) => {
                let passed = taking.began.saturating_sub(zero);
                s.seconds.set_offset(passed.clamp(-MOST_SECONDS, MOST_SECONDS));
            }
            SessionRecord::Random(seed) => s.random.assign(seed),
            SessionRecord::Disabled(name) => match crate::builtin::find_builtin(name) {
                Some(b) => s.commands.enable_builtin(b.name, false),
                None => taking.lost.add("builtin", name),
            },
            SessionRecord::Limit { letter, soft, hard } => s.set_ulimit(letter, (soft, hard)),
        }
    }

    /// Changes to the directory in which the last call ended, or to HOME if that no longer exists.
    fn return_to(&mut self, cwd: &[u8]) {
        let is_dir =
            |path: &std::path::Path| meta::stat(path, true).is_ok_and(|s| s.kind == FileKind::Dir);
        let given = PathBuf::from(path::from_bytes(cwd));
        if given == self.cwd() {
            return;
        }
        if given.is_absolute() && is_dir(&given) {
            self.state.dirs.set_cwd(given);
            return;
        }
        let home = self.state.vars.get(b"HOME").and_then(ShellVar::text).unwrap_or_default();
        let home = PathBuf::from(path::from_bytes(&home));
        let home = if home.is_absolute() && is_dir(&home) { home } else { PathBuf::from("/") };
        let text = path::to_bytes(&home).to_vec();
        self.session_error(&[cwd, b": the working directory is gone, continuing in ", &text]);
        self.state.dirs.set_cwd(home);
        self.state.vars.entry_or_insert(b"PWD").slot = VarSlot::Scalar(Rc::new(text));
        self.state.vars.touch_env();
    }

    /// Stores the state for the next call, in which `$?` begins as `status`. Does nothing in a
    /// subshell or in a shell without a session.
    pub(crate) fn leave_session(&mut self, status: i32) {
        if self.state.ids.is_subshell() || !self.is_process() {
            return;
        }
        let Some(session) = self.session.take() else { return };
        let state = self.session_bytes(&session, status);
        if state != session.before {
            let kept = match state.len() {
                0..=STATE_MAX => self.sys.keep_session_state(&state).map_err(|e| error_text(&e)),
                _ => Err("more than 4 MiB".to_owned()),
            };
            if let Err(why) = kept {
                self.session_error(&[b"state not kept: ", why.as_bytes()]);
            }
        }
        self.session = Some(session);
    }

    fn session_bytes(&self, session: &SessionBaseline, status: i32) -> Vec<u8> {
        let s = &*self.state;
        // If `exec` replaces the shell, functions may still be active.
        let (mut vars, mut options) = (s.vars.clone(), s.options.clone());
        while vars.scope_level() > 0 {
            if let Some(own) = vars.pop_scope(|_, _| {}) {
                options = *own;
            }
        }
        let positional = s.params.outermost_list();
        let mut w = SessionWriter::new();
        w.add_record(&SessionRecord::Cwd(s.dirs.cwd_bytes()));
        w.add_record(&SessionRecord::Umask(s.umask));
        let stages: Vec<u8> = match &s.pipe_status {
            PipeStatus::One(n) => vec![*n as u8],
            PipeStatus::Many(all) => all.iter().map(|n| *n as u8).collect(),
        };
        w.add_record(&SessionRecord::Status { last: status as u8, stages: &stages });
        w.add_record(&SessionRecord::SecondsZero(session.began.saturating_sub(s.seconds.offset())));
        if let Some(seed) = s.random.assigned_seed() {
            w.add_record(&SessionRecord::Random(seed));
        }
        if s.getopts.index != 0 || s.getopts.offset != 0 {
            let number = |n: usize| u32::try_from(n).unwrap_or(0);
            let (index, offset) = (number(s.getopts.index), number(s.getopts.offset));
            w.add_record(&SessionRecord::GetOpts { index, offset });
        }
        write_options(&mut w, options.to_bits(), session.options);
        write_variables(&mut w, &vars, &session.vars);
        self.write_functions(&mut w, session);
        for (name, text) in s.aliases.iter() {
            w.add_record(&SessionRecord::Alias { name, text });
        }
        for (n, action) in s.traps.active_traps().filter(|(n, _)| *n != traps::EXIT) {
            if !self.signals.is_fixed(n) {
                let condition = traps::name(n);
                w.add_record(&SessionRecord::Trap { condition: condition.as_bytes(), action });
            }
        }
        if !positional.is_empty() {
            w.add_record(&SessionRecord::Positional(
                positional.iter().map(|p| p.as_slice()).collect(),
            ));
        }
        if !s.dirs.stack_below().is_empty() {
            w.add_record(&SessionRecord::Directories(
                s.dirs.stack_below().iter().map(Vec::as_slice).collect(),
            ));
        }
        for name in s.commands.disabled_builtins() {
            w.add_record(&SessionRecord::Disabled(name.as_bytes()));
        }
        for (letter, (soft, hard)) in s.user_limits() {
            w.add_record(&SessionRecord::Limit { letter: *letter, soft: *soft, hard: *hard });
        }
        w.finish()
    }

    fn write_functions(&self, w: &mut SessionWriter, session: &SessionBaseline) {
        let same = |a: &FunctionDef, b: &FunctionDef| {
            a.function.is_same(&b.function) && a.attrs == b.attrs
        };
        for name in self.function_names() {
            let Some(f) = self.state.functions.get(&name) else { continue };
            if session.functions.get(&name).is_some_and(|fresh| same(f, fresh)) {
                continue;
            }
            let attributes = f.attrs.letters();
            let taken = session.taken.get(&name).filter(|(was, _)| was.is_same(&f.function));
            let raw = taken.and_then(|(_, range)| session.before.get(range.clone()));
            if let Some(raw) = raw
                && attributes_in(raw) == Some(&attributes)
            {
                w.add_raw(raw);
                continue;
            }
            let code = f.function.code(f.line);
            let lines: Vec<u8> = code.lines.iter().flat_map(|l| l.to_le_bytes()).collect();
            let environment = match f.function.get() {
                Ok(function) if f.attrs.intersects(Attributes::EXPORT) => {
                    sh_syntax::print::exported_function(function)
                }
                _ => Vec::new(),
            };
            w.add_record(&SessionRecord::Function(SessionFunction {
                name: &name,
                text: &code.text,
                attributes: &attributes,
                source: &f.source,
                line: f.line,
                lines: &lines,
                environment: &environment,
            }));
        }
        let mut gone: Vec<&Name> = session.functions.keys().collect();
        gone.retain(|name| !self.state.functions.contains_key(*name));
        gone.sort_unstable();
        gone.iter().for_each(|name| w.add_record(&SessionRecord::NoFunction(name)));
    }
}

/// The values collected while a state is loaded.
struct StateReader<'r> {
    lost: LostState,
    /// Both sets of options.
    options: (u32, u64),
    cwd: Option<&'r [u8]>,
    /// Whether traps were set.
    traps: bool,
    /// Whether the call has positional parameters of its own.
    keeps_params: bool,
    /// The start of the shell, in seconds since the epoch.
    began: i64,
}

impl StateReader<'_> {
    /// Switches an option that a session keeps.
    fn take_option(&mut self, record: &SessionRecord<'_>) {
        let (set, shopt) = &mut self.options;
        match *record {
            SessionRecord::Set { name, on } => match set_option(name) {
                Some(o) if !CALL_OPTIONS.contains(&o) => {
                    let bit = 1 << o as u8;
                    *set = if on { *set | bit } else { *set & !bit };
                }
                _ => self.lost.add("option", name),
            },
            SessionRecord::Shopt { name, on } => match shopt_option(name) {
                Some(o) if !CALL_SHOPTS.contains(&o) => {
                    let bit = 1 << o as u8;
                    *shopt = if on { *shopt | bit } else { *shopt & !bit };
                }
                _ => self.lost.add("option", name),
            },
            _ => {}
        }
    }
}

/// The parts of a state that could not be loaded.
#[derive(Default)]
struct LostState {
    named: Vec<Vec<u8>>,
    more: usize,
}

impl LostState {
    fn add(&mut self, what: &str, name: &[u8]) {
        match self.named.len() {
            NAMED.. => self.more += 1,
            _ => self.named.push([what.as_bytes(), b" ", name].concat()),
        }
    }

    /// Returns the first names and the number of the others.
    fn lost_names(&self) -> Option<(Vec<u8>, String)> {
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        (!self.named.is_empty()).then(|| (self.named.join(&b", "[..]), more))
    }
}

/// Converts a stored function.
fn kept_function(f: &SessionFunction<'_>) -> (Name, FunctionDef) {
    let def = FunctionDef {
        function: DefinitionCode { text: f.text.to_vec(), lines: lines_of(f.lines) }.into(),
        source: Rc::new(f.source.to_vec()),
        line: f.line,
        attrs: Attributes::from_letters(f.attributes) & Attributes::OF_FUNCTIONS,
    };
    (Rc::from(f.name), def)
}

/// Returns the attribute letters in the record of a function.
fn attributes_in(raw: &[u8]) -> Option<&[u8]> {
    match SessionRecords::decode_one(raw)? {
        SessionRecord::Function(f) => Some(f.attributes),
        _ => None,
    }
}

fn lines_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|l| u32::from_le_bytes(*l)).collect()
}

fn write_options(w: &mut SessionWriter, now: (u32, u64), fresh: (u32, u64)) {
    for (name, o) in SET_OPTIONS.iter().filter(|(_, o)| !CALL_OPTIONS.contains(o)) {
        let on = |bits: u32| bits & 1 << *o as u8 != 0;
        if on(now.0) != on(fresh.0) {
            w.add_record(&SessionRecord::Set { name: name.as_bytes(), on: on(now.0) });
        }
    }
    for (name, o) in SHOPT_OPTIONS.iter().filter(|(_, o)| !CALL_SHOPTS.contains(o)) {
        let on = |bits: u64| bits & 1 << *o as u8 != 0;
        if on(now.1) != on(fresh.1) {
            w.add_record(&SessionRecord::Shopt { name: name.as_bytes(), on: on(now.1) });
        }
    }
}

fn write_variables(w: &mut SessionWriter, vars: &Vars, fresh: &Vars) {
    let mut gone: Vec<&Name> = fresh.iter().map(|(n, _)| n).collect();
    gone.retain(|n| vars.get(n).is_none());
    gone.sort_unstable();
    gone.iter().for_each(|name| w.add_record(&SessionRecord::NoVariable(name)));
    for name in vars.sorted_names() {
        let Some(var) = vars.get(&name) else { continue };
        let was = fresh.get(&name);
        let always = ALWAYS.contains(&name.as_ref());
        if *name == *OF_CALL || !always && was.is_some_and(|was| is_same_variable(var, was)) {
            continue;
        }
        let dynamic = |v: &ShellVar| matches!(v.slot, VarSlot::Dynamic(_));
        if was.is_some_and(dynamic) && !dynamic(var) {
            // The variable has lost its special meaning, so it is recorded as removed first.
            w.add_record(&SessionRecord::NoVariable(&name));
        }
        let attributes = attribute_flags(var.attrs, var.value().as_ref());
        let attributes = attributes.get(1..).filter(|f| *f != b"-").unwrap_or_default();
        let number;
        let value = match &var.slot {
            VarSlot::Unset | VarSlot::Dynamic(_) => SessionValue::Unset,
            VarSlot::Int(n) => {
                number = decimal_digits(*n);
                SessionValue::Scalar(&number)
            }
            VarSlot::Scalar(text) => SessionValue::Scalar(text),
            VarSlot::Indexed(a) => {
                SessionValue::Indexed(a.iter().map(|(i, t)| (i, t.as_slice())).collect())
            }
            VarSlot::Assoc(a) => {
                // Inserting puts a new key before those in its bucket, so the keys are written in
                // reverse order.
                let mut all: Vec<(&[u8], &[u8])> =
                    a.iter().map(|(k, t)| (k, t.as_slice())).collect();
                all.reverse();
                SessionValue::Assoc(all)
            }
        };
        w.add_record(&SessionRecord::Variable { name: &name, attributes, value });
    }
}

/// Returns whether a script sees no difference between two variables.
fn is_same_variable(a: &ShellVar, b: &ShellVar) -> bool {
    a.attrs == b.attrs
        && match (&a.slot, &b.slot) {
            (VarSlot::Unset, VarSlot::Unset) => true,
            (VarSlot::Dynamic(a), VarSlot::Dynamic(b)) => a == b,
            (VarSlot::Indexed(a), VarSlot::Indexed(b)) => Rc::ptr_eq(a, b) || a.iter().eq(b.iter()),
            (VarSlot::Assoc(a), VarSlot::Assoc(b)) => Rc::ptr_eq(a, b) || a.iter().eq(b.iter()),
            (VarSlot::Int(_) | VarSlot::Scalar(_), VarSlot::Int(_) | VarSlot::Scalar(_)) => {
                a.text() == b.text()
            }
            _ => false,
        }
}

fn kept_variable(letters: &[u8], value: &SessionValue<'_>, fresh: Option<&ShellVar>) -> ShellVar {
    let slot = match value {
        SessionValue::Unset => match fresh {
            Some(ShellVar { slot: slot @ VarSlot::Dynamic(_), .. }) => slot.clone(),
            _ => VarSlot::Unset,
        },
        SessionValue::Scalar(text) => VarSlot::Scalar(Rc::new(text.to_vec())),
        SessionValue::Indexed(all) => {
            let mut a = IndexedArray::new();
            all.iter().for_each(|(i, text)| a.set(*i, Rc::new(text.to_vec())));
            VarSlot::Indexed(Rc::new(a))
        }
        SessionValue::Assoc(all) => {
            let mut a = AssocArray::new();
            all.iter().for_each(|(key, text)| a.set(key, Rc::new(text.to_vec())));
            VarSlot::Assoc(Rc::new(a))
        }
    };
    ShellVar::global(slot, Attributes::from_letters(letters))
}
