//! Variables and functions as `declare -p`, `set`, `export -p` print them: text that the shell can
//! read back.

use box_text::escape::{declare_quote, needs_ansi_c, needs_quotes, set_quote};
use sh_expand::{Attributes, ExpandEnv as _, VarValue};

use crate::Shell;
use crate::state::FunctionDef;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::{ShellVar, VarSlot};

/// Returns the option letters of a variable in bash's order; `--` for none.
pub fn attribute_flags(a: Attributes, value: Option<&VarValue>) -> Vec<u8> {
    let kind = match value {
        _ if a.intersects(Attributes::ASSOC) => Attributes::ASSOC,
        Some(VarValue::Assoc(_)) => Attributes::ASSOC,
        Some(VarValue::Indexed(_)) => Attributes::INDEXED,
        _ => a & Attributes::INDEXED,
    };
    let letters = ((a - Attributes::ARRAY) | kind).letters();
    let shown: &[u8] = if letters.is_empty() { b"-" } else { &letters };
    [b"-", shown].concat()
}

/// Returns a key of an associative array, quoted for use between brackets.
fn key_quote(key: &[u8]) -> Vec<u8> {
    if key.is_empty() || needs_quotes(key) || needs_ansi_c(key) || matches!(key, b"@" | b"*") {
        declare_quote(key)
    } else {
        key.to_vec()
    }
}

/// Returns the text of an array, for example `([0]="a" [1]="b")`.
pub fn array_text(value: &VarValue) -> Vec<u8> {
    let mut out = b"(".to_vec();
    match value {
        VarValue::Scalar(s) => {
            out.extend_from_slice(b"[0]=");
            out.extend_from_slice(&declare_quote(s));
        }
        VarValue::Indexed(a) => {
            for (n, (i, v)) in a.iter().enumerate() {
                if n > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(format!("[{i}]=").as_bytes());
                out.extend_from_slice(&declare_quote(v));
            }
        }
        VarValue::Assoc(a) => {
            for (k, v) in a.iter() {
                out.push(b'[');
                out.extend_from_slice(&key_quote(k));
                out.extend_from_slice(b"]=");
                out.extend_from_slice(&declare_quote(v));
                out.push(b' ');
            }
        }
    }
    out.push(b')');
    out
}

