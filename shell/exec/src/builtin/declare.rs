//! `declare`, `typeset`, `local`, `export`, `readonly` (bash manual 4.2, POSIX XCU).
//!
//! One engine: what differs is where the variable lives and which attributes are given.

use std::rc::Rc;

use sh_expand::{Attributes, ErrorKind, ExpandError, Str};
use sh_syntax::ast::{ArrayElement, AssignValue, Subscript};

use super::Call;
use super::declare_print::flags;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::assign::{command_error, is_name, make_array, split_reference};
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::{ScopeKind, Slot, Var};
use crate::walk::Operand;

/// Attributes to switch on and off, and modes.
#[derive(Clone, Copy, Default)]
struct Request {
    on: Attributes,
    off: Attributes,
    global: bool,
    inherit: bool,
    print: bool,
    functions: bool,
    names_only: bool,
}

/// Where the variable is to live.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The scope of the innermost function.
    Local,
    Global,
    /// The visible variable, wherever it is (`export`, `readonly`).
    Visible,
}

/// An operand taken apart.
struct Target<'c> {
    name: Vec<u8>,
    subscript: Option<SubscriptText<'c>>,
    append: bool,
    value: Value<'c>,
}

enum SubscriptText<'c> {
    Tree(&'c Subscript),
    Text(Vec<u8>),
}

enum Value<'c> {
    None,
    Scalar(Str),
    Array(std::borrow::Cow<'c, [ArrayElement]>),
}

fn set_letter(a: &mut Attributes, letter: u8) -> bool {
    match letter {
        b'a' => a.indexed = true,
        b'A' => a.assoc = true,
        b'i' => a.integer = true,
        b'l' => a.lowercase = true,
        b'u' => a.uppercase = true,
        b'c' => a.capitalize = true,
        b'n' => a.nameref = true,
        b'r' => a.readonly = true,
        b't' => a.trace = true,
        b'x' => a.export = true,
        _ => return false,
    }
    true
}

pub fn declare(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let in_function = shell.state.vars.function_level().is_some();
    run(shell, call, if in_function { Place::Local } else { Place::Global })
}

pub fn local(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if shell.state.vars.function_level().is_none() {
        shell.builtin_error(call.name(), &[b"can only be used in a function"]);
        return Ok(1);
    }
    run(shell, call, Place::Local)
}

fn run(shell: &mut Shell<'_>, call: &Call<'_>, place: Place) -> Flow {
    let p = match shell.options(call, "+aAcfFgiIlnprtux") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut q = Request::default();
    for o in &p.options {
        match o.letter {
            b'g' => q.global = true,
            b'I' => q.inherit = true,
            b'p' => q.print = true,
            b'f' => q.functions = true,
            b'F' => {
                q.functions = true;
                q.names_only = true;
            }
            l => {
                set_letter(if o.plus { &mut q.off } else { &mut q.on }, l);
            }
        }
    }
    let place = if q.global && call.name() != b"local" { Place::Global } else { place };
    if q.functions {
        return functions(shell, call, p.operands, q);
    }
    if p.operands.is_empty() {
        list(shell, call, q, place);
        return Ok(0);
    }
    if q.print {
        let mut status = 0;
        for name in p.operands {
            let local_only = call.name() == b"local";
            let found = !local_only
                || shell
                    .state
                    .vars
                    .get(name)
                    .is_some_and(|v| Some(v.level) == shell.state.vars.function_level());
            match shell.declare_line(name, b"declare").filter(|_| found) {
                Some(line) => shell.out(&line),
                None => {
                    shell.builtin_error(call.name(), &[name, b": not found"]);
                    status = 1;
                }
            }
        }
        return Ok(status);
    }
    operands(shell, call, p.first, q, place)
}

/// `export` and `readonly`: one attribute on the visible variable.
pub fn export(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    marker(shell, call, "fnp", |a| a.export = true)
}

pub fn readonly(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    marker(shell, call, "aAfp", |a| a.readonly = true)
}

