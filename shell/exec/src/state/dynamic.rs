//! Variables whose value the shell computes (bash manual 5.2), and the variables a shell starts with.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{Attributes, ExpandError, OwnedKey, Str, Value};

use super::PipeStatus;
use super::assign::split_reference;
use super::options::{set_option, shopt_option};
use super::vars::{Dynamic, Slot, Var, decimal};
use crate::Shell;

/// What `$BASH_VERSION` says: the version whose behaviour is the model.
pub const BASH_VERSION: &str = "5.2.15(1)-release";
pub const MACHTYPE: &str = "x86_64-pc-linux-gnu";

fn scalar(text: Vec<u8>) -> Option<Value> {
    Some(Value::Scalar(Rc::new(text)))
}

fn indexed(items: impl Iterator<Item = Vec<u8>>) -> Option<Value> {
    Some(Value::Indexed(Rc::new(items.map(Rc::new).collect::<IndexedArray>())))
}

fn since_epoch() -> std::time::Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Shell<'_> {
    pub(crate) fn get_dynamic(&mut self, d: Dynamic) -> Option<Value> {
        let s = &mut self.state;
        match d {
            Dynamic::Random => scalar(decimal(i64::from(next_random(&mut s.random)))),
            Dynamic::SRandom => {
                let n = self.entropy();
                scalar(decimal(i64::from(n as u32)))
            }
            Dynamic::Seconds => {
                scalar(decimal(s.started.elapsed().as_secs() as i64 + s.seconds_offset))
            }
            Dynamic::EpochSeconds => scalar(decimal(since_epoch().as_secs() as i64)),
            Dynamic::EpochRealtime => {
                let t = since_epoch();
                scalar(format!("{}.{:06}", t.as_secs(), t.subsec_micros()).into_bytes())
            }
            Dynamic::LineNo => scalar(decimal(i64::from(s.line))),
            Dynamic::BashPid => scalar(decimal(i64::from(s.own_pid))),
            Dynamic::BashCommand => Some(Value::Scalar(s.command_text.clone())),
            Dynamic::BashSubshell => {
                scalar(decimal(i64::from(s.subshell.saturating_sub(s.here.hidden_subshells))))
            }
            Dynamic::BashArgv0 => Some(Value::Scalar(s.arg0.clone())),
            Dynamic::Underscore => Some(Value::Scalar(s.last_arg.clone())),
            Dynamic::FuncName => {
                if s.frames.is_empty()
                    || !s.funcname_shown && !s.frames.iter().any(|f| f.is_function)
                {
                    return None;
                }
                indexed(s.frames.iter().rev().map(|f| f.name.to_vec()))
            }
            Dynamic::BashSource => indexed(s.frames.iter().rev().map(|f| f.source.to_vec())),
            Dynamic::BashLineNo => {
                indexed(s.frames.iter().rev().map(|f| decimal(i64::from(f.call_line))))
            }
            Dynamic::BashArgv => {
                let calls = s.call_args.iter().rev();
                indexed(calls.flat_map(|args| args.iter().rev()).map(|arg| arg.to_vec()))
            }
            Dynamic::BashArgc => {
                indexed(s.call_args.iter().rev().map(|args| decimal(args.len() as i64)))
            }
            Dynamic::PipeStatus => match &s.pipe_status {
                PipeStatus::One(n) => indexed(std::iter::once(decimal(i64::from(*n)))),
                PipeStatus::Many(all) => indexed(all.iter().map(|n| decimal(i64::from(*n)))),
            },
            Dynamic::DirStack => indexed(self.dir_stack_texts().into_iter()),
            Dynamic::ShellOpts => scalar(s.options.shellopts()),
            Dynamic::BashOpts => scalar(s.options.bashopts()),
            Dynamic::Groups => indexed(std::iter::once(decimal(i64::from(box_sys::meta::ids().1)))),
            Dynamic::HostName => {
                let name = std::fs::read("/etc/hostname").unwrap_or_default();
                let name = name.trim_ascii();
                scalar(if name.is_empty() { b"localhost".to_vec() } else { name.to_vec() })
            }
            Dynamic::BashAliases => {
                let mut a = AssocArray::new();
                for (k, v) in s.aliases.iter() {
                    a.set(k, Rc::new(v.to_vec()));
                }
                Some(Value::Assoc(Rc::new(a)))
            }
            Dynamic::BashCmds => {
                let mut a = AssocArray::new();
                for (k, (p, _)) in s.hashed.iter() {
                    a.set(k, Rc::new(box_sys::path::to_bytes(p).to_vec()));
                }
                Some(Value::Assoc(Rc::new(a)))
            }
        }
    }

    pub(crate) fn set_dynamic(
        &mut self,
        name: &[u8],
        d: Dynamic,
        value: &[u8],
    ) -> Result<(), ExpandError> {
        let number = |shell: &mut Self| sh_expand::arith::eval_text(shell, value);
        match d {
            Dynamic::Random => {
                let n = number(self)?;
                self.state.random = n as u32;
                self.state.random_set = true;
            }
            Dynamic::Seconds => {
                let n = number(self)?;
                let elapsed = self.state.started.elapsed().as_secs() as i64;
                self.state.seconds_offset = n - elapsed;
            }
            Dynamic::LineNo => {
                let n = number(self)?;
                self.state.line = n as u32;
            }
            Dynamic::BashArgv0 => self.state.arg0 = Rc::new(value.to_vec()),
            Dynamic::Underscore => self.state.last_arg = Rc::new(value.to_vec()),
            Dynamic::HostName => {
                self.state.vars.entry(name).slot = Slot::Scalar(Rc::new(value.to_vec()));
            }
            Dynamic::DirStack => {
                return self.set_dynamic_element(
                    name,
                    d,
                    &OwnedKey::Index(0),
                    Rc::new(value.to_vec()),
                );
            }
            // The other ones ignore assignment, as bash's do.
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn set_dynamic_element(
        &mut self,
        _name: &[u8],
        d: Dynamic,
        key: &OwnedKey,
        value: Str,
    ) -> Result<(), ExpandError> {
        match (d, key) {
            (Dynamic::BashAliases, OwnedKey::Name(k)) => {
                Rc::make_mut(&mut self.state.aliases).insert(k.clone(), Rc::from(value.as_slice()));
            }
            (Dynamic::BashCmds, OwnedKey::Name(k)) => {
                let path = box_sys::path::from_bytes(&value).to_path_buf();
                Rc::make_mut(&mut self.state.hashed).insert(k.clone(), (path, 0));
            }
            (Dynamic::DirStack, OwnedKey::Index(i)) => {
                let dirs = Rc::make_mut(&mut self.state.dirs);
                let at = usize::try_from(*i - 1).unwrap_or(usize::MAX);
                if let Some(d) = dirs.get_mut(at) {
                    *d = value.to_vec();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Unpredictable bits, as far as the system gives any.
    pub(crate) fn entropy(&mut self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        // std seeds its hash keys from the system's random source.
        let mut h = std::collections::hash_map::RandomState::new().build_hasher();
        h.write_u64(self.budget.commands);
        h.finish()
    }

    /// The variables of a new shell: the environment's, then bash's own.
    pub(crate) fn init_vars(&mut self, env: &[(Vec<u8>, Vec<u8>)]) {
        let mut exported_functions = Vec::new();
        let mut odd = Vec::new();
        for (name, value) in env {
            if let Some(f) = name.strip_prefix(b"BASH_FUNC_").and_then(|n| n.strip_suffix(b"%%")) {
                exported_functions.push((f.to_vec(), value.clone()));
                continue;
            }
            if !super::assign::is_name(split_reference(name).0) || name.contains(&b'[') {
                // No variable, but programs get it.
                odd.push((name.clone(), value.clone()));
                continue;
            }
            // Options that the shell around has on (bash manual 4.3.2).
            match name.as_slice() {
                b"SHELLOPTS" => {
                    for o in value.split(|c| *c == b':').filter_map(set_option) {
                        self.state.options.put(o, true);
                    }
                }
                b"BASHOPTS" => {
                    for o in value.split(|c| *c == b':').filter_map(shopt_option) {
                        self.state.options.put_shopt(o, true);
                    }
                }
                _ => {}
            }
            let mut v = Var::scalar(value);
            v.attrs.export = true;
            self.state.vars.insert(name, v);
        }
        self.odd_env = Rc::new(odd);
        let integer = Attributes { integer: true, ..Attributes::default() };
        let readonly = Attributes { readonly: true, ..Attributes::default() };
        let array = Attributes { indexed: true, ..Attributes::default() };
        let assoc = Attributes { assoc: true, ..Attributes::default() };
        let none = Attributes::default();
        for (name, d, attrs) in [
            ("RANDOM", Dynamic::Random, integer),
            ("SRANDOM", Dynamic::SRandom, integer),
            ("SECONDS", Dynamic::Seconds, integer),
            ("EPOCHSECONDS", Dynamic::EpochSeconds, none),
            ("EPOCHREALTIME", Dynamic::EpochRealtime, none),
            ("LINENO", Dynamic::LineNo, none),
            ("BASHPID", Dynamic::BashPid, integer),
            ("BASH_COMMAND", Dynamic::BashCommand, none),
            ("BASH_SUBSHELL", Dynamic::BashSubshell, none),
            ("BASH_ARGV0", Dynamic::BashArgv0, none),
            ("BASH_ARGV", Dynamic::BashArgv, array),
            ("BASH_ARGC", Dynamic::BashArgc, array),
            ("FUNCNAME", Dynamic::FuncName, array),
            ("BASH_SOURCE", Dynamic::BashSource, array),
            ("BASH_LINENO", Dynamic::BashLineNo, array),
            ("PIPESTATUS", Dynamic::PipeStatus, array),
            ("DIRSTACK", Dynamic::DirStack, array),
            ("SHELLOPTS", Dynamic::ShellOpts, readonly),
            ("BASHOPTS", Dynamic::BashOpts, readonly),
            ("GROUPS", Dynamic::Groups, array),
            ("BASH_ALIASES", Dynamic::BashAliases, assoc),
            ("BASH_CMDS", Dynamic::BashCmds, assoc),
            ("_", Dynamic::Underscore, none),
        ] {
            let old = self.state.vars.get(name.as_bytes());
            let export = old.is_some_and(|v| v.attrs.export) && name != "_";
            if name == "_"
                && let Some(t) = old.and_then(Var::text)
            {
                self.state.last_arg = t;
            }
            let attrs = Attributes { export, ..attrs };
            self.state.vars.insert(name.as_bytes(), Var::global(Slot::Dynamic(d), attrs));
        }
        let (uid, _) = box_sys::meta::ids();
        let id = |n: u32| {
            let attrs = Attributes { integer: true, readonly: true, ..Attributes::default() };
            Var::global(Slot::Int(i64::from(n)), attrs)
        };
        self.state.vars.insert(b"UID", id(uid));
        self.state.vars.insert(b"EUID", id(uid));
        self.state.vars.insert(b"PPID", id(self.sys.parent_pid()));
        let version: IndexedArray = ["5", "2", "15", "1", "release", MACHTYPE]
            .iter()
            .map(|s| Rc::new(s.as_bytes().to_vec()))
            .collect();
        let attrs = Attributes { readonly: true, indexed: true, ..Attributes::default() };
        let version = Var::global(Slot::Indexed(Rc::new(version)), attrs);
        self.state.vars.insert(b"BASH_VERSINFO", version);
        let mut put = |name: &[u8], value: &[u8]| self.state.vars.insert(name, Var::scalar(value));
        put(b"BASH_VERSION", BASH_VERSION.as_bytes());
        put(b"IFS", b" \t\n");
        put(b"PS4", b"+ ");
        put(b"OPTERR", b"1");
        let mut optind = Var::scalar(b"1");
        optind.attrs.integer = true;
        self.state.vars.insert(b"OPTIND", optind);
        for (name, value) in [
            (&b"PATH"[..], b"/usr/local/bin:/usr/bin:/bin".as_slice()),
            (b"MACHTYPE", MACHTYPE.as_bytes()),
            (b"HOSTTYPE", b"x86_64"),
            (b"OSTYPE", b"linux-gnu"),
            (b"TERM", b"dumb"),
            (b"SHELL", b"/bin/bash"),
        ] {
            if self.state.vars.get(name).is_none() {
                self.state.vars.insert(name, Var::scalar(value));
            }
        }
        if self.state.vars.get(b"HOSTNAME").is_none() {
            let attrs = Attributes::default();
            let slot = Slot::Dynamic(Dynamic::HostName);
            self.state.vars.insert(b"HOSTNAME", Var::global(slot, attrs));
        }
        self.state.vars.insert(b"BASH", Var::scalar(b"/bin/bash"));
        let export = |v: &[u8]| {
            let mut v = Var::scalar(v);
            v.attrs.export = true;
            v
        };
        let level = self.state.vars.get(b"SHLVL").and_then(Var::text).unwrap_or_default();
        let level = sh_expand::arith::plain_integer(&level).unwrap_or(0);
        self.state.vars.insert(b"SHLVL", export(&decimal((level + 1).clamp(0, 999))));
        self.init_pwd();
        if self
            .state
            .vars
            .get(b"OLDPWD")
            .is_none_or(|v| !v.text().is_some_and(|t| box_sys::path::from_bytes(&t).is_dir()))
        {
            let mut v = Var::unset(0);
            v.attrs.export = true;
            self.state.vars.insert(b"OLDPWD", v);
        }
        self.sync_locale();
        if self.state.vars.get(b"POSIXLY_CORRECT").is_some() {
            self.state.options.put(super::options::SetOpt::Posix, true);
        }
        for (name, text) in exported_functions {
            self.import_function(&name, &text);
        }
    }

    /// `$PWD` is kept if it names the current directory, else set (POSIX XCU 2.5.3).
    fn init_pwd(&mut self) {
        use box_sys::meta::stat;
        let cwd = self.state.cwd.as_ref().clone();
        let given = self.state.vars.get(b"PWD").and_then(Var::text);
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
            self.state.cwd = Rc::new(logical);
        }
        let text = box_sys::path::to_bytes(&self.state.cwd).to_vec();
        let mut v = Var::scalar(&text);
        v.attrs.export = true;
        self.state.vars.insert(b"PWD", v);
    }
}

/// Bash's generator: Park and Miller's minimal standard, folded to 15 bits.
fn next_random(seed: &mut u32) -> u16 {
    let last = if *seed == 0 { 123_459_876 } else { *seed };
    let (h, l) = (i64::from(last) / 127_773, i64::from(last) % 127_773);
    let mut t = 16_807 * l - 2_836 * h;
    if t < 0 {
        t += 0x7fff_ffff;
    }
    *seed = t as u32;
    let s = *seed;
    ((s >> 16) ^ (s & 0xffff)) as u16 & 0x7fff
}
