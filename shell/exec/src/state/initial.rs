//! The variables that a shell starts with: those of its environment, and bash's own (bash manual
//! 5).

use std::rc::Rc;

use sh_expand::Attributes;
use sh_expand::array::IndexedArray;

use super::assign::{is_name, split_reference};
use super::options::{SetOpt, set_option, shopt_option};
use super::vars::{Dynamic, ShellVar, VarSlot, decimal_digits};
use crate::Shell;

/// The value of `$BASH_VERSION`: the version of bash that this shell imitates.
pub const BASH_VERSION: &str = "5.2.15(1)-release";
/// `$MACHTYPE`
pub const MACHTYPE: &str = "x86_64-pc-linux-gnu";

const NONE: Attributes = Attributes::empty();
const INTEGER: Attributes = Attributes::INTEGER;
const READONLY: Attributes = Attributes::READONLY;
const EXPORTED: Attributes = Attributes::EXPORT;
const INDEXED: Attributes = Attributes::INDEXED;
const ASSOC: Attributes = Attributes::ASSOC;

/// Variables whose values are computed on use.
const COMPUTED: &[(&str, Dynamic, Attributes)] = &[
    ("RANDOM", Dynamic::Random, INTEGER),
    ("SRANDOM", Dynamic::SRandom, INTEGER),
    ("SECONDS", Dynamic::Seconds, INTEGER),
    ("EPOCHSECONDS", Dynamic::EpochSeconds, NONE),
    ("EPOCHREALTIME", Dynamic::EpochRealtime, NONE),
    ("LINENO", Dynamic::LineNo, NONE),
    ("BASHPID", Dynamic::BashPid, INTEGER),
    ("BASH_COMMAND", Dynamic::BashCommand, NONE),
    ("BASH_SUBSHELL", Dynamic::BashSubshell, NONE),
    ("BASH_ARGV0", Dynamic::BashArgv0, NONE),
    ("BASH_ARGV", Dynamic::BashArgv, INDEXED),
    ("BASH_ARGC", Dynamic::BashArgc, INDEXED),
    ("FUNCNAME", Dynamic::FuncName, INDEXED),
    ("BASH_SOURCE", Dynamic::BashSource, INDEXED),
    ("BASH_LINENO", Dynamic::BashLineNo, INDEXED),
    ("PIPESTATUS", Dynamic::PipeStatus, INDEXED),
    ("DIRSTACK", Dynamic::DirStack, INDEXED),
    ("SHELLOPTS", Dynamic::ShellOpts, READONLY),
    ("BASHOPTS", Dynamic::BashOpts, READONLY),
    ("GROUPS", Dynamic::Groups, INDEXED),
    ("BASH_ALIASES", Dynamic::BashAliases, ASSOC),
    ("BASH_CMDS", Dynamic::BashCmds, ASSOC),
    ("_", Dynamic::Underscore, NONE),
];

/// Variables that have these values unless the environment sets them.
const DEFAULTS: &[(&str, &str)] = &[
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("MACHTYPE", MACHTYPE),
    ("HOSTTYPE", "x86_64"),
    ("OSTYPE", "linux-gnu"),
    ("TERM", "dumb"),
    ("SHELL", "/bin/bash"),
];

/// Variables that begin with these values regardless of the environment.
const OWN: &[(&str, &str)] = &[
    ("BASH_VERSION", BASH_VERSION),
    ("IFS", " \t\n"),
    ("PS4", "+ "),
    ("OPTERR", "1"),
    ("BASH", "/bin/bash"),
];

