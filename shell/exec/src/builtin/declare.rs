//! `declare`, `typeset`, `local`, `export`, `readonly` (bash manual 4.2, POSIX XCU).
//!
//! One engine: what differs is where the variable lives and which attributes are given.

use std::rc::Rc;

use sh_expand::{Attributes, Cause, Reach, Site, Str};

use super::Call;
use super::declare_apply::{apply, assoc_instead};
use super::declare_print::flags;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_name, split_reference};
use crate::state::compound::Elements;
use crate::state::options::SetOpt;
use crate::walk::Operand;

/// The status inside the shell of an assignment that could not be, to others 1; a process that did
/// nothing else ends with its last eight bits.
pub(crate) const BAD_ASSIGNMENT: i32 = 0x104;

/// Attributes to switch on and off, and modes.
#[derive(Clone, Copy, Default)]
pub(super) struct Request {
    pub(super) on: Attributes,
    pub(super) off: Attributes,
    pub(super) global: bool,
    pub(super) inherit: bool,
    pub(super) print: bool,
    pub(super) functions: bool,
    pub(super) names_only: bool,
}

/// Where the variable is to live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The scope of the innermost function.
    Local,
    /// The global variable, even if another hides it (`declare -g`).
    Global,
    /// Outside of functions: global, or from before the command.
    Top,
    /// The visible variable, wherever it is (`export`, `readonly`).
    Visible,
}

/// An operand taken apart.
pub(super) struct Target {
    pub(super) name: Vec<u8>,
    pub(super) subscript: Option<Vec<u8>>,
    pub(super) append: bool,
    pub(super) value: Value,
}

impl Target {
    /// The name and the subscript of an element.
    fn element(&self) -> Option<(&[u8], &[u8])> {
        self.subscript.as_ref().map(|subscript| (self.name.as_slice(), subscript.as_slice()))
    }
}

pub(super) enum Value {
    None,
    Scalar(Str),
    Elements(Elements),
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
    run(shell, call, if in_function { Place::Local } else { Place::Top })
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
            b'g' => q.global |= !o.plus,
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
    let place = if q.global { Place::Global } else { place };
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
                    .filter(|v| v.is_local())
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
    marker(shell, call, "aAfnp", |a| a.export = true)
}