impl Shell<'_> {
    /// Returns `declare -x name="value"` with its newline; `None` if there is no such variable.
    pub(crate) fn declare_line(&mut self, name: &[u8], command: &[u8]) -> Option<Vec<u8>> {
        let attrs = self.state.vars.get(name)?.attrs;
        let dynamic = matches!(self.state.vars.get(name)?.slot, VarSlot::Dynamic(_));
        if dynamic && name == b"_" {
            let mut out = b"declare -- _=".to_vec();
            out.extend_from_slice(&declare_quote(&self.state.last_arg));
            out.push(b'\n');
            return Some(out);
        }
        let value = self.get(name);
        let mut out = command.to_vec();
        out.push(b' ');
        if command == b"declare" {
            out.extend_from_slice(&attribute_flags(attrs, value.as_ref()));
            out.push(b' ');
        }
        out.extend_from_slice(name);
        match &value {
            None => {}
            Some(VarValue::Scalar(s)) => {
                out.push(b'=');
                out.extend_from_slice(&declare_quote(s));
            }
            Some(v) => {
                out.push(b'=');
                out.extend_from_slice(&array_text(v));
            }
        }
        out.push(b'\n');
        Some(out)
    }

    /// Returns `name=value` as `set` prints it.
    pub(crate) fn set_line(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let value = self.get(name)?;
        let mut out = name.to_vec();
        out.push(b'=');
        match &value {
            VarValue::Scalar(s) => out.extend_from_slice(&set_quote(s)),
            v => out.extend_from_slice(&array_text(v)),
        }
        out.push(b'\n');
        Some(out)
    }

    /// Returns whether listings of all variables show this one. They omit variables that are
    /// computed on use (`RANDOM`, `SECONDS`, `LINENO`, ...), because these have no value until
    /// then.
    pub(crate) fn is_listed(&self, name: &[u8]) -> bool {
        use crate::state::vars::Dynamic as D;
        let d = match self.state.vars.get(name) {
            Some(ShellVar { slot: VarSlot::Dynamic(d), .. }) => d,
            _ => return true,
        };
        !matches!(
            d,
            D::Random
                | D::SRandom
                | D::Seconds
                | D::EpochSeconds
                | D::EpochRealtime
                | D::LineNo
                | D::BashPid
                | D::BashCommand
                | D::BashArgv0
                | D::BashSubshell
        )
    }

    /// Prints all variables (and functions) as `set` does.
    pub(crate) fn print_all_set(&mut self) {
        let out = self.without_own_scope(|shell| {
            let mut out = Vec::new();
            for name in shell.state.vars.sorted_names() {
                if !shell.is_listed(&name) {
                    continue;
                }
                if let Some(line) = shell.set_line(&name) {
                    out.extend_from_slice(&line);
                }
            }
            out
        });
        self.write_out(&out);
        if !self.state.options.has_set(SetOpt::Posix) {
            self.print_functions(true, Attributes::default());
        }
    }

    pub(crate) fn function_names(&self) -> Vec<crate::state::vars::Name> {
        let mut names: Vec<_> = self.state.functions.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Prints all functions that have the attributes, either with their bodies or as `declare -f
    /// name`.
    pub(crate) fn print_functions(&mut self, bodies: bool, having: Attributes) {
        let some = having.intersects(Attributes::OF_FUNCTIONS);
        if !some && !having.is_empty() {
            // No function has any of the other attributes.
            return;
        }
        for name in self.function_names() {
            let Some(f) = self.state.functions.get(&name).cloned() else { continue };
            if !(having & (Attributes::OF_FUNCTIONS - f.attrs)).is_empty() {
                continue;
            }
            if bodies {
                let mut text = self.function_text(&f);
                text.push(b'\n');
                self.write_out(&text);
            }
            if !bodies || some {
                let line = flags_line(&f, &name);
                self.write_out(&line);
            }
        }
    }

    /// Returns a function in the form that the user sees.
    pub(crate) fn function_text(&self, f: &FunctionDef) -> Vec<u8> {
        match f.function.get() {
            Ok(function) if self.state.options.has_set(SetOpt::Posix) => {
                sh_syntax::print::function_posix(function)
            }
            Ok(function) => sh_syntax::print::print_function(function),
            Err(_) => f.function.text().unwrap_or_default().to_vec(),
        }
    }

    /// Prints `declare -fx name` for a function that has attributes, or with `any` for every
    /// function.
    pub(crate) fn print_function_flags(&mut self, name: &[u8], any: bool) {
        if let Some(f) = self.state.functions.get(name).cloned()
            && (any || !f.attrs.is_empty())
        {
            let line = flags_line(&f, name);
            self.write_out(&line);
        }
    }

    /// Prints a function as `declare -f name` and `declare -F name` do.
    pub(crate) fn print_function(&mut self, name: &[u8], body: bool) -> bool {
        let Some(f) = self.state.functions.get(name).cloned() else { return false };
        let mut text = if body {
            self.function_text(&f)
        } else if self.state.options.has_shopt(ShOpt::ExtDebug) {
            [name, b" ", f.line.to_string().as_bytes(), b" ", &f.source].concat()
        } else {
            name.to_vec()
        };
        text.push(b'\n');
        self.write_out(&text);
        true
    }
}

/// Returns a line such as `declare -fx name`.
fn flags_line(f: &FunctionDef, name: &[u8]) -> Vec<u8> {
    [b"declare -f", &f.attrs.letters()[..], b" ", name, b"\n"].concat()
}