fn marker(shell: &mut Shell<'_>, call: &Call<'_>, spec: &str, mark: fn(&mut Attributes)) -> Flow {
    let p = match shell.options(call, spec) {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut q = Request::default();
    mark(&mut q.on);
    if p.has(b'n') {
        q = Request { off: q.on, ..Request::default() };
    }
    q.on.indexed = p.has(b'a');
    q.on.assoc = p.has(b'A');
    if p.has(b'f') {
        q.functions = true;
        return functions(shell, call, p.operands, q);
    }
    if p.operands.is_empty() || p.has(b'p') && p.operands.is_empty() {
        let mut want = Attributes::default();
        mark(&mut want);
        let q = Request {
            on: Attributes { indexed: q.on.indexed, assoc: q.on.assoc, ..want },
            ..Request::default()
        };
        list(shell, call, q, Place::Visible);
        return Ok(0);
    }
    operands(shell, call, p.first, q, Place::Visible)
}

/// Lists variables that have all requested attributes.
fn list(shell: &mut Shell<'_>, call: &Call<'_>, q: Request, place: Place) {
    let any = q.on != Attributes::default();
    if call.name() == b"local" {
        let level = shell.state.vars.function_level().unwrap_or(0);
        for name in shell.state.vars.locals(level) {
            let line =
                if q.print { shell.declare_line(&name, b"declare") } else { shell.set_line(&name) };
            if let Some(l) = line {
                shell.out(&l);
            }
        }
        return;
    }
    if !any && !q.print {
        shell.print_all_set();
        return;
    }
    let posix = shell.state.options.has(SetOpt::Posix) && place == Place::Visible;
    let command = if posix { call.name().to_vec() } else { b"declare".to_vec() };
    let mut out = Vec::new();
    for name in shell.state.vars.sorted_names() {
        let Some(v) = shell.state.vars.get(&name) else { continue };
        let have = flags(v.attrs, v.value().as_ref());
        let want = flags(q.on, None);
        if any && !want[1..].iter().all(|c| have.contains(c)) {
            continue;
        }
        if name.as_ref() == b"_" && any {
            continue;
        }
        if let Some(line) = shell.declare_line(&name, &command) {
            out.extend_from_slice(&line);
        }
    }
    shell.out(&out);
}

fn functions(shell: &mut Shell<'_>, call: &Call<'_>, names: &[Str], q: Request) -> Flow {
    if names.is_empty() {
        shell.print_functions(!q.names_only, q.on.export && !q.names_only);
        return Ok(0);
    }
    let mut status = 0;
    let changes = q.on != Attributes::default() || q.off != Attributes::default();
    for name in names {
        if !changes {
            if memchr::memchr(b'=', name).is_some() {
                shell.builtin_error(call.name(), &[b"cannot use `-f' to make functions"]);
                status = 1;
            } else if !shell.print_function(name, !q.names_only) {
                status = 1;
            }
            continue;
        }
        let map = Rc::make_mut(&mut shell.state.functions);
        match map.get_mut(name.as_slice()) {
            None => {
                let marker = call.name() == b"export" || call.name() == b"readonly";
                if marker {
                    shell.builtin_error(call.name(), &[name, b": not a function"]);
                }
                status = 1;
            }
            Some(f) => {
                f.export = (f.export || q.on.export) && !q.off.export;
                f.readonly |= q.on.readonly;
                f.trace = (f.trace || q.on.trace) && !q.off.trace;
                if q.off.readonly && f.readonly {
                    shell.builtin_error(call.name(), &[name, b": readonly function"]);
                    status = 1;
                    continue;
                }
                shell.state.vars.touch_env();
            }
        }
    }
    Ok(status)
}

/// The operands from index `first` of `argv` on, one after another.
fn operands(
    shell: &mut Shell<'_>,
    call: &Call<'_>,
    first: usize,
    q: Request,
    place: Place,
) -> Flow {
    let mut status = 0;
    for (i, text) in call.argv.iter().enumerate().skip(first) {
        let tree = call.operands.iter().find(|o| o.index == i);
        let target = match tree {
            Some(o) => from_tree(o),
            None => from_text(shell, text),
        };
        if text.as_slice() == b"-" && call.name() == b"local" {
            let level = shell.state.vars.function_level().unwrap_or(0);
            let options = Box::new(shell.state.options.clone());
            if let Some(s) = shell.state.vars.scope_mut(level) {
                s.options.get_or_insert(options);
            }
            continue;
        }
        let Some(target) = target.filter(|t| is_name(&t.name)) else {
            shell.builtin_error(call.name(), &[b"`", text, b"': not a valid identifier"]);
            status = 1;
            continue;
        };
        match apply(shell, call, target, q, place) {
            Ok(()) => {}
            Err(e) if matches!(e.kind, ErrorKind::Command | ErrorKind::Readonly) => {
                shell.builtin_error(call.name(), &[&e.message]);
                status = 1;
                let special = matches!(call.name(), b"export" | b"readonly");
                if e.kind == ErrorKind::Readonly
                    && special
                    && shell.state.options.has(SetOpt::Posix)
                    && !shell.state.options.interactive
                {
                    return Err(Unwind::Exit(1));
                }
            }
            Err(e) => return Err(shell.expansion_failed(e)),
        }
    }
    Ok(status)
}

fn from_tree<'c>(o: &'c Operand<'c>) -> Option<Target<'c>> {
    let a = o.assignment;
    Some(Target {
        name: a.name.to_vec(),
        subscript: a.subscript.as_ref().map(SubscriptText::Tree),
        append: a.append,
        value: match (&a.value, &o.value) {
            (AssignValue::Array(e), _) => Value::Array(std::borrow::Cow::Borrowed(e)),
            (_, Some(v)) => Value::Scalar(v.clone()),
            (_, None) => Value::None,
        },
    })
}

fn from_text<'c>(shell: &Shell<'_>, text: &[u8]) -> Option<Target<'c>> {
    let Some(eq) = memchr::memchr(b'=', text) else {
        let (name, sub) = split_reference(text);
        return Some(Target {
            name: name.to_vec(),
            subscript: sub.map(|s| SubscriptText::Text(s.to_vec())),
            append: false,
            value: Value::None,
        });
    };
    // A subscript may itself hold `=`: the parser knows where it ends.
    if let Some(a) = sh_syntax::parse::parse_assignment(text, &shell.parse_options())
        && a.subscript.is_some()
    {
        let close =
            memchr::memmem::find(text, b"]=").or_else(|| memchr::memmem::find(text, b"]+="))?;
        let open = memchr::memchr(b'[', text)?;
        let at = memchr::memchr(b'=', text.get(close..)?)? + close;
        return Some(Target {
            name: a.name.to_vec(),
            subscript: Some(SubscriptText::Text(text.get(open + 1..close)?.to_vec())),
            append: a.append,
            value: Value::Scalar(Rc::new(text[at + 1..].to_vec())),
        });
    }
    let (head, value) = (&text[..eq], &text[eq + 1..]);
    let (name, append) = match head.strip_suffix(b"+") {
        Some(n) => (n, true),
        None => (head, false),
    };
    Some(Target {
        name: name.to_vec(),
        subscript: None,
        append,
        value: Value::Scalar(Rc::new(value.to_vec())),
    })
}

