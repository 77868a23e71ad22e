//! The shell as expansion sees it: [`sh_expand::ExpandEnv`] on [`Shell`].

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use box_sys::{FileKind, meta};
use sh_expand::{
    Attributes, ElementKey, ErrorReach, ExpandCause, ExpandEnv, ExpandError, ExpandOptions,
    PathnameEntry, PositionalList, Str, VarLookup, VarValue,
};
use sh_syntax::ast::{CommandSub, ProcessSub};

use crate::Shell;
use crate::shell::Unwind;
use crate::state::assign::owned_key;
use crate::state::options::SetOpt;
use crate::state::vars::{ShellVar, VarSlot, decimal_digits};

/// Maximum size in bytes of `/etc/passwd`.
const PASSWD_MAX: u64 = 1 << 20;

impl ExpandEnv for Shell<'_> {
    fn resolve<'n>(&self, name: &'n [u8]) -> Result<(Cow<'n, [u8]>, Option<Str>), ExpandError> {
        match self.follow_nameref(name) {
            Ok(t) => Ok((t.name, t.subscript)),
            Err(_) => {
                // bash prints a warning and treats the variable as unset.
                self.print_warning(&[b"warning: ", name, b": circular name reference"].concat());
                Ok((Cow::Borrowed(b"\0"), None))
            }
        }
    }

    fn nameref(&self, name: &[u8]) -> Option<Str> {
        self.state
            .vars
            .get(name)
            .filter(|v| v.attrs.intersects(Attributes::NAMEREF))
            .and_then(ShellVar::text)
    }

    #[inline]
    fn lookup(&mut self, name: &[u8]) -> VarLookup {
        let Some(v) = self.state.vars.get(name) else { return VarLookup::Unset };
        if v.attrs.intersects(Attributes::NAMEREF) {
            return if v.is_set() { VarLookup::Nameref } else { VarLookup::Unset };
        }
        match &v.slot {
            VarSlot::Unset => VarLookup::Unset,
            VarSlot::Scalar(s) => VarLookup::Value(VarValue::Scalar(s.clone())),
            VarSlot::Int(n) => VarLookup::Value(VarValue::Scalar(Rc::new(decimal_digits(*n)))),
            VarSlot::Indexed(a) => VarLookup::Value(VarValue::Indexed(a.clone())),
            VarSlot::Assoc(a) => VarLookup::Value(VarValue::Assoc(a.clone())),
            VarSlot::Dynamic(d) => {
                let d = *d;
                self.get_dynamic(d).map_or(VarLookup::Unset, VarLookup::Value)
            }
        }
    }

    #[inline]
    fn get_int(&mut self, name: &[u8]) -> Option<i64> {
        match self.state.vars.get(name) {
            Some(ShellVar { slot: VarSlot::Int(n), .. }) => Some(*n),
            Some(ShellVar { slot: VarSlot::Scalar(s), attrs, .. })
                if !attrs.intersects(Attributes::NAMEREF) =>
            {
                sh_expand::arith::plain_integer(s)
            }
            _ => None,
        }
    }

    #[inline]
    fn set_int(&mut self, name: &[u8], value: i64) -> Result<bool, ExpandError> {
        self.set_number(name, value)
    }

    fn get(&mut self, name: &[u8]) -> Option<VarValue> {
        match self.state.vars.get(name)? {
            ShellVar { slot: VarSlot::Dynamic(d), .. } => {
                let d = *d;
                self.get_dynamic(d)
            }
            v => v.value(),
        }
    }

    fn attributes(&self, name: &[u8]) -> Attributes {
        self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default()
    }

    fn is_declared(&self, name: &[u8]) -> bool {
        self.state.vars.get(name).is_some()
    }

    fn stack_low(&mut self) -> bool {
        self.budget.stack_low()
    }

    fn set(&mut self, name: &[u8], value: Str) -> Result<(), ExpandError> {
        self.set_scalar(name, value)
    }

    fn set_element(
        &mut self,
        name: &[u8],
        key: ElementKey<'_>,
        value: Str,
    ) -> Result<(), ExpandError> {
        self.set_array_element(name, &owned_key(key), false, value)
    }

    fn names_with_prefix(&self, prefix: &[u8]) -> Vec<Vec<u8>> {
        // As in bash, the name is listed if a local variable without a value hides one that has a
        // value.
        let vars = &self.state.vars;
        let mut names: Vec<Vec<u8>> = vars
            .iter()
            .filter(|(n, v)| n.starts_with(prefix) && (v.is_set() || vars.hides_value(n)))
            .map(|(n, _)| n.to_vec())
            .collect();
        names.sort_unstable();
        names
    }

    fn positional(&self) -> PositionalList {
        self.state.params.list().clone()
    }

    fn special(&mut self, name: u8) -> Option<Str> {
        let s = &self.state;
        let text = match name {
            b'#' => decimal_digits(s.params.list().len() as i64),
            b'?' => decimal_digits(i64::from(s.status)),
            b'-' => s.options.flag_letters(),
            b'$' => decimal_digits(i64::from(s.ids.shell_pid())),
            b'!' => decimal_digits(i64::from(s.ids.last_background?)),
            b'0' => return Some(s.params.arg0().clone()),
            _ => return None,
        };
        Some(Rc::new(text))
    }

    fn line(&self) -> u32 {
        self.state.line.max(1)
    }

    fn options(&self) -> &ExpandOptions {
        self.state.options.expand()
    }

    fn command_sub(&mut self, sub: &Rc<CommandSub>) -> Result<Vec<u8>, ExpandError> {
        if let Some(e) = &sub.error {
            self.substitution_error(e);
            return Err(ExpandError::already_printed(ErrorReach::Command));
        }
        match self.substitute_command(sub) {
            Ok(out) => Ok(out),
            Err(unwind) => {
                self.leaving.interrupted = Some(unwind);
                Err(ExpandCause::Interrupted.into())
            }
        }
    }

    fn process_sub(&mut self, sub: &Rc<ProcessSub>) -> Result<Vec<u8>, ExpandError> {
        self.start_process_sub(sub)
    }

    fn prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        self.expand_prompt(text)
    }

    fn dir_stack(&self, n: usize, from_end: bool) -> Option<Vec<u8>> {
        let all = self.state.dirs.whole_stack();
        let at = if from_end { all.len().checked_sub(n + 1)? } else { n };
        all.get(at).cloned()
    }

    fn home_dir(&self, user: Option<&[u8]>) -> Option<Vec<u8>> {
        let passwd = self.sys.read(Path::new("/etc/passwd"), PASSWD_MAX).unwrap_or_default();
        let uid = decimal_digits(i64::from(meta::ids().0));
        for line in passwd.split(|c| *c == b'\n') {
            let f: Vec<&[u8]> = line.split(|c| *c == b':').collect();
            if f.len() >= 6 && user.map_or(f[2] == uid, |u| u == f[0]) {
                return Some(f[5].to_vec());
            }
        }
        None
    }

    fn read_dir(&self, dir: &[u8]) -> Option<Vec<PathnameEntry>> {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        let entries = self.sys.read_dir(&self.absolute_path(dir)).ok()?.into_iter();
        Some(entries.map(|e| PathnameEntry { name: e.name, is_dir: e.is_dir }).collect())
    }

    fn path_exists(&self, p: &[u8]) -> bool {
        meta::stat(&self.absolute_path(p), false).is_ok()
    }

    fn is_dir(&self, p: &[u8]) -> bool {
        meta::stat(&self.absolute_path(p), true).is_ok_and(|s| s.kind == FileKind::Dir)
    }

    fn warn_by_name(&mut self, message: &[u8]) -> Result<(), ExpandError> {
        let name = self.state.here.evaluator;
        self.print_error(&[name, message]);
        Ok(())
    }

    fn warn(&mut self, message: &[u8]) -> Result<(), ExpandError> {
        self.print_error(&[message]);
        if self.state.options.has_set(SetOpt::ErrExit) {
            self.leaving.interrupted = Some(Unwind::Exit(1));
            return Err(ExpandCause::Interrupted.into());
        }
        Ok(())
    }

    fn fails(&mut self) {
        self.state.status = 1;
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ExpandError> {
        self.budget.expansion_bytes += bytes as u64;
        if self.budget.expansion_bytes > self.budget.limits.expansion_bytes {
            return Err(ExpandCause::TooLarge.into());
        }
        Ok(())
    }
}