pub fn readonly(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    marker(shell, call, "aAfnp", |a| a.readonly = true)
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
    if p.operands.is_empty() {
        if q.on.indexed && q.on.assoc {
            return Ok(0);
        }
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

/// Lists variables that have any of the requested attributes; with `-a` or `-A` beside others,
/// only such arrays.
fn list(shell: &mut Shell<'_>, call: &Call<'_>, q: Request, place: Place) {
    let any = q.on != Attributes::default();
    let function = shell.state.vars.function_level();
    // To bash the options are a local variable of that name.
    if function.is_some_and(|level| shell.state.vars.has_own_options(level))
        && (call.name() == b"local" || q.print && !any)
    {
        shell.out(b"local -\n");
    }
    if call.name() == b"local" {
        let out: Vec<u8> = shell.without_own_scope(|shell| {
            let level = shell.state.vars.function_level().unwrap_or(0);
            let names = shell.state.vars.locals(level).into_iter();
            names.filter_map(|name| shell.declare_line(&name, b"declare")).flatten().collect()
        });
        shell.out(&out);
        return;
    }
    if !any && !q.print {
        shell.print_all_set();
        return;
    }
    let posix = shell.state.options.has(SetOpt::Posix) && place == Place::Visible;
    let command = if posix { call.name().to_vec() } else { b"declare".to_vec() };
    let kind = match (q.on.indexed, q.on.assoc) {
        (true, _) => Some(b'a'),
        (_, true) => Some(b'A'),
        _ => None,
    };
    let mut want = flags(Attributes { indexed: false, ..q.on }, None).split_off(1);
    if kind == Some(b'A') && want.len() > 1 {
        want.retain(|c| *c != b'A');
    }
    let out = shell.without_own_scope(|shell| listing(shell, any, &command, &want, kind));
    shell.out(&out);
}

fn listing(
    shell: &mut Shell<'_>,
    any: bool,
    command: &[u8],
    want: &[u8],
    kind: Option<u8>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for name in shell.state.vars.sorted_names() {
        let Some(v) = shell.state.vars.get(&name) else { continue };
        let have = flags(v.attrs, v.value().as_ref());
        let others = want == b"-" || want.iter().any(|c| have.contains(c));
        if any && !(others && kind.is_none_or(|c| have.contains(&c))) {
            continue;
        }
        if name.as_ref() == b"_" && any {
            continue;
        }
        if let Some(line) = shell.declare_line(&name, command) {
            out.extend_from_slice(&line);
        }
    }
    out
}

fn functions(shell: &mut Shell<'_>, call: &Call<'_>, names: &[Str], q: Request) -> Flow {
    if names.is_empty() {
        shell.print_functions(!q.names_only, q.on);
        return Ok(0);
    }
    let mut status = 0;
    let changes = q.on != Attributes::default() || q.off != Attributes::default();
    for name in names {
        if !changes {
            if from_text(name).is_some_and(|t| !matches!(t.value, Value::None) && is_name(&t.name))
            {
                shell.builtin_error(call.name(), &[b"cannot use `-f' to make functions"]);
                status = 1;
            } else if q.print && q.names_only && shell.state.functions.contains_key(&***name) {
                shell.declare_function(name);
            } else if !shell.print_function(name, !q.names_only) {
                if q.print {
                    shell.builtin_error(call.name(), &[name, b": not found"]);
                }
                status = 1;
            } else if q.print {
                shell.print_function_flags(name);
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
            None => from_text(text),
        };
        let mut failed =
            |assigned: bool| status = status.max(if assigned { BAD_ASSIGNMENT } else { 1 });
        if text.as_slice() == b"-" && call.name() == b"local" {
            let level = shell.state.vars.function_level().unwrap_or(0);
            let options = Box::new(shell.state.options.clone());
            if let Some(s) = shell.state.vars.scope_mut(level) {
                s.options.get_or_insert(options);
            }
            continue;
        }
        // Elements can be neither exported nor made readonly (their arrays can).
        let marks = matches!(call.name(), b"export" | b"readonly");
        let whole = |t: &Target| match &t.subscript {
            Some(sub) => !(marks || sub.is_empty() && matches!(t.value, Value::None)),
            None => true,
        };
        let mut q = q;
        if marks {
            // The kind of an array matters where there is a value, and only one does.
            let value = target.as_ref().is_some_and(|t| !matches!(t.value, Value::None));
            q.on.assoc &= value && !q.on.indexed;
            q.on.indexed &= value;
        }
        if q.on.nameref
            && let Some((name, sub)) = target.as_ref().and_then(Target::element)
        {
            let message = b"]: reference variable cannot be an array";
            shell.builtin_error(call.name(), &[name, b"[", sub, message]);
            failed(false);
            continue;
        }
        if q.on.nameref && text.is_empty() {
            // To bash nothing refers to itself.
            if shell.state.vars.function_level().is_none() {
                let message = b": nameref variable self references not allowed";
                shell.builtin_error(call.name(), &[message]);
                failed(false);
                continue;
            }
            shell.builtin_error(call.name(), &[b"warning: : circular name reference"]);
        }
        let Some(target) = target.filter(|t| is_name(&t.name) && whole(t)) else {
            // Of an element its name is told, of what is nothing at all the whole operand.
            let named = from_text(text).filter(|t| marks && is_name(&t.name));
            let element = named.as_ref().and_then(Target::element);
            let end = match element {
                Some((name, sub)) => name.len() + sub.len() + 2,
                None => {
                    memchr::memchr(b'=', text).filter(|_| named.is_some()).unwrap_or(text.len())
                }
            };
            let shown = &text[..end];
            shell.builtin_error(call.name(), &[b"`", shown, b"': not a valid identifier"]);
            failed(!marks || element.is_some() && end < text.len());
            continue;
        };
        if q.on.indexed && q.on.assoc && shell.state.vars.get(&target.name).is_none() {
            let message = b": cannot convert associative to indexed array";
            shell.builtin_error(call.name(), &[&target.name, message]);
            failed(false);
            if let Err(e) = assoc_instead(shell, call.name(), target, q, place) {
                return Err(shell.expansion_failed(e));
            }
            continue;
        }
        let traced = match &target.value {
            Value::Scalar(value) if place == Place::Visible && shell.tracing() => {
                let sign: &[u8] = if target.append { b"+=" } else { b"=" };
                Some([&target.name, sign, &crate::xtrace::value_quote(value)].concat())
            }
            _ => None,
        };
        let assigns =
            !matches!(target.value, Value::None) && !hides_readonly(shell, &target, place);
        let done = apply(shell, call.name(), target, q, place);
        if let Some(text) = traced
            && done.as_ref().err().is_none_or(|e| e.reach() == Reach::Readonly)
        {
            shell.trace_text(&text);
        }
        match done {
            Ok(()) => {}
            Err(e) if e.reach() == Reach::Abandon => return Err(shell.expansion_failed(e)),
            Err(e)
                if crate::verdict::is_arithmetic(&e.cause)
                    && matches!(e.reach(), Reach::Command | Reach::Number) =>
            {
                shell.builtin_error(call.name(), &[&e.message()]);
                return Err(shell.unwind(&e.at(Site::Value)));
            }
            Err(e) if matches!(e.reach(), Reach::Command | Reach::Readonly) => {
                let special = matches!(call.name(), b"export" | b"readonly");
                match special || e.is_missing_element() {
                    true => shell.assignment_error(call.name(), &e),
                    false => shell.tell(&[call.name(), b": "].concat(), &e),
                }
                let kind = matches!(
                    *e.cause,
                    Cause::Conversion { .. }
                        | Cause::Destruction(_)
                        | Cause::ListToMember(_)
                        | Cause::ArrayAsReference(_)
                );
                let reference = (q.on.nameref || q.off.nameref) && e.reach() == Reach::Readonly;
                failed(assigns && !kind && !reference);
                if e.reach() == Reach::Readonly && special || e.is_missing_element() {
                    shell.refused()?;
                }
                if e.reach() == Reach::Readonly
                    && special
                    && shell.state.options.has(SetOpt::Posix)
                    && !shell.state.options.interactive
                {
                    return Err(shell.ends_with(1));
                }
            }
            Err(e) => return Err(shell.expansion_failed(e)),
        }
    }
    Ok(status)
}

/// Whether a local variable would hide a global one that is readonly.
fn hides_readonly(shell: &Shell<'_>, target: &Target, place: Place) -> bool {
    let visible = shell.state.vars.get(&target.name);
    place == Place::Local && visible.is_some_and(|v| v.level == 0 && v.attrs.readonly)
}

fn from_tree(o: &Operand<'_>) -> Option<Target> {
    let a = o.assignment;
    let value = Value::Scalar(o.value.clone());
    Some(Target { name: a.name.to_vec(), subscript: None, append: a.append, value })
}

fn from_text(text: &[u8]) -> Option<Target> {
    let Some(eq) = memchr::memchr(b'=', text) else {
        let (name, sub) = split_reference(text);
        let (name, subscript) = (name.to_vec(), sub.map(<[u8]>::to_vec));
        return Some(Target { name, subscript, append: false, value: Value::None });
    };
    // A subscript may itself hold `=`.
    let (name, subscript, rest) = match memchr::memchr(b'[', &text[..eq]) {
        Some(open) => {
            let inside = &text[open + 1..];
            let close = sh_expand::closing_bracket(inside)?;
            (&text[..open], Some(inside[..close].to_vec()), &inside[close + 1..])
        }
        None => {
            let end = if text[..eq].ends_with(b"+") { eq - 1 } else { eq };
            (&text[..end], None, &text[end..])
        }
    };
    let (append, value) = match rest.strip_prefix(b"+") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let value = Value::Scalar(Rc::new(value.strip_prefix(b"=")?.to_vec()));
    Some(Target { name: name.to_vec(), subscript, append, value })
}