fn apply(
    shell: &mut Shell<'_>,
    call: &Call<'_>,
    t: Target<'_>,
    q: Request,
    place: Place,
) -> Result<(), ExpandError> {
    let mut t = t;
    // Attributes other than -n go to what a nameref leads to.
    let level = match place {
        Place::Local => shell.state.vars.function_level().unwrap_or(0),
        _ => 0,
    };
    let own = shell.state.vars.get(&t.name).is_some_and(|v| v.level == level && level > 0);
    let follow = !q.on.nameref && !q.off.nameref && (place != Place::Local || own);
    if follow {
        let target = shell.follow(&t.name)?;
        if let (Some(sub), None) = (&target.subscript, &t.subscript) {
            t.subscript = Some(SubscriptText::Text(sub.to_vec()));
        }
        t.name = target.name.into_owned();
    }
    let name = t.name.clone();
    let global_hidden =
        place == Place::Global && shell.state.vars.get(&name).is_some_and(|v| v.level > 0);
    if global_hidden {
        return on_hidden_global(shell, &name, t, q);
    }
    match place {
        Place::Local => make_local(shell, &name, level, q)?,
        Place::Visible => {
            if q.on.export || q.on.readonly {
                shell.state.vars.promote(&name);
            }
        }
        Place::Global => {}
    }
    if q.on.nameref {
        return make_nameref(shell, call, &name, t.value, q);
    }
    if let Some(v) = shell.state.vars.get(&name)
        && v.attrs.readonly
    {
        let changes =
            !matches!(t.value, Value::None) || q.off.readonly || q.on.integer && !v.attrs.integer;
        if changes {
            let message = [name.as_slice(), b": readonly variable"].concat();
            return Err(ExpandError { kind: ErrorKind::Readonly, message });
        }
    }
    attributes_before(shell, &name, q, &t)?;
    assign(shell, &name, t)?;
    attributes_after(shell, &name, q);
    Ok(())
}