impl Shell<'_> {
    /// Loads the environment and adds bash's own variables.
    pub(crate) fn init_vars(&mut self, env: &[(Vec<u8>, Vec<u8>)]) {
        let functions = self.take_environment(env);
        self.init_computed();
        self.init_own();
        self.init_pwd();
        self.sync_locale();
        if self.state.vars.get(b"POSIXLY_CORRECT").is_some() {
            self.state.options.switch_set(SetOpt::Posix, true);
        }
        for (name, text) in functions {
            self.import_function(&name, &text);
        }
    }

    /// Turns the environment into variables and returns the functions in it, by name.
    fn take_environment(&mut self, env: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut functions = Vec::new();
        let mut others = Vec::new();
        for (name, value) in env {
            if let Some(f) = name.strip_prefix(b"BASH_FUNC_").and_then(|n| n.strip_suffix(b"%%")) {
                functions.push((f.to_vec(), value.clone()));
                continue;
            }
            if !is_name(split_reference(name).0) || name.contains(&b'[') {
                // This cannot be a variable, but is passed to programs.
                others.push((name.clone(), value.clone()));
                continue;
            }
            // The options that are on in the parent shell (bash manual 4.3.2).
            let options = value.split(|c| *c == b':');
            match name.as_slice() {
                b"SHELLOPTS" => {
                    options
                        .filter_map(set_option)
                        .for_each(|o| self.state.options.switch_set(o, true));
                }
                b"BASHOPTS" => options
                    .filter_map(shopt_option)
                    .for_each(|o| self.state.options.put_shopt(o, true)),
                _ => {}
            }
            let slot = VarSlot::Scalar(Rc::new(value.clone()));
            self.state.vars.insert(name, ShellVar::global(slot, EXPORTED));
        }
        self.child_env.keep_others(others);
        functions
    }

    fn init_computed(&mut self) {
        let vars = &mut self.state.vars;
        if let Some(text) = vars.get(b"_").and_then(ShellVar::text) {
            self.state.last_arg = text;
        }
        for (name, d, attrs) in COMPUTED {
            let old = vars.get(name.as_bytes()).filter(|_| *name != "_");
            let exported = old.map(|v| v.attrs & EXPORTED).unwrap_or_default();
            vars.insert(name.as_bytes(), ShellVar::global(VarSlot::Dynamic(*d), *attrs | exported));
        }
        if vars.get(b"HOSTNAME").is_none() {
            vars.insert(b"HOSTNAME", ShellVar::global(VarSlot::Dynamic(Dynamic::HostName), NONE));
        }
    }

    fn init_own(&mut self) {
        let parent = self.sys.parent_pid();
        let vars = &mut self.state.vars;
        let (uid, _) = box_sys::meta::ids();
        for (name, number) in [("UID", uid), ("EUID", uid), ("PPID", parent)] {
            let attrs = INTEGER | READONLY;
            vars.insert(name.as_bytes(), ShellVar::global(VarSlot::Int(i64::from(number)), attrs));
        }
        let version = ["5", "2", "15", "1", "release", MACHTYPE];
        let version = version.iter().map(|s| Rc::new(s.as_bytes().to_vec()));
        let version = VarSlot::Indexed(Rc::new(version.collect::<IndexedArray>()));
        vars.insert(b"BASH_VERSINFO", ShellVar::global(version, INDEXED | READONLY));
        let one = VarSlot::Scalar(Rc::new(b"1".to_vec()));
        vars.insert(b"OPTIND", ShellVar::global(one, INTEGER));
        for (name, value) in DEFAULTS {
            if vars.get(name.as_bytes()).is_none() {
                vars.insert(name.as_bytes(), ShellVar::scalar(value.as_bytes()));
            }
        }
        for (name, value) in OWN {
            vars.insert(name.as_bytes(), ShellVar::scalar(value.as_bytes()));
        }
        let level = vars.get(b"SHLVL").and_then(ShellVar::text).unwrap_or_default();
        let level = sh_expand::arith::plain_integer(&level).unwrap_or(0);
        let level = VarSlot::Scalar(Rc::new(decimal_digits((level + 1).clamp(0, 999))));
        vars.insert(b"SHLVL", ShellVar::global(level, EXPORTED));
        let old = vars.get(b"OLDPWD").and_then(ShellVar::text);
        if !old.is_some_and(|dir| box_sys::path::from_bytes(&dir).is_dir()) {
            vars.insert(b"OLDPWD", ShellVar::global(VarSlot::Unset, EXPORTED));
        }
    }

    /// Keeps `$PWD` if it names the current directory and sets it otherwise (POSIX XCU 2.5.3).
    fn init_pwd(&mut self) {
        use box_sys::meta::stat;
        let cwd = self.cwd().to_path_buf();
        let given = self.state.vars.get(b"PWD").and_then(ShellVar::text);
        let given = given.map(|g| box_sys::path::from_bytes(&g).to_path_buf());
        let same = given.filter(|g| {
            *g == cwd
                || g.is_absolute()
                    && !g.components().any(|c| {
                        matches!(c, std::path::Component::ParentDir | std::path::Component::CurDir)
                    })
                    && match (stat(g, true), stat(&cwd, true)) {
                        (Ok(a), Ok(b)) => (a.dev, a.ino) == (b.dev, b.ino),
                        _ => false,
                    }
        });
        if let Some(logical) = same {
            self.state.dirs.set_cwd(logical);
        }
        let text = self.state.dirs.cwd_bytes().to_vec();
        let slot = VarSlot::Scalar(Rc::new(text));
        self.state.vars.insert(b"PWD", ShellVar::global(slot, EXPORTED));
    }
}