/// A variable of the function, hiding what was visible.
fn make_local(
    shell: &mut Shell<'_>,
    name: &[u8],
    level: u32,
    q: Request,
) -> Result<(), ExpandError> {
    if level == 0 {
        return Ok(());
    }
    let visible = shell.state.vars.get(name).cloned();
    if visible.as_ref().is_some_and(|v| v.level >= level) {
        return Ok(());
    }
    if let Some(v) = &visible {
        // bash refuses to hide a readonly global.
        if v.attrs.readonly && v.level == 0 {
            let message = [name, b": readonly variable"].concat();
            return Err(ExpandError { kind: ErrorKind::Readonly, message });
        }
    }
    let inherit = q.inherit || shell.state.options.shopt(ShOpt::LocalVarInherit);
    let temporary = visible.as_ref().is_some_and(|v| {
        v.level + 1 == level && shell.state.vars.scope_kind(v.level) == Some(ScopeKind::Temporary)
    });
    let allexport = shell.state.options.has(SetOpt::AllExport);
    let v = shell.state.vars.declare(name, level);
    v.attrs.export |= allexport;
    match visible {
        // Assignments before the call are what the local starts with.
        Some(old) if temporary => {
            v.slot = old.slot;
            v.attrs.export = true;
        }
        Some(old) if inherit => {
            v.slot = old.slot;
            v.attrs = old.attrs;
            v.attrs.nameref = false;
        }
        Some(Var { slot: Slot::Dynamic(d), .. }) if name != b"_" => {
            let _ = d;
        }
        _ => {}
    }
    Ok(())
}

fn make_nameref(
    shell: &mut Shell<'_>,
    call: &Call<'_>,
    name: &[u8],
    value: Value<'_>,
    q: Request,
) -> Result<(), ExpandError> {
    let old = shell.state.vars.get(name).cloned();
    if old.as_ref().is_some_and(|v| v.is_array()) || matches!(value, Value::Array(_)) {
        let message = [name, b": reference variable cannot be an array"].concat();
        return Err(command_error(message));
    }
    let target = match &value {
        Value::Scalar(s) => Some(s.clone()),
        _ => old.as_ref().filter(|v| !v.attrs.nameref).and_then(Var::text),
    };
    if let Some(t) = &target {
        let (base, sub) = split_reference(t);
        if !is_name(base) || sub == Some(b"") {
            let message =
                [b"`", t.as_slice(), b"': invalid variable name for name reference"].concat();
            return Err(command_error(message));
        }
        let in_function = shell.state.vars.function_level().is_some();
        if base == name {
            if !in_function || old.as_ref().is_none_or(|v| v.level == 0) {
                let message = [name, b": nameref variable self references not allowed"].concat();
                return Err(command_error(message));
            }
            shell.builtin_error(call.name(), &[b"warning: ", name, b": circular name reference"]);
        }
    }
    let v = shell.state.vars.entry(name);
    v.attrs.nameref = true;
    if let Some(t) = target {
        v.slot = Slot::Scalar(t);
    }
    v.attrs.readonly |= q.on.readonly;
    if q.on.export {
        v.attrs.export = true;
    }
    Ok(())
}

/// Kind and conversions come before the value, so that they apply to it.
fn attributes_before(
    shell: &mut Shell<'_>,
    name: &[u8],
    q: Request,
    t: &Target<'_>,
) -> Result<(), ExpandError> {
    let existed = shell.state.vars.get(name).is_some();
    let has_value = !matches!(t.value, Value::None);
    let v = shell.state.vars.entry(name);
    let is_assoc = v.attrs.assoc || matches!(v.slot, Slot::Assoc(_));
    let is_indexed = matches!(v.slot, Slot::Indexed(_)) || v.attrs.indexed && !is_assoc;
    if q.on.assoc && is_indexed {
        let message = [name, b": cannot convert indexed to associative array"].concat();
        return Err(command_error(message));
    }
    if q.on.indexed && is_assoc {
        let message = [name, b": cannot convert associative to indexed array"].concat();
        return Err(command_error(message));
    }
    if (q.off.indexed && is_indexed) || (q.off.assoc && is_assoc) {
        let message = [name, b": cannot destroy array variables in this way"].concat();
        return Err(command_error(message));
    }
    let a = &mut v.attrs;
    a.integer = (a.integer || q.on.integer) && !q.off.integer;
    a.trace = (a.trace || q.on.trace) && !q.off.trace;
    // Only one of the case attributes holds; asking for two at once gives none.
    let cases = u8::from(q.on.lowercase) + u8::from(q.on.uppercase) + u8::from(q.on.capitalize);
    if cases > 0 {
        a.lowercase = q.on.lowercase && cases == 1;
        a.uppercase = q.on.uppercase && cases == 1;
        a.capitalize = q.on.capitalize && cases == 1;
    }
    a.lowercase &= !q.off.lowercase;
    a.uppercase &= !q.off.uppercase;
    a.capitalize &= !q.off.capitalize;
    if q.off.nameref {
        a.nameref = false;
    }
    if q.on.assoc {
        a.assoc = true;
    }
    let compound = matches!(t.value, Value::Array(_));
    if !q.on.assoc
        && (q.on.indexed
            || (compound && !is_assoc)
            || (t.subscript.is_some() && !is_assoc && !has_value))
    {
        v.attrs.indexed = true;
    }
    if (v.attrs.indexed || v.attrs.assoc) && v.is_set() {
        make_array(v, false);
    }
    if v.attrs.export || q.on.export || q.off.export {
        shell.state.vars.touch_env();
    }
    if !existed {
        shell.state.vars.touch_env();
    }
    Ok(())
}

fn attributes_after(shell: &mut Shell<'_>, name: &[u8], q: Request) {
    let v = shell.state.vars.entry(name);
    v.attrs.readonly |= q.on.readonly;
    v.attrs.export = (v.attrs.export || q.on.export) && !q.off.export;
    if q.on.export || q.off.export {
        shell.state.vars.touch_env();
    }
}

fn assign(shell: &mut Shell<'_>, name: &[u8], t: Target<'_>) -> Result<(), ExpandError> {
    let Some(v) = shell.state.vars.get(name) else { return Ok(()) };
    let array = v.attrs.indexed || v.attrs.assoc;
    match t.value {
        Value::None => Ok(()),
        Value::Array(elements) => shell.set_compound(name, &elements, t.append),
        Value::Scalar(value) => {
            let key = match t.subscript {
                None => None,
                Some(SubscriptText::Tree(s)) => Some(sh_expand::subscript_key(shell, name, s)?),
                Some(SubscriptText::Text(s)) => {
                    Some(sh_expand::subscript_text_key(shell, name, &s)?)
                }
            };
            if let Some(key) = key {
                return shell.set_array_element(name, &key, t.append, value);
            }
            // `declare -a "x=(1 2)"`: the text is a compound value.
            if array
                && value.starts_with(b"(")
                && value.ends_with(b")")
                && let Ok(elements) = sh_syntax::parse::parse_array(&value, &shell.parse_options())
            {
                return shell.set_compound(name, &elements, t.append);
            }
            if t.append { shell.append_scalar(name, value) } else { shell.set_scalar(name, value) }
        }
    }
}

/// `declare -g` while a local hides the global: work on it as if it were visible.
fn on_hidden_global(
    shell: &mut Shell<'_>,
    name: &[u8],
    t: Target<'_>,
    q: Request,
) -> Result<(), ExpandError> {
    // The elements and values are expanded with the local visible; the result is stored outside.
    let visible = shell.state.vars.get(name).cloned();
    let hidden = shell.state.vars.global_mut(name).clone();
    *shell.state.vars.entry(name) = hidden;
    let r = if q.on.nameref {
        match t.value {
            Value::Scalar(v) => {
                let var = shell.state.vars.entry(name);
                var.attrs.nameref = true;
                var.slot = Slot::Scalar(v);
                Ok(())
            }
            _ => Ok(()),
        }
    } else {
        attributes_before(shell, name, q, &t)
            .and_then(|()| assign(shell, name, t))
            .map(|()| attributes_after(shell, name, q))
    };
    let mut changed = shell.state.vars.entry(name).clone();
    changed.level = 0;
    if let Some(v) = visible {
        *shell.state.vars.entry(name) = v;
    }
    *shell.state.vars.global_mut(name) = changed;
    r
}
